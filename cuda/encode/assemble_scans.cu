// The bits of the tiles of all scans -> the stream, with the headers of the scans between them. A
// CTA takes a chunk of tiles, as in assemble.cu.
// SPDX-License-Identifier: MIT
#include "cuda/base/architecture.cuh"
#include "cuda/base/check.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/encode/assemble_chunk.cuh"
#include "cuda/encode/scan_lane.cuh"

namespace zerorun {
namespace cuda_encode::assembly {
namespace {

/// What else the threads know about the chunk.
struct Scan {
  std::int32_t place[kChunkTiles];  ///< first word of each tile, from that of the first one
  std::uint32_t carry;              ///< bits of its first byte that stand in tiles before it
  std::uint32_t header_at, header;  ///< bytes before the chunk
  bool ends_stream;
};

/// The last `wanted` bits of an interval before a tile, fewer than 8 and there; by a warp. Tiles of
/// AC may have none: they are sought 32 at a time.
__device__ std::uint32_t bits_in_front(const ScriptArgs& a, std::uint64_t tile,
                                       std::uint32_t wanted) {
  const std::uint32_t* const words = a.words + blockIdx.y * a.frame_words;
  std::uint32_t carry = 0, have = 0;
#pragma unroll 1
  for (; have < wanted; tile -= 32) {
    const std::uint32_t lane = threadIdx.x;
    const std::uint32_t bits = tile > lane ? a.tile_bits[tile - 1 - lane] : 0;
#pragma unroll 1
    for (unsigned left = __ballot_sync(kFullWarp, bits != 0); left != 0 && have < wanted;
         left &= left - 1) {
      const int nearest = __ffs(static_cast<int>(left)) - 1;
      const std::uint32_t of_tile = __shfl_sync(kFullWarp, bits, nearest);
      const std::uint32_t taken = min(of_tile, wanted - have), last = of_tile - 1;
      const std::uint64_t at =
          a.tile_at[tile - 1 - static_cast<unsigned>(nearest)] + std::uint64_t{last / 32};
      const std::uint32_t before = last % 32 + 1 < taken ? words[at - 1] : 0;
      const std::uint32_t ends = __funnelshift_r(words[at], before, 31 - last % 32);
      carry |= (ends & ((1u << taken) - 1)) << have;
      have += taken;
    }
  }
  return carry;
}

/// Fills the chunk, where other threads can read it after the next barrier; by the first warp.
/// `before`: bits of the interval before it.
__device__ void fill_chunk(const ScriptArgs& a, const StreamOrder& stream, std::uint32_t order,
                           std::uint32_t before, Chunk& c, Scan& of_scan) {
  const CodedScan& scan = a.plan[stream.order.scan[order]];
  const TileGrid& grid = scan.grid;
  const std::uint32_t number = blockIdx.x - stream.first_chunk[order];
  const std::uint32_t interval = grid.by_interval_chunks.quotient(number);
  const std::uint32_t interval_first = interval * grid.interval_tiles;
  const std::uint32_t interval_end = min(interval_first + grid.interval_tiles, grid.tiles);
  const std::uint32_t first =
      interval_first + (number - interval * grid.interval_chunks) * kChunkTiles;
  const std::uint32_t end = min(first + kChunkTiles, interval_end), tiles = end - first;
  const std::uint32_t lane = threadIdx.x;
  const std::uint64_t index = std::uint64_t{blockIdx.y} * a.tiles + scan.first_tile + first;
  const std::uint32_t own = lane < tiles ? a.tile_bits[index + lane] : 0;
  const std::uint32_t at_word = lane < tiles ? a.tile_at[index + lane] : 0;
  const std::uint32_t first_word = __shfl_sync(kFullWarp, at_word, 0);
  const std::uint32_t up_to = before % 8 + warp_inclusive_sum(own);
  const std::uint32_t carry = bits_in_front(a, index, before % 8);
  if (lane == 0) c.start[0] = static_cast<std::int32_t>(before % 8);
  if (lane < tiles) {
    c.start[lane + 1] = static_cast<std::int32_t>(up_to);
    of_scan.place[lane] = static_cast<std::int32_t>(at_word - first_word);
  }
  const std::uint32_t stop = __shfl_sync(kFullWarp, up_to, 31);
  if (lane != 0) return;
  c.words = a.words + blockIdx.y * a.frame_words + first_word;
  c.tiles = static_cast<std::int32_t>(tiles);
  c.interval = interval;
  c.ends_interval = end == interval_end;
  c.ends_scan = end == grid.tiles;
  c.bytes = (c.ends_interval ? stop + 7 : stop) / 8;
  c.rounds = max(ceil_div(c.bytes, kRoundBytes), 1u);
  of_scan.carry = before % 8 == 0 ? 0 : carry << (32 - before % 8);
  of_scan.header_at = stream.header_at[order];
  of_scan.header = number == 0 ? stream.header_at[order + 1] - of_scan.header_at : 0;
  of_scan.ends_stream = c.ends_scan && order + 1 == stream.order.scans;
}

/// Bits of the chunk's interval before it, modulo 2^32, to all threads.
__device__ std::uint32_t bits_before(const ScriptArgs& a, const StreamOrder& stream,
                                     std::uint32_t order, Shared& s) {
  const CodedScan& scan = a.plan[stream.order.scan[order]];
  const std::uint32_t number = blockIdx.x - stream.first_chunk[order];
  const std::uint32_t interval = scan.grid.by_interval_chunks.quotient(number);
  const std::uint32_t* const bits =
      a.chunk_bits + std::uint64_t{blockIdx.y} * a.chunks + scan.first_chunk;
  std::uint32_t own = 0, total = 0;
#pragma unroll 1
  for (std::uint32_t c = interval * scan.grid.interval_chunks + threadIdx.x; c < number;
       c += kThreads)
    own += bits[c];
  cta_exclusive_sum(s, own, total);
  return total;
}

__global__ void __launch_bounds__(kThreads,
                                  bounded_ctas(kAssembleScansCtas, kThreads, sizeof(Shared)))
    assemble_scans_kernel(const __grid_constant__ ScriptArgs a) {
  __shared__ Shared s;
  __shared__ Scan of_scan;
  wait_for_previous_kernel();
  const StreamOrder& stream = a.streams[blockIdx.y];
  const std::uint32_t scans = stream.order.scans;
  if (blockIdx.x >= stream.first_chunk[scans]) return;
  const std::uint32_t order = scan_lanes::last_not_above(stream.first_chunk, scans, blockIdx.x);
  const std::uint32_t before = bits_before(a, stream, order, s);
  if (threadIdx.x < 32) fill_chunk(a, stream, order, before, s.chunk, of_scan);
  __syncthreads();
  const FrameOutput& output = a.output[blockIdx.y];
  const Chunk& c = s.chunk;
  const auto place = [&](std::int32_t tile) { return of_scan.place[tile]; };
  // RST behind an interval, EOI behind the last one of a stream that begins with SOI.
  const std::uint32_t code = !c.ends_interval ? 0
                             : !c.ends_scan   ? marker::kRst0 + c.interval % 8
                             : of_scan.ends_stream && a.head_bytes > 0 ? marker::kEoi
                                                                       : 0;
  std::uint32_t size = of_scan.header + (code != 0 ? 2 : 0);
  std::uint32_t at = 0, length = 0;
#pragma unroll 1
  for (std::uint32_t r = 0; r < c.rounds; ++r) {
    fill_round(s, r, place, r == 0 ? of_scan.carry : 0);
    at = cta_exclusive_sum(s, stuffed_bytes(load_piece(s, r)), length);
    size += length;
    if (c.rounds > 1) __syncthreads();
  }
  find_place(a.chunk_states + std::uint64_t{blockIdx.y} * a.stream_chunks, s, size);
  __syncthreads();
  std::uint64_t offset = s.before;
  const std::uint32_t header = of_scan.header;
  if (offset + header <= output.capacity) {
    const std::uint8_t* const from =
        a.headers + std::uint64_t{blockIdx.y} * a.header_room + of_scan.header_at;
#pragma unroll 1
    for (std::uint32_t i = threadIdx.x; i < header; i += kThreads) output.out[offset + i] = from[i];
  }
  offset += header;
#pragma unroll 1
  for (std::uint32_t r = 0; r < c.rounds; ++r) {
    if (c.rounds > 1) {
      __syncthreads();  // all bytes of s.stage have been stored
      fill_round(s, r, place, r == 0 ? of_scan.carry : 0);
      at = cta_exclusive_sum(s, stuffed_bytes(load_piece(s, r)), length);
    }
    const SharedAddress stage = shared_address(s.stage);
    stage_piece(load_piece(s, r), stage, at);
    if (r + 1 == c.rounds && code != 0) {
      if (threadIdx.x == 0) stage_marker(stage, length, code);
      length += 2;
    }
    __syncthreads();
    store_round(output, s, length, offset);
    offset += length;
  }
  if (of_scan.ends_stream && threadIdx.x == 0) *output.size = offset;
}

}  // namespace
}  // namespace cuda_encode::assembly

Status assemble_scans(const ScriptArgs& args, cudaStream_t stream) {
  const LaunchShape shape{args.stream_chunks, cuda_encode::assembly::kThreads, 0, args.frames};
  return ZR_CUDA_STATUS(
      launch_behind(cuda_encode::assembly::assemble_scans_kernel, shape, stream, args));
}

}  // namespace zerorun
