// Sends code tables of the host to the device.
// SPDX-License-Identifier: MIT
#include "cuda/base/check.hpp"
#include "cuda/stages/optimal_huffman.hpp"

namespace zerorun {

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
