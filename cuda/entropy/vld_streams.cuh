// How parallel decoders read their parts of the bits and write their parts of the symbols.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstdint>

#include "cuda/entropy/vld_table.cuh"

namespace zerorun::cuda_entropy {

inline constexpr int kDecoderThreads = 256;
// By itself ptxas takes 40 registers on 10.0, for a sixth CTA, and spills some.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 1000
#define ZR_DECODER_BOUNDS __launch_bounds__(kDecoderThreads, 5)
#else
#define ZR_DECODER_BOUNDS __launch_bounds__(kDecoderThreads)
#endif

/// Words of each thread's part of the input, on their way through shared memory.
template <int kThreads>
struct RingOfWords {
  static constexpr unsigned kVectors = 4;
  uint4 vector[kVectors][kThreads];
};

/// The bits of the input from a position on, for decoders that know how far they may go. top_up()
/// asks for words long before they are read. All threads of a warp call it at the same time: a load
/// that one of them made in a branch of its own would make all wait. Words after the end read as 0.
template <int kThreads>
class RingReader {
  using Ring = RingOfWords<kThreads>;
  static constexpr unsigned kRingWords = 4 * Ring::kVectors;

 public:
  __device__ RingReader(Ring& ring, const std::uint32_t* in, std::uint64_t words, std::uint64_t at)
      : ring_(&ring.vector[0][threadIdx.x]), in_(in + at / 128 * 4), first_(at / 128 * 4) {
    const std::uint64_t left = words > first_ ? words - first_ : 0;
    words_ = left < 0x40000000u ? static_cast<unsigned>(left) : 0x40000000u;
    is_aligned_ = reinterpret_cast<std::uintptr_t>(in) % sizeof(uint4) == 0;
    for (int group = 0; group < 2; ++group) top_up();
    __pipeline_wait_prior(0);
    ready_ = loaded_;
    next_ = static_cast<unsigned>(at / 32 % 4);
    buffer_ = std::uint64_t{pop()} << 32;
    buffer_ = (buffer_ | pop()) << (at % 32);
    have_ = 64 - static_cast<int>(at % 32);
  }

  /// Enough for 16 codewords of up to 14 bits. What they need beyond is read when they need it.
  __device__ void top_up() {
    if (loaded_ < next_) {
      __pipeline_wait_prior(0);
      loaded_ = next_ / 4 * 4;
    }
    ready_ = loaded_;
    for (int i = 0; i < 2; ++i) {
      if (loaded_ > next_ + kRingWords - 4) break;
      fetch(loaded_);
      loaded_ += 4;
    }
    __pipeline_commit();
    __pipeline_wait_prior(1);
  }

  /// At least 32 bits are in the window afterwards.
  __device__ void refill() {
    if (have_ >= 32) return;
    buffer_ |= std::uint64_t{pop()} << (32 - have_);
    have_ += 32;
  }
  __device__ unsigned window() const { return static_cast<unsigned>(buffer_ >> 32); }
  /// Precondition: as many bits are in the window.
  __device__ void skip(unsigned bits) {
    buffer_ <<= bits;
    have_ -= static_cast<int>(bits);
  }
  __device__ std::uint64_t position() const {
    return (first_ + next_) * 32 - static_cast<unsigned>(have_);
  }

 private:
  __device__ uint4* slot(unsigned word) const {
    return ring_ + word / 4 % Ring::kVectors * kThreads;
  }
  __device__ void fetch(unsigned at) {
    if (is_aligned_ && at + 4 <= words_) {
      __pipeline_memcpy_async(slot(at), in_ + at, sizeof(uint4));
      return;
    }
    *slot(at) = uint4{word(at), word(at + 1), word(at + 2), word(at + 3)};
  }
  __device__ unsigned word(unsigned at) const { return at < words_ ? in_[at] : 0; }
  __device__ unsigned pop() {
    const unsigned at = next_++;
    return at < ready_ ? reinterpret_cast<const unsigned*>(slot(at))[at % 4] : word(at);
  }

