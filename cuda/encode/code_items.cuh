// The symbols of a tile as 32-bit items: one for each coefficient that is not 0, one for DC and one
// for the end of a block. And the writers that put their codewords into words.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/base/kept.hpp"
#include "cuda/base/shared_access.cuh"
#include "cuda/encode/code_table.hpp"
#include "cuda/encode/tile_blocks.cuh"

namespace zerorun::cuda_encode {

/// The sum of (table number) << 24, value << 8 (for DC the difference), and the item's place: the
/// zig-zag position in units of kPlaceStep, which spares a multiplication where codes are looked
/// up. The number is kFirstTable for luma and 2 more for chroma. A negative value borrows 1 from
/// it, which gives the table of negative values. EOB has that table and value 0.
///
/// Codes are looked up by the sum of the number and the distance: the item's place minus that of
/// the item before it. DC and the end of a block have place 0, so that DC has distance 0. At the
/// end the distance is that back to DC, which is added to the number: their sum is right, and no
/// item takes a case of its own.
struct Item {
  std::uint32_t word;

  static constexpr int kPlaceStep = kCodeSigns;
  /// Bits 23..16 of kLevelMagicBits: a coefficient that is shifted left brings its table number.
  static constexpr std::uint32_t kFirstTable = kLevelMagicBits >> 16 & 0xFF;
  // A number counts from the first table of negative values; with a distance it still fits.
  static_assert(kFirstTable == 1 && kFirstTable + (kBlockSize - 1) * kPlaceStep <= 0xFF);

  __device__ static std::uint32_t dc(unsigned destination, std::int32_t diff) {
    return ((kFirstTable + 2 * destination) << 24) + static_cast<std::uint32_t>(diff) * 256;
  }
  __device__ static std::uint32_t ac(std::uint32_t coefficient, int position) {
    return coefficient * 256 + static_cast<std::uint32_t>(kPlaceStep * position);
  }
  /// EOB behind the block's item `last`.
  __device__ static std::uint32_t eob(unsigned destination, std::uint32_t last) {
    return behind(last, (kFirstTable - 1 + 2 * destination) << 24);
  }
  /// The end of a block without EOB: it has no codeword.
  __device__ static std::uint32_t bare_end(std::uint32_t last) { return behind(last, none()); }
  /// DC of a size that does not occur and has no codeword.
  __device__ static std::uint32_t none() {
    return (kFirstTable << 24) + (1u << (kNoCodeSize - 1) << 8);
  }

  __device__ int place() const { return static_cast<int>(word & 0xFF); }
  __device__ std::int32_t value() const {
    std::int32_t
        value;  // bytes 1 and 2, then the sign of byte 2 twice; __byte_perm() cannot do that
    asm("prmt.b32 %0, %1, 0, 0xAA21;" : "=r"(value) : "r"(word));
    return value;
  }

