// The small kernels beside the two large ones: they bring samples and streams from one place in
// device memory to another.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "codec/pipeline/size_control.hpp"
#include "cuda/encode/frame_kernels.hpp"
#include "cuda/encode/tuning.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// `out` is a yuv420p frame of the same size in device memory. Gives the samples that
/// codec/arith/sample_terms.hpp defines, as io does for pictures in host memory.
Status convert_surface(const DeviceSurface& surface, const FrameView& out, cudaStream_t stream);

/// All pointers are device memory.
struct CopySampleArgs {
  SampleGrid grid;
  int components;
  /// Samples along the edges of a tile, by component.
  int tile_wide[kMaxComponents], tile_high[kMaxComponents];
  PlanePlace from[kMaxComponents];
  std::uint8_t* to[kMaxComponents];  ///< rows follow each other; aligned to 8
};

Status copy_sample(const CopySampleArgs& args, cudaStream_t stream);

/// All pointers but `sizes_on_host` are device memory, aligned to kStep; so are rooms.
struct PackStreamsArgs {
  static constexpr std::size_t kStep = 16;  ///< a packed stream starts at a multiple of this

  const std::uint8_t* rooms;  ///< one behind the other
  std::uint8_t* packed;       ///< as large as all rooms together
  const std::uint64_t* sizes;
  std::uint64_t* sizes_on_host;  ///< pinned memory: a copy of `sizes`
  std::uint32_t streams;         ///< 1 to kMaxFrames
  std::uint64_t room[kMaxFrames];

  /// Bytes of a stream in `packed`: none where it is larger than its room.
  static ZR_HD constexpr std::uint64_t packed_bytes(std::uint64_t size, std::uint64_t room) {
    return size <= room ? round_up(size, std::uint64_t{kStep}) : 0;
  }
};

Status pack_streams(const PackStreamsArgs& args, cudaStream_t stream);

}  // namespace zerorun
