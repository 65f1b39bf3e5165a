// The image that is being decoded, in device memory.
// SPDX-License-Identifier: MIT
#include "cuda/decode/device_image.hpp"

#include <algorithm>

#include "codec/arith/integer.hpp"
#include "codec/base/place_planes.hpp"
#include "cuda/stages/color_upsample_unless.hpp"

namespace zerorun {

/// Rows of the image's own memory start on whole sectors.
static constexpr std::int64_t kPitchAlign = 128;

DeviceImage::~DeviceImage() {
  if (own_stream_.get() != nullptr) ignore_failure(cudaStreamSynchronize(own_stream_.get()));
}

Status DeviceImage::wait() const {
  ZR_CUDA_TRY(cudaStreamSynchronize(stream()));
  return Status::ok();
}

Status DeviceImage::begin(const FrameHeader& frame, const FrameView* direct, bool luma_only) {
  frame_ = frame;
  is_direct_ = direct != nullptr;
  scanned_.fill(false);
  expected_.reset();
  is_converted_ = false;
  for (std::size_t c = 0; c < components(); ++c) {
    PlaneView& plane = planes_[c];
    plane = {nullptr, 0, frame.components[c].width, frame.components[c].height};
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

ScanPlanes DeviceImage::open(const ScanHeader& scan) {
  ScanPlanes planes;
  is_converted_ = false;
  for (std::size_t i = 0; i < scan.components.size(); ++i) {
    const auto c = static_cast<std::size_t>(scan.components[i]);
    scanned_[c] = true;
    planes[i] = planes_[c];
  }
  return planes;
}

Status DeviceImage::upload_plane(std::size_t component, const PlaneView& from) {
  if (planes_[component].data == nullptr) return Status::ok();
  scanned_[component] = true;
  is_converted_ = false;
  return upload(planes_[component], from);
}

Status DeviceImage::upload(const PlaneView& to, const PlaneView& from) const {
  const auto width = static_cast<std::size_t>(to.width);
  // Rows may lie in memory from the last one to the first, which no copy of CUDA allows.
  const int at_once = to.stride_bytes >= to.width ? to.height : 1;
  for (int y = 0; y < to.height; y += at_once)
    ZR_CUDA_TRY(cudaMemcpy2DAsync(
        to.data + y * to.stride_bytes,
        at_once == 1 ? width : static_cast<std::size_t>(to.stride_bytes),
        from.data + y * from.stride_bytes, static_cast<std::size_t>(from.stride_bytes), width,
        static_cast<std::size_t>(at_once), cudaMemcpyHostToDevice, stream()));
  return Status::ok();
}

Status DeviceImage::fill_missing() {
  for (std::size_t c = 0; c < components(); ++c) {
    const PlaneView& plane = planes_[c];
    if (scanned_[c] || plane.data == nullptr) continue;
    const bool upwards = plane.stride_bytes < 0;
    std::uint8_t* const lowest = plane.data + (upwards ? plane.height - 1 : 0) * plane.stride_bytes;
    const auto width = static_cast<std::size_t>(plane.width);
    const auto stride =
        static_cast<std::size_t>(upwards ? -plane.stride_bytes : plane.stride_bytes);
    // The stride of a single row may be anything.
    ZR_CUDA_TRY(cudaMemset2DAsync(lowest, std::max(stride, width), 128, width,
                                  static_cast<std::size_t>(plane.height), stream()));
  }
  return Status::ok();
}

Status DeviceImage::convert_early(const std::uint32_t* skip, const StepProbe& probe) {
  const auto scanned = std::span(scanned_).first(components());
  if (is_direct_ || !expected_ || std::ranges::find(scanned, false) != scanned.end())
    return Status::ok();
  return convert(skip, expected_->model, expected_->upsampling, expected_->out, probe);
}

/// Into the caller's frame, if that is device memory, or else into one of the same format.
Status DeviceImage::convert(const std::uint32_t* skip, ColorModel model,
                            ChromaUpsampling upsampling, const FrameView& out,
                            const StepProbe& probe) {
  converted_ = out;
  if (!has_device_frames()) {
    converted_ = {out.format, out.width, out.height, {}, {}};
    const std::size_t bytes = place_planes(converted_, nullptr, kPitchAlign);
    ZR_TRY(frame_memory_.reserve(static_cast<std::int64_t>(bytes)));
    place_planes(converted_, frame_memory_.data(), kPitchAlign);
  }
  ZR_TRY(announce(probe, "color_upsample"));
  Exec queue = exec();
  ZR_TRY(color_upsample_unless(
      skip, make_upsample_args(frame_, planes_.data(), model, upsampling, converted_, out.height),
      queue));
  is_converted_ = true;
  return announce(probe, "");
}

bool DeviceImage::is_complete() const {
  for (std::size_t c = 0; c < components(); ++c)
    if (!scanned_[c] && planes_[c].data != nullptr) return false;
  return is_ready();
}

Status DeviceImage::write_device_frame(ColorModel model, ChromaUpsampling upsampling,
                                       const FrameView& out) {
  ZR_TRY(fill_missing());
  return is_ready() ? Status::ok() : convert(nullptr, model, upsampling, out, {});
}

Status DeviceImage::write_host_frame(ColorModel model, ChromaUpsampling upsampling,
                                     const FrameView& out, const StepProbe& probe) {
  ZR_TRY(fill_missing());
  if (!is_ready()) ZR_TRY(convert(nullptr, model, upsampling, out, probe));
  std::vector<PlaneCopy> copies;
  for (int p = 0; p < plane_count(out.format); ++p) {
    const auto i = static_cast<std::size_t>(p);
    const std::ptrdiff_t pitch = is_direct_ ? planes_[i].stride_bytes : converted_.stride_bytes[i];
    copies.push_back({is_direct_ ? planes_[i].data : converted_.data[i],
                      static_cast<std::size_t>(pitch), out.data[i], out.stride_bytes[i],
                      plane_row_bytes(out.format, p, out.width),
                      static_cast<std::size_t>(plane_rows(out.format, p, out.height))});
  }
  return download_.run(copies, stream(), probe);
}

Status DeviceImage::write_planes(std::vector<ComponentPlane>& out) {
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

}  // namespace zerorun
