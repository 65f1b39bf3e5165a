// Decodes JPEG streams to frames by zerorun's own decoder.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "io/base/pool.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/convert.hpp"
#include "zerorun/source.hpp"

namespace zerorun::io {

/// The format that stores what the stream stores: its sampling if that has a name, else 4:4:4;
/// rgb24 for RGB streams.
PixelFormat closest_format(const StreamInfo& info) noexcept;

/// Fills in size, format, pixel aspect and rotation.
void describe_jpeg(const StreamInfo& stream, SourceInfo& info);
/// The same by the headers of a packet; where they are damaged, only codec and is_jpeg are set.
void describe_jpeg(std::span<const std::byte> packet, SourceInfo& info);

/// Size and format of video by its first packet, whose headers are more reliable than those of a
/// container with pictures of `height` lines. Damaged headers change nothing.
void describe_video_packet(std::span<const std::byte> packet, int height, SourceInfo& info);

/// Decoders for the threads that load JPEG images: as many as work at a time. Thread-safe.
class JpegDecoders {
 public:
  explicit JpegDecoders(const SourceOptions& options) : options_(options) {}

  /// Counts damage in `work` too. `threads` is that of Incoming::load().
  /// Errors: those of inspect() and Decoder.
  Status decode(std::span<const std::byte> jpeg, const StreamInfo& info, FrameWork& work,
                int threads);

  /// Decodes a packet of a container whose pictures have `height` lines. If its first image has
  /// about half of them and a second image follows, they are the two fields of one picture and are
  /// woven.
  Status decode_packet(std::span<const std::byte> packet, int height, bool bottom_first,
                       FrameWork& work, int threads);

  /// Images so far that were damaged and are concealed.
  std::int64_t concealed() const noexcept { return concealed_; }

 private:
  /// Decoder and memory of one thread.
  struct Coder {
    std::optional<Decoder> decoder;  ///< made at the first image: inputs without JPEG need none
    int threads = 0;
    Frame fields[2];
  };

  /// `stream`: null for images that no profile is for.
  Result<DecodeReport> decode_one(Coder& coder, int threads, std::span<const std::byte> jpeg,
                                  PixelFormat format, Frame& frame,
                                  const StreamInfo* stream = nullptr);
  Status weave(Coder& coder, int threads, std::span<const std::byte> second,
               const StreamInfo& first, bool bottom_first, FrameWork& work);
  void count(const DecodeReport& report, FrameWork& work) noexcept;

  const SourceOptions options_;
  InkDecoder inks_;
  Pool<Coder> coders_;
  std::atomic<std::int64_t> concealed_ = 0;
};

}  // namespace zerorun::io
