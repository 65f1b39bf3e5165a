// Converts pictures of libavcodec in any layout, range and matrix to zerorun frames.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "io/ffmpeg/av.hpp"
#include "io/samples/samples.hpp"
#include "zerorun/content.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun::io::av {

/// The zerorun format that loses least of an FFmpeg format: the sampling of YCbCr, grey, and
/// rgb24 for RGB, palettes and Bayer patterns.
PixelFormat closest_format(AVPixelFormat format) noexcept;

/// The coding that a picture's tags and size say. Errors: bad_input (a matrix that cannot be
/// converted).
Result<YccCoding> coding_of(const AVFrame& picture, bool gray, int depth_bits);

/// Converts between layouts by swscale, without a change of range or matrix.
class FrameScaler {
 public:
  /// Errors: bad_input (a format that swscale does not read).
  Status scale(const AVFrame& picture, AVPixelFormat to, std::uint8_t* const data[],
               const int stride[]);
  /// Into `out`, which is made or made anew where it does not fit. Errors: out_of_memory too.
  Status scale(const AVFrame& picture, AVPixelFormat to, FramePtr& out);

 private:
  ScalerPtr scaler_;
};

/// YccToJfif converts range, matrix and depth exactly. swscale only rearranges samples
/// (semi-planar, packed, big-endian), enlarges rare chroma samplings, and repacks RGB.
class ColourConverter {
 public:
  /// `rules` say what becomes of alpha and of more than 8 bits.
  /// Errors: bad_input (a layout or matrix that cannot be converted), out_of_memory.
  Status convert(const AVFrame& picture, const SampleRules& rules, Frame& out);

 private:
  Status convert_ycc(const AVFrame& picture, PixelFormat format, const SampleRules& rules,
                     Frame& out);
  Status convert_rgb(const AVFrame& picture, const SampleRules& rules, Frame& out);
  Status blend_alpha(const AVFrame& picture, Alpha over, Frame& out);

  FrameScaler scaler_, rgba_scaler_;
  FramePtr planar_, rgba_;
  std::optional<YccToJfif> to_jfif_;
};

bool is_high_range(AVColorTransferCharacteristic transfer) noexcept;

/// A graph of filters for pictures of one size and format. One thread at a time.
class ToneMapper {
 public:
  /// Opens libavfilter. Errors: not_built (it is not installed, or has no zscale).
  static Status load();
  /// `curve` is a word of the filter tonemap. What `picture` does not tell of its colours is set.
  /// `out` is 8-bit BT.709 of limited range. Errors: bad_input, out_of_memory.
  Status map(AVFrame& picture, const std::string& curve, FramePtr& out);

 private:
  struct FreeGraph {
    void operator()(void* graph) const noexcept;
  };

  Status open(const AVFrame& picture, const std::string& curve);

  std::unique_ptr<void, FreeGraph> graph_;
  void *source_ = nullptr, *sink_ = nullptr;  // of the graph
  std::string shape_;                         // what the graph was made for
};

}  // namespace zerorun::io::av
