// Code tables in device memory: optimal ones from the statistics, so that no frame waits for the
// host, and fixed ones.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <array>

#include "codec/base/exec.hpp"
#include "codec/encode/symbol_histogram.hpp"
#include "codec/syntax/huffman_code.hpp"
#include "codec/syntax/huffman_spec.hpp"

namespace zerorun {

/// All pointers are device memory.
struct OptimalHuffmanArgs {
  const SymbolCounts* counts;   ///< [frames]
  HuffmanSpec* specs;           ///< [frames][kEncodeTables] out: what optimal_huffman_spec() gives
  HuffmanEncodeTables* tables;  ///< [frames] out: what fill_encode_table() makes of them
  std::uint32_t frames = 1;
  const std::uint32_t* skip = nullptr;  ///< if not null: where it is not 0, nothing is made
};

/// Asynchronous on exec.stream.
Status optimal_huffman_cuda(const OptimalHuffmanArgs& args, Exec& exec);

/// Sends tables of the host in the same form: specs[kEncodeTables] and one `tables`. Returns when
/// `from` has been read.
Status upload_huffman(const std::array<HuffmanSpec, kEncodeTables>& from, HuffmanSpec* specs,
                      HuffmanEncodeTables* tables, cudaStream_t stream);

}  // namespace zerorun
