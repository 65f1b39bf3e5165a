// How the CPU encode pipelines share out a frame.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/scan_slices.hpp"

#include <algorithm>
#include <cstring>

namespace zerorun {

SlicePlan::SlicePlan(const ScanLayout& layout)
    : mcus_(layout.mcus()), interval_mcus_(layout.interval_mcus()) {
  if (interval_mcus_ <= kSliceMcus) {
    slice_mcus_ = kSliceMcus / interval_mcus_ * interval_mcus_;
    count_ = ceil_div(mcus_, slice_mcus_);
    return;
  }
  slice_mcus_ = kSliceMcus;
  per_interval_ = ceil_div(interval_mcus_, slice_mcus_);
  const std::int64_t before = (layout.intervals() - 1);
  count_ = before * per_interval_ + ceil_div(mcus_ - before * interval_mcus_, slice_mcus_);
}

Slice SlicePlan::operator[](std::int64_t slice) const {
  if (!slices_are_parts()) {
    const std::int64_t first = slice * slice_mcus_, mcus = std::min(slice_mcus_, mcus_ - first);
    return {first, mcus, first / interval_mcus_, ceil_div(mcus, interval_mcus_), true};
  }
  const std::int64_t interval = slice / per_interval_;
  const std::int64_t end = std::min((interval + 1) * interval_mcus_, mcus_);
  const std::int64_t first = interval * interval_mcus_ + slice % per_interval_ * slice_mcus_;
  const std::int64_t mcus = std::min(slice_mcus_, end - first);
  return {first, mcus, interval, 1, first + mcus == end};
}

std::int64_t SlicePlan::end_slice(std::int64_t interval) const {
  return std::min(first_slice(interval + 1), count_);
}

void ScanPieces::start(std::int64_t count) {
  count_ = static_cast<std::size_t>(count);
  if (pieces_.size() < count_) pieces_.resize(count_);
}

std::uint64_t ScanPieces::bytes() const {
  std::uint64_t total = 0;
  for (std::size_t p = 0; p < count_; ++p) total += pieces_[p].size;
  return total;
}

void ScanPieces::copy(std::byte* out) const {
  for (std::size_t p = 0; p < count_; ++p) {
    std::memcpy(out, pieces_[p].bytes.data(), pieces_[p].size);
    out += pieces_[p].size;
  }
}

bool ComponentPlanes::refer(const EncodeSetup& setup, const ConstFrameView& frame) {
  if (!setup.planes_are_components) return false;
  for (int c = 0; c < setup.layout.components; ++c) {
    const auto p = static_cast<std::size_t>(c);
    const auto& component = setup.layout.component[c];
    planes_[c] = {frame.data[p], frame.stride_bytes[p], component.width, component.height};
  }
  return true;
}

ColorSubsampleArgs ComponentPlanes::reserve(const EncodeSetup& setup, const ConstFrameView& frame) {
  ColorSubsampleArgs args{frame, setup.layout.components, setup.h_max, setup.v_max, {},
                          0,     8 * setup.v_max};
  for (int c = 0; c < args.components; ++c) {
    const auto& component = setup.layout.component[c];
    const std::int32_t stride = plane_stride(component);
    args.plane[c] = {memory_[c].reserve(std::int64_t{stride} * component.height), stride, stride,
                     component.height};
    planes_[c] = {args.plane[c].data, stride, stride, component.height};
  }
  return args;
}

}  // namespace zerorun
