// What all parallel decoders share: the decoding table of a codebook, how a thread decodes a range
// of bits, and how it writes symbols.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/base/warp.cuh"
#include "cuda/entropy/outcome.cuh"

namespace zerorun::cuda_entropy {

/// Bits of the window by which most codewords are found at once.
inline constexpr int kFastBits = 12;

struct DecodeTable {
  std::uint32_t first[kSymbols];  ///< codewords left-aligned to 32 bits, ascending
  std::uint8_t bits[kSymbols];    ///< their lengths
  std::uint8_t symbol[kSymbols];  ///< their symbols
  std::uint32_t codewords;
  std::uint32_t usable;  ///< 0 if the codebook is no prefix code
  /// Length << 8 | symbol of the codeword at the front of the window; 0: none, or a longer one.
  std::uint16_t fast[1 << kFastBits];
};

/// Builds the table; a codebook that is no prefix code is the fault invalid_argument.
Status build_decode_table(const Codebook* d_book, DecodeTable* d_table, Outcome* d_outcome,
                          cudaStream_t stream);

/// Copies a table by all threads of the CTA; the caller synchronises.
__device__ inline void load_table(const DecodeTable* from, DecodeTable& to) {
  static_assert(sizeof(DecodeTable) % sizeof(std::uint32_t) == 0);
  const auto* source = reinterpret_cast<const std::uint32_t*>(from);
  auto* target = reinterpret_cast<std::uint32_t*>(&to);
  for (unsigned i = threadIdx.x; i < sizeof to / sizeof(std::uint32_t); i += blockDim.x)
    target[i] = source[i];
}

/// The bits [at, end) of the input, most significant first; bits after the end read as 0.
class BitReader {
 public:
  __device__ BitReader(const std::uint32_t* in, std::uint64_t at, std::uint64_t end)
      : in_(in), next_(at / 32), full_(end / 32), last_bits_(static_cast<unsigned>(end % 32)) {
    refill();
    buffer_ <<= at % 32;
    have_ -= static_cast<int>(at % 32);
    refill();
  }

  __device__ unsigned window() const { return static_cast<unsigned>(buffer_ >> 32); }

  __device__ void skip(unsigned bits) {
    buffer_ <<= bits;
    have_ -= static_cast<int>(bits);
    refill();
  }

 private:
  __device__ void refill() {
    if (have_ >= 32) return;
    std::uint32_t word = 0;
    if (next_ < full_)
      word = in_[next_];
    else if (next_ == full_ && last_bits_ != 0)
      word = in_[next_] & ~(0xFFFFFFFFu >> last_bits_);
    buffer_ |= std::uint64_t{word} << (32 - have_);
    have_ += 32;
    ++next_;
  }

  const std::uint32_t* in_;
  std::uint64_t next_;
  std::uint64_t full_;
  unsigned last_bits_;
  std::uint64_t buffer_ = 0;  // left-aligned
  int have_ = 0;
};

/// Length << 8 | symbol of the codeword at the front of the window; 0 if there is none.
__device__ inline unsigned find_codeword(const DecodeTable& table, unsigned window) {
  if (const unsigned fast = table.fast[window >> (32 - kFastBits)]; fast != 0) return fast;
  int low = 0, high = static_cast<int>(table.codewords);  // first[low - 1] <= window < first[high]
  while (low < high) {
    const int middle = (low + high) / 2;
    if (table.first[middle] <= window)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return 0;
  const int found = low - 1;
  const unsigned bits = table.bits[found];
  const std::uint64_t end = std::uint64_t{table.first[found]} + (std::uint64_t{1} << (32 - bits));
  return window < end ? bits << 8 | table.symbol[found] : 0;
}

/// Where decoding stopped, and why.
struct Stop {
  std::uint64_t at;
  std::uint32_t symbols;
  Errc code;  ///< ok, truncated or bad_huffman_code
};

/// Decodes codewords that start in [at, stop), at most `symbols` of them, from bits that end at
/// `end`; hands each symbol to the sink. Every step takes at least one bit.
template <typename Sink>
__device__ Stop decode_range(const DecodeTable& table, const std::uint32_t* in, std::uint64_t at,
                             std::uint64_t stop, std::uint64_t end, std::uint32_t symbols,
                             Sink&& sink) {
  BitReader reader(in, at, end);
  for (std::uint32_t n = 0; n < symbols; ++n) {
    if (at >= stop) return {at, n, Errc::ok};
    if (at >= end) return {at, n, Errc::truncated};
    const unsigned found = find_codeword(table, reader.window());
    if (found == 0) return {at, n, Errc::bad_huffman_code};
    const unsigned bits = found >> 8;
    if (bits > end - at) return {at, n, Errc::truncated};
    sink(static_cast<std::uint8_t>(found & 0xFF));
    at += bits;
    reader.skip(bits);
  }
  return {at, symbols, Errc::ok};
}

/// Stores a thread's symbols one after the other, four at a time where they fill a word.
class SymbolWriter {
 public:
  __device__ explicit SymbolWriter(std::uint8_t* to) : to_(to) {}

  __device__ void put(std::uint8_t symbol) {
    word_ = word_ >> 8 | std::uint32_t{symbol} << 24;
    ++waiting_;
    if (reinterpret_cast<std::uintptr_t>(to_ + waiting_) % sizeof word_ == 0) finish();
  }

  /// Stores what put() has kept.
  __device__ void finish() {
    if (waiting_ == sizeof word_)
      *reinterpret_cast<std::uint32_t*>(to_) = word_;
    else
      for (unsigned i = 0; i < waiting_; ++i)
        to_[i] = static_cast<std::uint8_t>(word_ >> 8 * (sizeof word_ - waiting_ + i));
    to_ += waiting_;
    waiting_ = 0;
  }

 private:
  std::uint8_t* to_;
  std::uint32_t word_ = 0;  // the last symbol highest
  unsigned waiting_ = 0;
};

}  // namespace zerorun::cuda_entropy
