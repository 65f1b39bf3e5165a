// The text of the information on the picture.
// SPDX-License-Identifier: MIT
#include "apps/play/osd.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "apps/common/text.hpp"

namespace zerorun::app {
namespace {

std::string place_line(const PlayInput& input, const PlayFrame& frame) {
  const io::SourceInfo& info = input.info();
  std::string line = fmt::format("frame {}", frame.index);
  if (info.frame_count > 0) line += fmt::format(" of {}", info.frame_count);
  line += "  " + time_text(frame.at);
  if (const double all = input.duration_seconds(); all > 0) line += " of " + time_text(all);
  return line + fmt::format("  pts {}", frame.pts);
}

std::string mode_line(const Playback& playback) {
  std::string line = playback.is_at_end() ? "end" : playback.is_paused() ? "paused" : "playing";
  line += fmt::format("  speed {:.2f}", playback.speed());
  if (playback.loops()) line += "  loop";
  if (playback.a()) line += "  A " + time_text(*playback.a());
  if (playback.b()) line += "  B " + time_text(*playback.b());
  return line;
}

std::string picture_line(const PlayInput& input, const PlayFrame& frame) {
  const io::SourceInfo& info = input.info();
  return fmt::format("{}x{} {}  {}, {}  {} fps", frame.frame.width(), frame.frame.height(),
                     input.sampling(), info.container, info.codec, rational_text(info.frame_rate));
}

std::string counts_line(const DecodeCounts& counts, const Playback& playback) {
  std::string line = fmt::format("dropped {}  late {}", counts.dropped, playback.late_count());
  if (counts.concealed > 0) line += fmt::format("  concealed {}", counts.concealed);
  if (counts.broken > 0) line += fmt::format("  broken {}", counts.broken);
  return line;
}

}  // namespace

std::string psnr_text(const SquaredError& error, PixelFormat format) {
  const auto decibels = [](double db) {
    return std::isinf(db) ? std::string("equal") : fmt::format("{:.2f}", db);
  };
  if (std::isinf(error.psnr())) return "PSNR: all samples are equal";
  std::string text = fmt::format("PSNR {:.2f} dB ({} ", error.psnr(), psnr_components(format));
  for (int c = 0; c < error.components; ++c) text += (c == 0 ? "" : ", ") + decibels(error.psnr(c));
  return text + ")";
}

double RateMeter::update(std::int64_t count) {
  constexpr double kWindow = 0.5;
  const double seconds = since_ ? since_->seconds() : 0.0;
  if (since_ && seconds < kWindow) return rate_;
  if (since_) rate_ = static_cast<double>(count - count_) / seconds;
  count_ = count;
  since_.emplace();
  return rate_;
}

std::string Osd::text(PlaySession& session, Playback& playback,
                      const std::optional<SquaredError>& error) {
  const PlayFrame* frame = playback.shown();
  if (frame == nullptr) return "waiting for the first frame";
  const DecodeCounts counts = session.frames->counts();
  std::string text = place_line(*session.input, *frame) + "\n" + mode_line(playback) + "\n" +
                     picture_line(*session.input, *frame) + "\n";
  text += fmt::format("shown {:.1f} fps  decoded {:.1f} fps  ",
                      shown_.update(playback.shown_count()), decoded_.update(counts.decoded));
  text += counts_line(counts, playback) + "\n";
  if (session.input->has_packets())
    text += fmt::format("decode {:.2f} ms  ahead {}  {} bytes  {:.1f} Mb/s\n{}", frame->decode_ms,
                        session.frames->waiting(),
                        with_commas(static_cast<std::int64_t>(frame->jpeg.size())),
                        playback.mean_bits_per_second() * 1e-6,
                        device_text(session.decoding.backend, session.decoding.device));
  else
    text += fmt::format("ahead {}  decoded as it is read", session.frames->waiting());
  if (session.other)
    text += fmt::format("\n{}", error ? psnr_text(*error, frame->frame.format()) : "PSNR -");
  return text;
}

std::string time_text(double seconds) {
  const auto ms = std::llround(std::max(seconds, 0.0) * 1000.0);
  const auto minutes = ms / 60000;
  const std::string rest = fmt::format("{:02}.{:03}", ms / 1000 % 60, ms % 1000);
  if (minutes < 60) return fmt::format("{}:{}", minutes, rest);
  return fmt::format("{}:{:02}:{}", minutes / 60, minutes % 60, rest);
}

}  // namespace zerorun::app
