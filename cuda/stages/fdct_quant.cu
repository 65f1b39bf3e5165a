// CUDA twin of codec/encode/fdct_quant.cpp. Eight threads do a block: each transforms a row, then
// a column, then stores an eighth of the block in zig-zag order.
// SPDX-License-Identifier: MIT
#include "codec/encode/fdct_quant.hpp"

#include "codec/arith/dct8.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"

namespace zerorun {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerCta = kThreads / kBlockEdge;
// Rows start 9 banks apart and the four blocks of a warp 8, so that its 32 rows, and its 32
// columns, lie in 32 different banks.
constexpr int kStride = kBlockEdge + 1;

/// Zig-zag position of each natural index.
struct ZigzagOfNatural {
  std::uint8_t position[kBlockSize];
  constexpr ZigzagOfNatural() : position{} {
    for (int k = 0; k < kBlockSize; ++k)
      position[kNaturalOfZigzag[static_cast<std::size_t>(k)]] = static_cast<std::uint8_t>(k);
  }
};
__constant__ constexpr ZigzagOfNatural kZigzagOfNatural{};

/// Loads row `y` of a block. The plane's last column and row are repeated outside.
__device__ void load_row(const ConstPlaneView& plane, int x0, int y, std::uint32_t (&v)[8]) {
  const std::uint8_t* row = plane.data + min(y, plane.height - 1) * plane.stride_bytes;
  if (x0 + kBlockEdge <= plane.width && reinterpret_cast<std::uintptr_t>(row + x0) % 8 == 0) {
    const uint2 samples = *reinterpret_cast<const uint2*>(row + x0);
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      v[x] = samples.x >> (8 * x) & 0xFF;
      v[4 + x] = samples.y >> (8 * x) & 0xFF;
    }
  } else {
#pragma unroll
    for (int x = 0; x < 8; ++x) v[x] = row[min(x0 + x, plane.width - 1)];
  }
}

struct Shared {
  std::uint32_t work[kBlocksPerCta][kBlockEdge * kStride];
  alignas(16) std::int16_t zz[kBlocksPerCta][kBlockSize];
  Divisor divisors[2][kBlockSize];
  std::uint8_t zigzag[kBlockSize];
};

/// The block from whose samples block `index` of the MCU is coded: itself, or for MCU padding the
/// nearest one before it with samples. The first block of a component always has samples.
__device__ BlockPlace source_place(const ScanLayout& layout, std::int64_t mcu, std::int32_t index,
                                   bool& padding) {
  BlockPlace place = place_block(layout, mcu, index);
  padding = !place.inside;
  while (!place.inside) place = place_block(layout, mcu, --index);
  return place;
}

/// Of a block.
struct SampleSums {
  ClippedSamples clipped;
  std::uint32_t squares;

  __device__ std::uint32_t energy() const { return ac_energy(clipped.sum, squares); }
};

/// Of a block whose rows eight neighbouring lanes have.
__device__ SampleSums sums_of_lanes(const std::uint32_t (&row)[8], bool active) {
  SampleSums sums{};
#pragma unroll
  for (int x = 0; x < 8; ++x) {
    const std::uint32_t sample = active ? row[x] : 128;
    sums.clipped.sum += sample;
    sums.clipped.white += sample == 255 ? 1 : 0;
    sums.clipped.black += sample == 0 ? 1 : 0;
    sums.squares += sample * sample;
  }
#pragma unroll
  for (int distance = 1; distance < kBlockEdge; distance *= 2)
    for (std::uint32_t* const sum :
         {&sums.clipped.sum, &sums.clipped.white, &sums.clipped.black, &sums.squares})
      *sum += __shfl_xor_sync(0xFFFFFFFF, *sum, distance);
  return sums;
}

/// Decides about a block whose coefficients stand in zz as the transform left them.
__device__ void tune_shared_block(const TuneRules& rules, int table, std::uint32_t energy,
                                  std::int16_t* zz) {
  RawBlock block(zz, 1, rules.table[table]);
  block.clear_all_but(tune_block(block, block.candidates(), rules, rules.table[table], energy));
}

