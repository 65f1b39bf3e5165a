// The symbols of a tile as 32-bit items: one for each coefficient that is not 0, one for DC and one
// for EOB. And the writers that put their codewords into words.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/base/shared_access.cuh"
#include "cuda/encode/code_table.hpp"
#include "cuda/encode/tile_blocks.cuh"

namespace zerorun::cuda_encode {

/// The sum of (table number) << 24, value << 8 (for DC the difference), and the zig-zag position.
/// The number is kFirstTable for luma and 2 more for chroma. A negative value borrows 1 from it,
/// which gives the table of negative values. EOB has that table and value 0. EOB and DC have
/// position 0.
struct Item {
  std::uint32_t word;

  /// Bits 23..16 of kFloatMagicBits: a coefficient that is shifted left brings its table number.
  static constexpr std::uint32_t kFirstTable = kFloatMagicBits >> 16 & 0xFF;

  __device__ static std::uint32_t dc(unsigned destination, std::int32_t diff) {
    return ((kFirstTable + 2 * destination) << 24) + static_cast<std::uint32_t>(diff) * 256;
  }
  __device__ static std::uint32_t ac(std::uint32_t coefficient, int position) {
    return coefficient * 256 + static_cast<std::uint32_t>(position);
  }
  __device__ static std::uint32_t eob(unsigned destination) {
    return (kFirstTable - 1 + 2 * destination) << 24;
  }
  /// DC of size 15, which does not occur and has no codeword.
  __device__ static std::uint32_t none() { return (kFirstTable << 24) + (16384u << 8); }

  __device__ int position() const { return static_cast<int>(word & 0xFF); }
  __device__ std::int32_t value() const {
    std::int32_t
        value;  // bytes 1 and 2, then the sign of byte 2 twice; __byte_perm() cannot do that
    asm("prmt.b32 %0, %1, 0, 0xAA21;" : "=r"(value) : "r"(word));
    return value;
  }
};

/// Distance from the item before it, at position `before`; 0 for DC and EOB.
__device__ inline int distance_of(Item item, int before) {
  return max(item.position() - before, 0);
}

/// Index of column 0 of the item's row, in a CodeTable or in counts of the same order.
__device__ inline std::uint32_t row_slot(Item item, int distance) {
  constexpr std::uint32_t kFirst = kCodePad - (Item::kFirstTable - 1) * kSignedCodes;
  return (item.word >> 24) * kSignedCodes + static_cast<std::uint32_t>(distance) * kCodeColumns +
         kFirst;
}

/// Size - 1 of a coefficient, from its appended bits.
__device__ inline int size_column(std::int32_t appended) {
  int highest;  // bit that differs from the sign; -1 if none does
  asm("bfind.s32 %0, %1;" : "=r"(highest) : "r"(appended));
  return highest;
}

/// The bits that follow the code (T.81 F.1.2.1), with copies of the sign above them.
__device__ inline std::int32_t appended_bits(std::int32_t value) { return value + (value >> 31); }

/// Items farther apart have ZRL, runs of 16 zeros, between them.
constexpr int kMostDistance = 16;
constexpr std::uint32_t kZrlColumn = 15 * kCodeColumns + 15;  // from row 0

/// Appends the codeword of an item to a writer that has append(bits, length). The bits are
/// left-aligned; the length stands in the lower 16 bits of its word.
template <typename Writer>
__device__ inline void code_near_item(Item item, int distance, SharedAddress codes,
                                      Writer& writer) {
  const std::int32_t appended = appended_bits(item.value());
  const auto column = static_cast<std::uint32_t>(size_column(appended));
  const std::uint32_t word = load_word(codes, row_slot(item, distance) + column);
  const std::uint32_t aligned =
      __funnelshift_r(0, static_cast<std::uint32_t>(appended), word);  // << (32 - length)
  writer.append((word & 0xFFFF0000u) ^ aligned, word);
}

template <typename Writer>
__device__ inline void code_item(Item item, int before, SharedAddress codes, Writer& writer) {
  int distance = distance_of(item, before);
  if (distance > kMostDistance) {
    const std::uint32_t zrl = load_word(codes, row_slot(item, 0) + kZrlColumn);
#pragma unroll 1
    for (; distance > kMostDistance; distance -= 16) writer.append(zrl & 0xFFFF0000u, zrl);
  }
  code_near_item(item, distance, codes, writer);
}

/// Codes items [begin, end) of an array, two at a time; `begin` and `end` are even.
template <typename Writer>
__device__ inline void code_items(SharedAddress items, unsigned begin, unsigned end,
                                  SharedAddress codes, Writer& writer) {
  if (begin == end) return;
  int before = begin > 0 ? Item{load_word(items, begin - 1)}.position() : 0;
  const SharedAddress stop = items + end * 4;
#pragma unroll 1
  for (SharedAddress at = items + begin * 4; at != stop; at += 8) {
    const uint2 pair = load_two_words(at);
    const Item a{pair.x}, b{pair.y};
    const int to_a = distance_of(a, before), to_b = distance_of(b, a.position());
    if (max(to_a, to_b) <= kMostDistance) {
      code_near_item(a, to_a, codes, writer);
      code_near_item(b, to_b, codes, writer);
    } else {
#pragma unroll 1
      for (int i = 0; i < 2; ++i) {
        const Item item = i == 0 ? a : b;
        code_item(item, before, codes, writer);
        before = item.position();
      }
    }
    before = b.position();
  }
}

/// Counts the symbols of an item (T.81 K.2); `counts` has the order of CodeTable.
__device__ inline void count_item(Item item, int before, std::uint32_t* counts) {
  int distance = distance_of(item, before);
  if (distance > kMostDistance) {
    const int runs = (distance - 1) / 16;
    atomicAdd(counts + row_slot(item, 0) + kZrlColumn, static_cast<std::uint32_t>(runs));
    distance -= 16 * runs;
  }
  const auto column = static_cast<std::uint32_t>(size_column(appended_bits(item.value())));
  atomicAdd(counts + (row_slot(item, distance) + column), 1u);
}

/// Keeps the first words of a lane in its column of words[KeptWords][32] in shared memory. All
/// later words overwrite the last of them, but their bits are counted.
template <unsigned KeptWords>
class KeepingWriter {
 public:
  __device__ explicit KeepingWriter(SharedAddress words)
      : slot_(words + 4 * static_cast<unsigned>(lane_index())),
        last_(slot_ + (KeptWords - 1) * kStep) {}

