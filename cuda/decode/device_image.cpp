// The staged decoder's output: what no scan brought, up-sampling, and the way to the host.
// SPDX-License-Identifier: MIT
#include <cstring>

#include "codec/pipeline/cuda_backend.hpp"
#include "codec/pipeline/stage_table.hpp"
#include "cuda/stages/careful_decoder.hpp"

namespace zerorun {

/// Components that no scan brought are 128.
Status StagedDecodePipeline::fill_missing() {
  for (int c = 0; c < components_; ++c) {
    const PlaneView& plane = planes_[c];
    if (scanned_[c] || plane.data == nullptr) continue;
    const auto width = static_cast<std::size_t>(plane.width);
    for (int y = 0; y < plane.height; ++y)  // row by row: a caller's stride may be negative
      ZR_CUDA_TRY(cudaMemsetAsync(plane.data + y * plane.stride_bytes, 128, width, stream()));
  }
  return Status::ok();
}

Status StagedDecodePipeline::upsample(ColorModel model, ChromaUpsampling upsampling,
                                      const FrameView& device_frame) {
  ColorUpsampleArgs args{{},    components_, {},           {}, h_max_, v_max_,
                         model, upsampling,  device_frame, 0,  0};
  args.row_count = device_frame.height;
  for (int c = 0; c < components_; ++c) {
    args.plane[c] = {planes_[c].data, planes_[c].stride_bytes, planes_[c].width, planes_[c].height};
    args.h[c] = h_[c];
    args.v[c] = v_[c];
  }
  Exec queue = exec();
  return cuda_stages().color_upsample(args, queue);
}

/// Into staging_, without what lies between the rows; waits.
Status StagedDecodePipeline::download_plane(const std::uint8_t* from, std::int64_t stride,
                                            std::int64_t width, std::int64_t height) {
  ZR_TRY(staging_.reserve(width * height));
  const auto row_bytes = static_cast<std::size_t>(width);
  ZR_CUDA_TRY(cudaMemcpy2DAsync(staging_.data(), row_bytes, from, static_cast<std::size_t>(stride),
                                row_bytes, static_cast<std::size_t>(height), cudaMemcpyDeviceToHost,
                                stream()));
  return wait();
}

Status StagedDecodePipeline::finish_device_frame(ColorModel model, ChromaUpsampling upsampling,
                                                 const FrameView& out) {
  const DeviceGuard guard(device_);
  ZR_TRY(guard.status());
  ZR_TRY(fill_missing());
  return direct_ ? Status::ok() : upsample(model, upsampling, out);
}

Status StagedDecodePipeline::finish_frame(ColorModel model, ChromaUpsampling upsampling,
                                          const FrameView& out) {
  const DeviceGuard guard(device_);
  ZR_TRY(guard.status());
  ZR_TRY(fill_missing());
  FrameView on_device{out.format, out.width, out.height, {}, {}};
  const auto planes = static_cast<std::size_t>(plane_count(out.format));
  if (direct_) {
    for (std::size_t p = 0; p < planes; ++p) {
      on_device.data[p] = planes_[p].data;
      on_device.stride_bytes[p] = planes_[p].stride_bytes;
    }
  } else {
    std::int64_t offset[3] = {}, total = 0;
    for (std::size_t p = 0; p < planes; ++p) {
      const auto bytes =
          static_cast<std::int64_t>(plane_row_bytes(out.format, static_cast<int>(p), out.width));
      on_device.stride_bytes[p] =
          (bytes + kPlanePitchAlign - 1) / kPlanePitchAlign * kPlanePitchAlign;
      offset[p] = total;
      total += on_device.stride_bytes[p] * plane_rows(out.format, static_cast<int>(p), out.height);
    }
    ZR_TRY(frame_memory_.reserve(total));
    for (std::size_t p = 0; p < planes; ++p) on_device.data[p] = frame_memory_.data() + offset[p];
    ZR_TRY(upsample(model, upsampling, on_device));
  }
  for (std::size_t p = 0; p < planes; ++p) {
    const std::size_t bytes = plane_row_bytes(out.format, static_cast<int>(p), out.width);
    const int rows = plane_rows(out.format, static_cast<int>(p), out.height);
    ZR_TRY(download_plane(on_device.data[p], on_device.stride_bytes[p],
                          static_cast<std::int64_t>(bytes), rows));
    for (int y = 0; y < rows; ++y)
      std::memcpy(out.data[p] + y * out.stride_bytes[p],
                  staging_.data() + static_cast<std::size_t>(y) * bytes, bytes);
  }
  return Status::ok();
}

Status StagedDecodePipeline::finish_planes(std::vector<ComponentPlane>& out) {
  const DeviceGuard guard(device_);
  ZR_TRY(guard.status());
  ZR_TRY(fill_missing());
  out.resize(static_cast<std::size_t>(components_));
  for (std::size_t c = 0; c < out.size(); ++c) {
    const PlaneView& plane = planes_[c];
    out[c].width = plane.width;
    out[c].height = plane.height;
    ZR_TRY(download_plane(plane.data, plane.stride_bytes, plane.width, plane.height));
    const std::int64_t samples = std::int64_t{plane.width} * plane.height;
    out[c].samples.assign(staging_.data(), staging_.data() + samples);
  }
  return Status::ok();
}

}  // namespace zerorun
