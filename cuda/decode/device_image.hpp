// The image that is being decoded: its entropy-coded bytes and its component planes in device
// memory, the stream that works on them, and how the samples get to the caller.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "codec/arith/host_device.hpp"
#include "codec/base/pixel_rows.hpp"
#include "codec/decode/byte_unstuff.hpp"
#include "codec/decode/color_upsample.hpp"
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
  ~DeviceImage() {
    if (own_stream_.get() != nullptr) ignore_failure(cudaStreamSynchronize(own_stream_.get()));
  }
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
  Status begin(const FrameHeader& frame, const FrameView* direct, bool luma_only) {
    frame_ = frame;
    is_direct_ = direct != nullptr;
    scanned_.fill(false);
    expected_.reset();
    is_converted_ = false;
    for (std::size_t c = 0; c < components(); ++c) {
      PlaneView& plane = planes_[c];
      plane = frame.components[c].plane();
      if (luma_only && c > 0) continue;
      if (is_direct_ && callers_stream_) {
        plane.data = direct->data[c];
        plane.stride_bytes = direct->stride_bytes[c];
        continue;
      }
      plane.stride_bytes = round_up(std::int64_t{plane.width}, kPitchAlign);
      ZR_TRY(plane_memory_[c].reserve(plane.stride_bytes * plane.height));
      plane.data = plane_memory_[c].data();
    }
    return Status::ok();
  }
  /// Announces what write_device_frame() or write_host_frame() will be asked for.
  void expect_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out) {
    expected_ = Expected{model, upsampling, out};
  }
  std::size_t components() const { return frame_.components.size(); }
  /// The components of the scan count as scanned from then on.
  ScanPlanes open(const ScanHeader& scan) {
    ScanPlanes planes;
    is_converted_ = false;
    for (std::size_t i = 0; i < scan.components.size(); ++i) {
      const auto c = static_cast<std::size_t>(scan.components[i]);
      scanned_[c] = true;
      planes[i] = planes_[c];
    }
    return planes;
  }

  /// Enqueues the upload of rows of bytes from host memory.
  Status upload(const PlaneView& to, const PlaneView& from) const {
    return for_rows(to, [&](int y, std::size_t rows, std::size_t pitch) {
      return cudaMemcpy2DAsync(
          to.data + y * to.stride_bytes, pitch, from.data + y * from.stride_bytes,
          static_cast<std::size_t>(from.stride_bytes), static_cast<std::size_t>(to.width), rows,
          cudaMemcpyHostToDevice, stream());
    });
  }
  /// Enqueues the upload of a component's samples from host memory; discards a conversion.
  Status upload_plane(std::size_t component, const PlaneView& from) {
    if (planes_[component].data == nullptr) return Status::ok();
    scanned_[component] = true;
    is_converted_ = false;
    return upload(planes_[component], from);
  }

  /// Enqueues the conversion to the frame that is expected, if every component was scanned: behind
  /// the last scan, without waiting for its report. Nothing is converted if `*skip`, in device
  /// memory, is not 0 by then. A new scan discards the conversion.
  Status convert_early(const std::uint32_t* skip, const StepProbe& probe) {
    const auto scanned = std::span(scanned_).first(components());
    if (is_direct_ || !expected_ || std::ranges::find(scanned, false) != scanned.end())
      return Status::ok();
    return convert(skip, expected_->model, expected_->upsampling, expected_->out, probe);
  }

  /// Whether write_device_frame() would have nothing to do.
  bool is_complete() const {
    for (std::size_t c = 0; c < components(); ++c)
      if (is_missing(c)) return false;
    return is_ready();
  }
  /// Components that no scan contained become 128. The first one enqueues its work, the others
  /// return when the samples are there.
  Status write_device_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out) {
    ZR_TRY(fill_missing());
    return is_ready() ? Status::ok() : convert(nullptr, model, upsampling, out, {});
  }
  Status write_host_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out,
                          const StepProbe& probe) {
    ZR_TRY(fill_missing());
    if (!is_ready()) ZR_TRY(convert(nullptr, model, upsampling, out, probe));
    std::vector<PlaneCopy> copies;
    for (int p = 0; p < plane_count(out.format); ++p) {
      const auto i = static_cast<std::size_t>(p);
      const std::ptrdiff_t pitch =
          is_direct_ ? planes_[i].stride_bytes : converted_.stride_bytes[i];
      copies.push_back({is_direct_ ? planes_[i].data : converted_.data[i],
                        static_cast<std::size_t>(pitch), out.data[i], out.stride_bytes[i],
                        plane_row_bytes(out.format, p, out.width),
                        static_cast<std::size_t>(plane_rows(out.format, p, out.height))});
    }
    return download_.run(copies, stream(), probe);
  }
  Status write_planes(std::vector<ComponentPlane>& out) {
    ZR_TRY(fill_missing());
    out.resize(components());
    std::vector<PlaneCopy> copies;
    for (std::size_t c = 0; c < components(); ++c) {
      const PlaneView& plane = planes_[c];
      const auto width = static_cast<std::size_t>(plane.width);
      const auto height = static_cast<std::size_t>(plane.height);
      out[c].width = plane.width;
      out[c].height = plane.height;
      out[c].samples.resize(width * height);
      copies.push_back({plane.data, static_cast<std::size_t>(plane.stride_bytes),
                        out[c].samples.data(), plane.width, width, height});
    }
    return download_.run(copies, stream());
  }

 private:
  /// Rows of the image's own memory start on whole sectors.
  static constexpr std::int64_t kPitchAlign = 128;

  /// Calls work(y, rows, pitch) for all rows of a plane at once. Where the rows lie from the last
  /// one to the first, CUDA cannot copy them at once: then it is called for each row.
  template <typename Work>
  static Status for_rows(const PlaneView& plane, const Work& work) {
    const bool at_once = plane.stride_bytes >= plane.width;
    const int rows = at_once ? plane.height : 1;
    const auto pitch = static_cast<std::size_t>(at_once ? plane.stride_bytes : plane.width);
    for (int y = 0; y < plane.height; y += rows)
      ZR_CUDA_TRY(work(y, static_cast<std::size_t>(rows), pitch));
    return Status::ok();
  }

  bool is_missing(std::size_t component) const {
    return !scanned_[component] && planes_[component].data != nullptr;
  }
  Status fill_missing() {
    for (std::size_t c = 0; c < components(); ++c) {
      if (!is_missing(c)) continue;
      const PlaneView& plane = planes_[c];
      ZR_TRY(for_rows(plane, [&](int y, std::size_t rows, std::size_t pitch) {
        return cudaMemset2DAsync(plane.data + y * plane.stride_bytes, pitch, 128,
                                 static_cast<std::size_t>(plane.width), rows, stream());
      }));
    }
    return Status::ok();
  }
  /// Whether the samples have the format of the frame.
  bool is_ready() const { return is_direct_ || is_converted_; }
  /// Into the caller's frame, if that is device memory, or else into one of the same format.
  Status convert(const std::uint32_t* skip, ColorModel model, ChromaUpsampling upsampling,
                 const FrameView& out, const StepProbe& probe) {
    converted_ = out;
    if (!has_device_frames()) {
      converted_ = {out.format, out.width, out.height, {}, {}};
      const std::size_t bytes = place_planes(converted_, nullptr, kPitchAlign);
      ZR_TRY(frame_memory_.reserve(static_cast<std::int64_t>(bytes)));
      place_planes(converted_, frame_memory_.data(), kPitchAlign);
    }
    ZR_TRY(announce(probe, "color_upsample"));
    Exec queue = exec();
    ColorUpsampleArgs args =
        make_upsample_args(frame_, planes_.data(), model, upsampling, converted_, out.height);
    args.skip = skip;
    ZR_TRY(color_upsample_cuda(args, queue));
    is_converted_ = true;
    return announce(probe, "");
  }

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
  FrameView converted_;        ///< where it lies; host frames: frame_memory_
  ScanPlanes planes_;          ///< of the image's components; without data: not wanted
  std::array<bool, kMaxComponents> scanned_{};
  std::array<DeviceBuffer<std::uint8_t>, kMaxComponents> plane_memory_;
  DeviceBuffer<std::uint8_t> frame_memory_;
};

}  // namespace zerorun
