// SPDX-License-Identifier: MIT
#include "apps/common/inputs.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include "apps/common/console.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/option_kinds.hpp"
#include "apps/common/outputs.hpp"

namespace zerorun::app {
std::unique_ptr<io::PacketSource> open_jpeg_packets(const InputOptions& input,
                                                    const io::SourceOptions& options) {
  auto packets = io::open_packets(input, options);
  if (packets) return *std::move(packets);
  if (packets.status().code() == Errc::unknown_format) return nullptr;
  fail(Exit::input, input.name, packets.status());
}

bool is_read_once(const InputOptions& input) {
  struct stat info {};
  return input.name == "-" || io::is_address(input.name) ||
         (::stat(input.name.c_str(), &info) == 0 && !S_ISREG(info.st_mode) &&
          !S_ISDIR(info.st_mode));
}

bool is_field(const StreamInfo& stream, const io::SourceInfo& info) noexcept {
  return stream.height < info.height * 3 / 4;  // FFmpeg has the same rule
}

PixelFormat stored_format(const StreamInfo& stream) noexcept {
  if (stream.color == ColorModel::rgb || has_inks(stream.color)) return PixelFormat::rgb24;
  if (stream.color == ColorModel::gray) return PixelFormat::gray8;
  return planar_format(stream.subsampling.value_or(Subsampling::s444));
}

void fail_without_frames(const InputOptions& input) {
  if (input.page > 0)
    fail(Exit::input, fmt::format("{}: there is no page {}", input.name, input.page));
  fail(Exit::input, input.name + ": there are no frames" +
                        (input.range.first > 0 ? " in the range of --frames" : ""));
}

std::string cut_sentence(const std::string& name, const io::SourceInfo& info) {
  return fmt::format(
      "{} is cut short: {} missing at its end", name,
      info.missing_bytes == 1 ? "1 byte is" : with_commas(info.missing_bytes) + " bytes are");
}

void note_cut_input(const std::string& name, const io::SourceInfo& info) {
  if (info.missing_bytes > 0) console::note(cut_sentence(name, info) + "; the rest is used");
}

CLI::Option* add_max_pixels(CLI::App& app, std::optional<std::int64_t>& max_pixels) {
  return add_number(
      app, "--max-pixels", max_pixels, 1, StreamLimits::any_size().max_pixels,
      "Refuse pictures with more pixels before allocating memory for them (default: " +
          std::to_string(StreamLimits{}.max_pixels) + ")");
}

StreamLimits stream_limits(const std::optional<std::int64_t>& max_pixels) {
  StreamLimits limits;
  limits.max_pixels = max_pixels.value_or(limits.max_pixels);
  return limits;
}

bool has_pixel_limit(const io::SourceInfo& info) {
  return info.is_jpeg || info.codec == "pnm" || info.container.find("image") != std::string::npos;
}

void check_max_pixels(const std::string& input, const std::optional<std::int64_t>& max_pixels,
                      bool has_limit) {
  if (max_pixels && !has_limit)
    fail(Exit::usage, input + ": --max-pixels is for JPEG and pictures");
}

const char* max_pixels_hint(const Status& status) noexcept {
  return status.code() == Errc::too_many_pixels ? " (--max-pixels)" : "";
}

void fail_input(const std::string& name, const Status& status, bool is_jpeg) {
  fail(Exit::input, name, status, is_jpeg ? max_pixels_hint(status) : "");
}

std::unique_ptr<io::FrameSource> open_frames(const InputOptions& input,
                                             const io::SourceOptions& options) {
  auto source = io::open_frames(input, options);
  if (source) return *std::move(source);
  // Only a file gets here: a pipe is opened before its first frame is decoded.
  io::SourceOptions any_size;
  any_size.opened = options.opened;
  const bool is_jpeg = source.status().code() == Errc::too_many_pixels && !is_read_once(input) &&
                       io::open_packets(input, any_size).is_ok();
  fail_input(input.name, source.status(), is_jpeg);
}

}  // namespace zerorun::app
