// Histogram of bytes, and the length-limited Huffman code of 256 symbols, by one CTA. Serial twins:
// codec/entropy/codebook.cpp.
// SPDX-License-Identifier: MIT
#include "codec/base/code_lengths.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/warp.cuh"
#include "cuda/entropy/outcome.cuh"

namespace zerorun::cuda_entropy {
namespace {

constexpr int kHistogramThreads = 512;
constexpr int kLanes = 32;

/// Each lane of a warp counts in a memory bank of its own, so that no two lanes ever wait for each
/// other. A counter sees at most 1/32 of its CTA's bytes, so that 32 bits are enough for inputs of
/// 2^40 bytes and more.
__global__ void __launch_bounds__(kHistogramThreads)
    histogram_kernel(const std::uint8_t* in, std::uint64_t size, unsigned long long* counts) {
  __shared__ unsigned own[kSymbols * kLanes];  // [symbol][lane]
  for (int i = static_cast<int>(threadIdx.x); i < kSymbols * kLanes; i += kHistogramThreads)
    own[i] = 0;
  __syncthreads();

  const unsigned lane = threadIdx.x % kLanes;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * kHistogramThreads + threadIdx.x;
  const std::uint64_t step = std::uint64_t{gridDim.x} * kHistogramThreads;
  // Bytes before the first 16-byte boundary and after the last one are counted one by one.
  const std::uint64_t to_boundary = (16 - reinterpret_cast<std::uintptr_t>(in) % 16) % 16;
  const std::uint64_t head = to_boundary < size ? to_boundary : size;
  const std::uint64_t vectors = (size - head) / 16;
  const std::uint64_t tail = head + vectors * 16;
  const uint4* const body = reinterpret_cast<const uint4*>(in + head);
  for (std::uint64_t i = first; i < vectors; i += step) {
    const uint4 vector = __ldcs(body + i);
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const unsigned word = w == 0 ? vector.x : w == 1 ? vector.y : w == 2 ? vector.z : vector.w;
#pragma unroll
      for (int b = 0; b < 4; ++b) atomicAdd(&own[(word >> (8 * b) & 0xFF) * kLanes + lane], 1u);
    }
  }
  if (first < head) atomicAdd(&own[in[first] * kLanes + lane], 1u);
  if (first < size - tail) atomicAdd(&own[in[tail + first] * kLanes + lane], 1u);
  __syncthreads();

  if (threadIdx.x < kSymbols) {
    std::uint64_t sum = 0;
    for (unsigned l = 0; l < kLanes; ++l)  // rotated, so that the lanes stay in different banks
      sum += own[threadIdx.x * kLanes + (l + lane) % kLanes];
    if (sum > 0) atomicAdd(counts + threadIdx.x, static_cast<unsigned long long>(sum));
  }
}

}  // namespace

Status histogram(const std::uint8_t* d_in, std::uint64_t size, std::uint64_t* d_counts,
                 cudaStream_t stream) {
  ZR_CUDA_TRY(cudaMemsetAsync(d_counts, 0, kSymbols * sizeof(std::uint64_t), stream));
  if (size == 0) return Status::ok();
  unsigned grid = 0;
  ZR_CUDA_TRY(persistent_grid(histogram_kernel, kHistogramThreads, 0,
                              ceil_div(size, 16 * kHistogramThreads), grid));
  ZR_LAUNCH(histogram_kernel, grid, kHistogramThreads, stream, d_in, size,
            reinterpret_cast<unsigned long long*>(d_counts));
  return Status::ok();
}

namespace {

constexpr int kThreads = 256;
constexpr int kPerLane = kSymbols / 32;  // lane l holds the symbols l, l + 32, ...
constexpr int kNone = -1;
constexpr std::uint64_t kMerged = ~std::uint64_t{0};  // no sum of counts is that large

struct Shared {
  std::uint64_t freq[kSymbols];
  int depth[kSymbols];                             // of the leaves, before limiting
  int bits[kSymbols];                              // codewords of each length
  int length[kSymbols];                            // of each symbol's codeword
  std::uint64_t first[entropy::kMaxCodeBits + 1];  // first codeword of each length
  bool overflow;
};

/// A subtree that can be merged: the rarest comes first, and of equals the larger symbol (T.81
/// K.2).
struct Entry {
  std::uint64_t freq;
  int symbol;
};

__device__ bool before(const Entry& a, const Entry& b) {
  return a.freq < b.freq || (a.freq == b.freq && a.symbol > b.symbol);
}

/// The first entry of all lanes, by one warp.
__device__ Entry first_of_warp(Entry entry) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    const Entry other{__shfl_xor_sync(kFullWarp, entry.freq, distance),
                      __shfl_xor_sync(kFullWarp, entry.symbol, distance)};
    if (before(other, entry)) entry = other;
  }
  return entry;
}

