// The frames that zerorunenc has in flight, and the thread that delivers them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <gst/video/gstvideoencoder.h>
#include <string>
#include <gst/gst.h>

#include "io/samples/samples.hpp"
#include "zerorun/async.hpp"
#include "zerorun/status.hpp"

namespace zerorun::gst {

struct EncoderSettings {
  int quality = 90;
  int restart_interval = -1;  ///< MCUs; -1 automatic, 0 none
  HuffmanTables huffman = HuffmanTables::standard;
  int subsampling = -1;  ///< a Subsampling; -1 as in the input
  std::string device = "auto";
  int depth = 4;
  Tune tune = Tune::exact;
  Effort effort = Effort::fast;
  QuantTables tables = QuantTables::automatic;
  int bitrate = 0;         ///< bits a second; 0: quality decides
  int max_frame_size = 0;  ///< bytes; 0: none
  double target_psnr = 0;  ///< dB; 0: none
  double target_ssim = 0;  ///< 0: none
  bool progressive = false;
};

/// The properties have the ids 1 to `kSettingCount`.
inline constexpr guint kSettingCount = 14;

void install_settings(GObjectClass* type);
void set_setting(EncoderSettings& settings, guint id, const GValue* value);
void get_setting(const EncoderSettings& settings, guint id, GValue* value);

/// Chooses lanes and threads so that `depth` frames use all cores. Errors: invalid_argument
/// (device), those of resolve_backend().
Result<AsyncEncodeParams> encode_params(const EncoderSettings& settings);

/// A codec frame, the mapping of its samples, and when it came.
struct PendingFrame {
  struct Release {
    void operator()(GstVideoCodecFrame* owned) const noexcept {
      gst_video_codec_frame_unref(owned);
    }
    void operator()(GstVideoFrame* mapped) const noexcept {
      gst_video_frame_unmap(mapped);
      delete mapped;
    }
  };
  std::unique_ptr<GstVideoCodecFrame, Release> frame;
  std::unique_ptr<GstVideoFrame, Release> samples;
  gint64 since_us = g_get_monotonic_time();
  std::shared_ptr<RateControl> rate;  ///< that gave its budget; null: none
  std::int64_t number = 0;            ///< of the frame, for `rate`
};

/// Settings that may change from frame to frame.
struct FrameSettings {
  int quality;
  int bitrate;         ///< bits a second; 0: none
  int max_frame_size;  ///< bytes; 0: none
  double target_psnr;  ///< dB; 0: none
  double target_ssim;  ///< 0: none
};

/// One thread at a time may call members, and must not hold the lock that `deliver` takes.
class EncodeSession {
 public:
  /// Called by the session's thread in the order of submit(). Takes the reference to the frame.
  using Deliver =
      std::function<void(GstVideoCodecFrame* frame, const EncodedFrame& coded, std::int64_t ns)>;

  /// Called by the session's thread for each device that failed, before the next frame.
  using Lose = std::function<void(const LostDevice& lost)>;

  /// Errors: those of AsyncEncoder::create() and coding_of(), out_of_memory.
  static Result<std::unique_ptr<EncodeSession>> create(const AsyncEncodeParams& params,
                                                       const GstVideoInfo& info, Deliver deliver,
                                                       Lose lose);
  EncodeSession(const EncodeSession&) = delete;
  EncodeSession& operator=(const EncodeSession&) = delete;
  ~EncodeSession();

  /// Takes the reference to the frame, even if it fails, and waits for a place in the queue.
  Status submit(GstVideoCodecFrame* frame, const FrameSettings& settings);
  /// Waits until everything is delivered.
  void drain();
  /// Drops what is in flight.
  void discard();

  int in_flight() const noexcept { return encoder_.in_flight(); }
  int lanes() const noexcept { return encoder_.lanes(); }
  Backend backend() const noexcept { return encoder_.backend(); }

 private:
  EncodeSession(AsyncEncoder encoder, const GstVideoInfo& info, Deliver deliver, Lose lose)
      : encoder_(std::move(encoder)),
        info_(info),
        deliver_(std::move(deliver)),
        lose_(std::move(lose)) {}
  void run();
  /// Codes a frame whose smallest stream is above its budget again, with what the bucket has. All
  /// frames before it are coded.
  void code_in_room(const PendingFrame& pending, EncodedFrame& coded);
  void tell_losses() noexcept;
  PendingFrame take(std::uint64_t tag);
  Status enqueue(const ConstFrameView& view, const SubmitOptions& options);
  /// The size goal of the next frame. Waits until the size of an earlier frame is known.
  Result<SizeGoal> size_of(const FrameSettings& settings, PendingFrame& pending);
  Status start_rate(const FrameSettings& settings);
  /// To the planar frame of the same sampling with samples as JPEG means them.
  Status convert(const ConstFrameView& in, Frame& out);

  AsyncEncoder encoder_;
  GstVideoInfo info_;
  Deliver deliver_;
  Lose lose_;
  std::size_t told_losses_ = 0;           // of the session's thread
  std::optional<Encoder> spare_encoder_;  // of the session's thread: for code_in_room()
  std::optional<io::YccToJfif> to_jfif_;  // for samples of another range or matrix than JPEG's
  Frame planes_;                          // of packed and semi-planar input
  std::thread thread_;
  std::uint64_t next_tag_ = 0;
  std::shared_ptr<RateControl> rate_;  // while there is a bitrate
  FrameSettings rate_settings_{};      // what it was told
  std::int64_t next_number_ = 0;       // of its frames

  std::mutex mutex_;  // guards what follows
  std::map<std::uint64_t, PendingFrame> pending_;
  std::vector<Frame> spare_;  // converted frames that came back
};

}  // namespace zerorun::gst
