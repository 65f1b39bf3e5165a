// Symbols of a tile on their way to bits: one 32-bit item for every coefficient that is not 0, for
// DC and for EOB, and the writers that put their codewords into words.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/fused/tile_blocks.cuh"

namespace zerorun::fused {

/// The sum of (kFirstTable + number in CodeTable) << 24, value << 8 (for DC the difference; a
/// negative one borrows from the table), and the zig-zag position. EOB stands as a 0 right behind
/// the last coefficient, which gives it run 0 and category 0.
struct Item {
  std::uint32_t word;

  /// Bits 23..16 of kFloatMagicBits: a coefficient that is shifted left brings its table with it.
  static constexpr std::uint32_t kFirstTable = kFloatMagicBits >> 16 & 0xFF;

  __device__ static std::uint32_t dc(unsigned destination, std::int32_t diff) {
    return ((kFirstTable + 2 + destination) << 24) + static_cast<std::uint32_t>(diff) * 256;
  }
  __device__ static std::uint32_t ac(std::uint32_t coefficient, int position) {
    return coefficient * 256 + static_cast<std::uint32_t>(position);
  }
  __device__ static std::uint32_t eob(unsigned destination) {
    return (kFirstTable + destination) << 24;
  }

  __device__ int position() const { return static_cast<int>(word & 0xFF); }
  __device__ std::int32_t value() const {
    std::int32_t value;  // bytes 1 and 2, then the sign of 2 twice, which __byte_perm() cannot give
    asm("prmt.b32 %0, %1, 0, 0xAA21;" : "=r"(value) : "r"(word));
    return value;
  }
  /// Of the first entry of the item's table, in units of entries.
  __device__ std::uint32_t table() const {
    // Adding the highest bit of the value gives back what a negative one has borrowed.
    return __byte_perm(word + (1u << 23), 0, 0x4434) - kFirstTable * 256;
  }
};
static_assert(sizeof(CodeTable) == 4 * 256 * sizeof(std::uint32_t));

/// A symbol and its appended bits as one left-aligned word (T.81 F.1.2.1, F.1.2.2).
struct Codeword {
  std::uint32_t bits, length;
};

/// RRRRSSSS without the runs of 16, which are ZRL.
struct ItemSymbol {
  std::uint32_t index;  ///< in the tables, as one array
  int zeros;            ///< leading zeros of the value's magnitude, in 32 bits
  int zrl;              ///< ZRL before it
  std::int32_t value;
};

/// `before` is the position of the item before. Where the position is 0 the run is.
__device__ inline ItemSymbol symbol_of(Item item, int before) {
  ItemSymbol s;
  const int run = max(item.position() + ~before, 0);  // position - before - 1
  s.value = item.value();
  s.zeros = __clz(abs(s.value));
  s.zrl = run >> 4;
  s.index = item.table() + static_cast<std::uint32_t>((run & 15) * 16 + 32 - s.zeros);
  return s;
}

__device__ inline Codeword codeword(std::uint32_t entry, std::int32_t value, int zeros) {
  // Left-aligned, the sign's copies above the appended bits fall away.
  const auto appended = static_cast<std::uint32_t>(value + (value >> 31));
  const std::uint32_t aligned =
      __funnelshift_lc(0, appended, static_cast<std::uint32_t>(zeros));  // 32 leaves nothing
  return {(entry & 0xFFFF0000u) | __funnelshift_r(aligned, 0, entry),    // >> (entry mod 32)
          (entry & 31) + 32 - static_cast<std::uint32_t>(zeros)};
}

/// Appends the codewords of an item to a writer that has append(bits, length).
template <typename Writer>
__device__ inline void code_item(Item item, int before, const CodeTable& codes, Writer& writer) {
  const std::uint32_t* const entries = &codes.table[0][0];
  const ItemSymbol s = symbol_of(item, before);
  if (s.zrl > 0) {
    const std::uint32_t zrl = entries[item.table() + kZrl];
#pragma unroll 1
    for (int n = 0; n < s.zrl; ++n) writer.append(zrl & 0xFFFF0000u, zrl & 31);
  }
  const Codeword word = codeword(entries[s.index], s.value, s.zeros);
  writer.append(word.bits, word.length);
}

/// Those of the items [begin, end) of an array.
template <typename Writer>
__device__ inline void code_items(const std::uint32_t* items, unsigned begin, unsigned end,
                                  const CodeTable& codes, Writer& writer) {
  int before = begin > 0 && begin < end ? Item{items[begin - 1]}.position() : 0;
  for (unsigned i = begin; i < end; ++i) {
    const Item item{items[i]};
    code_item(item, before, codes, writer);
    before = item.position();
  }
}

/// Counts the symbols of an item (T.81 K.2); `counts` has the order of CodeTable.
__device__ inline void count_item(Item item, int before, std::uint32_t* counts) {
  const ItemSymbol s = symbol_of(item, before);
  if (s.zrl > 0) atomicAdd(counts + item.table() + kZrl, static_cast<std::uint32_t>(s.zrl));
  atomicAdd(counts + s.index, 1u);
}

/// The first words of a thread go to its column of words[KeptWords][kTileThreads] in shared memory,
/// what follows to the last of them; all bits are counted.
template <unsigned KeptWords>
struct KeepingWriter {
  std::uint32_t* words;
  std::uint32_t slot = threadIdx.x;
  std::uint32_t at = 0, pending = 0;

  __device__ void append(std::uint32_t bits, std::uint32_t length) {
    pending |= __funnelshift_r(bits, 0, at);  // >> (at mod 32)
    const std::uint32_t next = at + length;
    if (((next ^ at) & 32) != 0) {
      words[slot] = pending;
      slot = min(slot + kTileThreads, (KeptWords - 1) * kTileThreads + threadIdx.x);
      pending = __funnelshift_r(0, bits, at);
    }
    at = next;
  }
  /// Bits in all.
  __device__ std::uint32_t finish() const {
    if (at % 32 != 0) words[slot] = pending;
    return at;
  }
};

/// ORs into words that others write too.
struct SharingWriter {
  std::uint32_t* words;
  std::uint32_t at, pending = 0;

  __device__ void append(std::uint32_t bits, std::uint32_t length) {
    pending |= __funnelshift_r(bits, 0, at);
    const std::uint32_t next = at + length;
    if (((next ^ at) & 32) != 0) {
      atomicOr(words + at / 32, pending);
      pending = __funnelshift_r(0, bits, at);
    }
    at = next;
  }
  __device__ void finish() const {
    if (pending != 0) atomicOr(words + at / 32, pending);
  }
};

/// Counts bits.
struct CountingWriter {
  std::uint32_t at = 0;
  __device__ void append(std::uint32_t, std::uint32_t length) { at += length; }
};

}  // namespace zerorun::fused
