// The inputs of the player and their decoders, what is measured on their frames, and what a run
// did.
// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/common/figures.hpp"
#include "apps/common/input_output.hpp"
#include "apps/common/options.hpp"
#include "apps/common/process.hpp"
#include "apps/play/decode_ahead.hpp"
#include "codec/arith/color.hpp"
#include "codec/base/pixel_rows.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::app {

struct KeyHelp {
  std::string_view keys;
  std::string_view text;
};
std::span<const KeyHelp> key_help() noexcept;

/// Which pictures the window shows; the first two and the last are for --compare.
enum class View { side, difference, first, second };

inline constexpr double kSlowest = 0.01, kFastest = 100.0;  ///< range of --speed

struct PlayOptions {
  InputOptions input;
  DeviceOptions device;
  std::string other;  ///< --compare
  View view = View::side;
  double start_seconds = 0.0;
  double speed = 1.0;
  bool loop = false;
  bool paused = false;
  bool full_screen = false;
  bool osd = false;
  int volume = 100;  ///< per cent
  bool mute = false;
  bool was_dropped = false;  ///< the input came by the mouse: the window stays if it is broken
  std::vector<std::string> then = {};  ///< dropped with the input, and played when it is over
  bool autoexit = false;
  bool no_window = false;
  bool json = false;
  std::string save_to = ".";
};

Exit play_in_window(const PlayOptions& options);

/// "Y Cb Cr", "RGB" or "Y": the components whose errors are summed.
inline const char* psnr_components(PixelFormat format) noexcept {
  if (format == PixelFormat::gray8) return "Y";
  return is_rgb(format) ? "RGB" : "Y Cb Cr";
}

/// Whether two pictures can be compared sample by sample.
inline bool have_one_shape(const PlayFrame& a, const PlayFrame& b) noexcept {
  return a.frame.format() == b.frame.format() && a.frame.width() == b.frame.width() &&
         a.frame.height() == b.frame.height() && a.frame.width() > 0;
}

/// The sound that was played.
struct SoundReport {
  std::string driver;   ///< SDL's: "pulseaudio", "alsa", ...
  double seconds = 0;   ///< of sound
  double drift_ms = 0;  ///< distance of the clock from the sound, a moving average
};

struct PlayReport {
  std::string input;
  std::string device;
  int width = 0, height = 0;
  int scale = 1;         ///< of the last frames: a small window decodes at 1 / `scale`
  double seconds = 0.0;  ///< from the first frame to the end of the run
  DecodeCounts counts;
  std::int64_t shown = 0;
  std::int64_t late = 0;            ///< decoded, but the next frame was due already
  std::optional<FrameTimes> times;  ///< --no-window: of every frame
  std::optional<SoundReport> sound;
  std::optional<SquaredError> error;
  std::int64_t compared = 0;  ///< frames in `error`
  double ssim_sum = 0.0;      ///< of `ssim_pairs` of them: in a window not all are measured
  std::int64_t ssim_pairs = 0;
  PixelFormat compared_format = PixelFormat::yuv420p;

  /// Adds the error of a pair, of one shape, and returns it.
  SquaredError add_error(const PlayFrame& a, const PlayFrame& b) {
    const SquaredError of_pair = squared_error(a.frame.view(), b.frame.view());
    if (!error) error.emplace();
    error->add(of_pair);
    ++compared;
    compared_format = a.frame.format();
    return of_pair;
  }
  double add_ssim(const PlayFrame& a, const PlayFrame& b) {
    const double of_pair = luma_ssim(a.frame.view(), b.frame.view());
    ssim_sum += of_pair;
    ++ssim_pairs;
    return of_pair;
  }

  /// As JSON on stdout, or as text on stderr.
  void print(bool as_json) const {
    as_json ? fmt::print("{}\n", json_text(json(), 2)) : console::plain(text());
  }

 private:
  double mean_ms() const { return ratio(counts.total_ms, static_cast<double>(counts.decoded)); }
  double fps() const { return ratio(static_cast<double>(counts.decoded), seconds); }
  double mean_ssim() const { return ratio(ssim_sum, static_cast<double>(ssim_pairs)); }

