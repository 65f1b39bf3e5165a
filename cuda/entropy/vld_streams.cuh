// How parallel decoders read their parts of the bits and write their parts of the symbols.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstdint>

#include "cuda/base/architecture.cuh"
#include "cuda/base/kept.hpp"
#include "cuda/base/shared_access.cuh"
#include "cuda/entropy/ring_reader.hpp"
#include "cuda/entropy/vld_table.cuh"

namespace zerorun::cuda_entropy {

inline constexpr int kDecoderThreads = 256;
/// CTAs of a decoder's kernel on a processor. By itself ptxas would take 40 registers on 9.0, for a
/// sixth CTA, and spill some.
constexpr unsigned decoder_ctas(std::size_t shared_bytes) {
  return bounded_ctas(5, kDecoderThreads, shared_bytes);
}

/// Words of each thread's part of the input, on their way through shared memory.
template <int kThreads>
struct RingOfWords {
  static constexpr unsigned kWords = 16;
  alignas(sizeof(uint4)) unsigned word[kThreads][kWords];
};

/// A thread's ring, and the input from the last multiple of 128 bits up to bit `at` on, as words of
/// RingReader. Words after the end read as 0.
template <int kThreads>
class ThreadRing {
  static constexpr unsigned kWords = RingOfWords<kThreads>::kWords;

 public:
  __device__ ThreadRing(RingOfWords<kThreads>& ring, const std::uint32_t* in, std::uint64_t words,
                        std::uint64_t at)
      : ring_(kept(shared_address(ring.word[threadIdx.x]))), first_(at / 128 * 4) {
    const std::uint64_t left = words > first_ ? words - first_ : 0;
    words_ = turn() + (left < 0x40000000u ? static_cast<unsigned>(left) : 0x40000000u);
    first_ -= turn();
    in_ = in + first_;
    is_aligned_ = reinterpret_cast<std::uintptr_t>(in) % sizeof(uint4) == 0;
  }

  /// The first word. Neighbours' rings begin in different fourths, which lie in different banks.
  __device__ static unsigned turn() { return threadIdx.x / 2 % 4 * 4; }
  /// Position of word 0 in the input, in bits, modulo 2^64.
  __device__ std::uint64_t first_bit() const { return first_ * 32; }

  __device__ void ask(unsigned at) const {
    const SharedAddress to = ring_ + at % kWords * sizeof(unsigned);
    if (is_aligned_ && at + 4 <= words_)
      __pipeline_memcpy_async(__cvta_shared_to_generic(to), in_ + at, sizeof(uint4));
    else
      store_four_words(to, {input(at), input(at + 1), input(at + 2), input(at + 3)});
  }
  __device__ static void commit() { __pipeline_commit(); }
  __device__ static void wait() { __pipeline_wait_prior(0); }
  __device__ static void wait_but_last() { __pipeline_wait_prior(1); }
  __device__ unsigned word(unsigned at) const { return load_word(ring_, at % kWords); }

 private:
  __device__ unsigned input(unsigned at) const { return at < words_ ? in_[at] : 0; }

  SharedAddress ring_;
  const std::uint32_t* in_;  // at the word `first_`; the others count from there
  std::uint64_t first_;      // modulo 2^64
  unsigned words_;
  bool is_aligned_;
};

/// The bits of the input from bit `at` on, for decoders that know how far they may go. All threads
/// of a warp call top_up() at the same time: a load that one of them made in a branch of its own
/// would make all wait.
template <int kThreads>
class InputReader : public RingReader<ThreadRing<kThreads>, kFastBits> {
  using Ring = ThreadRing<kThreads>;
  using Base = RingReader<Ring, kFastBits>;
  static_assert(Base::kRingWords == RingOfWords<kThreads>::kWords);

 public:
  __device__ InputReader(RingOfWords<kThreads>& ring, const std::uint32_t* in, std::uint64_t words,
                         std::uint64_t at)
      : Base(Ring(ring, in, words, at), Ring::turn(), static_cast<unsigned>(at % 128)) {}

  __device__ std::uint64_t position() const { return this->ring().first_bit() + Base::position(); }
};

/// 32 bytes, the first one lowest.
struct Sector {
  uint4 low, high;
};

/// The first `bytes` bytes of one sector, and the others of another, which has zeros there.
__device__ inline Sector joined(const Sector& first, unsigned bytes, const Sector& others) {
  const auto word = [&](unsigned at, unsigned begin, unsigned other) {
    const unsigned kept = bytes > at ? min(8 * (bytes - at), 32u) : 0;
    return (begin & ~__funnelshift_lc(0, 0xFFFFFFFFu, kept)) | other;
  };
  const auto& [a, b] = first;
  const auto& [c, d] = others;
  return {{word(0, a.x, c.x), word(4, a.y, c.y), word(8, a.z, c.z), word(12, a.w, c.w)},
          {word(16, b.x, d.x), word(20, b.y, d.y), word(24, b.z, d.z), word(28, b.w, d.w)}};
}

/// The symbols of the codewords from a position on. All threads of a warp call it at the same time.
template <int kThreads>
class SymbolReader {
 public:
  __device__ SymbolReader(const DecodeTable& table, RingOfWords<kThreads>& ring,
                          const std::uint32_t* in, std::uint64_t words, std::uint64_t at)
      : table_(table), fast_(kept(shared_address(table.fast))), reader_(ring, in, words, at) {}

