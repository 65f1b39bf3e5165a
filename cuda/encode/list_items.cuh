// The first half of code_tiles: samples -> the items of a tile, or the counts of its symbols, by a
// warp. A lane transforms and quantises one block, with a tune decides which coefficients are kept,
// and lists those that are not 0.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_pipeline.h>

#include <cstddef>

#include "codec/arith/tune.hpp"
#include "codec/encode/symbol_histogram.hpp"
#include "cuda/base/kernel_numbers.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/encode/code_items.cuh"
#include "cuda/encode/tile_blocks.cuh"

namespace zerorun::cuda_encode {

inline constexpr int kWarps = kCodeTilesWarps;
inline constexpr int kThreads = 32 * kWarps;

struct WarpShared {
  union {
    alignas(16) std::uint32_t item[kTileItems + kItemsAhead];  // first samples of blocks at an edge
    std::uint32_t tile[kTileItems];                            // then the tile's bits
    std::int16_t coefficient[kBlockSize][32];                  // of a dense tile, zig-zag order
  };
};
static_assert(kTileItems * sizeof(std::uint32_t) >= kBlockSize * 32 * sizeof(std::int16_t));

struct Shared {
  WarpShared of_warp[kWarps];
  union {
    alignas(16) std::uint32_t word[kWarps][kKeptWords][32];
    /// In the order of CodeTable. Even and odd lanes count apart, since additions to one word wait
    /// for each other and most symbols are one of a few.
    std::uint32_t count[2][kCodeWords];
  };
  // A Lookup may read behind it. It begins a line of 128 bytes, as in device memory: else copies
  // take twice as many accesses.
  alignas(128) CodeTable codes;
  ReciprocalTables reciprocals;
  /// For the tile before each warp's: the sums of the samples of its blocks, from which DC is
  /// predicted. Before the CTA's first tile only the last block of each component has one.
  std::uint32_t sum[kWarps][kTileBlocks];
};

static_assert(offsetof(Shared, codes) + sizeof(CodeTable) +
                  kWordsBehindCodes * sizeof(std::uint32_t) <=
              sizeof(Shared));

__device__ inline int warp_index() { return static_cast<int>(threadIdx.x / 32); }
__device__ inline std::uint32_t tile_number() {
  return blockIdx.x * kWarps + static_cast<unsigned>(warp_index());
}

struct Sums {
  std::uint32_t before, total;
};

/// Sums over the lanes before this one, and over all lanes.
__device__ inline Sums warp_sums(std::uint32_t own) {
  const std::uint32_t inclusive = warp_inclusive_sum(own);
  // Not by a shuffle: the compiler knows of a maximum that it is the same for all lanes.
  return {inclusive - own, warp_max(inclusive)};
}

/// Vectors of four words that hold `words` words.
__device__ inline std::uint32_t vectors(std::uint32_t words) { return (words + 3) / 4; }
static_assert(kTileItems % 4 == 0 && kTileWords % 4 == 0);
static_assert(32 * items_of_lane(kTileItems) == kTileItems);

/// Starts to copy a thread's part of `count` vectors to shared memory. `thread` is one of
/// `threads`.
__device__ inline void fetch(void* to, const void* from, std::uint32_t count, unsigned thread,
                             unsigned threads) {
#pragma unroll 1
  for (std::uint32_t i = thread; i < count; i += threads)
    __pipeline_memcpy_async(static_cast<uint4*>(to) + i, static_cast<const uint4*>(from) + i, 16);
}

/// Starts to copy an object to shared memory, by all threads of the CTA. Both are aligned to 16.
/// Without a loop it takes half of the instructions.
template <typename T>
__device__ inline void fetch_by_cta(T& to, const T* from) {
  constexpr unsigned kCount = sizeof(T) / 16;
  static_assert(sizeof(T) % 16 == 0);
#pragma unroll
  for (unsigned first = 0; first < kCount; first += kThreads) {
    const unsigned i = first + threadIdx.x;
    if (first + kThreads <= kCount || i < kCount)
      __pipeline_memcpy_async(reinterpret_cast<uint4*>(&to) + i,
                              reinterpret_cast<const uint4*>(from) + i, 16);
  }
}

/// Waits until all threads of the CTA can read what each of them has fetched.
__device__ inline void wait_for_fetched() {
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
}

/// Facts about the lane's block that coding needs, in one register.
class Coded {
 public:
  /// `before`: see before(). `starts_interval`: the tile is the first one of its interval.
  __device__ Coded(const Block& b, int before, bool starts_interval)
      : word_((static_cast<std::uint32_t>(before) << kBeforeAt) | (b.component != 0 ? kChroma : 0) |
              (b.padding || !b.exists ? kBare : 0) | (starts_interval ? kStartsInterval : 0) |
              (b.exists ? kExists : 0)) {}