  std::string text() const {
    std::string text = times ? fmt::format("{}: {} frames, {}x{}, {:.2f} s, {:.1f} fps", input,
                                           counts.decoded, width, height, seconds, fps())
                             : fmt::format("{}: {} frames shown in {:.2f} s, {} decoded", input,
                                           shown, seconds, counts.decoded);
    for (const auto& [word, count] : {std::pair("dropped", counts.dropped),
                                      {"too late", late},
                                      {"concealed", counts.concealed},
                                      {"on the CPU", counts.on_cpu},
                                      {"broken", counts.broken}})
      if (count > 0) text += fmt::format(", {} {}", count, word);
    if (counts.bytes > 0)
      text += fmt::format("\n  JPEG     {} bytes, {:.1f} MB/s", with_commas(counts.bytes),
                          ratio(static_cast<double>(counts.bytes) * 1e-6, seconds));
    if (times && times->count() > 0)
      text += fmt::format("\n  decode   ms per frame: {}", times_text(*times));
    else if (counts.total_ms > 0)
      text += fmt::format("\n  decode   ms per frame: mean {:.2f}, max {:.2f}", mean_ms(),
                          counts.max_ms);
    text += "\n  device   " + device;
    for (const LostDevice& lost : counts.lost_devices)
      text += fmt::format("\n           cuda:{} failed, the others went on: {}", lost.device,
                          lost.why.message());
    if (error)
      text += fmt::format("\n  PSNR     {:.3f} dB over {} frame{} ({})", error->psnr(), compared,
                          compared == 1 ? "" : "s", psnr_components_text(*error));
    if (ssim_pairs > 0)
      text += fmt::format("\n  SSIM     {:.6f} over {} frame{} (Y)", mean_ssim(), ssim_pairs,
                          ssim_pairs == 1 ? "" : "s");
    return text;
  }
  nlohmann::json json() const {
    nlohmann::json out = {{"input", input},
                          {"device", device},
                          {"width", width},
                          {"height", height},
                          {"scale", scale},
                          {"seconds", seconds},
                          {"shown", shown},
                          {"decoded", counts.decoded},
                          {"dropped", counts.dropped},
                          {"late", late},
                          {"concealed_frames", counts.concealed},
                          {"cpu_frames", counts.on_cpu},
                          {"broken_frames", counts.broken},
                          {"bytes", counts.bytes},
                          {"fps", fps()},
                          {"decode_ms", {{"mean", mean_ms()}, {"max", counts.max_ms}}}};
    add_lost_devices(out, counts.lost_devices);
    if (times && times->count() > 0) out["decode_ms"] = times_json(*times);
    if (sound)
      out["sound"] = {
          {"driver", sound->driver}, {"seconds", sound->seconds}, {"drift_ms", sound->drift_ms}};
    if (error) {
      out["compared"] = compared;
      out["psnr_of"] = psnr_components(compared_format);
      add_psnr(out, *error);
      if (ssim_pairs > 0) out["ssim"] = mean_ssim();
    }
    return out;
  }
};

/// The inputs of the command line. `other` is null without --compare.
struct PlaySession {
  /// Opens the inputs. Ends the command on errors.
  explicit PlaySession(const PlayOptions& options) : start_seconds_(options.start_seconds) {
    decoding.backend = choose_backend(options.device);
    decoding.device = options.device;
    decoding.limits = stream_limits(options.input.max_pixels);
    decoding.pixels = options.no_window ? Pixels::stored : Pixels::shown;
    const auto open = [&](const InputOptions& which) {
      return std::make_shared<PlayInput>(which, options.device, decoding.pixels);
    };
    input = open(options.input);
    if (options.start_seconds > 0 && !input->can_seek())
      fail(Exit::usage, options.input.name + ": --start needs a file, because a pipe cannot seek");
    InputOptions second = options.input;
    if (!options.other.empty()) {
      second.name = options.other;
      second.format.clear();
      if (second.name == "-" && options.input.name == "-")
        fail(Exit::usage, "only one of INPUT and --compare can be stdin");
      other = open(second);
    }
    check_max_pixels(options.input.name, options.input.max_pixels,
                     input->info().is_jpeg || (other && other->info().is_jpeg));
    if (!other || input->format() == other->format()) return;
    // Only pictures of the same format can be compared sample by sample.
    decoding.pixels = Pixels::rgb;
    for (auto* each : {&input, &other}) {
      if ((*each)->has_packets() || (*each)->format() == PixelFormat::bgrx32) continue;
      if ((*each)->name() == "-")
        fail(Exit::usage, "stdin cannot be compared with an input of another chroma sampling");
      *each = open(each == &input ? options.input : second);
    }
  }

