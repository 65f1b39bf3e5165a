// Host frames -> device memory.
// SPDX-License-Identifier: MIT
#include "cuda/encode/frame_upload.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "codec/arith/integer.hpp"

namespace zerorun {
namespace {

/// Rows are copied to pinned memory in bands of about so many bytes: while the CPU copies one band,
/// the band before it travels to the device.
constexpr std::size_t kBandBytes = std::size_t{1} << 20;
/// Rows on the device start at whole sectors.
constexpr std::size_t kPitchAlign = 128;

}  // namespace

Status FrameUpload::enqueue(const ConstFrameView& frame, int components, cudaStream_t stream,
                            ConstFrameView& on_device) {
  const auto planes = static_cast<std::size_t>(components == 1 ? 1 : plane_count(frame.format));
  std::array<Plane, 3> plane{};
  std::array<bool, 3> pinned{};
  std::size_t staging_bytes = 0, device_bytes = 0;
  for (std::size_t p = 0; p < planes; ++p) {
    const auto index = static_cast<int>(p);
    const std::size_t row_bytes = plane_row_bytes(frame.format, index, frame.width);
    const auto rows = static_cast<std::size_t>(plane_rows(frame.format, index, frame.height));
    const std::size_t pitch = round_up(row_bytes, kPitchAlign);
    plane[p] = {frame.data[p], frame.stride_bytes[p], row_bytes, rows, pitch};
    const std::uint8_t* const last_row =
        frame.data[p] + static_cast<std::ptrdiff_t>(rows - 1) * frame.stride_bytes[p];
    pinned[p] = frame.stride_bytes[p] > 0 && is_pinned(frame.data[p]) &&
                is_pinned(last_row + row_bytes - 1);
    if (!pinned[p]) staging_bytes += row_bytes * rows;
    device_bytes += pitch * rows;
  }
  ZR_TRY(staging_.reserve(static_cast<std::int64_t>(staging_bytes)));
  ZR_TRY(frame_.reserve(static_cast<std::int64_t>(device_bytes)));
  on_device = {frame.format, frame.width, frame.height, {}, {}};
  std::uint8_t* staging = staging_.data();
  std::uint8_t* target = frame_.data();
  const bool at_once =
      std::all_of(pinned.begin(), pinned.begin() + planes, [](bool is) { return is; }) &&
      lie_as_on_device({plane.data(), planes});
  if (at_once)
    ZR_CUDA_TRY(
        cudaMemcpyAsync(target, plane[0].from, device_bytes, cudaMemcpyHostToDevice, stream));
  for (std::size_t p = 0; p < planes; ++p) {
    on_device.data[p] = target;
    on_device.stride_bytes[p] = static_cast<std::ptrdiff_t>(plane[p].pitch);
    if (at_once) {
      // The copy above has sent it.
    } else if (pinned[p]) {
      ZR_TRY(send(plane[p], target, stream));
    } else {
      ZR_TRY(stage(plane[p], staging, target, stream));
      staging += plane[p].row_bytes * plane[p].rows;
    }
    target += plane[p].pitch * plane[p].rows;
  }
  return Status::ok();
}

/// Whether one copy can carry all planes, since each copy takes microseconds to start.
bool FrameUpload::lie_as_on_device(std::span<const Plane> planes) {
  for (std::size_t p = 0; p < planes.size(); ++p) {
    const Plane& plane = planes[p];
    if (plane.stride != static_cast<std::ptrdiff_t>(plane.pitch) || plane.row_bytes != plane.pitch)
      return false;
    if (p + 1 < planes.size() && planes[p + 1].from != plane.from + plane.pitch * plane.rows)
      return false;
  }
  return true;
}

Status FrameUpload::send(const Plane& plane, std::uint8_t* to, cudaStream_t stream) {
  ZR_CUDA_TRY(cudaMemcpy2DAsync(to, plane.pitch, plane.from, static_cast<std::size_t>(plane.stride),
                                plane.row_bytes, plane.rows, cudaMemcpyHostToDevice, stream));
  return Status::ok();
}

Status FrameUpload::stage(const Plane& plane, std::uint8_t* staging, std::uint8_t* to,
                          cudaStream_t stream) {
  const std::size_t band = std::max<std::size_t>(1, kBandBytes / plane.row_bytes);
  for (std::size_t y = 0; y < plane.rows; y += band) {
    const std::size_t count = std::min(band, plane.rows - y);
    for (std::size_t i = 0; i < count; ++i)
      std::memcpy(staging + i * plane.row_bytes,
                  plane.from + static_cast<std::ptrdiff_t>(y + i) * plane.stride, plane.row_bytes);
    ZR_CUDA_TRY(cudaMemcpy2DAsync(to, plane.pitch, staging, plane.row_bytes, plane.row_bytes, count,
                                  cudaMemcpyHostToDevice, stream));
    staging += count * plane.row_bytes;
    to += count * plane.pitch;
  }
  return Status::ok();
}

}  // namespace zerorun
