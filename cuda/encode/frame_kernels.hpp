// The kernels of the encoder: what they take and leave.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "codec/arith/quant.hpp"
#include "codec/arith/size_plan.hpp"
#include "codec/arith/symbol.hpp"
#include "codec/arith/tune.hpp"
#include "codec/encode/symbol_histogram.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "codec/syntax/header_bytes.hpp"
#include "codec/syntax/huffman_code.hpp"
#include "codec/syntax/tables.hpp"
#include "cuda/encode/code_table.hpp"
#include "cuda/encode/script_plan.hpp"
#include "cuda/encode/tile_grid.hpp"
#include "cuda/encode/tuning.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

// The first kernel of sequential frames: samples -> the bits of each tile. It does the work of the
// stages fdct_quant, dc_diff, zero_run, huffman_encode and bit_pack.

/// quant_reciprocal() of the entries of two tables, column after column. Vectors of luma and of
/// chroma take turns: lanes of a warp that read both at once find them in different banks.
struct alignas(16) ReciprocalTables {
  static constexpr int kVector = 4;  ///< rows
  float vector[kBlockSize / kVector][2][kVector];

  ZR_HD float& at(int table, int x, int y) {
    return vector[(x * kBlockEdge + y) / kVector][table][y % kVector];
  }
};

inline constexpr std::uint32_t kDenseTile = 0xFFFFFFFF;

/// A component's samples.
struct PlanePlace {
  const std::uint8_t* data;
  std::ptrdiff_t stride_bytes;
};

/// All pointers are device memory.
struct CodeTilesArgs {
  ScanLayout layout;
  TileGrid grid;
  std::uint32_t frames;
  bool own_codes;  ///< each frame has its own table; else all share the first
  PlanePlace plane[kMaxFrames][kMaxComponents];
  std::int32_t width[2], height[2];  ///< samples of the planes of luma and of chroma
  const ReciprocalTables* reciprocals;
  const TuneRules* tune;      ///< null: all coefficients are rounded
  const CodeTable* codes;     ///< [frames], or one; not read by collect_tiles()
  std::uint32_t* words;       ///< [tiles][kTileWords] out: the tile's bits, the first one highest,
                              ///< then zeros up to the end of the word
  std::uint32_t* tile_bits;   ///< [tiles] out
  std::uint32_t* chunk_bits;  ///< [chunks] the bits of the tiles are added to it
  /// From collect_tiles() to code_collected_tiles(), else null.
  std::uint32_t* items;       ///< [tiles][kTileItems]
  std::uint32_t* item_count;  ///< [tiles], kDenseTile where they do not fit
  const std::uint32_t* skip;  ///< if not null: where it is not 0, nothing is coded
};

/// Samples -> bits.
Status code_tiles(const CodeTilesArgs& args, cudaStream_t stream);

/// For optimal tables. The first turns samples into items and adds their symbols to counts[frames];
/// the second turns items into bits, and clears counts[frames] for the next launch.
Status collect_tiles(const CodeTilesArgs& args, SymbolCounts* counts, cudaStream_t stream);
Status code_collected_tiles(const CodeTilesArgs& args, SymbolCounts* counts, cudaStream_t stream);

// Code tables as the kernels look them up, and headers with the same tables as DHT segments. The
// device makes both, because optimal tables exist only there.

/// Bytes of all DHT segments of a frame at most.
inline constexpr std::uint32_t kMaxDhtBytes = kEncodeTables * (kDhtLeadBytes + 256);

/// A stream is header, scan and EOI, where parts_bytes > 0; else it is the scan alone. Frames that
/// share their Huffman tables share the header. All pointers are device memory. Plain data.
struct StreamEnvelope {
  const std::uint8_t* parts;  ///< SOI to SOS without DHT segments
  std::uint32_t parts_bytes;
  std::uint32_t dht_at;         ///< where the DHT segments belong in `parts`
  std::uint8_t* header;         ///< made by make_stream_tables()
  std::uint32_t* header_bytes;  ///< a number for each header
  std::uint32_t stride;         ///< from a frame's header to the next one; 0: all frames share one
};

/// All pointers are device memory.
struct StreamTablesArgs {
  const HuffmanSpec* specs;           ///< [kEncodeTables]
  const HuffmanEncodeTables* tables;  ///< made from them
  int destinations;                   ///< 1 or 2: a header has 2 DHT segments for each
  StreamEnvelope stream;              ///< out: its header
  CodeTable* codes;                   ///< out
  const std::uint32_t* skip;          ///< if not null: where it is not 0, nothing is made
};

/// For all frames, which share fixed tables.
Status make_stream_tables(const StreamTablesArgs& args, cudaStream_t stream);

