// Optimal code tables from statistics, and tables of the host in the same form.
// SPDX-License-Identifier: MIT
#include "cuda/stages/optimal_huffman.cuh"

#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/stages/stages_cuda.hpp"

namespace zerorun {
namespace {

__global__ void __launch_bounds__(optimal_huffman::kThreads)
    optimal_huffman_kernel(const SymbolCounts* counts, HuffmanSpec* specs,
                           HuffmanEncodeTables* tables) {
  __shared__ optimal_huffman::Shared s;
  const unsigned table = blockIdx.x, symbol = threadIdx.x;
  optimal_huffman::start_table(s);
  const optimal_huffman::Table built =
      optimal_huffman::build_table(s, counts->count[table][symbol]);
  optimal_huffman::store_spec(s, built, specs[table]);
  tables->code[table][symbol] = built.own.code;
  tables->bits[table][symbol] = static_cast<std::uint8_t>(built.own.bits);
}

}  // namespace

Status optimal_huffman_cuda(const SymbolCounts* counts, HuffmanSpec* specs,
                            HuffmanEncodeTables* tables, Exec& exec) {
  ZR_LAUNCH(optimal_huffman_kernel, kEncodeTables, optimal_huffman::kThreads, stream_of(exec),
            counts, specs, tables);
  return Status::ok();
}

Status upload_huffman(const std::array<HuffmanSpec, kEncodeTables>& from, HuffmanSpec* specs,
                      HuffmanEncodeTables* tables, cudaStream_t stream) {
  // From pageable memory the calls return when the source has been read.
  HuffmanEncodeTables filled;
  for (int t = 0; t < kEncodeTables; ++t)
    fill_encode_table(from[static_cast<std::size_t>(t)], t, filled);
  ZR_CUDA_TRY(cudaMemcpyAsync(specs, from.data(), sizeof from, cudaMemcpyHostToDevice, stream));
  ZR_CUDA_TRY(cudaMemcpyAsync(tables, &filled, sizeof filled, cudaMemcpyHostToDevice, stream));
  return Status::ok();
}

}  // namespace zerorun
