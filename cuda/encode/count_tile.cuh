// Coefficients of a tile -> how many there are of each symbol, by a warp.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/encode/symbol_histogram.hpp"
#include "cuda/encode/list_items.cuh"
#include "cuda/encode/tune_blocks.cuh"

namespace zerorun::cuda_encode {

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

/// By all threads of the CTA, before the tables of all of them can be read.
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

/// Adds the CTA's counts to `counts`.
__device__ inline void add_counts(const Shared& s, SymbolCounts* counts) {
  const auto add = [&](int table, int symbol, std::uint32_t count) {
    if (count != 0) atomicAdd(&counts->count[table][symbol], count);
  };
  constexpr int kSizes = kMostCodeSize + 1;
  for (int i = static_cast<int>(threadIdx.x); i < 2 * kCodeRows * kSizes; i += kThreads) {
    const int destination = i / (kCodeRows * kSizes);
    const int row = i / kSizes % kCodeRows, size = i % kSizes;
    const int negative = code_slot(destination, row, size, true);
    const int positive = code_slot(destination, row, size, false);
    const std::uint32_t below = s.count[0][negative] + s.count[1][negative];
    const std::uint32_t above = s.count[0][positive] + s.count[1][positive];
    if (row == 0 && size == 0) {
      add(2 + destination, kEob, below);
      add(destination, 0, above);
    } else if (row == 0) {
      add(destination, size, below + above);
    } else {
      add(2 + destination, (row - 1) * 16 + size, below + above);
    }
  }
}

}  // namespace zerorun::cuda_encode
