// Coefficients, runs and tables -> the bits of all tiles. A warp takes a tile: it counts the bits
// of its lanes, learns from the CTAs before where its words go, and walks a second time.
// SPDX-License-Identifier: MIT
#include "cuda/base/device_limits.hpp"
#include "cuda/base/look_back.cuh"
#include "cuda/encode/code_items.cuh"
#include "cuda/encode/scan_lane.cuh"

namespace zerorun {
namespace scan_lanes {
namespace {

/// Words of a tile that are put together in shared memory.
constexpr std::uint32_t kTileRoom = 256;

struct CodeShared {
  std::uint32_t codes[kScanTables * 256];
  std::uint32_t words[kScanWarps][kTileRoom];
  std::uint32_t warp[kScanWarps];
  std::uint64_t before;
};

struct LengthSink {
  static constexpr bool kReadsValues = false;
  const std::uint32_t* codes;
  std::uint32_t length = 0;

  __device__ void select(int slot) { codes += 256 * slot; }
  __device__ void symbol(int rrrrssss, std::uint32_t, int size) {
    length += (codes[rrrrssss] & 0xFFFF) + static_cast<std::uint32_t>(size);
  }
  __device__ void bits(std::uint32_t, int count) { length += static_cast<std::uint32_t>(count); }
};

struct CodeSink {
  static constexpr bool kReadsValues = true;
  const std::uint32_t* codes;
  cuda_encode::SharingWriter writer;

  __device__ void select(int slot) { codes += 256 * slot; }
  __device__ void symbol(int rrrrssss, std::uint32_t appended, int size) {
    const std::uint32_t word = codes[rrrrssss];
    const std::uint32_t length = (word & 0xFFFF) + static_cast<std::uint32_t>(size);
    writer.append({(word & 0xFFFF0000u) | __funnelshift_lc(0, appended, 32 - length), length});
  }
  __device__ void bits(std::uint32_t value, int count) {
    const auto length = static_cast<std::uint32_t>(count);
    writer.append({__funnelshift_lc(0, value, 32 - length), length});
  }
};

/// Emits all that the lane's block adds to the scan. `block` and `run` are those of AC.
template <typename Sink>
__device__ void walk_block(const ScriptArgs& a, const CodedScan& scan, const ScanLane& lane,
                           const BandBlock& b, std::uint32_t block, int run, Sink& sink) {
  if (scan.is_dc()) {
    walk_dc(a.stored, scan, lane, sink);
    return;
  }
  if (!lane.exists) return;
  walk_ac(a.stored, scan, b, block, sink);
  if (run > 0) emit_eob_run(run, sink);
  walk_corrections(b.old & b.tail(), scan.al, ac_of_block(a.stored, block), sink);
}

constexpr int kCtas = kCompiledCapability == 90 ? kCodeScansCtas9 : kCodeScansCtas;

__global__ void __launch_bounds__(kThreads, bounded_ctas(kCtas, kThreads, sizeof(CodeShared)))
    code_scans_kernel(const __grid_constant__ ScriptArgs a) {
  __shared__ CodeShared s;
  wait_for_previous_kernel();
  const StreamOrder& stream = a.streams[blockIdx.y];
  const std::uint32_t scans = stream.order.scans;
  if (blockIdx.x >= stream.first_cta[scans]) return;
  const std::uint32_t place = last_not_above(stream.first_cta, scans, blockIdx.x);
  const std::uint32_t number = stream.order.scan[place];
  const CodedScan& scan = a.plan[number];
  const ScanLane lane(scan, blockIdx.x - stream.first_cta[place]);
  const std::uint64_t index = lane.index(a, scan);
  const std::uint32_t* const codes =
      a.codes + (std::uint64_t{blockIdx.y} * a.scans + number) * kScanTables * 256;
  for (unsigned i = threadIdx.x; i < scan.tables * 256u; i += kThreads) s.codes[i] = codes[i];
  BandBlock b(0, 0, 0);
  std::uint32_t block = 0;
  int run = 0;
  if (!scan.is_dc() && lane.has_tile) {
    const AcBlock ac(a.stored, scan, lane);
    b = ac.in(scan);
    block = ac.number;
    run = a.runs[index * kTileBlocks + threadIdx.x % 32];
  }
  __syncthreads();
  LengthSink lengths{s.codes};
  walk_block(a, scan, lane, b, block, run, lengths);
  __syncwarp();
  const std::uint32_t up_to = warp_inclusive_sum(lengths.length);
  const std::uint32_t bits = warp_max(up_to), tile_words = (bits + 31) / 32;
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) s.warp[warp] = tile_words;
  __syncthreads();
  std::uint32_t cta_words = 0, words_before = 0;
#pragma unroll
  for (unsigned w = 0; w < kScanWarps; ++w) {
    if (w < warp) words_before += s.warp[w];
    cta_words += s.warp[w];
  }
  if (warp == 0)  // words of the frame before those of the CTA
    publish_and_look_back(a.cta_states + std::uint64_t{blockIdx.y} * a.stream_ctas, blockIdx.x,
                          cta_words, s.before);
  __syncthreads();
  if (!lane.has_tile) return;
  const std::uint64_t at = s.before + words_before;
  if (threadIdx.x % 32 == 0) {
    a.tile_bits[index] = bits;
    a.tile_at[index] = static_cast<std::uint32_t>(at);
    const TileGrid& grid = scan.grid;
    const std::uint32_t chunk = scan.first_chunk + lane.interval * grid.interval_chunks +
                                (lane.tile - lane.interval * grid.interval_tiles) / kChunkTiles;
    atomicAdd(a.chunk_bits + std::uint64_t{blockIdx.y} * a.chunks + chunk, bits);
  }
  std::uint32_t* const out = a.words + blockIdx.y * a.frame_words + at;
  const unsigned lane_of_warp = threadIdx.x % 32;
  const std::uint32_t first = up_to - lengths.length;
  // Two calls: the compiler knows which memory each writes to.
  const auto code = [&](std::uint32_t* words) {
#pragma unroll 1
    for (unsigned i = lane_of_warp; i < tile_words; i += 32) words[i] = 0;
    __syncwarp();
    CodeSink sink{s.codes, cuda_encode::SharingWriter(words, first)};
    walk_block(a, scan, lane, b, block, run, sink);
    sink.writer.finish();
    __syncwarp();
  };
  if (tile_words > kTileRoom) {
    code(out);
    return;
  }
  code(s.words[warp]);
#pragma unroll 1
  for (unsigned i = lane_of_warp; i < tile_words; i += 32) out[i] = s.words[warp][i];
}

}  // namespace
}  // namespace scan_lanes

Status code_scans(const ScriptArgs& args, cudaStream_t stream) {
  const LaunchShape shape{args.stream_ctas, scan_lanes::kThreads, 0, args.frames};
  return ZR_CUDA_STATUS(launch_behind(scan_lanes::code_scans_kernel, shape, stream, args));
}

}  // namespace zerorun
