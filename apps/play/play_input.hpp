// The input of `zerorun play`: JPEG packets for zerorun's decoder, or frames of other formats.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/options.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/source.hpp"

namespace zerorun::app {

/// The pixel format that the player asks for.
enum class Pixels {
  shown,   ///< yuv420p and gray8 as they are, all others as bgrx32
  stored,  ///< as the input stores them
  rgb,     ///< bgrx32
};

struct PlayFrame {
  std::string name;
  std::vector<std::byte> jpeg;  ///< as it is in the input; empty if the input is no JPEG
  Frame frame;
  std::int64_t index = 0;  ///< in the input, counted from 0
  std::int64_t pts = 0;    ///< in the input's time base
  double at = 0.0;         ///< seconds after the first frame
  double duration = 0.0;   ///< seconds
  double decode_ms = 0.0;  ///< 0 if the input delivers decoded frames
  bool is_first = false;   ///< after the start or a seek: shown even if it is late
  DecodeReport report;
  Status problem;  ///< why there is no picture
};

/// The format in which a picture is asked for, if the input stores it as `stored`.
PixelFormat wanted_format(PixelFormat stored, Pixels pixels) noexcept;

/// After the constructor only one thread, the reader, may call read() and seek(). Any thread may
/// call the other members.
class PlayInput {
 public:
  /// Opens the input and reads its first frame ahead. Ends the command on errors.
  PlayInput(const InputOptions& input, const DeviceOptions& device, Pixels pixels);

  const io::SourceInfo& info() const { return packets_ ? packets_->info() : frames_->info(); }
  const std::string& name() const noexcept { return input_.name; }
  bool has_packets() const noexcept { return packets_ != nullptr; }
  bool can_seek() const { return packets_ ? packets_->can_seek() : frames_->can_seek(); }
  /// --fps sets another rate than the input's own, at which its sound could not be in step.
  bool has_own_rate() const noexcept { return input_.fps.known(); }
  bool is_images() const;  ///< a single picture or a sequence of them
  int width() const noexcept { return width_; }
  int height() const noexcept { return height_; }
  /// Of the first frame, as it is asked for.
  PixelFormat format() const noexcept { return format_; }
  /// "4:2:0", for people.
  const std::string& sampling() const noexcept { return sampling_; }
  double frame_seconds() const noexcept;  ///< of one frame at the input's rate
  double duration_seconds() const;        ///< 0 = not known

  /// Reads the next frame; a packet is not decoded. False at the end. After an error the next call
  /// continues with the next frame.
  Result<bool> read(PlayFrame& frame);
  /// The next read() gives the frame that is shown at `pts`.
  Status seek(std::int64_t pts);
  std::int64_t pts_at(double seconds) const noexcept;

 private:
  void open_frames();
  void read_shape(Pixels pixels);
  Result<bool> read_next(PlayFrame& frame);
  double tick_seconds() const noexcept { return info().time_base.value(); }

  InputOptions input_;
  io::SourceOptions options_;
  std::unique_ptr<io::PacketSource> packets_;
  std::unique_ptr<io::FrameSource> frames_;
  std::optional<PlayFrame> first_;
  Status first_status_;
  std::int64_t next_index_ = 0;
  int width_ = 0, height_ = 0;
  PixelFormat format_ = PixelFormat::yuv420p;
  std::string sampling_;
};

}  // namespace zerorun::app
