// High dynamic range (PQ, HLG) to SDR by FFmpeg's filters zscale and tonemap.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "io/ffmpeg/av.hpp"
#include "zerorun/status.hpp"

namespace zerorun::io::av {

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
