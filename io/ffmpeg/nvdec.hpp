// Video decoded by the GPU's own decoder (NVDEC), through libavcodec's CUDA frames.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>

#include "io/ffmpeg/av.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::io::av {

/// A decoder that puts pictures into the memory of CUDA `device`, where it can: some profiles and
/// sizes show in the first picture. Errors: device_unsuitable with the reason.
Result<CodecPtr> open_nvdec(const AVStream& stream, int device);

bool is_on_device(const AVFrame& picture) noexcept;

/// The picture in host memory, with all that is known about it. Errors: device_failure.
Result<FramePtr> download(const AVFrame& picture);

/// Counts the pictures of a decoder that are handed out, which may outlive it.
class SurfacePool {
 public:
  /// Pictures that a decoder of open_nvdec() can leave to others. It needs those that it refers to
  /// itself, at most 16 in H.264 and HEVC, and NVDEC has 32.
  static constexpr int kMost = 12;

  /// nullptr if too many are out, or if the picture has a layout or coding that has no surface.
  std::shared_ptr<const DeviceSurface> hand_out(const AVFrame& picture);

 private:
  std::shared_ptr<std::atomic<int>> out_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace zerorun::io::av
