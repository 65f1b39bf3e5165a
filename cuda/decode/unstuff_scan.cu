// Stuffed bytes -> clean bytes in one pass; a tile finds its place by looking back.
// SPDX-License-Identifier: MIT
#include "cuda/decode/scan_kernels.hpp"

#include <cub/block/block_scan.cuh>

#include <algorithm>

#include "cuda/base/launch.hpp"
#include "cuda/base/look_back.cuh"
#include "cuda/base/shared_access.cuh"
#include "cuda/base/this_device.hpp"
#include "cuda/base/stuffed_bytes.cuh"
#include "cuda/decode/scan_progress.cuh"

namespace zerorun {
namespace {

constexpr int kThreads = kUnstuffTileBytes / kStuffedBytesPerThread;

struct Before {
  std::uint64_t counts;
  bool stopped;
};

/// Counts what is before the tile; called by one warp.
__device__ Before look_back_bytes(const std::uint64_t* states, std::uint32_t tile) {
  Before before{0, false};
  walk_back<4>(states, tile, [&](std::uint64_t state, bool counts) {
    if (counts) before.counts += state & kTileCountsMask;
    before.stopped = __any_sync(kFullWarp, counts && (state & kScanStopped) != 0);
    return before.stopped;
  });
  before.counts = warp_sum(before.counts);
  return before;
}

/// Takes byte `i` out: those behind it come a place nearer, and a 0 behind them.
__device__ void take_out(StuffedWindow& window, int i) {
  constexpr int kWords = kStuffedBytesPerThread / 4;
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
    const std::uint32_t next = w + 1 < kWords ? window.word[w + 1] : 0;
    const std::uint32_t from_i = __funnelshift_lc(0, 0xFFFFFFFF, max(8 * i - 32 * w, 0));
    const std::uint32_t nearer = __funnelshift_r(window.word[w], next, 8);
    window.word[w] = (window.word[w] & ~from_i) | (nearer & from_i);
  }
}

/// Puts the thread's clean bytes into `clean`, which is clear, from place `at` on. Most threads
/// have 16, most others one less; two thirds of all warps have one of those (photo, q90).
__device__ void stage_clean(std::uint8_t* clean, std::uint32_t at, StuffedWindow window,
                            const StuffedFlags& flags) {
  if (flags.emit == 0) return;
  // In place of a 00 its FF is kept, where that is the thread's.
  if ((flags.data_ff & 1) != 0) window.word[0] |= 0xFF;
  const unsigned kept = (flags.emit & ~flags.data_ff) | flags.data_ff >> 1 | (flags.data_ff & 1);
  for (unsigned other = ~kept & kAllBytes; other != 0;) {
    const int last = 31 - __clz(static_cast<int>(other));
    take_out(window, last);
    other ^= 1u << last;
  }
  // The first word and those behind the last whole one have bytes of other threads too.
  SharedAddress to = shared_address(clean) + at / 4 * 4;
  const std::uint32_t shift = at % 4 * 8;
  std::uint32_t before = 0;
#pragma unroll
  for (const std::uint32_t word : window.word) {
    or_word(to, __funnelshift_l(before, word, shift));
    before = word;
    to += 4;
  }
  or_word(to, __funnelshift_l(before, 0, shift));
}

/// Stores bytes from number `first` on, four bytes a word with the first one highest. `from` is
/// aligned, and three bytes after its last may be read.
__device__ void store_clean(std::uint8_t* clean, std::uint32_t first, const std::uint8_t* from,
                            std::uint32_t bytes) {
  const std::uint32_t begin = min((first + 3) / 4 * 4, first + bytes);  // of the whole words
  const std::uint32_t end = max((first + bytes) / 4 * 4, begin);
  // Words of a thread are equally far from each other here and there.
  constexpr std::uint32_t kWords = kUnstuffTileBytes / (4 * kThreads);
  const std::uint32_t at = begin + 4 * threadIdx.x, skew = begin - first;  // at most 3
  const auto left = static_cast<std::int32_t>(end - at);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(from) + threadIdx.x;
  auto* const out = reinterpret_cast<std::uint32_t*>(clean + at);
  const std::uint32_t last_to_first = 0x0123 + 0x1111 * skew;
#pragma unroll
  for (std::uint32_t i = 0; i < kWords * kThreads; i += kThreads)
    if (left > static_cast<std::int32_t>(4 * i))
      out[i] = __byte_perm(words[i], words[i + 1], last_to_first);
  // Incomplete words are shared with other tiles, so their bytes are stored one by one.
  if (threadIdx.x >= 8) return;
  const std::uint32_t byte = threadIdx.x < 4 ? first + threadIdx.x : end + threadIdx.x - 4;
  if (byte < first + bytes && (threadIdx.x >= 4 || byte < begin))
    clean[byte ^ 3] = from[byte - first];
}

/// Writes zeros for the next scan. Called by all threads of the grid.
__device__ void clear_old_states(const ScanArgs& a) {
  const std::uint32_t thread = blockIdx.x * kThreads + threadIdx.x;
  for (std::uint32_t i = thread; i < a.cleared_words; i += gridDim.x * kThreads) a.cleared[i] = 0;
}

struct Shared {
  typename cub::BlockScan<std::uint32_t, kThreads>::TempStorage scan;
  alignas(16) std::uint8_t clean[kUnstuffTileBytes + 4];
  std::uint32_t stop;
  Before before;
  std::uint8_t last_of_warp[kThreads / 32];
};

/// The thread's bytes of a tile, and the one before them, if it is the first of the CTA.
struct TileBytes {
  std::int64_t first;
  StuffedWindow window;
  std::uint8_t before;
};
__device__ TileBytes load_tile(const StuffedBytes& input, std::uint32_t tile) {
  const std::int64_t first =
      std::int64_t{tile} * kUnstuffTileBytes - input.lead + threadIdx.x * kStuffedBytesPerThread;
  return {first, load_window(input, first),
          threadIdx.x == 0 ? byte_before(input, first) : std::uint8_t{0}};
}

/// Called by all threads of the CTA.
template <bool kIsFollowed>
__device__ void unstuff_tile(const ScanArgs& a, Shared& s, const StuffedBytes& input,
                             std::uint32_t tile, const TileBytes& bytes_of_tile) {
  using Scan = cub::BlockScan<std::uint32_t, kThreads>;
  const std::uint32_t warp = threadIdx.x / 32;
  const StuffedWindow& window = bytes_of_tile.window;
  *reinterpret_cast<uint4*>(s.clean + threadIdx.x * kStuffedBytesPerThread) = uint4{};
  if (threadIdx.x == 0) s.stop = kUnstuffTileBytes;
  if (threadIdx.x % 32 == 31) s.last_of_warp[warp] = window.byte(kStuffedBytesPerThread - 1);
  __syncthreads();
  const std::uint8_t byte_before = warp == 0 ? bytes_of_tile.before : s.last_of_warp[warp - 1];
  const std::uint32_t in_tile = threadIdx.x * kStuffedBytesPerThread;
  StuffedFlags flags = classify(input, bytes_of_tile.first, window, byte_before);
  if (flags.stop < kStuffedBytesPerThread)
    atomicMin(&s.stop, in_tile + static_cast<std::uint32_t>(flags.stop));
  __syncthreads();
  const std::uint32_t stop = s.stop;
  if (in_tile > stop) flags.emit = flags.border = 0;
  // Both counts are at most 4096, so one sum serves both.
  std::uint32_t own, total;
  Scan(s.scan).ExclusiveSum(
      static_cast<std::uint32_t>(__popc(flags.emit) << 16 | __popc(flags.border)), own, total);
  const std::uint64_t counts = std::uint64_t{total & 0xFFFF} << kBordersShift | total >> 16;
  const bool stops = stop < kUnstuffTileBytes;
  if (threadIdx.x < 32) {
    const std::uint64_t mark = stops ? kScanStopped : 0;
    if (threadIdx.x == 0)
      store_relaxed(a.tile_states + tile,
                    (tile == 0 ? kTileInclusive : kTileAggregate) | mark | counts);
    const Before found = tile == 0 ? Before{0, false} : look_back_bytes(a.tile_states, tile);
    if (threadIdx.x == 0) {
      if (tile > 0)
        store_relaxed(a.tile_states + tile, kTileInclusive | mark |
                                                (found.stopped ? kScanStopped : 0) |
                                                ((found.counts + counts) & kTileCountsMask));
      s.before = found;
    }
  }
  stage_clean(s.clean, own >> 16, window, flags);
  __syncthreads();
  const Before before = s.before;
  if (before.stopped) {
    if (kIsFollowed && threadIdx.x == 0)
      store_relaxed(a.tile_states + tile, kTileReadable | kScanStopped);
    return;
  }

  const auto first_byte = static_cast<std::uint32_t>(before.counts);
  const auto first_border = static_cast<std::uint32_t>(before.counts >> kBordersShift);
  const std::uint32_t bytes = total >> 16;
  store_clean(a.clean, first_byte, s.clean, bytes);

  bool out_of_order = false;
  if (flags.border != 0) {
    std::uint32_t border = first_border + (own & 0xFFFF), byte = first_byte + (own >> 16);
#pragma unroll
    for (int i = 0; i < kStuffedBytesPerThread; ++i) {
      byte += flags.emit >> i & 1;
      if ((flags.border >> i & 1) == 0) continue;
      out_of_order |= window.byte(i) != marker::kRst0 + border % 8 || border + 1 >= a.intervals;
      ++border;
      if (border < a.intervals) a.interval_first[border] = byte;
    }
  }
  const bool last = stops || tile + 1 == a.tiles;
  if (last && first_border + (total & 0xFFFF) + 1 != a.intervals) out_of_order = true;
  if (out_of_order) atomicOr(&a.summary->faults, kFaultRestarts);
  if (tile == 0 && threadIdx.x == 0) a.interval_first[0] = 0;
  if (last) {
    const std::uint32_t clean_bytes = first_byte + bytes;
    if (threadIdx.x < kCleanPadding + 3) a.clean[(clean_bytes + threadIdx.x) ^ 3] = 0;
    if (threadIdx.x == 0) {
      a.interval_first[a.intervals] = clean_bytes;
      a.summary->clean_bytes = clean_bytes;
      a.report->consumed_bytes = stops ? tile * kUnstuffTileBytes + stop - a.lead - 1 : a.in_bytes;
    }
  }
  if constexpr (kIsFollowed) {
    __syncthreads();
    if (threadIdx.x != 0) return;
    const std::uint64_t all = kTileReadable | ((before.counts + counts) & kTileCountsMask);
    __threadfence();
    if (last) store_relaxed(&a.summary->end, all);
    store_relaxed(a.tile_states + tile, all | (stops ? kScanStopped : 0));
  }
}

__global__ void __launch_bounds__(kThreads) unstuff_kernel(const __grid_constant__ ScanArgs a) {
  __shared__ Shared s;
  wait_for_previous_kernel();
  if (a.is_alone) let_next_kernel_begin();
  clear_old_states(a);
  const StuffedBytes input{a.in, a.in_bytes, a.lead};
  unstuff_tile<false>(a, s, input, blockIdx.x, load_tile(input, blockIdx.x));
}

/// The number of the next tile that no CTA has taken yet, to all threads.
__device__ std::uint32_t take_tile(const ScanArgs& a, std::uint32_t& shared) {
  __syncthreads();  // all have read the last one
  if (threadIdx.x == 0) shared = atomicAdd(&a.summary->taken_tiles, 1);
  __syncthreads();
  return shared;
}

/// The same from pinned memory. So few CTAs read at a time that bytes come about in order. Every
/// tile before a CTA's own has been taken by one that runs or is done, so waiting for it
/// terminates, however few CTAs there is room for beside other work.
__global__ void __launch_bounds__(kThreads)
    unstuff_followed_kernel(const __grid_constant__ ScanArgs a) {
  __shared__ Shared s;
  __shared__ std::uint32_t taken;
  wait_for_previous_kernel();
  let_next_kernel_begin();
  std::uint32_t tile = take_tile(a, taken);
  const StuffedBytes input{a.in, a.in_bytes, a.lead};
  TileBytes next{};
  if (tile < a.tiles) next = load_tile(input, tile);
  clear_old_states(a);
  while (tile < a.tiles) {
    const TileBytes own = next;
    const std::uint32_t number = tile;
    tile = take_tile(a, taken);
    if (tile < a.tiles) next = load_tile(input, tile);
    unstuff_tile<true>(a, s, input, number, own);
  }
}

}  // namespace

/// A processor divides its memory between L1 cache and shared memory alike for all that it runs:
/// otherwise the kernel behind this one, which needs more, could not begin beside it.
Status prepare_unstuff_scan() {
  ZR_TRY(permission_of<unstuff_followed_kernel>().prepare());
  return permission_of<unstuff_kernel>().prepare();
}

Status unstuff_scan(const ScanArgs& a, cudaStream_t stream) {
  const std::uint32_t ctas = a.is_on_host ? std::min(a.tiles, kBusCtas) : a.tiles;
  const auto kernel = a.is_on_host ? unstuff_followed_kernel : unstuff_kernel;
  return ZR_CUDA_STATUS(launch_behind(kernel, LaunchShape{ctas, kThreads}, stream, a));
}

}  // namespace zerorun
