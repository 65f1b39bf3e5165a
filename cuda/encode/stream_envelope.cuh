// Writes what stands in front of a scan: bytes that are known before the frame is coded, and the
// entries of its index.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/encode/assemble.hpp"

namespace zerorun::cuda_encode {

/// Calls copy(from, to) for each run of bytes in [0, end) that holds no index entries. The whole
/// index lies in front of `end`.
template <typename Copy>
__device__ void without_entries(const ScanIndexPlace& index, std::uint32_t end, const Copy& copy) {
  std::uint32_t begin = 0;
  for (std::uint32_t g = 0; g < index.groups; g += kIndexSegmentEntries) {
    const std::uint32_t here = min(index.groups - g, std::uint32_t{kIndexSegmentEntries});
    const auto first = static_cast<std::uint32_t>(index_entry_offset(index, g));
    copy(begin, first);
    begin = first + here * static_cast<std::uint32_t>(kIndexEntryBytes);
  }
  copy(begin, end);
}

/// Copies a frame's header but for index entries; by the frame's first CTA.
template <int kThreads>
__device__ void copy_header(const StreamEnvelope& stream, const FrameOutput& output,
                            std::uint32_t bytes) {
  const std::uint8_t* const header = stream.header + blockIdx.y * stream.stride;
  without_entries(stream.index, bytes, [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = begin + threadIdx.x; i < end; i += kThreads) output.out[i] = header[i];
  });
}

/// Writes the entries of the scan index, by all CTAs of a frame. `fits`: the header does.
template <int kThreads>
__device__ void write_index(const AssembleArgs& a, const FrameOutput& output, bool fits) {
  for (std::uint64_t g = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; g < a.grid.groups;
       g += std::uint64_t{gridDim.x} * kThreads) {
    const std::uint64_t index = blockIdx.y * a.grid.groups + g;
    std::uint32_t& sums = a.group_sums[index];
    const IndexEntry entry{static_cast<std::uint16_t>(sums),
                           static_cast<std::uint16_t>(sums >> 16)};
    sums = 0;
    if (a.entries != nullptr)
      a.entries[index] = entry;
    else if (fits)
      put_index_entry(output.out + index_entry_offset(a.stream.index, g), entry);
  }
}

}  // namespace zerorun::cuda_encode
