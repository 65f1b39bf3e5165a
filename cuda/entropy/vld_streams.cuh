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

/// Stores bytes at consecutive addresses, 16 at a time, wherever the first one lies.
class SixteenWriter {
 public:
  __device__ explicit SixteenWriter(std::uint8_t* to)
      : skew_(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(to) % 16)),
        to_(to - skew_),
        begin_(skew_),
        end_(skew_) {}

  /// The first `count` bytes of `low` and `high`; 16 of them but for the last time.
  __device__ void put(std::uint64_t low, std::uint64_t high, unsigned count) {
    const unsigned bits = 8 * (skew_ % 8);
    std::uint64_t next = 0, last = 0;
    if (bits != 0) {
      last = high >> (64 - bits);
      high = high << bits | low >> (64 - bits);
      low <<= bits;
    }
    if (skew_ >= 8) {
      next = high;
      high = low;
      low = 0;
    } else {
      next = last;
      last = 0;
    }
    low_ |= low;
    high_ |= high;
    end_ += count;
    if (end_ < 16) return;
    store(16);
    to_ += 16;
    begin_ = 0;
    end_ -= 16;
    low_ = next;
    high_ = last;
  }

  __device__ void finish() { store(end_); }

 private:
  /// The bytes from begin_ to `end` of low_ and high_.
  __device__ void store(unsigned end) const {
    if (begin_ == 0 && end == 16) {
      *reinterpret_cast<ulonglong2*>(to_) = {low_, high_};
      return;
    }
#pragma unroll 1
    for (unsigned i = begin_; i < end; ++i)
      to_[i] = static_cast<std::uint8_t>((i < 8 ? low_ : high_) >> (8 * (i % 8)));
  }

  unsigned skew_;
  std::uint8_t* to_;  // at a multiple of 16
  unsigned begin_;    // of the bytes at to_, the first that is this writer's and not stored
  unsigned end_;      // after the last
  std::uint64_t low_ = 0, high_ = 0;
};

}  // namespace zerorun::cuda_entropy
