// The second half of code_tiles: the items of a tile -> its bits, by a warp.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/encode/list_items.cuh"

namespace zerorun::cuda_encode {

__device__ inline void clear_words(std::uint32_t* words, std::uint32_t count) {
  auto* const all = reinterpret_cast<uint4*>(words);
  __syncwarp();
#pragma unroll 1
  for (auto i = static_cast<unsigned>(lane_index()); i < vectors(count); i += 32) all[i] = uint4{};
  __syncwarp();
}

/// Stores how many bits a tile has. Returns where its words go.
__device__ inline std::uint32_t* place_tile(const CodeTilesArgs& a, std::uint32_t number,
                                            std::uint32_t bits) {
  const std::uint32_t index = a.grid.tile_index(number);
  if (lane_index() == 0) {
    a.tile_bits[index] = bits;
    const std::uint32_t chunk = chunk_of(a.grid, tile_of(a.grid, number));
    atomicAdd(a.chunk_bits + a.grid.chunk_index(chunk), bits);
  }
  return a.words + index * kTileWords;
}

/// Codes block by block, once to count the bits and once more to store them. walk(visit) calls
/// visit(item, position before it) for each item of the lane's block.
template <typename Walk>
__device__ inline void code_dense_tile(const CodeTilesArgs& a, const Shared& s,
                                       std::uint32_t number, const Walk& walk) {
  const SharedAddress codes = shared_address(&s.codes);
  const auto code_into = [&](auto& writer) {
    walk([&](Item item, int before) {
      code_item(item, row_at(codes, item, distance_of(item, before)), codes, far_row(codes),
                writer);
    });
  };
  CountingWriter counting;
  code_into(counting);
  const Sums bits = warp_sums(counting.at);
  std::uint32_t* const out = place_tile(a, number, bits.total);
  clear_words(out, (bits.total + 31) / 32);
  SharingWriter writer(out, bits.before);
  code_into(writer);
  writer.finish();
}

/// The same of the lanes' coefficients.
__device__ inline void code_dense_tile(const CodeTilesArgs& a, const Shared& s, WarpShared& w,
                                       std::uint32_t number, const Coded& b,
                                       const Coefficients& c) {
  keep_dense_block(w, c);
  const std::int32_t difference = dc_difference(s, b, c);
  code_dense_tile(a, s, number,
                  [&](const auto& visit) { walk_dense_block(w, b, c, difference, visit); });
}

/// Merges the kept words of all lanes in shared memory, and copies the tile's words to `out`.
__device__ inline void merge_words(Shared& s, WarpShared& w, std::uint32_t at,
                                   std::uint32_t own_bits, std::uint32_t tile_words,
                                   std::uint32_t* out) {
  clear_words(w.tile, tile_words);
  std::uint32_t* words = w.tile + at / 32;
  SharedAddress from = shared_address(&s.word[warp_index()][0][lane_index()]);
  const SharedAddress stop = from + (own_bits + 31) / 32 * (32 * 4);
  std::uint32_t before = 0;
#pragma unroll 1
  for (; from != stop; from += 32 * 4, ++words) {
    const std::uint32_t word = load_word(from);
    atomicOr(words, __funnelshift_r(word, before, at));
    before = word;
  }
  const std::uint32_t rest = __funnelshift_r(0, before, at);
  if (rest != 0) atomicOr(words, rest);
  __syncwarp();
#pragma unroll 1
  for (auto i = static_cast<unsigned>(lane_index()); i < vectors(tile_words); i += 32)
    reinterpret_cast<uint4*>(out)[i] = reinterpret_cast<const uint4*>(w.tile)[i];
}

/// Codes the items in w.item.
__device__ inline void code_listed_tile(const CodeTilesArgs& a, Shared& s, WarpShared& w,
                                        std::uint32_t number, std::uint32_t items) {
  const std::uint32_t each = items_of_lane(items);
  fill_list(w, items, 32 * each);
  const SharedAddress list = shared_address(w.item), codes = shared_address(&s.codes);
  KeepingWriter<kKeptWords> keeping(shared_address(s.word[warp_index()]));
  code_items(list, each, codes, keeping);
  const std::uint32_t own_bits = keeping.finish();
  const Sums bits = warp_sums(own_bits);
  std::uint32_t* const out = place_tile(a, number, bits.total);
  const std::uint32_t tile_words = (bits.total + 31) / 32;
  if (!__any_sync(kFullWarp, own_bits > 32 * kKeptWords) && tile_words <= kTileItems) {
    merge_words(s, w, bits.before, own_bits, tile_words, out);
    return;
  }
  clear_words(out, tile_words);
  SharingWriter writer(out, bits.before);
  code_items(list, each, codes, writer);
  writer.finish();
}

/// Stores the list of a tile for the kernel that codes it.
__device__ inline void store_items(const CodeTilesArgs& a, WarpShared& w, std::uint32_t index,
                                   std::uint32_t items) {
  fill_list(w, items, 4 * vectors(items));
  auto* const out = reinterpret_cast<uint4*>(a.items + std::int64_t{index} * kTileItems);
#pragma unroll 1
  for (auto i = static_cast<unsigned>(lane_index()); i < vectors(items); i += 32)
    out[i] = reinterpret_cast<const uint4*>(w.item)[i];
}

/// For the next launch.
__device__ inline void clear_counts(SymbolCounts& counts) {
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < 256; i += kThreads)
    for (auto& table : counts.count) table[i] = 0;
}

}  // namespace zerorun::cuda_encode