  /// The compiler would compute it again from the tile's number.
  __device__ void keep() { word_ = kept(word_); }

  /// Lane of the block that predicts DC; negative: it is in the tile before.
  __device__ int before() const { return static_cast<std::int32_t>(word_) >> kBeforeAt; }
  __device__ unsigned destination() const { return (word_ & kChroma) / kChroma; }
  __device__ bool exists() const { return (word_ & kExists) != 0; }
  /// It has no coefficients but DC: MCU padding, or no block at all.
  __device__ bool bare() const { return (word_ & kBare) != 0; }
  __device__ bool starts_interval() const { return (word_ & kStartsInterval) != 0; }

 private:
  static constexpr int kBeforeAt = 24;
  // kChroma is how far luma's reciprocals are from chroma's, which saves a shift.
  static constexpr std::uint32_t kChroma = sizeof(ReciprocalTables::vector[0][0]);
  static constexpr std::uint32_t kBare = 2 * kChroma, kStartsInterval = 4 * kChroma,
                                 kExists = 8 * kChroma;
  static_assert(kChroma == 1 << 4);
  std::uint32_t word_;
};

/// ac_energy() of a block's rows of samples.
__device__ inline std::uint32_t energy_of_rows(const uint2 (&rows)[8]) {
  std::uint32_t sum = 0, squares = 0;
#pragma unroll
  for (int y = 0; y < 8; ++y) {
    sum = __dp4a(rows[y].x, 0x01010101u, __dp4a(rows[y].y, 0x01010101u, sum));
    squares = __dp4a(rows[y].x, rows[y].x, __dp4a(rows[y].y, rows[y].y, squares));
  }
  return ac_energy(sum, squares);
}

/// Where the lane's block lies.
struct Lane {
  Tile tile;
  ScanPlace place;
  Block block;