template <bool kTuned>
__global__ void __launch_bounds__(kThreads)
    fdct_quant_kernel(const __grid_constant__ FdctQuantArgs a, std::int64_t blocks) {
  __shared__ Shared shared;
  for (int i = static_cast<int>(threadIdx.x); i < 2 * kBlockSize; i += kThreads) {
    shared.divisors[i / kBlockSize][i % kBlockSize] =
        a.divisors->table[i / kBlockSize][i % kBlockSize];
    if (i < kBlockSize) shared.zigzag[i] = kZigzagOfNatural.position[i];
  }
  __syncthreads();
  const int slot = static_cast<int>(threadIdx.x) / kBlockEdge;  // of the CTA's blocks
  const int line = static_cast<int>(threadIdx.x) % kBlockEdge;  // row, then column
  std::uint32_t* work = shared.work[slot];
  const std::int64_t step = std::int64_t{gridDim.x} * kBlocksPerCta;
  // All threads of a warp make the same number of rounds, as its barriers need.
  for (std::int64_t first = std::int64_t{blockIdx.x} * kBlocksPerCta; first < blocks;
       first += step) {
    const std::int64_t block = first + slot;
    const bool active = block < blocks;
    bool padding = false;
    int component = 0;
    std::uint32_t v[8];
    [[maybe_unused]] std::uint32_t energy = 0, turn = 0;
    if (active) {
      const std::int64_t mcu = a.first_mcu + block / a.layout.blocks_per_mcu;
      const auto index = static_cast<std::int32_t>(block % a.layout.blocks_per_mcu);
      const BlockPlace place = source_place(a.layout, mcu, index, padding);
      component = place.component;
      if constexpr (kTuned) turn = turn_of_block(component, place.x, place.y);
      load_row(a.plane[component], place.x * kBlockEdge, place.y * kBlockEdge + line, v);
    }
    [[maybe_unused]] Overshoot overshoot{};
    if constexpr (kTuned) {
      const SampleSums sums = sums_of_lanes(v, active);
      energy = energy_and_turn(sums.energy(), turn);
      overshoot = overshoot_of(sums.clipped, a.tune->table[component == 0 ? 0 : 1].most_overshoot);
    }
    if (active) {
#pragma unroll
      for (int x = 0; x < 8; ++x) {  // T.81 A.3.1
        const std::uint32_t sample =
            kTuned ? static_cast<std::uint32_t>(overshoot.apply(v[x])) : v[x];
        v[x] = sample - 128;
      }
      fdct8<1>(v);
#pragma unroll
      for (int x = 0; x < 8; ++x) work[line * kStride + x] = v[x];
    }
    __syncwarp();
    if (active) {
#pragma unroll
      for (int y = 0; y < 8; ++y) v[y] = work[y * kStride + line];
      fdct8<2>(v);
      const Divisor* divisors = shared.divisors[component == 0 ? 0 : 1];
#pragma unroll
      for (int y = 0; y < 8; ++y) {
        const int natural = y * kBlockEdge + line;
        const bool is_dc = y == 0 && line == 0;
        const auto raw = static_cast<std::int32_t>(v[y]);
        const std::int32_t q = kTuned && !is_dc ? raw : quantise(raw, divisors[natural]);
        shared.zz[slot][shared.zigzag[natural]] =
            static_cast<std::int16_t>(padding && !is_dc ? 0 : q);
      }
    }
    __syncwarp();
    if constexpr (kTuned) {
      if (active && line == 0 && !padding)
        tune_shared_block(*a.tune, component == 0 ? 0 : 1, energy, shared.zz[slot]);
      __syncwarp();
    }
    if (active) {
      reinterpret_cast<uint4*>(a.zz + block * kBlockSize)[line] =
          reinterpret_cast<const uint4*>(shared.zz[slot])[line];
    }
    __syncwarp();
  }
}

}  // namespace

Status fdct_quant_cuda(const FdctQuantArgs& a, Exec& exec) {
  const std::int64_t blocks = a.mcu_count * a.layout.blocks_per_mcu;
  if (blocks == 0) return Status::ok();
  const auto kernel = a.tune != nullptr ? fdct_quant_kernel<true> : fdct_quant_kernel<false>;
  ZR_LAUNCH(kernel, grid_size(blocks, kBlocksPerCta), kThreads, stream_of(exec), a, blocks);
  return Status::ok();
}

}  // namespace zerorun
