// Opening the INPUT of a command, --max-pixels, and what all commands say about it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "apps/common/options.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/source.hpp"

namespace zerorun::app {

/// The input as JPEG packets; null if it holds none, so that it has to be opened as frames:
/// SourceOptions::opened holds what was read of stdin. Other errors end the command.
std::unique_ptr<io::PacketSource> open_jpeg_packets(const InputOptions& input,
                                                    const io::SourceOptions& options);

/// True for stdin and named pipes: their bytes come once.
bool is_read_once(const InputOptions& input);

/// In interlaced video a packet can hold one of the two fields of a picture. A source of frames
/// weaves them together.
bool is_field(const StreamInfo& stream, const io::SourceInfo& info) noexcept;

/// The planar format or rgb24 that holds what the stream stores; 4:4:4 for sampling factors
/// without a name.
PixelFormat stored_format(const StreamInfo& stream) noexcept;

[[noreturn]] void fail_without_frames(const InputOptions& input);

/// "NAME is cut short: N bytes are missing at its end".
std::string cut_sentence(const std::string& name, const io::SourceInfo& info);
/// Prints a note if bytes are missing.
void note_cut_input(const std::string& name, const io::SourceInfo& info);

CLI::Option* add_max_pixels(CLI::App& app, std::optional<std::int64_t>& max_pixels);

/// For the decoders of a command; without the option those of the library.
StreamLimits stream_limits(const std::optional<std::int64_t>& max_pixels);

/// True for pictures and Motion JPEG.
bool has_pixel_limit(const io::SourceInfo& info);
/// Ends the command with exit 2 if the option would have no effect.
void check_max_pixels(const std::string& input, const std::optional<std::int64_t>& max_pixels,
                      bool has_limit);

/// " (--max-pixels)" for an error that the option can prevent, else "".
const char* max_pixels_hint(const Status& status) noexcept;

/// fail() with the hint above for JPEG input.
[[noreturn]] void fail_input(const std::string& name, const Status& status, bool is_jpeg);

/// io::open_frames(); ends the command if it fails.
std::unique_ptr<io::FrameSource> open_frames(const InputOptions& input,
                                             const io::SourceOptions& options);

}  // namespace zerorun::app
