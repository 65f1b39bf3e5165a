// Entropy-coded bytes as one thread sees them: which are data, where restart markers stand, where
// another marker ends the scan.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/syntax/marker.hpp"

namespace zerorun {

/// One 16-byte load.
inline constexpr int kStuffedBytesPerThread = 16;
static_assert(kStuffedBytesPerThread == sizeof(uint4));

/// What a byte is follows from itself and the byte before it: an FF gives nothing by itself; the
/// byte behind an FF is 00 (data FF), RSTm (a border) or ends the scan; any other byte is data.
/// However long a run of FF is, only its last one stands before another byte.
struct StuffedFlags {
  unsigned emit = 0;    ///< bit i: byte i of the thread gives a clean byte
  unsigned border = 0;  ///< bit i: byte i is the code of RSTm
  unsigned after_ff = 0;
  int stop = kStuffedBytesPerThread;  ///< first byte that is another marker's code
};

struct StuffedBytes {
  const std::uint8_t* in;
  std::int64_t in_bytes;
  std::int64_t lead;  ///< bytes by which `in` lies behind a multiple of 16
};

/// The 16 bytes of one thread; `first` may be negative or reach beyond the end, where bytes are
/// not read but 0.
struct StuffedWindow {
  std::uint8_t byte[kStuffedBytesPerThread];
};
__device__ inline StuffedWindow load_window(const StuffedBytes& input, std::int64_t first) {
  union {
    uint4 vector;
    StuffedWindow window;
  };
  if (first >= 0 && first + kStuffedBytesPerThread <= input.in_bytes) {
    vector = *reinterpret_cast<const uint4*>(input.in + first);
    return window;
  }
#pragma unroll
  for (int i = 0; i < kStuffedBytesPerThread; ++i) {
    const std::int64_t at = first + i;
    window.byte[i] = at >= 0 && at < input.in_bytes ? input.in[at] : std::uint8_t{0};
  }
  return window;
}

/// Whether an FF stands before the thread's bytes; called by all threads of a warp. The lane before
/// has it in a register.
__device__ inline bool stands_after_ff(const StuffedBytes& input, std::int64_t first,
                                       const StuffedWindow& window) {
  const unsigned last = window.byte[kStuffedBytesPerThread - 1];
  const unsigned before = __shfl_up_sync(0xFFFFFFFF, last, 1);
  if (threadIdx.x % 32 != 0) return before == 0xFF;
  return first > 0 && first <= input.in_bytes && input.in[first - 1] == 0xFF;
}

/// Called by all threads of a warp.
__device__ inline StuffedFlags classify(const StuffedBytes& input, std::int64_t first,
                                        const StuffedWindow& window) {
  StuffedFlags flags;
  bool after_ff = stands_after_ff(input, first, window);
#pragma unroll
  for (int i = 0; i < kStuffedBytesPerThread; ++i) {
    const std::uint8_t byte = window.byte[i];
    const bool valid =
        first + i >= 0 && first + i < input.in_bytes && flags.stop == kStuffedBytesPerThread;
    if (valid && byte != 0xFF) {
      if (!after_ff || byte == 0) {
        flags.emit |= 1u << i;
      } else if (marker::is_rst(byte)) {
        flags.border |= 1u << i;
      } else {
        flags.stop = i;
      }
      if (after_ff) flags.after_ff |= 1u << i;
    }
    after_ff = byte == 0xFF;
  }
  return flags;
}

}  // namespace zerorun