/// The first two entries of a lane.
__device__ void first_two(const std::uint64_t (&freq)[kPerLane], int lane, Entry& best,
                          Entry& second) {
  best = second = {kMerged, kNone};
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    const Entry entry{freq[i], lane + 32 * i};
    if (before(entry, best)) {
      second = best;
      best = entry;
    } else if (before(entry, second)) {
      second = entry;
    }
  }
}

/// T.81 Figure K.1 (Code_size), by one warp: the depth of each leaf of the Huffman tree.
__device__ void code_sizes(Shared& s, int lane) {
  std::uint64_t freq[kPerLane];
  int root[kPerLane];  // the subtree that a symbol belongs to
  int depth[kPerLane] = {};
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    const std::uint64_t count = s.freq[lane + 32 * i];
    freq[i] = count == 0 ? kMerged : count;
    root[i] = lane + 32 * i;
  }
  Entry best, second;
  first_two(freq, lane, best, second);
  for (;;) {
    const Entry v1 = first_of_warp(best);
    if (v1.freq == kMerged) break;
    const Entry v2 = first_of_warp(best.symbol == v1.symbol ? second : best);
    if (v2.freq == kMerged) break;
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      if (lane + 32 * i == v1.symbol) freq[i] += v2.freq;
      if (lane + 32 * i == v2.symbol) freq[i] = kMerged;
      if (root[i] == v1.symbol || root[i] == v2.symbol) {
        root[i] = v1.symbol;
        ++depth[i];
      }
    }
    if (v1.symbol % 32 == lane || v2.symbol % 32 == lane) first_two(freq, lane, best, second);
  }
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) s.depth[lane + 32 * i] = depth[i];
}

/// Whether the sum of all counts stays below kMerged; by one thread.
__device__ bool sum_fits(const Shared& s) {
  std::uint64_t total = 0;
  for (int i = 0; i < kSymbols; ++i) {
    if (s.freq[i] > kMerged - total) return false;
    total += s.freq[i];
  }
  return true;
}

/// Length of the codeword of the symbol that has this rank by depth, then by value.
__device__ int length_at(const int* bits, int rank) {
  int length = 1;
  for (int below = bits[1]; below <= rank; below += bits[length]) ++length;
  return length;
}

__global__ void __launch_bounds__(kThreads, 1)
    build_codebook_kernel(const std::uint64_t* counts, int max_bits, Codebook* book,
                          Outcome* outcome) {
  __shared__ Shared s;
  const int symbol = static_cast<int>(threadIdx.x);
  s.freq[symbol] = counts[symbol];
  s.bits[symbol] = 0;
  const int used = __syncthreads_count(s.freq[symbol] != 0);
  if (symbol == 0) s.overflow = !sum_fits(s);
  __syncthreads();
  if (s.overflow) {
    book->value[symbol] = 0;
    book->bits[symbol] = 0;
    if (symbol == 0) *outcome = {0, pack_fault(0, Errc::invalid_argument, FaultPosition::hidden)};
    return;
  }

  if (symbol < 32) code_sizes(s, symbol);
  __syncthreads();
  const bool occurs = s.freq[symbol] != 0;
  if (used == 1) s.depth[symbol] = occurs;  // a lone symbol
  if (s.depth[symbol] > 0) atomicAdd(&s.bits[s.depth[symbol]], 1);
  __syncthreads();
  if (symbol == 0) {
    limit_code_lengths(s.bits, kSymbols - 1, max_bits);
    std::uint64_t code = 0;
    for (int length = 1; length <= entropy::kMaxCodeBits; ++length) {
      s.first[length] = code;
      code = (code + static_cast<std::uint64_t>(s.bits[length])) << 1;
    }
  }
  __syncthreads();

  int rank = 0;  // by depth, then by symbol
  for (int other = 0; other < kSymbols; ++other) {
    const int depth = s.depth[other];
    if (depth == 0) continue;
    rank += depth < s.depth[symbol] || (depth == s.depth[symbol] && other < symbol);
  }
  const int length = occurs ? length_at(s.bits, rank) : 0;
  s.length[symbol] = length;
  __syncthreads();
  unsigned same = 0;  // smaller symbols of the same length
  for (int other = 0; other < symbol; ++other) same += s.length[other] == length;
  book->value[symbol] = occurs ? static_cast<std::uint32_t>(s.first[length]) + same : 0;
  book->bits[symbol] = static_cast<std::uint8_t>(length);
  if (symbol == 0) *outcome = {static_cast<std::uint64_t>(used), kNoFault};
}

}  // namespace

Status build_codebook(const std::uint64_t* d_counts, int max_bits, Codebook* d_book,
                      Outcome* d_outcome, cudaStream_t stream) {
  if (max_bits < 8 || max_bits > entropy::kMaxCodeBits)
    return Status(Errc::invalid_argument, "the longest codeword must have 8 to 32 bits");
  ZR_LAUNCH(build_codebook_kernel, 1, kThreads, stream, d_counts, max_bits, d_book, d_outcome);
  return Status::ok();
}

}  // namespace zerorun::cuda_entropy