  /// Symbols for all places of a sector, or for those from `from` on: the others are 0 and take no
  /// bits.
  __device__ Sector sector() { return take_sector<false>(0); }
  __device__ Sector sector(unsigned from) { return take_sector<true>(from); }

  /// One symbol after the other, each with its number.
  template <typename Sink>
  __device__ void take(std::uint32_t symbols, Sink&& sink) {
#pragma unroll 1
    for (std::uint32_t n = 0; n < symbols; ++n) {
      if (n % 16 == 0) reader_.top_up();
      sink(n, take_one());
    }
  }

  /// Whether all that was taken were codewords.
  __device__ bool is_sound() const { return is_sound_; }
  __device__ std::uint64_t position() const { return reader_.position(); }

 private:
  template <bool kPartly>
  __device__ Sector take_sector(unsigned from) {
    Sector sector{};
#pragma unroll 1
    for (unsigned place = 0; place < 32; place += 16) {
      reader_.top_up();
      sector.low = sector.high;
      sector.high.x = take_four<kPartly>(place, from);
      sector.high.y = take_four<kPartly>(place + 4, from);
      sector.high.z = take_four<kPartly>(place + 8, from);
      sector.high.w = take_four<kPartly>(place + 12, from);
    }
    return sector;
  }
  template <bool kPartly>
  __device__ unsigned take_four(unsigned place, unsigned from) {
    const unsigned low = take_two<kPartly>(place, from);
    return __byte_perm(low, take_two<kPartly>(place + 2, from), 0x5410);
  }

  template <bool kPartly>
  __device__ unsigned take_two(unsigned place, unsigned from) {
    reader_.refill();
    unsigned first = look_up(reader_.window());
    if (kPartly && place < from) first = 0;
    unsigned second = look_up(reader_.window() << first / 256);
    if (kPartly && place + 1 < from) second = 0;
    const bool first_is_long = first < 256 && !(kPartly && place < from);
    const bool second_is_long = second < 256 && !(kPartly && place + 1 < from);
    if (first_is_long || second_is_long) [[unlikely]]
      return take_long_two(kPartly && place < from ? min(from - place, 2u) : 0);
    reader_.skip(first / 256 + second / 256);
    return __byte_perm(first, second, 0x3340);
  }

  /// The same, whatever their lengths, without the first `absent` ones of the two.
  __device__ unsigned take_long_two(unsigned absent) {
    unsigned two = 0;
#pragma unroll 1
    for (unsigned n = 0; n < 2; ++n) two = two / 256 | (n < absent ? 0 : take_one()) * 256;
    return two;
  }
  __device__ unsigned take_one() {
    reader_.refill();
    unsigned found = look_up(reader_.window());
    if (found < 256) found = find_long_codeword(table_.list, reader_.window(), found);
    is_sound_ = is_sound_ && found != 0;
    reader_.skip_long(found / 256);
    return found % 256;
  }
  __device__ unsigned look_up(unsigned window) const {
    return load_half(fast_, window >> (32 - kFastBits));
  }

  const DecodeTable& table_;
  SharedAddress fast_;
  InputReader<kThreads> reader_;
  bool is_sound_ = true;
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
    const uint4 own = is_odd ? sector.high : sector.low, given = is_odd ? sector.low : sector.high;
    const uint4 got{exchange(given.x), exchange(given.y), exchange(given.z), exchange(given.w)};
    // Both store their half of the even thread's sector at once, then of the odd one's.
    std::uint8_t* const at = to_ + 16 * is_odd;
    std::uint8_t* const neighbours_at = at + to_neighbour_;
    if (is_odd ? neighbours_whole : whole) store(is_odd ? neighbours_at : at, is_odd ? got : own);
    if (is_odd ? whole : neighbours_whole) store(is_odd ? at : neighbours_at, is_odd ? own : got);
    if (!whole && begin < end) store_bytes(sector, begin, end);
    to_ += sizeof(Sector);
  }

 private:
  __device__ static unsigned exchange(unsigned value) {
    return __shfl_xor_sync(kFullWarp, value, 1);
  }
  __device__ static void store(std::uint8_t* to, const uint4& half) {
    *reinterpret_cast<uint4*>(to) = half;
  }
  __device__ void store_bytes(const Sector& sector, unsigned begin, unsigned end) const {
    unsigned word[] = {sector.low.x,  sector.low.y,  sector.low.z,  sector.low.w,
                       sector.high.x, sector.high.y, sector.high.z, sector.high.w};
#pragma unroll 1
    for (unsigned i = 0; i < end; ++i) {
      if (i >= begin) to_[i] = static_cast<std::uint8_t>(word[0]);
#pragma unroll
      for (int w = 0; w < 8; ++w)  // the next byte comes to the front
        word[w] = __funnelshift_r(word[w], w < 7 ? word[w + 1] : 0, 8);
    }
  }

  unsigned skew_;
  std::uint8_t* to_;  // at a multiple of 32
  int to_neighbour_;
};

}  // namespace zerorun::cuda_entropy