  __device__ void append(std::uint32_t bits, std::uint32_t length) {
    pending_ |= __funnelshift_r(bits, 0, at_);  // >> (at mod 32)
    const std::uint32_t next = at_ + length;
    if (((next ^ at_) & 32) != 0) {
      store_word(slot_, pending_);
      slot_ = min(slot_ + kStep, last_);
      pending_ = __funnelshift_r(0, bits, at_);
    }
    at_ = next;
  }
  /// Returns the number of all bits.
  __device__ std::uint32_t finish() const {
    if (at_ % 32 != 0) store_word(slot_, pending_);
    return at_ & 0xFFFF;
  }

 private:
  static constexpr unsigned kStep = 32 * sizeof(std::uint32_t);
  SharedAddress slot_, last_;
  std::uint32_t at_ = 0, pending_ = 0;  // at_ has the number of bits in its lower 16 bits
};

/// ORs bits into words that others write too, from bit `at` on.
class SharingWriter {
 public:
  __device__ SharingWriter(std::uint32_t* words, std::uint32_t at)
      : word_(words + at / 32), at_(at) {}

  __device__ void append(std::uint32_t bits, std::uint32_t length) {
    pending_ |= __funnelshift_r(bits, 0, at_);
    const std::uint32_t next = at_ + length;
    if (((next ^ at_) & 32) != 0) {
      atomicOr(word_++, pending_);
      pending_ = __funnelshift_r(0, bits, at_);
    }
    at_ = next;
  }
  __device__ void finish() const {
    if (pending_ != 0) atomicOr(word_, pending_);
  }

 private:
  std::uint32_t* word_;
  std::uint32_t at_, pending_ = 0;  // only the lower 5 bits of at_ matter
};

/// Counts bits.
struct CountingWriter {
  std::uint32_t at = 0;
  __device__ void append(std::uint32_t, std::uint32_t length) { at += length & 0xFFFF; }
};

}  // namespace zerorun::cuda_encode
