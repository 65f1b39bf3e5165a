// A run of a row of pixels that the lanes of a warp share, through shared memory: each lane has so
// many words of it, and rows may begin at any address.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_pipeline.h>

#include <cstdint>

namespace zerorun {

/// Pixels of a lane.
inline constexpr int kWidePixels = 16;

/// A lane's words come after those of the lane before.
template <int kWords>
struct RunOfWords {
  static_assert(kWords % 4 == 0);
  alignas(16) std::uint32_t word[32 * kWords + 4];

  __device__ void put(int lane, const std::uint32_t (&words)[kWords]) {
    auto* const own = reinterpret_cast<uint4*>(word) + lane * (kWords / 4);
#pragma unroll
    for (int i = 0; i < kWords; i += 4)
      own[i / 4] = {words[i], words[i + 1], words[i + 2], words[i + 3]};
  }

  /// Stores the first `bytes` bytes, neighbouring lanes to neighbouring words. Rows of RGB begin at
  /// any address; the words that lie at whole ones are joined from two of the run. To decode a
  /// photo of 3837x2157 takes 300 us so, and 528 with bytes (H100).
  __device__ void store(int lane, std::uint8_t* to, int bytes) const {
    if (reinterpret_cast<std::uintptr_t>(to) % 16 == 0 && bytes % 16 == 0) {
      for (int i = lane; i < bytes / 16; i += 32)
        reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(word)[i];
      return;
    }
    const int lead = lead_of(to);
    for (int i = lane; 4 * i < lead + bytes; i += 32) {
      const int at = 4 * i - lead;  // the byte of the run that is the word's first
      const std::uint32_t before = lead != 0 && i != 0 ? word[i - 1] : 0;
      const std::uint32_t own = at + lead < bytes ? word[i] : 0;
      const std::uint32_t joined =
          lead == 0 ? own : __funnelshift_r(before, own, static_cast<unsigned>(32 - 8 * lead));
      if (at >= 0 && at + 4 <= bytes) {
        *reinterpret_cast<std::uint32_t*>(to + at) = joined;
        continue;
      }
#pragma unroll
      for (int b = 0; b < 4; ++b)
        if (at + b >= 0 && at + b < bytes) to[at + b] = static_cast<std::uint8_t>(joined >> 8 * b);
    }
  }

  /// Starts loading the first `bytes` bytes, no byte beside them; finish_loads() ends it. The words
  /// that lie at whole addresses stay whole, so that the run begins with byte lead_of(from) of the
  /// first.
  __device__ void load(int lane, const std::uint8_t* from, int bytes) {
    if (reinterpret_cast<std::uintptr_t>(from) % 16 == 0 && bytes % 16 == 0) {
      for (int i = lane; i < bytes / 16; i += 32)
        __pipeline_memcpy_async(word + 4 * i, from + 16 * i, 16);
      return;
    }
    const int lead = lead_of(from);
    for (int i = lane; 4 * i < lead + bytes; i += 32) {
      const int at = 4 * i - lead;
      if (at >= 0 && at + 4 <= bytes)
        __pipeline_memcpy_async(word + i, from + at, 4);
      else
        word[i] = load_part(from, at, bytes);
    }
  }

  /// Waits for all that the lanes of the warp load.
  static __device__ void finish_loads() {
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
  }

  /// The lane's words of a run that begins with byte `lead` of the first.
  __device__ void get(int lane, int lead, std::uint32_t (&words)[kWords]) const {
    const auto* const own = reinterpret_cast<const uint4*>(word) + lane * (kWords / 4);
#pragma unroll
    for (int i = 0; i < kWords; i += 4) {
      const uint4 four = own[i / 4];
      words[i] = four.x, words[i + 1] = four.y, words[i + 2] = four.z, words[i + 3] = four.w;
    }
    if (lead == 0) return;
    const std::uint32_t behind = word[(lane + 1) * kWords];
#pragma unroll
    for (int i = 0; i < kWords; ++i)
      words[i] = __funnelshift_r(words[i], i + 1 < kWords ? words[i + 1] : behind,
                                 static_cast<unsigned>(8 * lead));
  }

  /// The word at byte `at`, of which some bytes do not belong to the run.
  static __device__ std::uint32_t load_part(const std::uint8_t* from, int at, int bytes) {
    std::uint32_t part = 0;
    for (int b = 0; b < 4; ++b)
      if (at + b >= 0 && at + b < bytes) part |= static_cast<std::uint32_t>(from[at + b]) << 8 * b;
    return part;
  }

  static __device__ int lead_of(const std::uint8_t* address) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(address) % 4);
  }
};

}  // namespace zerorun
