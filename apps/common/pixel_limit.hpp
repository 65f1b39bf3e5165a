// --max-pixels: of every command that decodes the JPEG streams of others.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "apps/common/options.hpp"

namespace zerorun::app {

CLI::Option* add_max_pixels(CLI::App& app, std::optional<std::int64_t>& max_pixels);

/// Of a command's decoders; without the option they are the library's.
StreamLimits stream_limits(const std::optional<std::int64_t>& max_pixels);

/// Exit 2 where the option would do nothing.
void check_max_pixels(const std::string& input, const std::optional<std::int64_t>& max_pixels,
                      bool is_jpeg);

/// " (--max-pixels)" behind an error that the option would prevent.
const char* max_pixels_hint(const Status& status) noexcept;

/// As fail(), with the option behind the sentence where it would let the image in.
[[noreturn]] void fail_input(const std::string& name, const Status& status, bool is_jpeg);

/// io::open_frames(); ends the command where it fails.
std::unique_ptr<io::FrameSource> open_frames(const InputOptions& input,
                                             const io::SourceOptions& options);

}  // namespace zerorun::app
