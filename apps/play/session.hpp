// The inputs of the player and their decoders, how far two inputs are apart, and what a run did.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/common/figures.hpp"
#include "apps/common/options.hpp"
#include "apps/common/process.hpp"
#include "apps/play/decode_ahead.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::app {

struct KeyHelp {
  std::string_view keys;
  std::string_view text;
};
std::span<const KeyHelp> key_help() noexcept;

enum class CompareView { side, difference };

inline constexpr double kSlowest = 0.01, kFastest = 100.0;  ///< range of --speed

struct PlayOptions {
  InputOptions input;
  DeviceOptions device;
  std::string other;  ///< --compare
  CompareView view = CompareView::side;
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
  bool quiet = false;
  bool verbose = false;
};

/// Empty if the two differ in size or format.
std::optional<SquaredError> compare_error(const ConstFrameView& a, const ConstFrameView& b);

/// |a - b| times `gain`, clipped: black where they agree. Chroma keeps the sign of the difference,
/// around 128. Both must have the same size and format, one that the player can show.
Status make_difference(const ConstFrameView& a, const ConstFrameView& b, int gain, Frame& out);

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

/// Opens the inputs of the command line. `other` is null without --compare.
struct PlaySession {
  explicit PlaySession(const PlayOptions& options);

  /// Starts the decoders; see DecodeAhead for the clock.
  void start(const MediaClock* clock);
  void stop() {
    frames.reset();
    other_frames.reset();
  }
  /// Frames that no thread has begun to decode are decoded there.
  void set_backend(Backend backend, int device);
  void set_scale(int scale);
  /// Fills in the facts on inputs and decoders.
  void describe(PlayReport& report) const;

  std::shared_ptr<PlayInput> input, other;
  std::unique_ptr<DecodeAhead> frames, other_frames;
  DecodeAhead::Decoding decoding;

 private:
  void go_to_start(PlayInput& which) const;

  double start_seconds_;
};

/// Both write NAME-INDEX.ext into `directory`, or NAME-INDEX-2.ext and so on if that exists, and
/// return the path. save_jpeg() writes the bytes of the input unchanged. save_picture() writes PNG,
/// or PPM in a build without OpenCV; JPEG is decoded again to RGB, with the chroma filter of the
/// decoder instead of the screen's.
Result<std::string> save_jpeg(const PlayInput& input, const PlayFrame& frame,
                              const std::string& directory);
Result<std::string> save_picture(const PlayInput& input, const PlayFrame& frame,
                                 const std::string& directory);

/// --no-window: decodes all frames and drops none. With --compare it measures the PSNR of each
/// pair.
Exit play_headless(const PlayOptions& options, PlaySession& session);
Exit play_in_window(const PlayOptions& options);

}  // namespace zerorun::app
