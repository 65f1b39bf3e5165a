// The image that is being decoded: its entropy-coded bytes and its component planes in device
// memory, the stream that works on them, and how the samples get to the caller.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "codec/decode/byte_unstuff.hpp"
#include "codec/pipeline/decode_pipeline.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/transfers.hpp"

namespace zerorun {

/// The number of bytes up to the first marker other than RSTm, including that marker: what has to
/// be sent to the device. Other scans and images may follow.
inline std::size_t scan_extent(std::span<const std::uint8_t> data) {
  return std::min(entropy_end(data) + 2, data.size());
}

/// Planes in device memory, one a scan component, in the scan's order.
using ScanPlanes = std::array<PlaneView, kMaxComponents>;

/// One image at a time; keeps its memory between images. Its device is current in every call.
class DeviceImage {
 public:
  /// `threads` copy a frame to pageable memory (FrameDownload).
  explicit DeviceImage(int threads) : download_(threads) {}
  /// Waits for the image's own stream: no memory may be released that it still uses.
  ~DeviceImage();
  DeviceImage(const DeviceImage&) = delete;
  DeviceImage& operator=(const DeviceImage&) = delete;
  Status create() { return own_stream_.create(); }

  /// From now on frames are device memory, and the work goes to the caller's stream. Before, frames
  /// are host memory, and it goes to the image's own stream.
  void use_device_frames(cudaStream_t stream) { callers_stream_ = stream; }
  bool has_device_frames() const { return callers_stream_.has_value(); }
  cudaStream_t stream() const { return callers_stream_.value_or(own_stream_.get()); }
  Exec exec() { return cuda_exec(stream(), scratch_); }
  Status wait() const { return ZR_CUDA_STATUS(cudaStreamSynchronize(stream())); }

  /// `direct`, if not null: a frame whose planes are the component planes. A device frame is then
  /// written by the scans themselves. `luma_only`: no other component gets a plane.
  Status begin(const FrameHeader& frame, const FrameView* direct, bool luma_only);
  /// Announces what write_device_frame() or write_host_frame() will be asked for.
  void expect_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out) {
    expected_ = Expected{model, upsampling, out};
  }
  std::size_t components() const { return frame_.components.size(); }
  /// The components of the scan count as scanned from then on.
  ScanPlanes open(const ScanHeader& scan);

  /// Enqueues the upload of rows of bytes from host memory.
  Status upload(const PlaneView& to, const PlaneView& from) const;
  /// Enqueues the upload of a component's samples from host memory; discards a conversion.
  Status upload_plane(std::size_t component, const PlaneView& from);

  /// Enqueues the conversion to the frame that is expected, if every component was scanned: behind
  /// the last scan, without waiting for its report. Nothing is converted if `*skip`, in device
  /// memory, is not 0 by then. A new scan discards the conversion.
  Status convert_early(const std::uint32_t* skip, const StepProbe& probe);

  /// Whether write_device_frame() would have nothing to do.
  bool is_complete() const;
  /// Components that no scan contained become 128. The first one enqueues its work, the others
  /// return when the samples are there.
  Status write_device_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out);
  Status write_host_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out,
                          const StepProbe& probe);
  Status write_planes(std::vector<ComponentPlane>& out);

 private:
  bool is_missing(std::size_t component) const {
    return !scanned_[component] && planes_[component].data != nullptr;
  }
  Status fill_missing();
  /// Whether the samples have the format of the frame.
  bool is_ready() const { return is_direct_ || is_converted_; }
  Status convert(const std::uint32_t* skip, ColorModel model, ChromaUpsampling upsampling,
                 const FrameView& out, const StepProbe& probe);

  struct Expected {
    ColorModel model;
    ChromaUpsampling upsampling;
    FrameView out;
  };

  Stream own_stream_;
  std::optional<cudaStream_t> callers_stream_;
  Scratch scratch_;
  FrameDownload download_;
  FrameHeader frame_;
  bool is_direct_ = false;
  std::optional<Expected> expected_;
  bool is_converted_ = false;  ///< the planes, to the frame's format
  FrameView converted_;        ///< where; of host frames in frame_memory_
  ScanPlanes planes_;          ///< of the image's components; without data: not wanted
  std::array<bool, kMaxComponents> scanned_{};
  std::array<DeviceBuffer<std::uint8_t>, kMaxComponents> plane_memory_;
  DeviceBuffer<std::uint8_t> frame_memory_;
};

}  // namespace zerorun
