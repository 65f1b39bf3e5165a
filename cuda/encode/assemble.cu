// The bits of the tiles -> stuffed bytes with markers, at their places in the stream. A CTA takes a
// chunk of tiles and looks back over all chunks to find how many bytes stand before its own.
// SPDX-License-Identifier: MIT
#include "cuda/encode/frame_kernels.hpp"

#include "cuda/base/architecture.cuh"
#include "cuda/base/check.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/encode/assemble_chunk.cuh"

namespace zerorun {
namespace cuda_encode::assembly {
namespace {

/// Whether all threads of the CTA add up the bits of the chunks before its own; else the first warp
/// does it alone, without a barrier.
__device__ bool sums_by_cta(const AssembleArgs& a) { return a.grid.interval_chunks > 32; }

/// Bits of the interval before the chunk, modulo 2^32, by the threads that sums_by_cta() chooses.
__device__ std::uint32_t bits_before(const AssembleArgs& a, Shared& s, std::uint32_t interval,
                                     std::uint32_t chunk) {
  const std::uint32_t first = a.grid.chunk_index(interval * a.grid.interval_chunks);
  chunk = a.grid.chunk_index(chunk);
  if (!sums_by_cta(a))
    return warp_add(threadIdx.x < chunk - first ? a.chunk_bits[first + threadIdx.x] : 0u);
  std::uint32_t own = 0, total = 0;
  for (std::uint32_t c = first + threadIdx.x; c < chunk; c += kThreads) own += a.chunk_bits[c];
  cta_exclusive_sum(s, own, total);
  return total;
}

/// Fills s.chunk, where other threads can read it after the next barrier.
__device__ void find_chunk(const AssembleArgs& a, Shared& s) {
  const TileGrid& grid = a.grid;
  const std::uint32_t interval = grid.by_interval_chunks.quotient(blockIdx.x);
  const std::uint32_t skipped = (blockIdx.x - interval * grid.interval_chunks) * kChunkTiles;
  const std::uint32_t interval_first = interval * grid.interval_tiles;
  const std::uint32_t interval_end = min(interval_first + grid.interval_tiles, grid.tiles);
  const std::uint32_t first = interval_first + skipped;
  const std::uint32_t end = min(first + kChunkTiles, interval_end);
  const std::uint32_t shown = skipped > 0 ? first - 1 : first;
  const std::uint32_t lane = threadIdx.x;  // of the first warp
  // All loads at once: the bits of the tiles, and of the chunks before them in the interval.
  const std::uint32_t index = grid.tile_index(shown);
  const std::uint32_t own = lane < end - shown ? a.tile_bits[index + lane] : 0;
  const std::uint32_t header = a.stream.header_bytes[a.stream.stride > 0 ? blockIdx.y : 0];
  const std::uint32_t before = bits_before(a, s, interval, blockIdx.x);
  if (threadIdx.x >= 32) return;
  Chunk& c = s.chunk;
  const auto inclusive = static_cast<std::int32_t>(warp_inclusive_sum(own));
  const auto tiles = static_cast<std::int32_t>(end - shown);
  const std::uint32_t shown_bits = __shfl_sync(kFullWarp, own, 0);
  const std::int32_t at = static_cast<std::int32_t>(before % 8) -
                          (skipped > 0 ? static_cast<std::int32_t>(shown_bits) : 0);
  if (lane == 0) c.start[0] = at;
  if (lane < kMaxTiles) c.start[lane + 1] = at + inclusive;
  const std::int32_t stop = at + __shfl_sync(kFullWarp, inclusive, tiles - 1);
  if (lane != 0) return;
  c.words = a.words + index * kTileWords;
  c.tiles = tiles;
  c.interval = interval;
  c.header = header;
  c.ends_interval = end == interval_end;
  c.ends_scan = end == grid.tiles;
  c.bytes = static_cast<std::uint32_t>(c.ends_interval ? stop + 7 : stop) / 8;
  c.rounds = max(ceil_div(c.bytes, kRoundBytes), 1u);
}

/// Fills s.chunk.
__device__ void open_chunk(const AssembleArgs& a, Shared& s) {
  if (threadIdx.x < 32 || sums_by_cta(a)) find_chunk(a, s);
  __syncthreads();
}

/// Where a tile's words stand.
__device__ std::int32_t place_of_tile(std::int32_t tile) {
  return tile * static_cast<std::int32_t>(kTileWords);
}

/// Puts the stuffed bytes of a round into s.stage, with the marker behind the last one. `at`: where
/// the thread's bytes stand among the `length` of the round. Returns the length with the marker.
__device__ std::uint32_t stage_round(const AssembleArgs& a, Shared& s, const Piece& p,
                                     std::uint32_t at, std::uint32_t length, bool last_round) {
  const Chunk& c = s.chunk;
  const SharedAddress stage = shared_address(s.stage);
  stage_piece(p, stage, at);
  if (!last_round || !c.ends_interval || (c.ends_scan && a.stream.parts_bytes == 0)) return length;
  if (threadIdx.x == 0)
    stage_marker(stage, length, c.ends_scan ? marker::kEoi : marker::kRst0 + c.interval % 8);
  return length + 2;
}

/// Copies a frame's header; by the frame's first CTA.
__device__ void copy_header(const StreamEnvelope& stream, const FrameOutput& output,
                            std::uint32_t bytes) {
  const std::uint8_t* const header = stream.header + blockIdx.y * stream.stride;
  for (std::uint32_t i = threadIdx.x; i < bytes; i += kThreads) output.out[i] = header[i];
}

/// Clears for the next launch what the previous one used.
__device__ void clear_next(const AssembleArgs& a) {
  for (std::uint32_t f = blockIdx.y + threadIdx.x * gridDim.y; f < a.next_frames;
       f += kThreads * gridDim.y) {
    a.next_chunks[f * a.grid.chunks + blockIdx.x] = 0;
    a.next_chunk_bits[f * a.grid.chunks + blockIdx.x] = 0;
  }
}

static_assert(bounded_ctas(kAssembleCtas, kThreads, sizeof(Shared), 90) == kAssembleCtas,
              "as measured on Hopper");

__global__ void __launch_bounds__(kThreads, bounded_ctas(kAssembleCtas, kThreads, sizeof(Shared)))
    assemble_kernel(const __grid_constant__ AssembleArgs a) {
  __shared__ Shared s;
  wait_for_previous_kernel();
  clear_next(a);
  if (is_skipped(a.skip)) return;
  const FrameOutput& output = a.output[blockIdx.y];
  open_chunk(a, s);
  const Chunk& c = s.chunk;
  // Mostly there is one round: it is then ready before its place is known.
  std::uint32_t size = c.ends_interval && !c.ends_scan ? 2 : 0;
  std::uint32_t at = 0, length = 0;
  for (std::uint32_t r = 0; r < c.rounds; ++r) {
    fill_round(s, r, place_of_tile);
    at = cta_exclusive_sum(s, stuffed_bytes(load_piece(s, r)), length);
    size += length;
    if (c.rounds > 1) __syncthreads();
  }
  find_place(a.chunks + a.grid.chunk_index(0), s, size);
  const std::uint32_t header = c.header;
  if (blockIdx.x == 0 && header <= output.capacity) copy_header(a.stream, output, header);
  std::uint64_t offset = header;
  for (std::uint32_t r = 0; r < c.rounds; ++r) {
    if (c.rounds > 1) {
      __syncthreads();  // all bytes of s.stage have been stored
      fill_round(s, r, place_of_tile);
      at = cta_exclusive_sum(s, stuffed_bytes(load_piece(s, r)), length);
    }
    length = stage_round(a, s, load_piece(s, r), at, length, r + 1 == c.rounds);
    __syncthreads();
    if (r == 0) offset += s.before;
    store_round(output, s, length, offset);
    offset += length;
  }
  if (c.ends_scan && threadIdx.x == 0) *output.size = offset;
}

}  // namespace
}  // namespace cuda_encode::assembly

Status assemble(const AssembleArgs& args, cudaStream_t stream) {
  const LaunchShape shape{args.grid.chunks, cuda_encode::assembly::kThreads, 0, args.frames};
  return ZR_CUDA_STATUS(launch_behind(cuda_encode::assembly::assemble_kernel, shape, stream, args));
}

}  // namespace zerorun
