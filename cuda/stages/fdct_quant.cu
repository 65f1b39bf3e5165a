// CUDA twin of codec/encode/fdct_quant.cpp. Eight threads do a block: each transforms a row, then
// a column, then quantises and stores an eighth of the block in zig-zag order.
// SPDX-License-Identifier: MIT
#include "codec/encode/fdct_quant.hpp"

#include "codec/arith/dct8.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/warp.cuh"

namespace zerorun {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerCta = kThreads / kBlockEdge;
// Rows start 9 banks apart and the four blocks of a warp 8, so that its 32 rows, and its 32
// columns, lie in 32 different banks.
constexpr int kStride = kBlockEdge + 1;

__constant__ const std::array<std::uint8_t, kBlockSize> kNatural = kNaturalOfZigzag;

/// The block from whose samples block `index` of the MCU is coded: itself, or for MCU padding the
/// nearest one before it with samples. The first block of a component always has samples.
__device__ BlockPlace source_place(const ScanLayout& layout, std::int64_t mcu, std::int32_t index,
                                   bool& padding) {
  BlockPlace place = place_block(layout, mcu, index);
  padding = !place.inside;
  while (!place.inside) place = place_block(layout, mcu, --index);
  return place;
}

/// Loads row `y` of a block. The plane's last column and row are repeated outside.
__device__ void load_row(const ConstPlaneView& plane, int x0, int y, std::uint32_t (&v)[8]) {
  const std::uint8_t* row = plane.data + min(y, plane.height - 1) * plane.stride_bytes;
#pragma unroll
  for (int x = 0; x < 8; ++x) v[x] = row[min(x0 + x, plane.width - 1)];
}

/// The sums over a block, of whose rows eight neighbouring lanes have one each.
struct SampleSums {
  ClippedSamples clipped;
  std::uint32_t squares;

  __device__ explicit SampleSums(const std::uint32_t (&row)[8]) : clipped{}, squares(0) {
#pragma unroll
    for (const std::uint32_t sample : row) {
      clipped.sum += sample;
      clipped.white += sample == 255 ? 1 : 0;
      clipped.black += sample == 0 ? 1 : 0;
      squares += sample * sample;
    }
#pragma unroll
    for (int distance = 1; distance < kBlockEdge; distance *= 2)
      for (std::uint32_t* const sum : {&clipped.sum, &clipped.white, &clipped.black, &squares})
        *sum += __shfl_xor_sync(kFullWarp, *sum, distance);
  }
};

/// Decides about a block whose AC coefficients stand in zz as the transform left them.
__device__ void tune_shared_block(const TuneRules& rules, const TuneTable& table,
                                  std::uint32_t energy_turn, std::int16_t* zz) {
  RawBlock block(zz, 1, table);
  block.clear_all_but(tune_block(block, block.candidates(), rules, table, energy_turn));
}

__global__ void __launch_bounds__(kThreads)
    fdct_quant_kernel(const __grid_constant__ FdctQuantArgs a, std::int64_t blocks) {
  __shared__ std::uint32_t coefficients[kBlocksPerCta][kBlockEdge * kStride];
  __shared__ std::int16_t zigzag[kBlocksPerCta][kBlockSize];
  const int slot = static_cast<int>(threadIdx.x) / kBlockEdge;  // of the CTA's blocks
  const int line = static_cast<int>(threadIdx.x) % kBlockEdge;  // row, then column
  std::uint32_t* const work = coefficients[slot];
  std::int16_t* const zz = zigzag[slot];
  const std::int64_t block = std::int64_t{blockIdx.x} * kBlocksPerCta + slot;
  // Threads after the last block do it once more and store nothing: warps stay whole.
  const std::int64_t source = min(block, blocks - 1);
  bool padding = false;
  const BlockPlace place =
      source_place(a.layout, a.first_mcu + source / a.layout.blocks_per_mcu,
                   static_cast<std::int32_t>(source % a.layout.blocks_per_mcu), padding);
  const int table = place.component == 0 ? 0 : 1;
  std::uint32_t v[8];
  load_row(a.plane[place.component], place.x * kBlockEdge, place.y * kBlockEdge + line, v);
  std::uint32_t energy_turn = 0;
  if (a.tune != nullptr) {
    const SampleSums sums(v);
    energy_turn = energy_and_turn(ac_energy(sums.clipped.sum, sums.squares),
                                  turn_of_block(place.component, place.x, place.y));
    const Overshoot overshoot = overshoot_of(sums.clipped, a.tune->table[table].most_overshoot);
    for (std::uint32_t& sample : v) sample = static_cast<std::uint32_t>(overshoot.apply(sample));
  }
  for (std::uint32_t& sample : v) sample -= 128;  // T.81 A.3.1
  fdct8<1>(v);
#pragma unroll
  for (int x = 0; x < 8; ++x) work[line * kStride + x] = v[x];
  __syncwarp();
#pragma unroll
  for (int y = 0; y < 8; ++y) v[y] = work[y * kStride + line];
  fdct8<2>(v);
#pragma unroll
  for (int y = 0; y < 8; ++y) work[y * kStride + line] = v[y];
  __syncwarp();
  for (int k = line * 8; k < line * 8 + 8; ++k) {
    const int natural = kNatural[k];
    const auto raw =
        static_cast<std::int32_t>(work[natural / kBlockEdge * kStride + natural % kBlockEdge]);
    const bool is_tuned = a.tune != nullptr && k > 0;
    const std::int32_t q = is_tuned ? raw : quantise(raw, a.divisors->table[table][natural]);
    zz[k] = static_cast<std::int16_t>(padding && k > 0 ? 0 : q);
  }
  __syncwarp();
  if (a.tune != nullptr && line == 0 && !padding)
    tune_shared_block(*a.tune, a.tune->table[table], energy_turn, zz);
  __syncwarp();
  if (block >= blocks) return;
  for (int k = line * 8; k < line * 8 + 8; ++k) a.zz[block * kBlockSize + k] = zz[k];
}

}  // namespace

Status fdct_quant_cuda(const FdctQuantArgs& a, Exec& exec) {
  const std::int64_t blocks = a.mcu_count * a.layout.blocks_per_mcu;
  if (blocks == 0) return Status::ok();
  ZR_LAUNCH(fdct_quant_kernel, grid_size(blocks, kBlocksPerCta), kThreads, stream_of(exec), a,
            blocks);
  return Status::ok();
}

}  // namespace zerorun
