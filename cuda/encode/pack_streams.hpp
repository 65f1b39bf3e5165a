// The streams of some frames, each in a room of its own -> one behind the other, for one copy to
// the host.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "codec/arith/integer.hpp"
#include "cuda/encode/tuning.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// All pointers but `sizes_on_host` are device memory, aligned to kStep; so are rooms.
struct PackStreamsArgs {
  static constexpr std::size_t kStep = 16;  ///< a packed stream starts at a multiple of this

  const std::uint8_t* rooms;  ///< one behind the other
  std::uint8_t* packed;       ///< as large as all rooms together
  const std::uint64_t* sizes;
  std::uint64_t* sizes_on_host;  ///< pinned memory: a copy of `sizes`
  std::uint32_t streams;         ///< 1 to kMaxFrames
  std::uint64_t room[kMaxFrames];

  /// What a stream takes in `packed`: nothing where it is larger than its room.
  static ZR_HD constexpr std::uint64_t packed_bytes(std::uint64_t size, std::uint64_t room) {
    return size <= room ? round_up(size, std::uint64_t{kStep}) : 0;
  }
};

Status pack_streams(const PackStreamsArgs& args, cudaStream_t stream);

}  // namespace zerorun