 private:
  /// Adds the place of the item before, its lowest byte, to the table number.
  __device__ static std::uint32_t behind(std::uint32_t last, std::uint32_t word) {
    return (last << 24) + word;
  }
};

/// Distance from the item before it, at place `before`, in units of kPlaceStep.
__device__ inline int distance_of(Item item, int before) { return item.place() - before; }

/// Items farther apart have ZRL, runs of 16 zeros, between them.
constexpr int kZrlDistance = 16 * Item::kPlaceStep;

/// Index of size 0 of the item's row, in a CodeTable or in counts of the same order.
__device__ inline std::uint32_t row_slot(Item item, int distance) {
  return (item.word >> 24) + static_cast<std::uint32_t>(distance);
}

/// The size of a coefficient less 1, from its appended bits.
__device__ inline int highest_of(std::int32_t appended) {
  int highest;  // bit that differs from the sign; -1 if none does
  asm("bfind.s32 %0, %1;" : "=r"(highest) : "r"(appended));
  return highest;
}

/// The bits that follow the code (T.81 F.1.2.1), with copies of the sign above them.
__device__ inline std::int32_t appended_bits(std::int32_t value) { return value + (value >> 31); }

/// A codeword, left-aligned. The lower 16 bits of `length` have its length.
struct Codeword {
  std::uint32_t bits, length;
};

/// The codeword of an item whose distance is at most kZrlDistance; anything for a larger one, of
/// up to kMostDistance. `row`: address of size 0 of its row in a CodeTable.
__device__ inline Codeword near_codeword(Item item, SharedAddress row) {
  constexpr int kSizeBytes = 4 * kSizeWords;
  const std::int32_t appended = appended_bits(item.value());
  const std::uint32_t word =
      load_word<kSizeBytes>(row + static_cast<std::uint32_t>(highest_of(appended) * kSizeBytes));
  const std::uint32_t aligned =
      __funnelshift_r(0, static_cast<std::uint32_t>(appended), word);  // << (32 - length)
  return {(word & 0xFFFF0000u) ^ aligned, word};
}
constexpr int kMostDistance = (kBlockSize - 1) * Item::kPlaceStep;
/// Words behind a CodeTable that near_codeword() may read.
constexpr int kWordsBehindCodes =
    kMostCodeSize * kSizeWords + kMostDistance + kCodeSigns - kCodeWords;

/// Appends the codeword of an item at that distance, and ZRL before it, to a writer that has
/// append(Codeword).
template <typename Writer>
__device__ inline void code_item(Item item, int distance, SharedAddress codes, Writer& writer) {
  if (distance > kZrlDistance) {
    const std::uint32_t zrl = load_word(codes, row_slot(item, kZrlDistance));
#pragma unroll 1
    for (; distance > kZrlDistance; distance -= kZrlDistance)
      writer.append({zrl & 0xFFFF0000u, zrl});
  }
  writer.append(near_codeword(item, codes + 4 * row_slot(item, distance)));
}

/// Items that each lane of a warp codes, two at a time, where there are `items` in the list. The
/// last lanes may have nothing but Item::none(), behind the list.
__device__ inline std::uint32_t items_of_lane(std::uint32_t items) { return (items + 63) / 64 * 2; }

/// Whether a lane of the warp has a row of a distance that takes ZRL, or two codewords of more than
/// 31 bits. `far`: the first of those rows. In PTX: from C++ the test of a bit becomes a shift, a
/// mask and a comparison.
__device__ inline bool any_far_or_long(SharedAddress row, SharedAddress far, std::uint32_t length) {
  std::uint32_t any;
  asm volatile(
      "{\n\t"
      ".reg .u32 bit;\n\t"
      ".reg .pred slow;\n\t"
      "and.b32 bit, %2, 32;\n\t"
      "setp.ne.u32 slow, bit, 0;\n\t"
      "setp.ge.or.u32 slow, %1, %3, slow;\n\t"
      "vote.sync.any.pred slow, slow, 0xFFFFFFFF;\n\t"
      "selp.u32 %0, 1, 0, slow;\n\t"
      "}"
      : "=r"(any)
      : "r"(row), "r"(length), "r"(far));
  return any != 0;
}

/// Codes each lane's `each` items of a list, by all lanes of a warp.
template <typename Writer>
__device__ inline void code_items(SharedAddress items, std::uint32_t each, SharedAddress codes,
                                  Writer& writer) {
  const std::uint32_t begin = static_cast<unsigned>(lane_index()) * each;
  // Weights of the bytes of an item: its place and its table number count as bytes of a CodeTable.
  const auto less_place = static_cast<std::int32_t>(kept(0x000000FC)),
             place_and_table = static_cast<std::int32_t>(kept(0x04000004));
  const SharedAddress far = kept(codes + 4 * (kZrlDistance + kCodeSigns));
  // Where the row of the next item would be if its place and table number were 0. The first item
  // of the list, DC, is at the same place as the one before it.
  SharedAddress origin =
      dot_unsigned_signed(load_word(items, max(begin, 1u) - 1), less_place, codes);
  const SharedAddress first_item = items + begin * 4;
#pragma unroll 1
  for (std::uint32_t at = 0; at != each * 4; at += 8) {
    const uint2 pair = load_two_words(first_item + at);
    const Item a{pair.x}, b{pair.y};
    const SharedAddress row_a = dot_unsigned_signed(a.word, place_and_table, origin);
    const SharedAddress behind_a = dot_unsigned_signed(a.word, less_place, codes);
    const SharedAddress row_b = dot_unsigned_signed(b.word, place_and_table, behind_a);
    origin = dot_unsigned_signed(b.word, less_place, codes);
    const Codeword first = near_codeword(a, row_a), second = near_codeword(b, row_b);
    const std::uint32_t length = first.length + second.length;
    // Nearly always both fit in a word. All lanes go the same way, so that none waits for another.
    if (!any_far_or_long(max(row_a, row_b), far, length)) {
      writer.append({first.bits | __funnelshift_r(second.bits, 0, first.length), length});
    } else {
      const auto append = [&](Item item, SharedAddress row, Codeword code) {
        if (row >= far) {
          const std::uint32_t zrl = load_word(codes, row_slot(item, kZrlDistance));
#pragma unroll 1
          for (; row >= far; row -= 4 * kZrlDistance) writer.append({zrl & 0xFFFF0000u, zrl});
          code = near_codeword(item, row);
        }
        writer.append(code);
      };
      append(a, row_a, first);
      append(b, row_b, second);
    }
  }
}

/// Index of size 0 of the row of an item behind `before`: row_slot() in two instructions.
__device__ inline std::uint32_t row_slot_behind(Item item, Item before) {
  constexpr std::int32_t kLessPlace = 0x000000FF, kPlaceAndTable = 0x01000001;
  return dot_unsigned_signed(item.word, kPlaceAndTable,
                             dot_unsigned_signed(before.word, kLessPlace, 0));
}

/// Counts the symbols of an item (T.81 K.2), with ZRL before it. `slot`: index of size 0 of its
/// row; `counts` has the order of CodeTable.
__device__ inline void count_item(Item item, std::uint32_t slot, std::uint32_t* counts) {
  if (slot >= kZrlDistance + kCodeSigns) {
    const std::uint32_t runs = (slot - kCodeSigns) / kZrlDistance;
    atomicAdd(counts + row_slot(item, kZrlDistance), runs);
    slot -= kZrlDistance * runs;
  }
  const int size = highest_of(appended_bits(item.value())) + 1;
  atomicAdd(counts + (slot + static_cast<std::uint32_t>(size * kSizeWords)), 1u);
}

/// Keeps the first words of a lane in its column of words[KeptWords][32] in shared memory. All
/// later words overwrite the last of them, but their bits are counted.
template <unsigned KeptWords>
class KeepingWriter {
 public:
  __device__ explicit KeepingWriter(SharedAddress words)
      : slot_(words + 4 * static_cast<unsigned>(lane_index())),
        last_(slot_ + (KeptWords - 1) * kStep) {}

