// What a run of `zerorun play` did, for people and for programs.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>

#include "apps/common/psnr.hpp"
#include "apps/common/timing.hpp"
#include "apps/play/decode_ahead.hpp"

namespace zerorun::app {

/// The sound that was played.
struct SoundReport {
  std::string driver;   ///< SDL's: "pulseaudio", "alsa", ...
  double seconds = 0;   ///< of sound
  double drift_ms = 0;  ///< distance of the clock from the sound, a moving average
};

struct PlayReport {
  std::string input;
  std::string device;
  std::vector<LostDevice> lost_devices;  ///< that failed while others went on
  int width = 0, height = 0;
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

  /// Adds a pair of frames to `error`.
  void add_error(const SquaredError& of_pair, PixelFormat format);
  void add_ssim(double of_pair) {
    ssim_sum += of_pair;
    ++ssim_pairs;
  }
  std::string text() const;
  nlohmann::json json() const;
};

/// "Y Cb Cr", "RGB" or "Y": the components whose errors are summed.
const char* psnr_components(PixelFormat format) noexcept;

/// As JSON on stdout, or as text on stderr.
void print_report(const PlayReport& report, bool as_json);

}  // namespace zerorun::app