  /// Starts the decoders; see DecodeAhead for the clock.
  void start(const MediaClock* clock) {
    for (PlayInput* const each : {input.get(), other.get()}) {
      if (start_seconds_ <= 0 || each == nullptr || !each->can_seek()) continue;
      if (const Status status = each->seek(each->pts_at(start_seconds_)); !status)
        fail(Exit::input, each->name(), status);
    }
    frames = std::make_unique<DecodeAhead>(input, decoding, clock);
    if (other) other_frames = std::make_unique<DecodeAhead>(other, decoding, clock);
  }
  void stop() {
    frames.reset();
    other_frames.reset();
  }
  /// Frames that no thread has begun to decode are decoded there.
  void set_backend(Backend backend) {
    decoding.backend = backend;
    frames->set_decoding(decoding);
    if (other_frames) other_frames->set_decoding(decoding);
  }
  void set_scale(int scale) {
    if (std::exchange(decoding.scale, scale) != scale && frames) frames->set_decoding(decoding);
  }
  /// Fills in the facts on inputs and decoders.
  void describe(PlayReport& report) const {
    report.input = input->name();
    report.device = input->has_packets() ? device_text(decoding.backend, decoding.device)
                                         : "not a JPEG stream, decoded while reading";
    report.width = input->width();
    report.height = input->height();
    report.scale = decoding.scale;
    report.counts = frames->counts();
  }

  std::shared_ptr<PlayInput> input, other;
  std::unique_ptr<DecodeAhead> frames, other_frames;
  DecodeAhead::Decoding decoding;

 private:
  double start_seconds_;
};

/// |a - b| times `gain`, clipped: black where they agree. Chroma keeps the sign of the difference,
/// around 128. Both must have one shape, in a format that the player can show.
inline Status make_difference(const PlayFrame& a, const PlayFrame& b, int gain, Frame& out) {
  if (!have_one_shape(a, b)) return Status(Errc::invalid_frame, "the two pictures differ in size");
  const ConstFrameView first = a.frame.view(), second = b.frame.view();
  ZR_TRY(out.reshape(first.format, first.width, first.height));
  const FrameView to = out.view();
  for (int plane = 0; plane < plane_count(to.format); ++plane) {
    const auto p = static_cast<std::size_t>(plane);
    const std::size_t bytes = plane_row_bytes(to.format, plane, to.width);
    for (std::ptrdiff_t y = 0; y < plane_rows(to.format, plane, to.height); ++y) {
      const std::uint8_t* const row_a = first.data[p] + y * first.stride_bytes[p];
      const std::uint8_t* const row_b = second.data[p] + y * second.stride_bytes[p];
      std::uint8_t* const row = to.data[p] + y * to.stride_bytes[p];
      for (std::size_t x = 0; x < bytes; ++x) {
        const int difference = gain * (row_a[x] - row_b[x]);
        const int shown = plane == 0 ? std::abs(difference) : 128 + difference;
        row[x] = static_cast<std::uint8_t>(std::clamp(shown, 0, 255));
      }
    }
  }
  return Status::ok();
}

/// What a line about a pixel needs besides the frame.
struct ProbePlace {
  int x = 0, y = 0;
  double zoom = 1.0;        ///< pixels of the window for a pixel of the picture
  bool may_decode = false;  ///< the frame stands still, so that there is time to decode it again
};

