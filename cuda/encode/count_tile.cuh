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