  uint4* ring_;
  const std::uint32_t* in_;  // at the word `first_`; the others count from there
  std::uint64_t first_;
  unsigned words_;
  unsigned next_ = 0;     // to be read
  unsigned ready_ = 0;    // words before it that were not read are in the ring
  unsigned loaded_ = 0;   // words before it were asked for
  std::uint64_t buffer_;  // left-aligned
  int have_;
  bool is_aligned_;
};

/// The codeword at the reader's front, which is moved past it; 0: there is none. Precondition: the
/// reader was refilled, and at most one codeword of up to kFastBits was read since. After a longer
/// one it is refilled.
template <typename Reader>
__device__ unsigned take_codeword(const DecodeTable& table, Reader& reader) {
  unsigned found = table.fast[reader.window() >> (32 - kFastBits)];
  if (found >= 256) {
    reader.skip(found >> 8);
    return found;
  }
  reader.refill();
  found = find_long_codeword(table, reader.window(), found);
  reader.skip(found >> 8);
  reader.refill();
  return found;
}

/// 32 bytes, the first one lowest.
struct Sector {
  std::uint32_t word[8];

  __device__ uint4 half(bool upper) const {
    return upper ? uint4{word[4], word[5], word[6], word[7]}
                 : uint4{word[0], word[1], word[2], word[3]};
  }
};

/// Stores bytes at consecutive addresses, wherever the first one lies. All threads of a warp call
/// put() at the same time, and no two neighbours are 2^31 bytes apart: they exchange half of what
/// they have, and each stores whole sectors. Half sectors took twice the time.
class SectorWriter {
 public:
  __device__ explicit SectorWriter(std::uint8_t* to)
      : skew_(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(to) % sizeof(Sector))),
        to_(to - skew_) {
    // Neighbours write near each other.
    const auto own = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(to_));
    to_neighbour_ = static_cast<int>(exchange(own) - own);
  }

  /// Where in the first sector the first byte lies.
  __device__ unsigned skew() const { return skew_; }

  /// Stores the bytes from `begin` to `end`, and goes on to the next sector.
  __device__ void put(const Sector& sector, unsigned begin, unsigned end) {
    const bool is_odd = threadIdx.x % 2 != 0;
    const bool whole = begin == 0 && end == sizeof(Sector);
    const bool neighbours_whole = __shfl_xor_sync(kFullWarp, static_cast<unsigned>(whole), 1) != 0;
    const uint4 own = sector.half(is_odd), given = sector.half(!is_odd);
    const uint4 got{exchange(given.x), exchange(given.y), exchange(given.z), exchange(given.w)};
    // Both store their half of the even thread's sector at once, then of the odd one's.
    std::uint8_t* const at = to_ + 16 * is_odd;
    std::uint8_t* const neighbours_at = at + to_neighbour_;
    if (is_odd ? neighbours_whole : whole) store(is_odd ? neighbours_at : at, is_odd ? got : own);
    if (is_odd ? whole : neighbours_whole) store(is_odd ? at : neighbours_at, is_odd ? own : got);
    if (!whole) store_bytes(sector, begin, end);
    to_ += sizeof(Sector);
  }

 private:
  __device__ static unsigned exchange(unsigned value) {
    return __shfl_xor_sync(kFullWarp, value, 1);
  }
  __device__ static void store(std::uint8_t* to, const uint4& half) {
    *reinterpret_cast<uint4*>(to) = half;
  }
  __device__ void store_bytes(Sector sector, unsigned begin, unsigned end) const {
#pragma unroll 1
    for (unsigned i = 0; i < end; ++i) {
      if (i >= begin) to_[i] = static_cast<std::uint8_t>(sector.word[0]);
#pragma unroll
      for (int w = 0; w < 8; ++w)  // the next byte comes to the front
        sector.word[w] = __funnelshift_r(sector.word[w], w < 7 ? sector.word[w + 1] : 0, 8);
    }
  }

  unsigned skew_;
  std::uint8_t* to_;  // at a multiple of 32
  int to_neighbour_;
};

}  // namespace zerorun::cuda_entropy
