// Code tables in device memory: optimal ones from the statistics, so that no frame waits for the
// host, and the standard ones.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

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
};

/// Asynchronous on exec.stream.
Status optimal_huffman_cuda(const OptimalHuffmanArgs& args, Exec& exec);

/// Sends the tables of T.81 Annex K in the same form: specs[kEncodeTables] and one `tables`.
Status upload_standard_huffman(HuffmanSpec* specs, HuffmanEncodeTables* tables,
                               cudaStream_t stream);

}  // namespace zerorun
