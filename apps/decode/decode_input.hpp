// The input of `zerorun decode`: JPEG packets for our decoder, or frames of anything else.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/decode/decode_options.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/io.hpp"

namespace zerorun::app {

/// One frame on its way through the pipeline.
struct DecodeJob {
  std::string name;
  std::vector<std::byte> jpeg;  ///< empty where the input is no JPEG
  Frame frame;
  io::FrameTime time;
  DecodeReport report;
  double microseconds = 0.0;  ///< decoding alone
};

/// Shared with the reader thread, which may outlive the command in a blocked read. All but read()
/// belong to the main thread, before the reader starts, and end the command where they fail.
class DecodeInput {
 public:
  /// JPEG is read as packets, everything else as frames, so that decode also converts. Reads the
  /// first frame ahead: it says what the output has to hold.
  DecodeInput(const DecodeOptions& options, bool for_images);

  const io::SourceInfo& info() const { return packets_ ? packets_->info() : frames_->info(); }
  bool has_packets() const noexcept { return packets_ != nullptr; }
  int width() const noexcept { return width_; }
  int height() const noexcept { return height_; }
  PixelFormat native_format() const noexcept { return native_; }
  /// Of frames; packets are reported one by one.
  std::int64_t concealed_frames() const { return frames_ ? frames_->concealed_frames() : 0; }

  /// Makes frames come in this format; packets are given it by their decoder.
  void want_format(PixelFormat format);

  Result<bool> read(DecodeJob& job);

 private:
  void open_frames(std::optional<PixelFormat> format);
  void read_first();
  void read_shape();
  Result<bool> read_next(DecodeJob& job);

  InputOptions input_;
  DeviceOptions device_;
  bool strict_;  // for frames; the decoder of packets has its own
  bool is_fancy_;
  std::unique_ptr<io::PacketSource> packets_;
  std::unique_ptr<io::FrameSource> frames_;
  std::optional<DecodeJob> first_;
  int width_ = 0, height_ = 0;
  PixelFormat native_ = PixelFormat::yuv420p;
};

}  // namespace zerorun::app