  __device__ Lane(const CodeTilesArgs& a, std::uint32_t number)
      : tile(tile_of(a.grid, number)),
        place(ScanPlace::of(a, tile.first_block + static_cast<std::uint32_t>(lane_index()))),
        block(block_at(a, tile, place)) {}
};

/// Transforms the rows of a block whose clipped samples may be moved, `most` at most.
__device__ inline void transform_moved_rows(const uint2 (&rows)[8], std::uint32_t most,
                                            Coefficients& c) {
  Overshoot overshoot{};
  if (most != 0) {
    std::uint32_t counts = 0;
#pragma unroll
    for (int y = 0; y < 8; ++y) {
      counts = __dp4a(rows[y].x, 0x01010101u, __dp4a(rows[y].y, 0x01010101u, counts));
      counts += count_clipped(rows[y].x) + count_clipped(rows[y].y);
    }
    overshoot = overshoot_of(clipped_samples(counts), most);
  }
  // One of the two for the whole warp, which would run both if lanes chose.
  if (__any_sync(kFullWarp, overshoot.any()))
    transform_rows(
        rows, [&](std::uint32_t samples) { return move_samples(samples, overshoot); }, c);
  else
    transform_rows(
        rows, [](std::uint32_t samples) { return samples; }, c);
}

/// Loads the samples of the lane's block and transforms its rows. A lane without a block gets some
/// samples. `alone`: the warps before this one do not do the same for the tiles before. `tuned`: by
/// the rules of `tune`; the lane's word of the warp's items gets energy_and_turn() of the block.
template <bool alone, bool tuned>
__device__ Coded transform_rows_of_tile(const CodeTilesArgs& a, Shared& s, const Lane& lane,
                                        const TuneRules* tune, Coefficients& c) {
  const int warp = warp_index();
  const Tile& tile = lane.tile;
  // Behind the samples of blocks at an edge, until the energy is known. In a register it would be
  // spilled.
  constexpr int kTurns = 16 * 32;
  if constexpr (tuned)
    s.of_warp[warp].item[kTurns + lane_index()] =
        energy_and_turn(0, turn_of_block(lane.block.component, lane.block.x, lane.block.y));
  uint2 rows[8];
  const Block& b = lane.block;
  load_rows(plane_of(a, b.component), b, s.of_warp[warp].item, rows);
  const int before = lane_index() - distance_to_predictor(a, b.component, lane.place.in_mcu);
  Coded coded(b, before, tile.first_block == 0);
  coded.keep();
  if ((alone || warp == 0) && tile.first_block > 0)
    sum_blocks_before(a, tile, tuned ? tune : nullptr, s.sum[warp]);
  // The lane's own word, which held its samples at an edge. In a register it would be spilled.
  if constexpr (tuned)
    s.of_warp[warp].item[lane_index()] =
        energy_of_rows(rows) | s.of_warp[warp].item[kTurns + lane_index()];
  if constexpr (tuned)
    transform_moved_rows(rows, tune->table[lane.block.component == 0 ? 0 : 1].most_overshoot, c);
  else
    transform_rows(
        rows, [](std::uint32_t samples) { return samples; }, c);
  if (!alone && warp + 1 < kWarps) s.sum[warp + 1][lane_index()] = sum_of_samples(c);
  return coded;
}

__device__ inline void transform_columns_of_tile(const Shared& s, const Coded& b, Coefficients& c) {
  transform_columns(b.destination() == 0, Reciprocals(s.reciprocals, b.destination()), c);
  if (b.bare()) c.low = c.high = 0;
}

/// Whether the block ends with EOB: its last coefficient is 0 (T.81 F.1.2.2).
__device__ inline bool has_eob(const Coefficients& c) { return c.high >> 31 == 0; }

__device__ inline std::uint32_t count_block_items(const Coded& b, const Coefficients& c) {
  const int items = 2 + __popc(c.low) + __popc(c.high);  // with DC and the end
  return b.exists() ? static_cast<std::uint32_t>(items) : 0;
}

/// DC minus that of the component's block before (T.81 F.1.1.5.1), or minus 0 if there is none.
__device__ inline std::int32_t dc_difference(const Shared& s, const Coded& b,
                                             const Coefficients& c) {
  const auto dc = static_cast<std::int32_t>(static_cast<std::int16_t>(c.v[0]));
  std::int32_t before = __shfl_sync(kFullWarp, dc, b.before());
  if (b.before() < 0) {
    const std::uint32_t sum = s.sum[warp_index()][b.before() + kTileBlocks];
    before =
        b.starts_interval() ? 0 : dc_of_sum(sum, Reciprocals(s.reciprocals, b.destination()).dc());
  }
  return dc - before;
}

/// Stores the items of kCount positions from kFirst on that `mask` has a bit for. `any`: the union
/// of the warp's masks.
template <int kFirst, int kCount>
__device__ inline void list_group(const Coefficients& c, std::uint32_t mask, std::uint32_t any,
                                  SharedAddress& next) {
  constexpr std::uint32_t kAll = (1u << kCount) - 1;
  if ((any >> kFirst % 32 & kAll) == 0) return;
  const std::uint32_t group = mask >> kFirst % 32 & kAll;  // its bits become predicates at once
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    if ((group >> i & 1) != 0) push_word(next, Item::ac(c.at(kFirst + i), kFirst + i));
}

/// Lists a half of the positions, those of `mask`, in groups. The warp skips a group in which none
/// of its lanes has any.
template <int kFirst, int kCount>
__device__ inline void list_half(const Coefficients& c, std::uint32_t mask, SharedAddress& next) {
  const std::uint32_t any = warp_or(mask);
  [&]<int... kGroup>(std::integer_sequence<int, kGroup...>) {
    (list_group<kFirst + kGroup * kCount, kCount>(c, mask, any, next), ...);
  }
  (std::make_integer_sequence<int, 32 / kCount>{});
}

/// `next`: where the block's items go. By all lanes of a warp.
__device__ inline void list_block_items(const Coded& b, const Coefficients& c,
                                        std::int32_t difference, SharedAddress next) {
  if (b.exists()) push_word(next, Item::dc(b.destination(), difference));
  list_half<0, 8>(c, c.low, next);
  list_half<32, 4>(c, c.high, next);
  if (!b.exists()) return;
  const std::uint32_t last = load_word(next - 4);
  store_word(next, has_eob(c) ? Item::eob(b.destination(), last) : Item::bare_end(last));
}

/// Stores the items of all blocks in w.item if they fit. Returns how many items there are.
__device__ inline Sums list_items(const Shared& s, WarpShared& w, const Coded& b,
                                  const Coefficients& c) {
  const Sums items = warp_sums(count_block_items(b, c));
  if (items.total > kTileItems) return items;
  list_block_items(b, c, dc_difference(s, b, c), shared_address(w.item + items.before));
  __syncwarp();
  return items;
}

/// Puts items without bits behind those of the list, up to item `end`, less than 128 of them, and
/// kItemsAhead behind that, by a warp.
__device__ inline void fill_list(WarpShared& w, std::uint32_t items, std::uint32_t end) {
  const auto lane = static_cast<unsigned>(lane_index());
#pragma unroll
  for (std::uint32_t i = 0; i < 128; i += 32)
    if (items + lane + i < end) w.item[items + lane + i] = Item::none();
  if (lane < kItemsAhead) w.item[end + lane] = Item::none();
  __syncwarp();
}

// The tuned forms of transform_columns(): a lane decides about the coefficients of its block by
// codec/arith/tune.hpp. The dead zone stays in registers; decisions by rate walk over the block in
// shared memory.

/// Zig-zag position of each natural index.
struct ZigzagPosition {
  std::uint8_t of[kBlockSize];
  constexpr ZigzagPosition() : of{} {
    for (int k = 0; k < kBlockSize; ++k)
      of[kNaturalOfZigzag[static_cast<std::size_t>(k)]] = static_cast<std::uint8_t>(k);
  }
};
__device__ constexpr ZigzagPosition kZigzagPosition{};

/// The rules in shared memory, of tuned kernels alone.
__device__ inline TuneRules& shared_rules() {
  __shared__ alignas(16) TuneRules rules;
  return rules;
}

/// Starts to copy the rules, by all threads of the CTA; wait_for_fetched() waits for them.
__device__ inline void fetch_rules(const TuneRules& from) { fetch_by_cta(shared_rules(), &from); }

/// tune_by_dead_zone(). The masks alone say what is coded: the values of what is dropped stay. In
/// PTX, because the compiler makes such bits so late that it spills 40 registers (9.0).
__device__ inline void tune_columns_by_zone(const Reciprocals& reciprocals, float magic,
                                            const TuneRules& rules, std::uint32_t weight,
                                            Coefficients& c) {
  const FloatZone zone(weight);
  const auto likely_product = static_cast<float>(likely_from(weight, rules.gathers));
  std::uint32_t sure[2] = {}, likely[2] = {};
  for_each_column(reciprocals, c, [&](int natural, std::uint32_t x, float reciprocal) {
    if (natural == 0) {
      c.v[0] = quantise_float(x, reciprocal, magic);
      return;
    }
    float fine = __uint_as_float(fine_float(x, reciprocal)) - kFineMagic;
    constexpr float kMost = static_cast<float>(kMostFine) / kFineStep;
    if (may_exceed_limit(natural)) fine = fminf(fmaxf(fine, -kMost), kMost);
    c.v[natural] = round_float(fine, magic);
    const int k = kZigzagPosition.of[natural];
    asm("{\n\t"
        ".reg .pred is_sure, is_likely;\n\t"
        "setp.ge.f32 is_sure, %2, %3;\n\t"
        "@is_sure or.b32 %0, %0, %5;\n\t"
        "setp.ge.f32 is_likely, %2, %4;\n\t"
        "@is_likely or.b32 %1, %1, %5;\n\t"
        "}"
        : "+r"(sure[k / 32]), "+r"(likely[k / 32])
        : "f"(zone.product(fabsf(fine))), "f"(static_cast<float>(sure_from(k))),
          "f"(likely_product), "r"(1u << k % 32));
  });
  // From the limit, which has no other such value: a register for it would be one too many.
  const bool gathers = likely_product == static_cast<float>(likely_from(0, true));
  const std::uint64_t kept = beyond_dead_zone(std::uint64_t{sure[1]} << 32 | sure[0],
                                              std::uint64_t{likely[1]} << 32 | likely[0], gathers);
  c.low = static_cast<std::uint32_t>(kept);
  c.high = static_cast<std::uint32_t>(kept >> 32);
}

/// A Block whose coefficients stand in shared memory in 32nds of a step, and are replaced.
class FineBlock {
 public:
  __device__ explicit FineBlock(std::int16_t* values) : values_(values) {}

