// The symbols of a tile as 32-bit items: one for each coefficient that is not 0, one for DC and one
// for the end of a block. And the writers that put their codewords into words.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/base/kernel_numbers.hpp"
#include "cuda/base/shared_access.cuh"
#include "cuda/encode/code_table.hpp"
#include "cuda/encode/tile_blocks.cuh"

namespace zerorun::cuda_encode {

/// The sum of (table number) << 24, value << 8 (for DC the difference), and the item's place: the
/// zig-zag position in units of kPlaceStep. The number is kFirstTable for luma and 2 more for
/// chroma. A negative value borrows 1 from it, which gives the table of negative values. EOB has
/// that table and value 0.
///
/// Codes are looked up by the sum of the number and the distance from the place of the item before.
/// DC and the end of a block have place 0, so that DC has distance 0. At the end the distance is
/// negative; its absolute value is added to the number, so that no item takes a case of its own.
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

/// A look-up of an item's code.
struct Lookup {
  std::int32_t appended;
  std::uint32_t word;  ///< of the CodeTable

  /// `row`: address of size 0 of the item's row in a CodeTable, for a distance of up to
  /// kMostDistance.
  __device__ Lookup(Item item, SharedAddress row) : appended(appended_bits(item.value())) {
    constexpr int kSizeBytes = 4 * kSizeWords;
    word =
        load_word<kSizeBytes>(row + static_cast<std::uint32_t>(highest_of(appended) * kSizeBytes));
  }
  /// Undefined for a distance of more than kZrlDistance.
  __device__ Codeword codeword() const {
    const std::uint32_t aligned =
        __funnelshift_r(0, static_cast<std::uint32_t>(appended), word);  // << (32 - length)
    return {(word & 0xFFFF0000u) ^ aligned, word};
  }
};
constexpr int kMostDistance = (kBlockSize - 1) * Item::kPlaceStep;
/// Words behind a CodeTable that a Lookup may read.
constexpr int kWordsBehindCodes =
    kMostCodeSize * kSizeWords + kMostDistance + kCodeSigns - kCodeWords;

/// Addresses in a CodeTable: of an item's row, and of the first row of a distance that takes ZRL.
__device__ inline SharedAddress row_at(SharedAddress codes, Item item, int distance) {
  return codes + 4 * row_slot(item, distance);
}
__device__ inline SharedAddress far_row(SharedAddress codes) {
  return codes + 4 * (kZrlDistance + kCodeSigns);
}

/// Appends the codeword of an item of that row, and ZRL before it, to a writer that has
/// append(Codeword).
template <typename Writer>
__device__ inline void code_item(Item item, SharedAddress row, SharedAddress codes,
                                 SharedAddress far, Writer& writer) {
  if (row >= far) {
    const std::uint32_t zrl = load_word(row_at(codes, item, kZrlDistance));
#pragma unroll 1
    for (; row >= far; row -= 4 * kZrlDistance) writer.append({zrl & 0xFFFF0000u, zrl});
  }
  writer.append(Lookup(item, row).codeword());
}

/// Items that each lane of a warp codes, two at a time, where there are `items` in the list. The
/// last lanes may have nothing but Item::none(). Not a multiple of 8, so that the lanes' pairs lie
/// in different banks of shared memory: at q90 a load took 9.9 accesses, and takes 2.2.
__device__ constexpr std::uint32_t items_of_lane(std::uint32_t items) {
  const std::uint32_t least = (items + 63) / 64 * 2;
  return least % 8 == 0 ? least + 2 : least;
}

/// Whether a lane of the warp has a row of a distance that takes ZRL, or two codewords of more than
/// 31 bits. `far`: the first of those rows. In PTX it takes fewer instructions.
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

/// Items behind those of the last lane that code_items() loads and does not code.
constexpr std::uint32_t kItemsAhead = 2;

/// Codes each lane's `each` items of a list, by all lanes of a warp. While a pair of items is
/// appended, the next one is looked up and the one behind that is loaded, so that they wait for
/// shared memory once.
template <typename Writer>
__device__ inline void code_items(SharedAddress items, std::uint32_t each, SharedAddress codes,
                                  Writer& writer) {
  const std::uint32_t begin = static_cast<unsigned>(lane_index()) * each;
  // Weights of the bytes of an item: its place and its table number count as bytes of a CodeTable.
  const auto less_place = static_cast<std::int32_t>(kept(0x000000FC)),
             place_and_table = static_cast<std::int32_t>(kept(0x04000004));
  const SharedAddress far = kept(far_row(codes));
  // Where the row of the item behind would be if its place and table number were 0.
  const auto origin_behind = [&](std::uint32_t item) {
    return dot_unsigned_signed(item, less_place, codes);
  };
  const auto row_of = [&](std::uint32_t item, SharedAddress origin) {
    return dot_unsigned_signed(item, place_and_table, origin);
  };
  // The first item of the list, DC, is at the same place as the one before it.
  const SharedAddress first_item = items + begin * 4;
  const auto origin_of = [&](SharedAddress item) {
    return origin_behind(load_word(max(item, items + 4) - 4));
  };
  // Nearly always the codewords of two items fit in a word.
  Codeword both;
  bool apart;  // else, or one takes ZRL. The same for all lanes, so that none waits for another
  const auto put_together = [&](const Lookup& a, const Lookup& b, SharedAddress last_row) {
    const Codeword first = a.codeword(), second = b.codeword();
    both.length = first.length + second.length;
    both.bits = first.bits | __funnelshift_r(second.bits, 0, first.length);
    apart = any_far_or_long(last_row, far, both.length);
  };
  const auto append = [&](SharedAddress item) {
    if (!apart) {
      writer.append(both);
    } else {
      const uint2 pair = load_two_words(item);
      code_item(Item{pair.x}, row_of(pair.x, origin_of(item)), codes, far, writer);
      code_item(Item{pair.y}, row_of(pair.y, origin_behind(pair.x)), codes, far, writer);
    }
  };
  uint2 pair = load_two_words(first_item);
  SharedAddress row_a = row_of(pair.x, origin_of(first_item)),
                row_b = row_of(pair.y, origin_behind(pair.x)), origin = origin_behind(pair.y);
  put_together(Lookup(Item{pair.x}, row_a), Lookup(Item{pair.y}, row_b), max(row_a, row_b));
  pair = load_two_words(first_item + 8);
  std::uint32_t at = 0;
#pragma unroll 1
  for (; at != each * 4 - 8; at += 8) {
    row_a = row_of(pair.x, origin);
    row_b = row_of(pair.y, origin_behind(pair.x));
    origin = origin_behind(pair.y);
    const Lookup a(Item{pair.x}, row_a), b(Item{pair.y}, row_b);
    pair = load_two_words(first_item + at + 16);
    append(first_item + at);
    put_together(a, b, max(row_a, row_b));
  }
  append(first_item + at);
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
