// Variable-length encode as CUVLE publishes it (Fuentes-Alventosa and others, "CUVLE:
// Variable-Length Encoding on CUDA", 2014): persistent CTAs, a table in shared memory, contiguous
// inputs per thread, a scan inside the CTA, a chain between the CTAs, and writes into the final bit
// position with atomic OR on the first and last word of a thread. The chain makes each tile wait
// for the one before; vle_encode.cu is the one to use. Serial twin:
// codec/entropy/variable_length.cpp.
// SPDX-License-Identifier: MIT
#include "cuda/base/look_back.cuh"
#include "cuda/base/launch.hpp"
#include "cuda/entropy/outcome.cuh"

namespace zerorun::cuda_entropy {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
/// With 32 symbols a thread writes at least 32 bits, so that a word has at most two writers.
constexpr int kPerThread = 32;
constexpr int kTile = kThreads * kPerThread;

struct Args {
  const std::uint8_t* in;
  std::uint64_t size;
  const Codebook* book;
  std::uint32_t* out;
  std::uint64_t capacity;
  std::uint64_t* ends;  // [tiles] 1 + bits up to the tile's end; 0: not known yet
  unsigned long long* ticket;
  Outcome* outcome;
  std::uint64_t tiles;
};

struct Shared {
  unsigned value[kSymbols];  // left-aligned
  unsigned length[kSymbols];
  unsigned warp_bits[kWarps];
  std::uint64_t tile;
  std::uint64_t base;
};

/// Bits of the thread's codewords.
__device__ unsigned count_bits(const Args& a, const Shared& s, std::uint64_t begin,
                               std::uint64_t end) {
  unsigned bits = 0;
  for (std::uint64_t i = begin; i < end; ++i) {
    const unsigned length = s.length[a.in[i]];
    if (length == 0) report_fault(a.outcome, i, Errc::invalid_argument, FaultPosition::bytes);
    bits += length;
  }
  return bits;
}

/// The first and the last word of a thread are shared with others.
__device__ void put_word(const Args& a, std::uint64_t word, unsigned bits, bool shared_word) {
  if (word >= a.capacity) return;
  if (shared_word)
    atomicOr(a.out + word, bits);
  else
    a.out[word] = bits;
}

__device__ void write_bits(const Args& a, const Shared& s, std::uint64_t begin, std::uint64_t end,
                           std::uint64_t at) {
  unsigned pending = 0;
  bool shared_word = true;
  for (std::uint64_t i = begin; i < end; ++i) {
    const unsigned bits = s.value[a.in[i]];
    const unsigned offset = static_cast<unsigned>(at % 32);
    pending |= bits >> offset;
    const std::uint64_t next = at + s.length[a.in[i]];
    if (next / 32 != at / 32) {
      put_word(a, at / 32, pending, shared_word);
      shared_word = false;
      pending = __funnelshift_r(0, bits, offset);
    }
    at = next;
  }
  if (pending != 0) put_word(a, at / 32, pending, true);
}

/// Bits before the tile. Publishes those up to its end for the right neighbour.
__device__ std::uint64_t wait_for_left(const Args& a, std::uint64_t tile, unsigned tile_bits) {
  std::uint64_t left = 1;
  if (tile > 0)
    while ((left = load_relaxed(a.ends + tile - 1)) == 0) {
    }
  store_relaxed(a.ends + tile, left + tile_bits);
  return left - 1;
}

__global__ void __launch_bounds__(kThreads) encode_chained_kernel(Args a) {
  __shared__ Shared s;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned length = a.book->bits[threadIdx.x];
  s.length[threadIdx.x] = length <= entropy::kMaxCodeBits ? length : 0;
  s.value[threadIdx.x] = length == 0 || length > entropy::kMaxCodeBits
                             ? 0
                             : a.book->value[threadIdx.x] << (32 - length);
  for (;;) {
    if (threadIdx.x == 0) s.tile = atomicAdd(a.ticket, 1ull);
    __syncthreads();
    const std::uint64_t tile = s.tile;
    if (tile >= a.tiles) return;
    const std::uint64_t begin = tile * kTile + threadIdx.x * kPerThread;
    const std::uint64_t end = begin + kPerThread < a.size ? begin + kPerThread : a.size;
    const unsigned own_bits = count_bits(a, s, begin, end);
    const unsigned inclusive = warp_inclusive_sum(own_bits);
    if (lane == 31) s.warp_bits[warp] = inclusive;
    __syncthreads();
    unsigned at = inclusive - own_bits, tile_bits = 0;
    for (unsigned w = 0; w < kWarps; ++w) {
      if (w < warp) at += s.warp_bits[w];
      tile_bits += s.warp_bits[w];
    }
    if (threadIdx.x == 0) s.base = wait_for_left(a, tile, tile_bits);
    __syncthreads();
    write_bits(a, s, begin, end, s.base + at);
    if (threadIdx.x == 0 && tile + 1 == a.tiles) {
      const std::uint64_t bits = s.base + tile_bits;
      a.outcome->count = bits;
      if (ceil_div(bits, 32) > a.capacity) report_fault(a.outcome, a.size, Errc::output_too_small);
    }
    __syncthreads();  // before the next round writes s.tile and s.base
  }
}

}  // namespace

Status encode_chained(void* d_scratch, std::size_t& scratch_bytes, const std::uint8_t* d_in,
                      std::uint64_t size, const Codebook* d_book, std::uint32_t* d_out,
                      std::uint64_t capacity, Outcome* d_outcome, cudaStream_t stream) {
  const std::uint64_t tiles = ceil_div(size, kTile);
  CallerScratch scratch(d_scratch);
  std::uint64_t* const state = scratch.take<std::uint64_t>(1 + tiles);
  if (Status status = scratch.settle(scratch_bytes); !status || scratch.measuring()) return status;
  ZR_TRY(reset(state, 1 + tiles, d_outcome, stream));
  if (tiles == 0) return Status::ok();
  // Cleared, because bits are ORed into place; the longest codewords reach `size` words.
  const std::uint64_t reached = std::min(capacity, size);
  ZR_CUDA_TRY(cudaMemsetAsync(d_out, 0, reached * sizeof(std::uint32_t), stream));
  const auto ticket = reinterpret_cast<unsigned long long*>(state);
  const Args a{d_in, size, d_book, d_out, capacity, state + 1, ticket, d_outcome, tiles};
  unsigned grid = 0;
  ZR_CUDA_TRY(persistent_grid(encode_chained_kernel, kThreads, 0, tiles, grid));
  ZR_LAUNCH(encode_chained_kernel, grid, kThreads, stream, a);
  return Status::ok();
}

}  // namespace zerorun::cuda_entropy