/// All pointers are device memory; arrays have one element a frame.
struct OptimalTablesArgs {
  std::uint32_t frames;
  const SymbolCounts* counts;
  HuffmanSpec* specs;         ///< [frames][kEncodeTables] out: what optimal_huffman_spec() gives
  int destinations;           ///< 1 or 2: a header has 2 DHT segments for each
  StreamEnvelope stream;      ///< out: its headers
  CodeTable* codes;           ///< out, but for words that no symbol has
  const std::uint32_t* skip;  ///< if not null: where it is not 0, nothing is made
};

/// Tables from statistics.
Status make_optimal_tables(const OptimalTablesArgs& args, cudaStream_t stream);

// The second kernel: the bits of the tiles -> the finished stream. It does the work of the stage
// byte_stuff and writes the header and EOI around the scan.

/// Where a coded frame goes. Memory that the device can write: its own, or pinned host memory.
struct FrameOutput {
  std::uint8_t* out;
  std::uint64_t capacity;  ///< nothing is written from here on
  std::uint64_t* size;     ///< out: bytes of the whole stream, also where it does not fit
};

/// All pointers are device memory. Arrays of tiles and chunks have those of all frames.
struct AssembleArgs {
  TileGrid grid;
  std::uint32_t frames;
  const std::uint32_t* words;       ///< [tiles][kTileWords]
  const std::uint32_t* tile_bits;   ///< [tiles]
  const std::uint32_t* chunk_bits;  ///< [chunks] sums of those
  StreamEnvelope stream;
  std::uint64_t* chunks;           ///< [chunks] look-back states; zero before the launch
  std::uint64_t* next_chunks;      ///< those of the next launch, which this one clears
  std::uint32_t* next_chunk_bits;  ///< likewise
  std::uint32_t next_frames;       ///< frames whose part of these is not clear
  const std::uint32_t* skip;       ///< if not null: where it is not 0, nothing is written
  FrameOutput output[kMaxFrames];
};

Status assemble(const AssembleArgs& args, cudaStream_t stream);

// Runs SizePlan on the device: counts symbols with one setting after another until the plan wants
// the picture coded, and makes the tables for that.

inline constexpr std::size_t kMostBands = kTrainedBands.size();

/// Plain data, in device memory.
struct SizeTables {
  SizeTask task;
  SizeCurve curve;
  std::uint8_t quant[101][2][kBlockSize];  ///< by quality; natural order
  float reciprocal[256];                   ///< quant_reciprocal()
  ThriftWeights weights;
  TuneRules rules;  ///< but for what weights and quantisation tables decide
  /// Fixed Huffman tables by bands of quality; one band, and unused, where tables are optimal.
  std::uint32_t bands;
  std::int32_t band_end[kMostBands];  ///< highest quality, in 16ths
  HuffmanSpec specs[kMostBands][kEncodeTables];
  HuffmanEncodeTables codes[kMostBands];

  ZR_HD int quant_of(const SizeSetting& setting, int table, int i) const {
    const int quality = setting.quality_16ths / kQualityUnit;
    const int part = setting.quality_16ths % kQualityUnit, next = part == 0 ? quality : quality + 1;
    return quant_between(quant[quality][table][i], quant[next][table][i], table, i, part,
                         kQualityUnit);
  }
  ZR_HD std::uint32_t band_of(const SizeSetting& setting) const {
    std::uint32_t band = 0;
    while (band + 1 < bands && setting.quality_16ths > band_end[band]) ++band;
    return band;
  }
};

/// A plan from one search to the next. Plain data.
struct SizeState {
  SizePlan plan;
  std::uint32_t slot;  ///< of SearchSizeArgs::counts that comes next
};

/// All pointers are device memory, but `size` and `outcome` may be pinned.
struct SearchSizeArgs {
  CodeTilesArgs counted;  ///< layout, grid and planes of what is counted
  const SizeTables* tables;
  bool starts;      ///< the first search of the picture
  bool is_optimal;  ///< Huffman tables
  /// `after` is not `before`: all CTAs read the one, and the first to end writes the other.
  const SizeState* before;
  SizeState* after;
  SymbolCounts* counts;        ///< [3], zero before the first search
  const std::uint64_t* coded;  ///< bytes of the last coding
  /// Out: what the coding needs that follows.
  std::uint32_t* skip;  ///< 1: there is none, the plan is done
  ReciprocalTables* reciprocals;
  TuneRules* tune;
  HuffmanSpec* specs;          ///< [kEncodeTables]; null where they stay the same
  HuffmanEncodeTables* codes;  ///< likewise
  /// Two copies of a header, in which the setting is written.
  std::uint8_t* header[2];
  std::uint32_t dqt_at[2], tables_in_header;
  std::uint32_t note_at;  ///< 0: there is none
  /// Out, when the plan is done.
  std::uint64_t* size;   ///< bytes of the stream; 0: it is not reached
  SizedCoding* outcome;  ///< may be null
};

Status search_size(const SearchSizeArgs& args, cudaStream_t stream);

// Progressive frames: samples -> coefficients in memory -> all scans of the script at once. Each
// kernel takes the scans of all frames.

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
