// Whether and from when on the sound of INPUT goes into OUTPUT.
// SPDX-License-Identifier: MIT
#pragma once

#include "apps/common/options.hpp"
#include "zerorun/io.hpp"

namespace zerorun::app {

/// Sets the audio of `sink`, whose frame rate is known. Notes what cannot be kept.
void choose_audio(const InputOptions& input, const io::SourceInfo& info, const io::Location& output,
                  io::SinkOptions& sink);

}  // namespace zerorun::app
