// The symbols of a tile as 32-bit items: one for each coefficient that is not 0, one for DC and one
// for EOB. And the writers that put their codewords into words.
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
/// it, which gives the table of negative values. EOB has that table and value 0. EOB and DC have
/// place 0.
struct Item {
  std::uint32_t word;

  static constexpr int kPlaceStep = kCodeSigns;
  /// Bits 23..16 of kFloatMagicBits: a coefficient that is shifted left brings its table number.
  static constexpr std::uint32_t kFirstTable = kFloatMagicBits >> 16 & 0xFF;

  __device__ static std::uint32_t dc(unsigned destination, std::int32_t diff) {
    return ((kFirstTable + 2 * destination) << 24) + static_cast<std::uint32_t>(diff) * 256;
  }
  __device__ static std::uint32_t ac(std::uint32_t coefficient, int position) {
    return coefficient * 256 + static_cast<std::uint32_t>(kPlaceStep * position);
  }
  __device__ static std::uint32_t eob(unsigned destination) {
    return (kFirstTable - 1 + 2 * destination) << 24;
  }
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
};

/// Distance from the item before it, at place `before`, in units of kPlaceStep; 0 for DC and EOB.
__device__ inline int distance_of(Item item, int before) { return max(item.place() - before, 0); }

/// Items farther apart have ZRL, runs of 16 zeros, between them.
constexpr int kZrlDistance = 16 * Item::kPlaceStep;

/// Index of size 0 of the item's row, in a CodeTable or in counts of the same order, from
/// kRowOrigin on.
constexpr int kRowOrigin = -static_cast<int>(Item::kFirstTable - 1);
__device__ inline std::uint32_t row_slot(Item item, int distance) {
  return (item.word >> 24) + static_cast<std::uint32_t>(distance);
}

/// How far behind size 1 the size of a coefficient stands, from its appended bits.
__device__ inline std::uint32_t size_offset(std::int32_t appended) {
  int highest;  // bit that differs from the sign; -1 if none does
  asm("bfind.s32 %0, %1;" : "=r"(highest) : "r"(appended));
  return static_cast<std::uint32_t>(highest * kSizeWords);
}

/// The bits that follow the code (T.81 F.1.2.1), with copies of the sign above them.
__device__ inline std::int32_t appended_bits(std::int32_t value) { return value + (value >> 31); }

/// A codeword, left-aligned. The lower 16 bits of `length` have its length.
struct Codeword {
  std::uint32_t bits, length;
};

/// The codeword of an item whose distance is at most kZrlDistance; anything for a larger one, of
/// up to kMostDistance.
__device__ inline Codeword near_codeword(Item item, int distance, SharedAddress codes) {
  const std::int32_t appended = appended_bits(item.value());
  // Kept, or the compiler adds the parts in an order that takes one more instruction.
  const std::uint32_t row = kept(row_slot(item, distance));
  const std::uint32_t word =
      load_word<4 * (kRowOrigin + kSizeWords)>(codes, row + size_offset(appended));
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
    const std::uint32_t zrl = load_word<4 * kRowOrigin>(codes, row_slot(item, kZrlDistance));
#pragma unroll 1
    for (; distance > kZrlDistance; distance -= kZrlDistance)
      writer.append({zrl & 0xFFFF0000u, zrl});
  }
  writer.append(near_codeword(item, distance, codes));
}

/// Items that each lane of a warp codes, two at a time, where there are `items` in the list. The
/// last lanes may have nothing but Item::none(), behind the list.
__device__ inline std::uint32_t items_of_lane(std::uint32_t items) { return (items + 63) / 64 * 2; }

/// Whether a lane of the warp has a distance that takes ZRL, or two codewords of more than 31 bits.
/// In PTX: from C++ the test of a bit becomes a shift, a mask and a comparison.
__device__ inline bool any_far_or_long(int distance, std::uint32_t length) {
  std::uint32_t any;
  asm volatile(
      "{\n\t"
      ".reg .u32 bit;\n\t"
      ".reg .pred slow;\n\t"
      "and.b32 bit, %2, 32;\n\t"
      "setp.ne.u32 slow, bit, 0;\n\t"
      "setp.gt.or.s32 slow, %1, %3, slow;\n\t"
      "vote.sync.any.pred slow, slow, 0xFFFFFFFF;\n\t"
      "selp.u32 %0, 1, 0, slow;\n\t"
      "}"
      : "=r"(any)
      : "r"(distance), "r"(length), "n"(kZrlDistance));
  return any != 0;
}

/// Codes each lane's `each` items of a list, by all lanes of a warp.
template <typename Writer>
__device__ inline void code_items(SharedAddress items, std::uint32_t each, SharedAddress codes,
                                  Writer& writer) {
  const std::uint32_t begin = static_cast<unsigned>(lane_index()) * each;
  // The first item of the list is DC, and any place before it is right.
  int before = Item{load_word(items, max(begin, 1u) - 1)}.place();
  const SharedAddress first_item = items + begin * 4;
#pragma unroll 1
  for (std::uint32_t at = 0; at != each * 4; at += 8) {
    const uint2 pair = load_two_words(first_item + at);
    const Item a{pair.x}, b{pair.y};
    const int to_a = distance_of(a, before), to_b = distance_of(b, a.place());
    before = static_cast<int>(kept(static_cast<std::uint32_t>(b.place())));
    const Codeword first = near_codeword(a, to_a, codes), second = near_codeword(b, to_b, codes);
    const std::uint32_t length = first.length + second.length;
    // Nearly always both fit in a word. All lanes go the same way, so that none waits for another.
    if (!any_far_or_long(max(to_a, to_b), length)) {
      writer.append({first.bits | __funnelshift_r(second.bits, 0, first.length), length});
    } else {
      // From kept values: the compiler would compute more on both ways to share it.
      const auto again = [&](Item item, int distance) {
        const auto kept_distance = static_cast<int>(kept(static_cast<std::uint32_t>(distance)));
        code_item(Item{kept(item.word)}, kept_distance, codes, writer);
      };
      again(a, to_a);
      again(b, to_b);
    }
  }
}

/// Counts the symbols of an item (T.81 K.2); `counts` has the order of CodeTable.
__device__ inline void count_item(Item item, int before, std::uint32_t* counts) {
  // An index is only right as a whole: its parts may be below 0.
  const auto count = [&](std::uint32_t index, int origin, std::uint32_t times) {
    atomicAdd(counts + (index + static_cast<std::uint32_t>(origin)), times);
  };
  int distance = distance_of(item, before);
  if (distance > kZrlDistance) {
    const int runs = (distance - 1) / kZrlDistance;
    count(row_slot(item, kZrlDistance), kRowOrigin, static_cast<std::uint32_t>(runs));
    distance -= kZrlDistance * runs;
  }
  const std::uint32_t size = size_offset(appended_bits(item.value()));
  count(row_slot(item, distance) + size, kRowOrigin + kSizeWords, 1);
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
        "@is_full add.u32 %0, %0, %6;\n\t"
        "@is_full min.u32 %0, %0, %5;\n\t"
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
