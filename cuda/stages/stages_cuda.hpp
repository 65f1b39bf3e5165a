// What this room offers: the table of all CUDA stages (target zerorun_stages), for tests, and what
// the product calls besides single stages.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <span>

#include "codec/pipeline/stage_table.hpp"
#include "codec/syntax/tables.hpp"

namespace zerorun {

inline const StageTable& cuda_stages() {
#define ZR_STAGE_FUNCTION(name, Args) .name = name##_cuda,
  static constexpr StageTable kTable{ZR_STAGES(ZR_STAGE_FUNCTION)};
#undef ZR_STAGE_FUNCTION
  return kTable;
}

// color_subsample for many frames by one kernel.

/// From the planes of a frame to those of another, in bytes; 8 divides them.
struct PlaneOffsets {
  std::int64_t of[kMaxComponents];
};

/// As color_subsample_cuda() for each of the frames, which have the shape of `args.frame`. The
/// planes of the next frame lie `step` behind those of the one before.
Status color_subsample_frames(const ColorSubsampleArgs& args,
                              std::span<const ConstFrameView> frames, const PlaneOffsets& step,
                              cudaStream_t stream);

/// Planes of both chroma components of frames, in device memory. 8 divides addresses and widths.
struct FitChromaArgs {
  const std::uint8_t* from[2];
  std::uint8_t* to[2];
  std::int32_t width, height;  ///< rows follow each other
  std::int64_t step;           ///< from a frame's plane to the next one's, on both sides
  std::uint32_t frames;
};

/// fit_chroma_rows() for all rows.
Status fit_chroma(const FitChromaArgs& args, cudaStream_t stream);

// Code tables in device memory: optimal ones from the statistics, so that no frame waits for the
// host, and fixed ones.

/// All pointers are device memory. `specs`, [kEncodeTables]: what optimal_huffman_spec() gives;
/// `tables`: what fill_encode_table() makes of them. Asynchronous on exec.stream.
Status optimal_huffman_cuda(const SymbolCounts* counts, HuffmanSpec* specs,
                            HuffmanEncodeTables* tables, Exec& exec);

/// Sends tables of the host in the same form: specs[kEncodeTables] and one `tables`. Returns when
/// `from` has been read.
Status upload_huffman(const std::array<HuffmanSpec, kEncodeTables>& from, HuffmanSpec* specs,
                      HuffmanEncodeTables* tables, cudaStream_t stream);

}  // namespace zerorun
