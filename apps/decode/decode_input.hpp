// The input of `zerorun decode`: JPEG packets for zerorun's decoder, or frames of other formats.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/content.hpp"
#include "apps/common/frame_command.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/io.hpp"

namespace zerorun::app {

struct DecodeOptions : FrameOptions {
  ChromaUpsampling upsampling = ChromaUpsampling::fancy;
  bool strict = false;
  std::string raw_format;  ///< --pix-fmt
  ContentOptions content;
  SampleOptions samples;
};

/// A frame in the pipeline.
struct DecodeJob {
  io::PacketWork packet;  ///< empty if the input is not JPEG
  io::FrameWork picture;  ///< its frame is decoded from the packet, or loaded
  io::Outgoing out;
  Frame turned;  ///< the picture as it is shown, if that is not as it is stored
  DecodeReport report;
  double microseconds = 0.0;      ///< decoding alone
  std::uint64_t source_hash = 0;  ///< XXH3 of the packet or the samples, for a shard's manifest

  const std::string& name() const noexcept { return picture.name; }
  const std::vector<std::byte>& jpeg() const noexcept { return packet.item; }
  Frame& frame() noexcept { return picture.item; }
};

/// Shared with the reader thread, which may outlive the command in a blocked read. The main thread
/// calls the members other than read() before the reader starts; they end the command on errors.
class DecodeInput {
 public:
  /// Opens JPEG as packets and everything else as frames, so that decode can convert it. Reads the
  /// first frame ahead, because the output is opened for its size and format.
  /// `device` decodes the JPEG images of a source of frames.
  DecodeInput(const DecodeOptions& options, const DeviceOptions& device, bool for_images);

  /// Frames after the first one get memory of this kind.
  void use_memory(HostMemory memory) noexcept { memory_ = memory; }

  const io::SourceInfo& info() const { return packets_ ? packets_->info() : frames_->info(); }
  bool has_packets() const noexcept { return packets_ != nullptr; }
  int width() const noexcept { return width_; }
  int height() const noexcept { return height_; }
  PixelFormat native_format() const noexcept { return native_; }
  /// Of frames; the decoder reports on each packet.
  std::int64_t concealed_frames() const { return frames_ ? frames_->concealed_frames() : 0; }

  /// Makes frames come in this format. Packets get it from their decoder. For pictures each frame
  /// is grey or RGB as it is stored.
  void want_format(PixelFormat format);

  /// The two halves of reading. Any number of threads may load jobs at a time.
  Result<bool> read(DecodeJob& job);
  Status load(DecodeJob& job, int threads = 1) const;

 private:
  void open_frames(std::optional<PixelFormat> format);
  void read_first();
  void read_shape();
  Result<bool> read_next(DecodeJob& job);

  InputOptions input_;
  io::SampleRules rules_;
  DeviceOptions device_;
  bool strict_;  // for frames; the decoder of packets knows it, too
  bool is_fancy_;
  bool for_images_;
  HostMemory memory_ = HostMemory::pageable;
  std::unique_ptr<io::PacketSource> packets_;
  std::unique_ptr<io::FrameSource> frames_;
  std::optional<DecodeJob> first_;
  std::int64_t step_;
  int width_ = 0, height_ = 0;
  PixelFormat native_ = PixelFormat::yuv420p;
};

}  // namespace zerorun::app
