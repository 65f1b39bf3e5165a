// The frames of a case in host memory: a few pictures of one size, or a batch of many sizes.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/bench/result.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::app::bench {

/// A frame whose memory holds whole MCUs, with repeated edges: libjpeg's raw data needs them.
class PaddedFrame {
 public:
  static Result<PaddedFrame> create(PixelFormat format, int width, int height);
  static Result<PaddedFrame> copy_of(const ConstFrameView& frame);

  /// Keeps the memory when it is large enough. Contents are undefined.
  Status reshape(PixelFormat format, int width, int height);

  FrameView view() noexcept { return view_; }
  ConstFrameView view() const noexcept { return view_; }

  /// Fills the rest of the MCUs from the samples.
  void repeat_edges() noexcept;

 private:
  Frame memory_;
  FrameView view_;
};

struct FrameSet {
  std::string input;
  std::vector<PaddedFrame> frames;
  /// The input's own streams, where they are measured; `frames` is then what the CPU decodes.
  std::vector<std::vector<std::byte>> streams;
  bool mixed = false;  ///< sizes, and formats of `streams`, may differ

  ConstFrameView view(std::size_t i) const { return frames[i].view(); }
  std::size_t size() const noexcept { return frames.size(); }
  double raw_bytes() const;     ///< mean bytes of a frame without padding
  std::size_t largest() const;  ///< index of the frame with the most pixels
};

/// Sizes of the pieces that are cut out of frames for a mixed batch.
struct Megapixels {
  double least = 0, most = 0;
  bool operator==(const Megapixels&) const = default;
};

struct FrameRequest {
  std::string input;  ///< a file, a sequence, or synthetic:WxH:KIND
  /// Unset: as the streams store them; only with own_streams.
  std::optional<PixelFormat> format;
  std::size_t count = 4;  ///< at most
  bool own_streams = false;
  bool mixed = false;             ///< sizes may differ; otherwise all have that of the first
  std::optional<Megapixels> cut;  ///< of a mixed batch
  std::optional<std::int64_t> max_pixels;  ///< of a JPEG image
  bool operator==(const FrameRequest&) const = default;
};

/// Copies the samples of a frame of the same format and size.
void copy_samples(const ConstFrameView& from, const FrameView& to) noexcept;

/// Bytes of the samples of one frame.
std::size_t frame_bytes(PixelFormat format, int width, int height) noexcept;

/// Fills in what the case learns from its frames: size, format, properties of the streams.
void describe(const FrameSet& set, Case& what);

/// Ends the command (exit 3) if there is no frame.
FrameSet load_frames(const FrameRequest& request);

/// The part of load_frames() that keeps the streams of a JPEG input.
FrameSet load_streams(const FrameRequest& request);

/// `count` pieces of `set`'s frames, the same on every machine. Areas are spread evenly over the
/// logarithm; a frame that is too small is mirrored at its edges.
FrameSet cut_pieces(const FrameSet& set, const Megapixels& sizes, std::size_t count);

/// Kinds of pictures that can be made, photo first.
std::vector<std::string> synthetic_kinds();
/// Whether the input is synthetic:WxH:KIND, frames made by name and size.
bool is_synthetic(const std::string& input) noexcept;
/// Ends the command (exit 2) if the text after "synthetic:" is not WxH:KIND.
void check_synthetic(const std::string& input);
/// Frame `number` of the series; the same on every machine. Errors: out_of_memory.
Result<Frame> make_synthetic(const std::string& input, PixelFormat format, std::size_t number);

}  // namespace zerorun::app::bench
