// --max-pixels, of every command that decodes JPEG.
// SPDX-License-Identifier: MIT
#include "apps/common/pixel_limit.hpp"

#include <CLI/CLI.hpp>

#include "apps/common/failure.hpp"
#include "apps/common/inputs.hpp"
#include "apps/common/outputs.hpp"

namespace zerorun::app {

CLI::Option* add_max_pixels(CLI::App& app, std::optional<std::int64_t>& max_pixels) {
  return app
      .add_option(
          "--max-pixels", max_pixels,
          "Refuse JPEG images with more pixels before allocating memory for them (default: " +
              std::to_string(StreamLimits{}.max_pixels) + ")")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, StreamLimits::any_size().max_pixels).description(""));
}

StreamLimits stream_limits(const std::optional<std::int64_t>& max_pixels) {
  StreamLimits limits;
  limits.max_pixels = max_pixels.value_or(limits.max_pixels);
  return limits;
}

void check_max_pixels(const std::string& input, const std::optional<std::int64_t>& max_pixels,
                      bool is_jpeg) {
  if (max_pixels && !is_jpeg) fail(Exit::usage, input + ": --max-pixels is for JPEG input");
}

const char* max_pixels_hint(const Status& status) noexcept {
  return status.code() == Errc::too_many_pixels ? " (--max-pixels)" : "";
}

void fail_input(const std::string& name, const Status& status, bool is_jpeg) {
  fail(Exit::input, name, status, is_jpeg ? max_pixels_hint(status) : "");
}

std::unique_ptr<io::FrameSource> open_frames(const InputOptions& input,
                                             const io::SourceOptions& options) {
  const io::Location location = input_location(input);
  auto source = io::open_frames(location, options);
  if (source) return *std::move(source);
  // Only a file gets here: a pipe is opened before its first frame is decoded.
  io::SourceOptions any_size;
  any_size.opened = options.opened;
  const bool is_jpeg = source.status().code() == Errc::too_many_pixels && !is_read_once(input) &&
                       io::open_packets(location, any_size).is_ok();
  fail_input(input.name, source.status(), is_jpeg);
}

}  // namespace zerorun::app