/// The values of a pixel. The player keeps pictures as the screen needs them: 4:2:2 and others are
/// RGB. The stored YCbCr values come from decoding the frame again, once, while it stands still.
class Probe {
 public:
  /// "x 12 y 40  400 %  YCbCr 81 90 240  RGB 254 0 0"
  std::string text(const PlayFrame& frame, const ProbePlace& place) {
    const std::string line =
        fmt::format("x {} y {}  {:.0f} %  ", place.x, place.y, 100 * place.zoom);
    const auto view = stored(frame, place.may_decode);
    if (!view && frame.scale > 1) return line;  // the picture has not the samples of its pixels
    if (!view || is_rgb(view->format)) {
      const Rgb c = rgb_at(frame.scale == 1 ? frame.frame.view() : *view, place);
      // Computed, and not stored: the sign says so.
      const std::string ycc = frame.jpeg.empty() ? ycc_text(rgb_to_ycc(c.r, c.g, c.b), "~") : "";
      return line + ycc + rgb_text(c);
    }
    if (view->format == PixelFormat::gray8)
      return line + fmt::format("Y {}", sample(*view, 0, place.x, place.y));
    const Ycc c = ycc_at(*view, place);
    const bool is_shown_in_full = frame.scale == 1 && frame.frame.format() == PixelFormat::bgrx32;
    return line + ycc_text(c) +
           rgb_text(is_shown_in_full ? rgb_at(frame.frame.view(), place)
                                     : ycc_to_rgb(c.y, c.cb, c.cr));
  }

 private:
  std::optional<ConstFrameView> stored(const PlayFrame& frame, bool may_decode) {
    if (frame.scale == 1 && frame.frame.format() != PixelFormat::bgrx32) return frame.frame.view();
    if (frame.jpeg.empty() || (index_ != frame.index && !may_decode)) return std::nullopt;
    if (std::exchange(index_, frame.index) != frame.index) {
      const auto stream = inspect(frame.jpeg, StreamLimits::any_size());
      auto again = stream ? decode_again(frame, stored_format(*stream)) : stream.status();
      is_broken_ = !again;
      if (again) again_ = *std::move(again);
    }
    if (is_broken_) return std::nullopt;
    return std::as_const(again_).view();
  }
  static std::uint8_t sample(const ConstFrameView& frame, std::size_t plane, std::ptrdiff_t x,
                             std::ptrdiff_t y) {
    return frame.data[plane][y * frame.stride_bytes[plane] + x];
  }
  /// Planar YCbCr of any subsampling.
  static Ycc ycc_at(const ConstFrameView& frame, const ProbePlace& place) {
    // Pixels for each chroma sample, along an axis of `pixels` with `samples`.
    const auto step = [](std::ptrdiff_t pixels, std::ptrdiff_t samples) {
      return samples == 0 ? 1 : (pixels + samples - 1) / samples;
    };
    const auto row = static_cast<std::ptrdiff_t>(plane_row_bytes(frame.format, 1, frame.width));
    const std::ptrdiff_t x = place.x / step(frame.width, row);
    const std::ptrdiff_t y =
        place.y / step(frame.height, plane_rows(frame.format, 1, frame.height));
    return {sample(frame, 0, place.x, place.y), sample(frame, 1, x, y), sample(frame, 2, x, y)};
  }
  /// Of a frame in bgrx32 or rgb24.
  static Rgb rgb_at(const ConstFrameView& frame, const ProbePlace& place) {
    const bool is_bgrx = frame.format == PixelFormat::bgrx32;
    const std::ptrdiff_t x = std::ptrdiff_t{is_bgrx ? 4 : 3} * place.x, red = is_bgrx ? 2 : 0;
    return {sample(frame, 0, x + red, place.y), sample(frame, 0, x + 1, place.y),
            sample(frame, 0, x + 2 - red, place.y)};
  }
  static std::string rgb_text(const Rgb& c) { return fmt::format("RGB {} {} {}", c.r, c.g, c.b); }
  static std::string ycc_text(const Ycc& c, const char* sign = "") {
    return fmt::format("YCbCr {}{} {} {}  ", sign, c.y, c.cb, c.cr);
  }

  Frame again_;  // of frame `index_`, in the format of the stream
  std::int64_t index_ = -1;
  bool is_broken_ = false;  // decoding frame `index_` again failed
};

}  // namespace zerorun::app
