// What a command says of an input that was cut.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "zerorun/io.hpp"

namespace zerorun::app {

/// "NAME is cut short: N bytes are missing at its end".
std::string cut_sentence(const std::string& name, const io::SourceInfo& info);

/// A note, if there are missing bytes.
void note_cut_input(const std::string& name, const io::SourceInfo& info);

}  // namespace zerorun::app