  __device__ std::uint32_t fine(int k) const {
    return static_cast<std::uint32_t>(abs(std::int32_t{values_[k * 32]}));
  }
  __device__ void set(int k, std::int32_t level) {
    std::int16_t& value = values_[k * 32];
    value = static_cast<std::int16_t>(value < 0 ? -level : level);
  }

 private:
  std::int16_t* values_;
};

/// Stores all AC coefficients in the lane's column of w.coefficient, in 32nds of a step. Returns
/// which of them do not round to 0, by zig-zag position.
__device__ inline std::uint64_t store_fine_columns(WarpShared& w, const Reciprocals& reciprocals,
                                                   float magic, Coefficients& c) {
  std::uint32_t low = 0, high = 0, dc = 0;
  for_each_column(reciprocals, c, [&](int natural, std::uint32_t x, float reciprocal) {
    if (natural == 0) {
      dc = quantise_float(x, reciprocal, magic);
      return;
    }
    const int k = kZigzagPosition.of[natural];
    auto fine = static_cast<std::int32_t>(fine_float(x, reciprocal) - kFineMagicBits);
    constexpr auto kMost = static_cast<std::int32_t>(kMostFine);
    if (may_exceed_limit(natural)) fine = min(max(fine, -kMost), kMost);
    w.coefficient[k][lane_index()] = static_cast<std::int16_t>(fine);
    const std::uint32_t bit = abs(fine) >= kFineHalf ? 1u << k % 32 : 0;
    (k < 32 ? low : high) |= bit;
  });
  c.v[0] = dc;
  return static_cast<std::uint64_t>(high) << 32 | low;
}

/// tune_by_rate()
__device__ inline void tune_columns_by_rate(WarpShared& w, const Reciprocals& reciprocals,
                                            float magic, const TuneTable& table,
                                            std::uint32_t weight, Coefficients& c) {
  std::uint64_t kept = store_fine_columns(w, reciprocals, magic, c);
  FineBlock block(&w.coefficient[0][lane_index()]);
  kept = tune_by_rate(block, kept, table, weight);
  const std::uint32_t base = __float_as_uint(magic);
#pragma unroll
  for (int k = 1; k < kBlockSize; ++k)
    c.v[kZigzag.natural[k]] =
        base + static_cast<std::uint32_t>(std::int32_t{w.coefficient[k][lane_index()]});
  c.low = static_cast<std::uint32_t>(kept);
  c.high = static_cast<std::uint32_t>(kept >> 32);
  __syncwarp();  // other lanes write items over these coefficients
}

/// Transforms the columns of the lane's block and decides about its coefficients.
__device__ inline void tune_columns_of_tile(const Shared& s, WarpShared& w, const Coded& b,
                                            Coefficients& c) {
  const TuneRules& rules = shared_rules();
  const unsigned destination = b.destination();
  const Reciprocals reciprocals(s.reciprocals, destination);
  const float magic = kLevelMagic + (destination == 0 ? 0.0f : kChromaMagic);
  const std::uint32_t weight = error_weight(rules, w.item[lane_index()]);
  __syncwarp();  // the coefficients lie over the energies of other lanes
  if (rules.by_rate)
    tune_columns_by_rate(w, reciprocals, magic, rules.table[destination], weight, c);
  else
    tune_columns_by_zone(reciprocals, magic, rules, weight, c);
  if (b.bare()) c.low = c.high = 0;
}

// Coefficients of a tile -> how many there are of each symbol, by a warp.

/// Calls visit(item, position before it) for each item of the lane's block in w.coefficient.
template <typename Visit>
__device__ inline void walk_dense_block(const WarpShared& w, const Coded& b, const Coefficients& c,
                                        std::int32_t difference, const Visit& visit) {
  if (!b.exists()) return;
  visit(Item{Item::dc(b.destination(), difference)}, 0);
  const std::uint32_t table = (Item::kFirstTable + 2 * b.destination()) << 24;
  int last = 0;
#pragma unroll 1
  for (int half = 0; half < 2; ++half) {
    for (std::uint32_t left = half == 0 ? c.low : c.high; left != 0; left &= left - 1) {
      const int k = 32 * half + __ffs(static_cast<int>(left)) - 1;
      const auto value = static_cast<std::uint32_t>(w.coefficient[k][lane_index()]);
      const Item item{Item::ac(value, k) + table};
      visit(item, last);
      last = item.place();
    }
  }
  if (has_eob(c)) visit(Item{Item::eob(b.destination(), static_cast<unsigned>(last))}, last);
}

/// Stores the lane's coefficients in w.coefficient; no other lane reads them.
__device__ inline void keep_dense_block(WarpShared& w, const Coefficients& c) {
#pragma unroll
  for (int k = 0; k < kBlockSize; ++k)
    w.coefficient[k][lane_index()] = static_cast<std::int16_t>(c.at(k));
}

/// Transforms the columns of the lane's block, and decides about its coefficients.
template <bool kTuned>
__device__ inline void finish_transform(const Shared& s, WarpShared& w, const Coded& b,
                                        Coefficients& c) {
  if constexpr (kTuned)
    tune_columns_of_tile(s, w, b, c);
  else
    transform_columns_of_tile(s, b, c);
}

/// Called by all threads of the CTA before the barrier behind which the fetched tables are read: a
/// warp counts only after it.
__device__ inline void clear_counts(Shared& s) {
  for (unsigned i = threadIdx.x; i < sizeof s.count / 16; i += kThreads)
    reinterpret_cast<uint4*>(s.count)[i] = uint4{};
}

/// Even and odd lanes have their own.
__device__ inline std::uint32_t* counts_of_lane(Shared& s) { return s.count[lane_index() % 2]; }

/// Adds the symbols of a tile whose items do not fit to s.count.
__device__ inline void count_dense_tile(Shared& s, WarpShared& w, const Coded& b,
                                        const Coefficients& c) {
  keep_dense_block(w, c);
  const std::int32_t difference = dc_difference(s, b, c);
  walk_dense_block(w, b, c, difference, [&](Item item, int before) {
    count_item(item, row_slot(item, distance_of(item, before)), counts_of_lane(s));
  });
}

/// Adds those of the items in w.item.
__device__ inline void count_listed_tile(Shared& s, const WarpShared& w, std::uint32_t items) {
  const SharedAddress list = shared_address(w.item), end = list + 4 * items;
  SharedAddress at = list + 4 * static_cast<unsigned>(lane_index());
  // The first item of the list, DC, is at the same place as the one before it.
  SharedAddress before = max(at, list + 4) - 4;
#pragma unroll 1
  for (; at < end; at += 32 * 4, before = at - 4) {
    const Item item{load_word(at)};
    count_item(item, row_slot_behind(item, Item{load_word(before)}), counts_of_lane(s));
  }
}

/// From transformed rows to counts.
template <bool kTuned>
__device__ inline void count_tile(Shared& s, WarpShared& w, const Coded& b, Coefficients& c) {
  finish_transform<kTuned>(s, w, b, c);
  const std::uint32_t items = list_items(s, w, b, c).total;
  if (items > kTileItems)
    count_dense_tile(s, w, b, c);
  else
    count_listed_tile(s, w, items);
}

/// Adds the CTA's counts to `counts`. A thread's symbols of AC are kThreads apart, so that a warp
/// adds to words side by side.
__device__ inline void add_counts(const Shared& s, SymbolCounts* counts) {
  static_assert(256 % kThreads == 0 && kThreads % 16 == 0);
  static_assert(kCodeSigns == 4 && kSizeWords % 4 == 0 && kCodeWords % 4 == 0);
  const auto add = [](std::uint32_t& to, std::uint32_t count) {
    if (count != 0) atomicAdd(&to, count);
  };
  const auto counts_at = [&](int row, int size) {
    const int slot = code_slot(0, row, size, true);
    const uint4 even = *reinterpret_cast<const uint4*>(s.count[0] + slot);
    const uint4 odd = *reinterpret_cast<const uint4*>(s.count[1] + slot);
    return uint4{even.x + odd.x, even.y + odd.y, even.z + odd.z, even.w + odd.w};
  };
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread % 16 <= kMostCodeSize) {
#pragma unroll
    for (int first = 0; first < 256; first += kThreads) {
      const uint4 found = counts_at(first / 16 + thread / 16 + 1, thread % 16);
      add(counts->count[2][first + thread], found.x + found.y);
      add(counts->count[3][first + thread], found.z + found.w);
    }
  }
  if (thread <= kMostCodeSize) {
    uint4 found = counts_at(0, thread);
    if (thread == 0) {
      add(counts->count[2][kEob], found.x);
      add(counts->count[3][kEob], found.z);
      found.x = found.z = 0;
    }
    add(counts->count[0][thread], found.x + found.y);
    add(counts->count[1][thread], found.z + found.w);
  }
}

}  // namespace zerorun::cuda_encode
