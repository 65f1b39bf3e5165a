// The kernels of progressive frames: samples -> coefficients in memory -> all scans of the script
// at once. Each kernel takes the scans of all frames.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/encode/frame_kernels.hpp"
#include "cuda/encode/script_plan.hpp"

namespace zerorun {

/// Coefficients of frames of one shape, block after block as they lie in their components.
struct StoredFrames {
  std::int16_t* dc;        ///< [frames][blocks]
  std::uint64_t* nonzero;  ///< [frames][levels][blocks]; bit k of level l: bits l and above of the
                           ///< coefficient at zig-zag index k are not 0
  std::int16_t* ac;        ///< [frames][blocks][64], zig-zag order; only those of level 0 count
  StoredComponent component[kMaxComponents];
  std::uint32_t blocks, levels;
};

/// Of the blocks of a tile of AC, a bit each.
struct alignas(16) TileMarks {
  std::uint32_t breakers;   ///< BandBlock::breaks_run()
  std::uint32_t tails;      ///< BandBlock::has_tail()
  std::uint32_t tail_bits;  ///< sum of BandBlock::tail_bits()
  std::uint32_t blocks;     ///< that it has, and kEndsInterval
  static constexpr std::uint32_t kEndsInterval = 0x100;
};

/// A stream as its scans follow each other.
struct StreamOrder {
  ScanOrder order;
  std::uint32_t first_cta[kMaxScans + 1], first_chunk[kMaxScans + 1];
  std::uint32_t header_at[kMaxScans + 1];  ///< where the headers begin, one behind the other
};

/// All pointers are device memory.
struct ScriptArgs {
  StoredFrames stored;
  const CodedScan* plan;      ///< [scans]
  const std::uint8_t* parts;  ///< ScriptPlan::parts
  std::uint32_t head_bytes;
  const CountJob* jobs;  ///< [count_jobs]
  const ScanChoices* choices;
  std::uint32_t frames, scans, count_jobs, tiles, job_ctas, chunks, stream_ctas, stream_chunks;
  std::uint32_t header_room;  ///< of a frame
  std::uint64_t frame_words;  ///< likewise
  TileMarks* marks;           ///< [frames][tiles]
  std::uint8_t* tail_bits;    ///< [frames][tiles][kTileBlocks]
  HuffmanSpec* specs;         ///< [frames][scans][kScanTables]
  std::uint32_t* codes;  ///< [frames][scans][kScanTables][256]: a codeword, left-aligned in the
                         ///< upper 16 bits, and its length
  std::uint64_t* bits;   ///< [frames][scans] as scan_bits() counts them
  StreamOrder* streams;  ///< [frames]
  std::uint32_t* words;  ///< [frames][frame_words]: the bits of each tile begin with a word
  std::uint32_t *tile_bits, *tile_at;  ///< [frames][tiles]: how many, and the number of that word
  std::uint8_t* headers;               ///< [frames][header_room]
  // Zero before the first kernel behind store_blocks(), which clears them.
  JobCounts* counts;    ///< [frames][count_jobs]
  std::uint16_t* runs;  ///< [frames][tiles][kTileBlocks]: blocks of the run that begins there
  std::uint32_t* corrections;   ///< [frames][scans]: correction bits
  std::uint32_t* chunk_bits;    ///< [frames][chunks]
  std::uint64_t* cta_states;    ///< [frames][stream_ctas], of a look-back
  std::uint64_t* chunk_states;  ///< [frames][stream_chunks], likewise
  std::uint64_t* cleared;       ///< all of them as one array
  std::uint64_t cleared_count;
  std::uint32_t first_cta[kMaxJobs + 1];  ///< of the jobs
  FrameOutput output[kMaxFrames];
};

/// Samples -> coefficients, and clears what the others add to.
Status store_blocks(const CodeTilesArgs& tiles, const ScriptArgs& args, cudaStream_t stream);
/// Finds where runs of ends of bands may end.
Status mark_blocks(const ScriptArgs& args, cudaStream_t stream);
/// Finds the runs, and counts all symbols.
Status count_scans(const ScriptArgs& args, cudaStream_t stream);
/// Counts -> tables; then the order of the scans, and their headers.
Status make_scan_tables(const ScriptArgs& args, cudaStream_t stream);
/// The bits of all tiles.
Status code_scans(const ScriptArgs& args, cudaStream_t stream);
/// Bits -> the finished stream.
Status assemble_scans(const ScriptArgs& args, cudaStream_t stream);

}  // namespace zerorun
