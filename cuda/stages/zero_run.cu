// CUDA twin of codec/encode/zero_run.cpp: flags, scans, scatters. A warp does a block.
// SPDX-License-Identifier: MIT
#include "codec/encode/zero_run.hpp"

#include <bit>

#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/warp.cuh"

namespace zerorun {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerCta = kThreads / 32;

/// Which coefficients of a block emit a symbol. Each emits one or none, so that its rank among
/// those that do is its place in the block's symbols. In a run of zeros before a coded coefficient
/// every 16th zero emits ZRL; the first zero after the last coded coefficient emits EOB.
class BlockSymbols {
 public:
  __device__ BlockSymbols(const std::int16_t* zz, int lane) : low_(zz[lane]), high_(zz[lane + 32]) {
    coded_ = ballot64(lane == 0 || low_ != 0, high_ != 0);  // DC always is
    last_ = highest_bit(coded_);
    emitted_ = ballot64(emits(lane), emits(lane + 32));
  }
  __device__ int count() const { return __popcll(emitted_); }
  __device__ bool emitted(int k) const { return has_bit(emitted_, k); }
  __device__ int rank(int k) const { return __popcll(emitted_ & bits_below(k)); }

  /// The symbol of an emitting position other than DC.
  __device__ Symbol symbol(int k, int table) const {
    const auto marker_table = static_cast<std::uint8_t>(table);
    if (has_bit(coded_, k))
      return make_symbol((distance(k) - 1) % 16, k < 32 ? low_ : high_, table);
    return {k < last_ ? kZrl : kEob, marker_table, 0};
  }

 private:
  /// From the coded coefficient before k > 0.
  __device__ int distance(int k) const { return k - highest_bit(coded_ & bits_below(k)); }
  __device__ bool emits(int k) const {
    return has_bit(coded_, k) || k == last_ + 1 || (k < last_ && distance(k) % 16 == 0);
  }

  std::int16_t low_, high_;  // this lane's coefficients
  std::uint64_t coded_, emitted_;
  int last_;  // position of the last coded coefficient
};

__global__ void __launch_bounds__(kThreads)
    flag_kernel(const std::int16_t* zz, std::int64_t blocks, std::uint32_t* symbol_count) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (std::int64_t b = grid_thread() / 32; b < blocks; b += grid_threads() / 32) {
    const BlockSymbols symbols(zz + b * kBlockSize, lane);
    if (lane == 0) symbol_count[b] = static_cast<std::uint32_t>(symbols.count());
  }
  // The scan reads a last element, whose value it does not use.
  if (grid_thread() == 0) symbol_count[blocks] = 0;
}

/// By one store.
__device__ void put(Symbol* out, Symbol symbol) {
  *reinterpret_cast<std::uint32_t*>(out) = std::bit_cast<std::uint32_t>(symbol);
}

__global__ void __launch_bounds__(kThreads) scatter_kernel(const __grid_constant__ ZeroRunArgs a) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (std::int64_t b = grid_thread() / 32; b < a.blocks; b += grid_threads() / 32) {
    const BlockSymbols symbols(a.zz + b * kBlockSize, lane);
    const auto in_mcu = static_cast<std::int32_t>(b % a.layout.blocks_per_mcu);
    const auto& component = a.layout.component[a.layout.block_component[in_mcu]];
    const int ac_table = 2 + component.ac_table;
    Symbol* out = a.symbols + a.block_first_symbol[b];
    if (lane == 0)
      put(out, make_symbol(0, a.diff[b], component.dc_table));
    else if (symbols.emitted(lane))
      put(out + symbols.rank(lane), symbols.symbol(lane, ac_table));
    if (symbols.emitted(lane + 32))
      put(out + symbols.rank(lane + 32), symbols.symbol(lane + 32, ac_table));
  }
}

}  // namespace

Status zero_run_cuda(const ZeroRunArgs& a, Exec& exec) {
  const cudaStream_t stream = stream_of(exec);
  if (a.blocks == 0) {
    ZR_CUDA_TRY(cudaMemsetAsync(a.block_first_symbol, 0, sizeof *a.block_first_symbol, stream));
    return Status::ok();
  }
  std::int64_t temp_bytes = 0;
  ZR_TRY(device_scan_temp_bytes(a.blocks + 1, temp_bytes));
  std::byte* temp = nullptr;
  ZR_TRY(scratch_of(exec).carve(scratch_array(temp, temp_bytes)));
  const unsigned grid = grid_size(a.blocks, kBlocksPerCta);
  ZR_LAUNCH(flag_kernel, grid, kThreads, stream, a.zz, a.blocks, a.block_first_symbol);
  ZR_TRY(device_exclusive_scan(a.block_first_symbol, a.block_first_symbol, a.blocks + 1, temp,
                               temp_bytes, stream));
  ZR_LAUNCH(scatter_kernel, grid, kThreads, stream, a);
  return Status::ok();
}

}  // namespace zerorun
