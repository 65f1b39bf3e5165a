// How one thread classifies entropy-coded bytes: which are data, where restart markers are, where
// another marker ends the scan.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/base/marker.hpp"

namespace zerorun {

/// One 16-byte load.
inline constexpr int kStuffedBytesPerThread = 16;
static_assert(kStuffedBytesPerThread == sizeof(uint4));

/// A byte's meaning follows from itself and the byte before it: an FF gives nothing; the byte after
/// an FF is 00 (data FF), RSTm (a border) or ends the scan; any other byte is data. Only the last
/// FF of a run precedes another byte.
struct StuffedFlags {
  unsigned emit = 0;                  ///< bit i: byte i of the thread gives a clean byte
  unsigned data_ff = 0;               ///< bit i: that byte is FF, and byte i the 00 after it
  unsigned border = 0;                ///< bit i: byte i is the code of RSTm
  int stop = kStuffedBytesPerThread;  ///< first byte that is another marker's code
};

struct StuffedBytes {
  const std::uint8_t* in;
  std::int64_t in_bytes;
  std::int64_t lead;  ///< distance of `in` from the multiple of 16 before it
};

/// The 16 bytes of a thread. `first` may be negative, and the window may reach beyond the end;
/// bytes outside are 0 and not read.
struct StuffedWindow {
  std::uint32_t word[kStuffedBytesPerThread / 4];

  __device__ std::uint8_t byte(int i) const {
    return static_cast<std::uint8_t>(word[i / 4] >> i % 4 * 8);
  }
};
/// True if the input has all of the window, as for nearly every thread.
__device__ inline bool is_inside(const StuffedBytes& input, std::int64_t first) {
  return first >= 0 && first + kStuffedBytesPerThread <= input.in_bytes;
}
__device__ inline StuffedWindow load_window(const StuffedBytes& input, std::int64_t first) {
  if (is_inside(input, first)) {
    const uint4 vector = *reinterpret_cast<const uint4*>(input.in + first);
    return {{vector.x, vector.y, vector.z, vector.w}};
  }
  StuffedWindow window{};
#pragma unroll
  for (int i = 0; i < kStuffedBytesPerThread; ++i) {
    const std::int64_t at = first + i;
    if (at >= 0 && at < input.in_bytes)
      window.word[i / 4] |= static_cast<std::uint32_t>(input.in[at]) << i % 4 * 8;
  }
  return window;
}

/// The byte before number `first`, or 0 if there is none.
__device__ inline std::uint8_t byte_before(const StuffedBytes& input, std::int64_t first) {
  return first > 0 && first <= input.in_bytes ? input.in[first - 1] : std::uint8_t{0};
}

/// As a factor it moves bits 7, 15, 23 and 31 to 0 to 3, and bits 0 to 3 to 0, 8, 16 and 24.
inline constexpr std::uint32_t kNibble = 1u << 21 | 1u << 14 | 1u << 7 | 1;

/// Bit i: byte i equals `value` in the bits of `mask`.
__device__ inline unsigned bytes_like(const StuffedWindow& window, std::uint32_t mask,
                                      std::uint32_t value) {
  constexpr std::uint32_t kOnes = 0x01010101, kLow = 0x7F * kOnes;
  unsigned like = 0;
#pragma unroll
  for (int i = 0; i < kStuffedBytesPerThread / 4; ++i) {
    const std::uint32_t differs = (window.word[i] ^ value * kOnes) & mask * kOnes;
    const std::uint32_t is_zero = ~(((differs & kLow) + kLow) | differs) & ~kLow;
    like |= (is_zero * kNibble >> 28) << 4 * i;
  }
  return like;
}

inline constexpr unsigned kAllBytes = (1u << kStuffedBytesPerThread) - 1;

/// A bit for each of the thread's bytes `from` to `to` - 1.
__device__ inline unsigned bytes_between(std::int64_t from, std::int64_t to) {
  const auto up_to = [](std::int64_t i) {
    const std::int64_t count = min(max(i, std::int64_t{0}), std::int64_t{kStuffedBytesPerThread});
    return (1u << static_cast<unsigned>(count)) - 1;
  };
  return up_to(to) & ~up_to(from);
}

/// Classifies the thread's bytes. `before`: the byte before them, which lane 0 must know; the
/// others get it from the lane before. Called by all threads of a warp.
__device__ inline StuffedFlags classify(const StuffedBytes& input, std::int64_t first,
                                        const StuffedWindow& window, std::uint8_t before) {
  const std::uint32_t last = window.word[kStuffedBytesPerThread / 4 - 1];
  const std::uint32_t of_lane_before = __shfl_up_sync(0xFFFFFFFF, last, 1) >> 24;
  const bool after_ff = (threadIdx.x % 32 != 0 ? of_lane_before : before) == 0xFF;
  const unsigned ff = bytes_like(window, 0xFF, 0xFF);
  const unsigned behind_ff = ff << 1 | (after_ff ? 1 : 0);
  unsigned valid = kAllBytes;
  if (!is_inside(input, first)) valid = bytes_between(-first, input.in_bytes - first);
  StuffedFlags flags;
  unsigned codes = behind_ff & valid & ~ff;  // codes of markers, and zeros
  if (codes != 0) {
    flags.data_ff = codes & bytes_like(window, 0xFF, 0);
    codes &= ~flags.data_ff;
  }
  if (codes != 0) {
    flags.border = codes & bytes_like(window, 0xF8, marker::kRst0);
    const unsigned other = codes & ~flags.border;
    if (other != 0) {
      flags.stop = __ffs(static_cast<int>(other)) - 1;
      valid &= bytes_between(0, flags.stop);
      flags.data_ff &= valid;
      flags.border &= valid;
    }
  }
  flags.emit = valid & ~ff & (~behind_ff | flags.data_ff);
  return flags;
}

__device__ inline StuffedFlags classify(const StuffedBytes& input, std::int64_t first,
                                        const StuffedWindow& window) {
  return classify(input, first, window,
                  threadIdx.x % 32 == 0 ? byte_before(input, first) : std::uint8_t{0});
}

/// The window with the bytes that are to be emitted.
__device__ inline StuffedWindow emitted_bytes(StuffedWindow window, const StuffedFlags& flags) {
#pragma unroll
  for (int i = 0; i < kStuffedBytesPerThread / 4; ++i)
    window.word[i] |= ((flags.data_ff >> 4 * i & 15) * kNibble & 0x01010101) * 0xFF;
  return window;
}

}  // namespace zerorun
