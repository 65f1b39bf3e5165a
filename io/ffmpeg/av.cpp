// FFmpeg's errors as Status, and its log switched off.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/av.hpp"

#include <array>
#include <climits>
#include <mutex>

#include "io/formats.hpp"

extern "C" const char* zerorun_load_ffmpeg();  // .cmake/load_at_run_time.cmake

namespace zerorun::io::av {

Status load() {
  const char* const error = zerorun_load_ffmpeg();
  if (error == nullptr) return Status::ok();
  return Status(Errc::not_built, std::string("FFmpeg is not installed: ") + error);
}

std::string reason(int error) {
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
  av_strerror(error, text.data(), text.size());
  return text.data();
}

Status failure(Errc code, const std::string& name, int error) {
  if (error == AVERROR(ENOMEM)) return Status(Errc::out_of_memory, "'" + name + "'");
  return Status(code, "'" + name + "': " + reason(error));
}

void keep_quiet() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (av_log_get_level() == AV_LOG_INFO) av_log_set_level(AV_LOG_QUIET);
  });
}

Rational from_av(AVRational r) noexcept {
  if (r.num <= 0 || r.den <= 0) return {};
  return {r.num, r.den};
}

AVRational to_av(const Rational& r) noexcept {
  AVRational out{0, 1};
  if (r.known()) av_reduce(&out.num, &out.den, r.num, r.den, INT_MAX);
  return out;
}

}  // namespace zerorun::io::av

namespace zerorun::io {

bool has_ffmpeg_libraries() noexcept { return zerorun_load_ffmpeg() == nullptr; }

}  // namespace zerorun::io
