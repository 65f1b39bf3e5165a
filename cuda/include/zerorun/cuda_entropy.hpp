// General-purpose entropy coding primitives on device arrays. Their serial twins in
// zerorun/entropy.hpp define the results.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "zerorun/entropy.hpp"
#include "zerorun/status.hpp"

/// All pointers named d_ lie in device memory, are aligned to their type and do not overlap.
/// Inputs aligned to 16 bytes, as cudaMalloc gives them, are read fastest. Sizes count elements.
///
/// Scratch memory belongs to the caller: with d_scratch == nullptr a call only sets scratch_bytes
/// to what the same call needs on the same device; otherwise it checks scratch_bytes. d_scratch is
/// aligned to 256 bytes. Calls enqueue work on the stream and return without waiting for it, so
/// that they can be captured in a graph; scratch and arrays must live until the work has completed.
///
/// The returned Status is about arguments and launches. Sizes and faults that depend on the data
/// are written to an Outcome in device memory.
namespace zerorun::cuda_entropy {

using entropy::Codebook;
using entropy::kSymbols;

/// The result of a call; copy it to the host and pass it to to_status().
struct Outcome {
  std::uint64_t count;  ///< runs, elements, symbols or bits, as the call says
  std::uint64_t fault;  ///< kNoFault, or the first fault, packed for to_status()
};
inline constexpr std::uint64_t kNoFault = ~std::uint64_t{0};

/// The code and the position that the serial twin would return.
ZERORUN_API Status to_status(const Outcome& outcome);

/// Run-length encode in one pass. outcome.count: runs. At most `capacity` runs are written. Faults:
/// output_too_small for more runs, invalid_argument for a run of 2^32 elements or more.
ZERORUN_API Status run_length_encode(void* d_scratch, std::size_t& scratch_bytes,
                                     const std::int32_t* d_in, std::uint64_t size,
                                     std::int32_t* d_values, std::uint32_t* d_lengths,
                                     std::uint64_t capacity, Outcome* d_outcome,
                                     cudaStream_t stream);

/// The same by the four kernels of PARLE: mask, scan, compaction, scatter. For readers, and as a
/// base line of measurements; needs 12 bytes of scratch per element (24 from 2^32 elements on).
ZERORUN_API Status run_length_encode_parle(void* d_scratch, std::size_t& scratch_bytes,
                                           const std::int32_t* d_in, std::uint64_t size,
                                           std::int32_t* d_values, std::uint32_t* d_lengths,
                                           std::uint64_t capacity, Outcome* d_outcome,
                                           cudaStream_t stream);

/// Run-length decode. outcome.count: elements of all runs. Elements from `capacity` on are not
/// written and are the fault output_too_small.
ZERORUN_API Status run_length_decode(void* d_scratch, std::size_t& scratch_bytes,
                                     const std::int32_t* d_values, const std::uint32_t* d_lengths,
                                     std::uint64_t runs, std::int32_t* d_out,
                                     std::uint64_t capacity, Outcome* d_outcome,
                                     cudaStream_t stream);

/// d_out[i] = sum of d_in[0] .. d_in[i-1] (exclusive) or .. d_in[i] (inclusive), modulo 2^32.
ZERORUN_API Status exclusive_scan(void* d_scratch, std::size_t& scratch_bytes,
                                  const std::uint32_t* d_in, std::uint64_t size,
                                  std::uint32_t* d_out, cudaStream_t stream);
ZERORUN_API Status inclusive_scan(void* d_scratch, std::size_t& scratch_bytes,
                                  const std::uint32_t* d_in, std::uint64_t size,
                                  std::uint32_t* d_out, cudaStream_t stream);

/// Keeps d_in[i] where d_flags[i] != 0, in order. *d_kept: elements kept. d_out has room for them.
ZERORUN_API Status compact(void* d_scratch, std::size_t& scratch_bytes, const std::int32_t* d_in,
                           const std::uint8_t* d_flags, std::uint64_t size, std::int32_t* d_out,
                           std::uint64_t* d_kept, cudaStream_t stream);

/// d_counts[256]: how often each byte occurs. Needs no scratch.
ZERORUN_API Status histogram(const std::uint8_t* d_in, std::uint64_t size, std::uint64_t* d_counts,
                             cudaStream_t stream);

/// Huffman code of d_counts[256] with at most max_bits bits (8..32). Needs no scratch.
/// outcome.count: symbols with a codeword. Fault: invalid_argument if the counts add up to 2^64 or
/// more; *d_book then has no codewords.
ZERORUN_API Status build_codebook(const std::uint64_t* d_counts, int max_bits, Codebook* d_book,
                                  Outcome* d_outcome, cudaStream_t stream);

/// Symbols between the entries of a chunk index: a power of two from kMinChunkSymbols to
/// kMaxChunkSymbols.
inline constexpr std::uint32_t kMinChunkSymbols = 16;
inline constexpr std::uint32_t kMaxChunkSymbols = 1u << 20;

/// Variable-length encode. outcome.count: bits. d_out has `capacity` words of 32 bits and need not
/// be cleared. d_offsets: null, or room for the chunk index as entropy::chunk_offsets() defines it.
/// Faults: invalid_argument for a symbol without codeword, output_too_small. The output is then
/// unspecified, as it is for a d_book whose values have bits above their length.
ZERORUN_API Status encode(void* d_scratch, std::size_t& scratch_bytes, const std::uint8_t* d_in,
                          std::uint64_t size, const Codebook* d_book, std::uint32_t* d_out,
                          std::uint64_t capacity, std::uint32_t chunk_symbols,
                          std::uint64_t* d_offsets, Outcome* d_outcome, cudaStream_t stream);

/// The same as CUVLE publishes it: each CTA waits for its left neighbour's sum of bits, and each
/// thread ORs its first and last word into the output. For readers, and as a base line.
ZERORUN_API Status encode_chained(void* d_scratch, std::size_t& scratch_bytes,
                                  const std::uint8_t* d_in, std::uint64_t size,
                                  const Codebook* d_book, std::uint32_t* d_out,
                                  std::uint64_t capacity, Outcome* d_outcome, cudaStream_t stream);

/// Decode `symbols` bytes by a chunk index that entropy::chunk_offsets() or encode() made.
/// outcome.count: symbols if there is no fault. Faults as entropy::decode_chunks() names them.
ZERORUN_API Status decode_chunks(void* d_scratch, std::size_t& scratch_bytes,
                                 const std::uint32_t* d_in, std::uint64_t bits,
                                 const Codebook* d_book, std::uint32_t chunk_symbols,
                                 const std::uint64_t* d_offsets, std::uint8_t* d_out,
                                 std::uint64_t symbols, Outcome* d_outcome, cudaStream_t stream);

/// Decode `symbols` bytes without an index: threads start at fixed distances and tell their
/// neighbours where their last codeword ends until all agree. Streams that do not synchronise
/// within some rounds are decoded from all 32 positions at which a subsequence's first codeword can
/// start. Faults as entropy::decode() names them.
ZERORUN_API Status decode(void* d_scratch, std::size_t& scratch_bytes, const std::uint32_t* d_in,
                          std::uint64_t bits, const Codebook* d_book, std::uint8_t* d_out,
                          std::uint64_t symbols, Outcome* d_outcome, cudaStream_t stream);

}  // namespace zerorun::cuda_entropy
