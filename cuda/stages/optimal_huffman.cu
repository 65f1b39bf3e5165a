// Optimal code tables on the device: the twin of codec/syntax/huffman_spec.cpp and of
// fill_encode_table(). A warp builds each table.
// SPDX-License-Identifier: MIT
#include "cuda/stages/optimal_huffman.hpp"

#include "codec/base/code_lengths.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/warp.cuh"

namespace zerorun {
namespace {

constexpr int kReserved = 256;              // an extra symbol that takes the all-ones codeword
constexpr int kSlots = kReserved / 32 + 1;  // symbols of a lane: lane, lane + 32, ...
constexpr int kIndexBits = 9;
constexpr unsigned kIndexMask = (1u << kIndexBits) - 1;

__device__ int symbol_of(int slot, int lane) { return slot * 32 + lane; }

/// The trees of T.81 Figure K.1 while they are merged. Instead of the figure's chains, every symbol
/// has the symbol at the head of its tree. Key is uint64_t, or uint32_t where the sum of all counts
/// leaves room for the index.
template <typename Key>
struct Trees {
  static constexpr Key kNoEntry = ~Key{0};

  // Of a head: its count, then its inverted index, so that of equal counts the largest index has
  // the least key.
  Key key[kSlots];
  int head[kSlots];
  int size[kSlots];  // Code_size

  __device__ void start(const std::uint32_t* counts, int lane) {
#pragma unroll
    for (int s = 0; s < kSlots; ++s) {
      const int symbol = symbol_of(s, lane);
      const Key count = symbol < kReserved ? counts[symbol] : symbol == kReserved ? 1u : 0u;
      key[s] = count == 0 ? kNoEntry : count << kIndexBits | (kIndexMask - symbol);
      head[s] = count == 0 ? -1 : symbol;
      size[s] = 0;
    }
  }

  /// The two least keys of the warp, in all lanes.
  __device__ void least_two(Key& first, Key& second) const {
    first = second = kNoEntry;
#pragma unroll
    for (int s = 0; s < kSlots; ++s) {
      second = min(second, max(first, key[s]));
      first = min(first, key[s]);
    }
    if constexpr (sizeof(Key) == sizeof(unsigned)) {
      const Key least = warp_min(first);  // one lane has it: keys differ
      second = warp_min(first == least ? second : first);
      first = least;
    } else {
#pragma unroll
      for (int offset = 16; offset > 0; offset /= 2) {
        const Key other_first = __shfl_xor_sync(kFullWarp, first, offset);
        const Key other_second = __shfl_xor_sync(kFullWarp, second, offset);
        second = min(max(first, other_first), min(second, other_second));
        first = min(first, other_first);
      }
    }
  }

  __device__ void merge_all(int lane) {
    for (;;) {
      Key first, second;
      least_two(first, second);
      if (second == kNoEntry) return;
      const int a = static_cast<int>(kIndexMask - (first & kIndexMask));
      const int b = static_cast<int>(kIndexMask - (second & kIndexMask));
      // The counts are added and the index of `a` stays.
      const Key merged = first + (second & ~Key{kIndexMask});
#pragma unroll
      for (int s = 0; s < kSlots; ++s) {
        const int symbol = symbol_of(s, lane);
        if (symbol == a) key[s] = merged;
        if (symbol == b) key[s] = kNoEntry;
        if (head[s] == a || head[s] == b) {
          head[s] = a;
          ++size[s];
        }
      }
    }
  }

