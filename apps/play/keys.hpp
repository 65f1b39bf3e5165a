// What the keys of `zerorun play` do.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace zerorun::app {

struct KeyHelp {
  std::string_view keys;
  std::string_view text;
};
std::span<const KeyHelp> key_help() noexcept;

/// The same as text, a line per entry.
std::string keys_text();

}  // namespace zerorun::app