  /// In PTX, by predicates: the compiler would branch.
  __device__ void append(const Codeword& code) {
    pending_ |= __funnelshift_r(code.bits, 0, at_);  // >> (at mod 32)
    const std::uint32_t next = at_ + code.length;
    asm volatile(
        "{\n\t"
        ".reg .u32 bit;\n\t"
        ".reg .pred is_full;\n\t"
        "xor.b32 bit, %2, %4;\n\t"
        "and.b32 bit, bit, 32;\n\t"
        "setp.ne.u32 is_full, bit, 0;\n\t"
        "@is_full st.shared.u32 [%0], %1;\n\t"
        "@is_full add.s32 %0, %0, %6;\n\t"
        "@is_full min.s32 %0, %0, %5;\n\t"
        "@is_full shf.r.wrap.b32 %1, 0, %3, %2;\n\t"
        "}"
        : "+r"(slot_), "+r"(pending_)
        : "r"(at_), "r"(code.bits), "r"(next), "r"(last_), "n"(kStep));
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

  __device__ void append(const Codeword& code) {
    pending_ |= __funnelshift_r(code.bits, 0, at_);
    const std::uint32_t next = at_ + code.length;
    if (((next ^ at_) & 32) != 0) {
      atomicOr(word_++, pending_);
      pending_ = __funnelshift_r(0, code.bits, at_);
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
  __device__ void append(const Codeword& code) { at += code.length & 0xFFFF; }
};

}  // namespace zerorun::cuda_encode
