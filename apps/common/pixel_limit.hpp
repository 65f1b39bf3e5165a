// --max-pixels, of every command that decodes JPEG.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "apps/common/options.hpp"

namespace zerorun::app {

CLI::Option* add_max_pixels(CLI::App& app, std::optional<std::int64_t>& max_pixels);

/// For the decoders of a command; without the option those of the library.
StreamLimits stream_limits(const std::optional<std::int64_t>& max_pixels);

/// Ends the command with exit 2 if the option would have no effect.
void check_max_pixels(const std::string& input, const std::optional<std::int64_t>& max_pixels,
                      bool is_jpeg);

/// " (--max-pixels)" for an error that the option can prevent, else "".
const char* max_pixels_hint(const Status& status) noexcept;

/// fail() with the hint above for JPEG input.
[[noreturn]] void fail_input(const std::string& name, const Status& status, bool is_jpeg);

/// io::open_frames(); ends the command if it fails.
std::unique_ptr<io::FrameSource> open_frames(const InputOptions& input,
                                             const io::SourceOptions& options);

}  // namespace zerorun::app
