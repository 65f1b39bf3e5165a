// Optimal code tables as a stage of its own. The encoder makes them in stream_tables.
// SPDX-License-Identifier: MIT
#include "cuda/stages/optimal_huffman.hpp"

#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/stages/optimal_codes.cuh"

namespace zerorun {
namespace {

using namespace optimal_codes;

__global__ void __launch_bounds__(32) optimal_huffman_kernel(OptimalHuffmanArgs a) {
  __shared__ TableShared s;
  const int table = static_cast<int>(blockIdx.x), lane = static_cast<int>(threadIdx.x);
  clear_table(s, lane);
  wait_for_previous_kernel();
  build_table(a.counts[blockIdx.y], table, lane, s,
              a.specs[blockIdx.y * kEncodeTables + blockIdx.x], a.tables[blockIdx.y]);
}

}  // namespace

Status optimal_huffman_cuda(const OptimalHuffmanArgs& args, Exec& exec) {
  const LaunchShape shape{kEncodeTables, 32, 0, args.frames};
  ZR_CUDA_TRY(launch_behind(optimal_huffman_kernel, shape, stream_of(exec), args));
  return Status::ok();
}

}  // namespace zerorun