  __device__ int longest() const {
    int result = 0;
#pragma unroll
    for (int s = 0; s < kSlots; ++s) result = max(result, size[s]);
    return warp_max(result);
  }
};

/// Limits the lengths, then removes the reserved symbol, which has the longest codeword.
__device__ void limit_lengths(int* of_length, int longest) {
  limit_code_lengths(of_length, longest, kMaxCodeBits);
  int last = kMaxCodeBits;
  while (last > 0 && of_length[last] == 0) --last;
  if (last > 0) --of_length[last];
}

/// Sort_input (T.81 Figure K.4): by length before limiting, then by symbol.
__device__ void sort_values(const int (&size)[kSlots], int longest, int lane,
                            std::uint8_t* values) {
#pragma unroll
  for (int s = 0; s < kSlots - 1; ++s) values[symbol_of(s, lane)] = 0;
  __syncwarp();
  int next = 0;
  for (int length = 1; length <= longest; ++length) {
#pragma unroll
    for (int s = 0; s < kSlots - 1; ++s) {
      const unsigned of_this_length = __ballot_sync(kFullWarp, size[s] == length);
      if (size[s] == length)
        values[next + __popc(of_this_length & ((1u << lane) - 1))] =
            static_cast<std::uint8_t>(symbol_of(s, lane));
      next += __popc(of_this_length);
    }
  }
  __syncwarp();
}

/// The canonical code of fill_encode_table().
__device__ void fill_codes(const int* of_length, const std::uint8_t* values, int lane,
                           std::uint32_t* code, std::uint8_t* bits) {
  for (int symbol = lane; symbol < 256; symbol += 32) {
    code[symbol] = 0;
    bits[symbol] = 0;
  }
  __syncwarp();
  std::uint32_t first_code = 0;
  int first = 0;
  for (int length = 1; length <= kMaxCodeBits; ++length) {
    for (int i = lane; i < of_length[length]; i += 32) {
      const std::uint8_t symbol = values[first + i];
      code[symbol] = first_code + static_cast<std::uint32_t>(i);
      bits[symbol] = static_cast<std::uint8_t>(length);
    }
    first += of_length[length];
    first_code = (first_code + static_cast<std::uint32_t>(of_length[length])) << 1;
  }
}

/// Code_size of the lane's symbols (T.81 Figure K.1). Returns the longest of all.
template <typename Key>
__device__ int code_sizes(const std::uint32_t* counts, int lane, int (&size)[kSlots]) {
  Trees<Key> trees;
  trees.start(counts, lane);
  trees.merge_all(lane);
#pragma unroll
  for (int s = 0; s < kSlots; ++s) size[s] = trees.size[s];
  return trees.longest();
}

/// Whether the sum of all counts leaves room for an index in 32 bits.
__device__ bool counts_are_small(const std::uint32_t* counts, int lane) {
  constexpr std::uint32_t kMost = 1u << (32 - kIndexBits - 1);
  std::uint64_t sum = 1;
  for (int symbol = lane; symbol < kReserved; symbol += 32) sum += counts[symbol];
  const bool each = __all_sync(kFullWarp, sum < kMost);
  return each && warp_add(static_cast<std::uint32_t>(sum)) < kMost;
}

__global__ void __launch_bounds__(32) optimal_huffman_kernel(OptimalHuffmanArgs a) {
  __shared__ int of_length[kReserved + 2];
  __shared__ std::uint8_t values[256];
  const int table = static_cast<int>(blockIdx.x), lane = static_cast<int>(threadIdx.x);
  for (int i = lane; i < kReserved + 2; i += 32) of_length[i] = 0;
  __syncwarp();
  wait_for_previous_kernel();
  if (is_skipped(a.skip)) return;

  const std::uint32_t* const counts = a.counts[blockIdx.y].count[table];
  int size[kSlots];
  const int longest = counts_are_small(counts, lane)
                          ? code_sizes<std::uint32_t>(counts, lane, size)
                          : code_sizes<std::uint64_t>(counts, lane, size);
#pragma unroll
  for (int s = 0; s < kSlots; ++s)
    if (size[s] > 0) atomicAdd(of_length + size[s], 1);
  __syncwarp();
  if (lane == 0) limit_lengths(of_length, longest);
  __syncwarp();
  sort_values(size, longest, lane, values);

  HuffmanSpec& spec = a.specs[blockIdx.y * kEncodeTables + blockIdx.x];
  if (lane <= kMaxCodeBits)
    spec.bits.data()[lane] = static_cast<std::uint8_t>(lane == 0 ? 0 : of_length[lane]);
  for (int i = lane; i < 256; i += 32) spec.values.data()[i] = values[i];
  HuffmanEncodeTables& tables = a.tables[blockIdx.y];
  fill_codes(of_length, values, lane, tables.code[table], tables.bits[table]);
}

}  // namespace

Status optimal_huffman_cuda(const OptimalHuffmanArgs& args, Exec& exec) {
  const LaunchShape shape{kEncodeTables, 32, 0, args.frames};
  ZR_CUDA_TRY(launch_behind(optimal_huffman_kernel, shape, stream_of(exec), args));
  return Status::ok();
}

}  // namespace zerorun
