// Decoding table of a codebook, and the decoder of a range of bits that all parallel decoders
// share.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/base/warp.cuh"
#include "cuda/entropy/outcome.cuh"

namespace zerorun::cuda_entropy {

/// 1 GB of 6 bits of entropy, of whose codewords 0.4 % have more than 12 bits: 1.94 ms with the
/// second tables, 2.98 with a search instead, 4.9 with 11 bits and a search (H200; other changes
/// were made in between).
inline constexpr int kFastBits = 12;

inline constexpr int kMoreBits = 4;
inline constexpr unsigned kMoreTables = 64;

/// Finds a codeword of any length by search, or by a look into a table of its beginning: the
/// codewords of up to kMoreBits more than kFastBits.
struct CodewordList {
  std::uint32_t first[kSymbols];  ///< codewords left-aligned to 32 bits, ascending
  std::uint8_t bits[kSymbols];    ///< their lengths
  std::uint8_t symbol[kSymbols];  ///< their symbols
  std::uint16_t more[kMoreTables][1 << kMoreBits];  ///< length << 8 | symbol; 0: search
  std::uint32_t codewords;
  std::uint32_t usable;  ///< 0 if the codebook is no prefix code
};

/// Codewords of up to kFastBits are found by the first bits of the window, most others by a second
/// look.
struct DecodeTable {
  CodewordList list;
  /// Length << 8 | symbol; or, where the length is 0, the number of a table in `more`, or another.
  std::uint16_t fast[1 << kFastBits];
};

/// For walks that only count, by the first kFastBits of a window: 16 a codeword and 1 a bit, of the
/// first codeword in the upper byte and of all whole ones in the lower; where the first one is
/// longer or none, the entry of DecodeTable::fast.
struct CountTable {
  alignas(4) std::uint16_t of[1 << kFastBits];
};
static_assert(kFastBits < 16);

/// Builds the table; a codebook that is no prefix code is the fault invalid_argument.
Status build_decode_table(const Codebook* d_book, DecodeTable* d_table, Outcome* d_outcome,
                          cudaStream_t stream);
/// From the table that the work before on `stream` builds.
Status build_count_table(const DecodeTable* d_table, CountTable* d_counts, cudaStream_t stream);

/// Copies a table into shared memory; the caller synchronises.
template <typename Table>
__device__ void load_table(const Table* from, Table& to) {
  static_assert(sizeof(Table) % sizeof(std::uint32_t) == 0);
  const auto* source = reinterpret_cast<const std::uint32_t*>(from);
  auto* target = reinterpret_cast<std::uint32_t*>(&to);
  for (unsigned i = threadIdx.x; i < sizeof(Table) / sizeof(std::uint32_t); i += blockDim.x)
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

/// Length << 8 | symbol of the codeword at the front of the window, by search; 0 if there is none.
__device__ inline unsigned search_codeword(const CodewordList& list, unsigned window) {
  int low = 0, high = static_cast<int>(list.codewords);  // first[low - 1] <= window < first[high]
  while (low < high) {
    const int middle = (low + high) / 2;
    if (list.first[middle] <= window)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return 0;
  const int found = low - 1;
  const unsigned bits = list.bits[found];
  const std::uint64_t end = std::uint64_t{list.first[found]} + (std::uint64_t{1} << (32 - bits));
  return window < end ? bits << 8 | list.symbol[found] : 0;
}

/// The same for a window whose entry of `fast` has the length 0.
__device__ inline unsigned find_long_codeword(const CodewordList& list, unsigned window,
                                              unsigned fast) {
  if (fast < kMoreTables) {
    const unsigned next = window >> (32 - kFastBits - kMoreBits) & ((1u << kMoreBits) - 1);
    if (const unsigned found = list.more[fast][next]; found != 0) return found;
  }
  return search_codeword(list, window);
}

/// The same for every window.
__device__ inline unsigned find_codeword(const DecodeTable& table, unsigned window) {
  const unsigned fast = table.fast[window >> (32 - kFastBits)];
  return fast >= 256 ? fast : find_long_codeword(table.list, window, fast);
}

/// Where decoding stopped, and why.
struct Stop {
  std::uint64_t at;
  std::uint32_t symbols;
  Errc code;  ///< ok, truncated or bad_huffman_code
};

/// Decodes codewords that start in [at, stop), at most `symbols` of them, from bits that end at
/// `end`; hands each symbol to the sink. `find` is find_codeword() for the table. Every step takes
/// at least one bit.
template <typename Find, typename Sink>
__device__ Stop decode_range(const Find& find, const std::uint32_t* in, std::uint64_t at,
                             std::uint64_t stop, std::uint64_t end, std::uint32_t symbols,
                             Sink&& sink) {
  BitReader reader(in, at, end);
  for (std::uint32_t n = 0; n < symbols; ++n) {
    if (at >= stop) return {at, n, Errc::ok};
    if (at >= end) return {at, n, Errc::truncated};
    const unsigned found = find(reader.window());
    if (found == 0) return {at, n, Errc::bad_huffman_code};
    const unsigned bits = found >> 8;
    if (bits > end - at) return {at, n, Errc::truncated};
    sink(static_cast<std::uint8_t>(found & 0xFF));
    at += bits;
    reader.skip(bits);
  }
  return {at, symbols, Errc::ok};
}

}  // namespace zerorun::cuda_entropy
