// Walks over the bits of a scan that count MCUs and sum up DC differences, and find MCU starts.
// SPDX-License-Identifier: MIT

#if defined(ZERORUN_FAST_COUNT_RUN_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZERORUN_FAST_COUNT_RUN_INL_HPP
#undef ZERORUN_FAST_COUNT_RUN_INL_HPP
#else
#define ZERORUN_FAST_COUNT_RUN_INL_HPP
#endif

#include <algorithm>
#include <cstring>

#include "codec/arith/symbol.hpp"
#include "codec/fast/decode_kernels.hpp"
#include "codec/fast/simd-inl.hpp"

#if ZR_FAST_TARGET
HWY_BEFORE_NAMESPACE();
namespace zerorun::fast::HWY_NAMESPACE {

/// A walk before some codeword.
struct CountCursor {
  std::uint64_t bit = 0;
  const CountCycle::Place* place = nullptr;
  std::uint64_t index = kCountIndex;  ///< and the zig-zag index of the codeword; 0: DC
  std::uint64_t blocks = 0, diffs = 0;
};
HWY_INLINE CountCursor cursor_at(const CountCycle& cycle, std::uint64_t bit, int block) {
  CountCursor cursor;
  cursor.bit = bit;
  cursor.place = cycle.before(block);
  return cursor;
}
HWY_INLINE bool is_at_mcu(const CountCycle& cycle, const CountCursor& c) {
  return c.place == cycle.place;
}

HWY_INLINE std::uint64_t bits_at(const std::uint8_t* bytes, std::uint64_t bit) {
  std::uint64_t word;
  std::memcpy(&word, bytes + (bit >> 3), sizeof word);
  return __builtin_bswap64(word) << (bit & 7);
}

/// One codeword of any length and what it leads to; `bits` 0: it is wrong.
struct CountedSymbol {
  int bits;
  std::int32_t diff;
  std::uint32_t k;  ///< kBlockSize behind EOB
};
/// By value: a cursor whose address is taken would not stay in registers.
HWY_NOINLINE CountedSymbol count_symbol(std::uint64_t window, const CountCycle::Place& place,
                                        std::uint32_t k) {
  const DecodedSymbol symbol =
      decode_symbol(*place.symbols, static_cast<std::uint32_t>(window >> 48));
  if (symbol.bits == 0) return {};
  const int run = symbol.value >> 4, ssss = symbol.value & 15;
  const int bits = symbol.bits + ssss;
  if (k == 0) {
    const auto appended = static_cast<std::uint32_t>((window << symbol.bits >> 1) >> (63 - ssss));
    return {bits, extend(appended, ssss), 1};
  }
  if (ssss == 0 && run != 15) return {bits, 0, kBlockSize};
  k += static_cast<std::uint32_t>(run) + 1;
  return k <= kBlockSize ? CountedSymbol{bits, 0, k} : CountedSymbol{};
}

/// A step from the table, or one codeword; `window` are the bits at the cursor. False: wrong bits,
/// and nothing moves.
HWY_INLINE bool count_step(const std::uint8_t* bytes, CountCursor& c, std::uint64_t& window) {
  const CountCycle::Place& place = *c.place;
  const CountStep step = place.steps[window >> (64 - kCountBits)];
  std::uint64_t index = c.index + step.advance;
  std::int64_t diff = step.diff;
  window <<= step.length;
  std::uint64_t bit = c.bit + step.length;
  if (HWY_UNLIKELY((index & kCountLook) != 0)) {
    const CountedSymbol symbol = count_symbol(bits_at(bytes, c.bit), place,
                                              static_cast<std::uint32_t>(c.index - kCountIndex));
    if (symbol.bits == 0) return false;
    index = symbol.k == kBlockSize ? kCountEnds : kCountIndex + symbol.k;
    diff = symbol.diff;
    bit = c.bit + static_cast<std::uint64_t>(symbol.bits);
    window = bits_at(bytes, bit);
  }
  c.bit = bit;
  c.diffs += static_cast<std::uint64_t>(diff) << place.diff_shift;
  // Without a branch, which would be mispredicted once a block.
  const std::uint64_t ends = index / kCountEnds;
  c.place = place.next[ends];
  c.index = (index & (ends - 1)) | kCountIndex;
  c.blocks += ends;
  return true;
}

/// To the end of the block. False: wrong bits, or they end.
HWY_INLINE bool count_block(const std::uint8_t* bytes, std::uint64_t end_bit, CountCursor& c) {
  const std::uint64_t blocks = c.blocks;
  do {
    std::uint64_t window = bits_at(bytes, c.bit);
    if (!count_step(bytes, c, window)) return false;
  } while (c.blocks == blocks);
  return c.bit <= end_bit;
}

/// To the first start of an MCU at `stop` or behind it.
HWY_INLINE bool count_to_mcu(const CountCycle& cycle, const std::uint8_t* bytes,
                             std::uint64_t end_bit, std::uint64_t stop, CountCursor& c) {
  while (c.bit < stop || !is_at_mcu(cycle, c))
    if (!count_block(bytes, end_bit, c)) return false;
  return true;
}

/// Advances all walks together until one is near its stop: while one waits for its table, the
/// others go on.
template <int kWalks>
HWY_NOINLINE bool count_together(const std::uint8_t* bytes, CountCursor* cursors,
                                 const std::uint64_t* stops) {
  constexpr int kSteps = 2;  // in 57 bits of a window
  static_assert(kSteps * kMostCountStepBits <= 57);
  CountCursor c[kWalks];
  std::copy_n(cursors, kWalks, c);
  bool sound = true;
  for (;;) {
    std::uint64_t rounds = ~std::uint64_t{0};
    for (int w = 0; w < kWalks; ++w)
      rounds = std::min(rounds, c[w].bit < stops[w] ? (stops[w] - c[w].bit) / 64 : 0);
    if (rounds == 0 || !sound) break;
    for (; rounds > 0 && sound; --rounds)
#pragma GCC unroll 4
      for (int w = 0; w < kWalks; ++w) {  // by a copy, which stays in registers
        CountCursor cursor = c[w];
        std::uint64_t window = bits_at(bytes, cursor.bit);
#pragma GCC unroll 2
        for (int s = 0; s < kSteps; ++s) sound &= count_step(bytes, cursor, window);
        c[w] = cursor;
      }
  }
  std::copy_n(c, kWalks, cursors);
  return sound;
}

/// Takes one walk alone to its stop, codeword by codeword.
HWY_INLINE void finish_walk(const CountWalkArgs& a, CountCursor& cursor, CountWalk& walk) {
  walk.sound = count_to_mcu(*a.cycle, a.bytes, a.end_bit, walk.stop, cursor);
  walk.bit = cursor.bit;
  walk.mcus = static_cast<std::int64_t>(cursor.blocks) / a.cycle->blocks;
  walk.diffs = cursor.diffs;
}

inline void count_mcus(const CountWalkArgs& a) {
  CountCursor cursors[kCountWalks];
  std::uint64_t stops[kCountWalks];
  CountWalk* walks[kCountWalks];
  int count = a.walks;
  for (int w = 0; w < count; ++w) {
    walks[w] = a.walk + w;
    cursors[w] = cursor_at(*a.cycle, walks[w]->bit, 0);
    stops[w] = walks[w]->stop;
  }
  while (count > 0) {
    const bool sound = count == 4   ? count_together<4>(a.bytes, cursors, stops)
                       : count == 3 ? count_together<3>(a.bytes, cursors, stops)
                       : count == 2 ? count_together<2>(a.bytes, cursors, stops)
                                    : false;
    int left = 0;
    for (int w = 0; w < count; ++w) {
      if (!sound || cursors[w].bit + 64 > stops[w]) {
        finish_walk(a, cursors[w], *walks[w]);
        continue;
      }
      cursors[left] = cursors[w];
      stops[left] = stops[w];
      walks[left++] = walks[w];
    }
    count = left;
  }
}

/// Passes bits that are no code, too: a guess often begins inside a block, and may find the
/// codewords only behind such bits.
HWY_INLINE void pass_block(const std::uint8_t* bytes, std::uint64_t end_bit, CountCursor& c) {
  if (count_block(bytes, end_bit, c)) return;
  ++c.bit;
  c.place = c.place->next[1];
  c.index = kCountIndex;
}

/// Walks from guesses that have met before the same block go on as one.
inline std::uint64_t find_mcu(const CountCycle& cycle, const std::uint8_t* bytes,
                              std::uint64_t end_bit, std::uint64_t from, std::uint64_t bit) {
  struct Guess {
    CountCursor cursor;
    int met = 1;
  };
  Guess guesses[kMaxBlocksPerMcu];
  int count = cycle.blocks;
  for (int g = 0; g < count; ++g) guesses[g] = {cursor_at(cycle, from, g), 1};
  const auto is_behind = [](const Guess& a, const Guess& b) { return a.cursor.bit < b.cursor.bit; };
  while (count > 1) {
    Guess& last = *std::min_element(guesses, guesses + count, is_behind);
    if (last.cursor.bit >= bit) break;
    pass_block(bytes, end_bit, last.cursor);
    bool gone = false;
    for (int g = 0; g < count && !gone; ++g) {
      Guess& other = guesses[g];
      gone = &other != &last && other.cursor.bit == last.cursor.bit &&
             other.cursor.place == last.cursor.place;
      if (gone) other.met += last.met;
    }
    if (gone) last = guesses[--count];
  }
  const auto met_fewer = [](const Guess& a, const Guess& b) { return a.met < b.met; };
  CountCursor& best = std::max_element(guesses, guesses + count, met_fewer)->cursor;
  while (best.bit <= end_bit && (best.bit < bit || !is_at_mcu(cycle, best)))
    pass_block(bytes, end_bit, best);
  return best.bit;
}

}  // namespace zerorun::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // ZR_FAST_TARGET

#endif  // per-target include guard
