// Optimal code tables on the device: the twin of codec/syntax/huffman_spec.cpp and of
// fill_encode_table(). A CTA builds a table, with a thread for each symbol.
//
// Nothing here has much to compute; what counts is the longest chain of steps that wait for each
// other. Only the merging of trees needs a loop of one thread.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "codec/base/code_lengths.hpp"
#include "codec/syntax/tables.hpp"
#include "cuda/base/warp.cuh"

namespace zerorun::optimal_huffman {

constexpr int kThreads = 256;  // a symbol each
constexpr int kWarps = kThreads / 32;
constexpr int kReserved = 256;  // an extra symbol that takes the all-ones codeword
constexpr int kMostLeaves = kReserved + 1;
constexpr int kIndexBits = 9;
constexpr unsigned kIndexMask = (1u << kIndexBits) - 1;
/// A codeword of n bits needs a sum of counts of at least the n-th Fibonacci number, and all counts
/// together are below 2^41.
constexpr int kMostSizes = 64;

/// The forest while it is merged. A key has a count, then the inverted index of a symbol, so that
/// of equal counts the larger symbol comes first. Key is uint64_t, or uint32_t where the sum of all
/// counts leaves room for the index.
template <typename Key>
struct Forest {
  static constexpr Key kNoEntry = ~Key{0};
  static constexpr int kAhead = 4;      // merge_trees() reads so far behind the last entries
  static constexpr int kTogether = 16;  // keys that a thread compares with its own at once

  alignas(16) Key key[kThreads + kTogether];   // those with a count, by symbol
  alignas(16) Key leaf[kMostLeaves + kAhead];  // in order
  alignas(16) Key merged[kReserved + kAhead];  // likewise, which is the order of merging
};

struct Shared {
  int of_length[kMostSizes];                            // how many codewords there are of a length
  int of_size[kMostSizes];                              // the same before lengths were limited
  int before_size[kMostSizes];                          // symbols with a smaller size, other than 0
  alignas(8) std::uint8_t of_warp[kMostSizes][kWarps];  // the symbols of a warp with a size
  std::uint8_t size[kThreads];                          // Code_size
  // Step k of merging starts with this many leaves gone; so 2 k less that many merged trees are.
  std::uint16_t leaves_before[kMostLeaves];
  std::uint16_t parent_of_leaf[kMostLeaves], parent[kReserved];
  std::uint32_t used[kWarps], sum[kWarps];  // of a warp
};

/// The codeword of the thread's symbol. `bits` 0: it has none, and the rest is undefined.
struct Codeword {
  std::uint32_t bits, code;
  int position;  ///< among HUFFVAL
};

struct Table {
  Codeword own;
  int count;  ///< codewords of all symbols
};

__device__ inline int warp_of_thread() { return static_cast<int>(threadIdx.x) / 32; }
__device__ inline unsigned lanes_before() { return (1u << threadIdx.x % 32) - 1; }

/// Merges the trees with the least keys until one is left (T.81 Figure K.1); by one thread. Leaves
/// are in order, and merged trees come in order too: both of a step have larger keys than both of
/// the step before, and so has their sum, since of two steps with equal sums all four counts are
/// equal. Hence the two least keys are among the first two of either list, and these four are kept
/// in registers. So are the next two of either list, loaded a step before they may be needed, so
/// that no step waits for memory.
template <typename Key>
__device__ void merge_trees(Forest<Key>& forest, int leaves, std::uint16_t* leaves_before) {
  constexpr Key kCount = ~Key{kIndexMask};
  const volatile Key* const leaf_keys =
      forest.leaf;  // else the loads move to where they are needed
  volatile Key* const merged_keys = forest.merged;
  Key leaf0 = leaf_keys[0], leaf1 = leaf_keys[1], leaf2 = leaf_keys[2], leaf3 = leaf_keys[3];
  Key merged0 = Forest<Key>::kNoEntry, merged1 = merged0, merged2 = merged0, merged3 = merged0;
  int leaf = 0, merged = 0;  // indices of the first ones
#pragma unroll 2             // so that no register is copied to another one
  for (int step = 0; step + 1 < leaves; ++step) {
    const Key second = min(max(leaf0, merged0), min(leaf1, merged1));
    const Key sum = min(leaf0, merged0) + (second & kCount);  // the index of the first one stays
    merged_keys[step] = sum;
    leaves_before[step] = static_cast<std::uint16_t>(leaf);
    const bool two_leaves = leaf1 < merged0, no_leaf = merged1 < leaf0;
    const int gone = two_leaves ? 2 : no_leaf ? 0 : 1;
    leaf += gone;
    merged += 2 - gone;
    const Key next_leaf2 = leaf_keys[leaf + 2], next_leaf3 = leaf_keys[leaf + 3];
    const Key next_merged2 = merged_keys[merged + 2], next_merged3 = merged_keys[merged + 3];
    leaf0 = two_leaves ? leaf2 : no_leaf ? leaf0 : leaf1;
    leaf1 = two_leaves ? leaf3 : no_leaf ? leaf1 : leaf2;
    const Key rest0 = no_leaf ? merged2 : two_leaves ? merged0 : merged1;
    const Key rest1 = no_leaf ? merged3 : two_leaves ? merged1 : merged2;
    // The sum is behind all others: it takes the first of these that is free.
    merged0 = min(rest0, sum);
    merged1 = min(rest1, max(rest0, sum));
    leaf2 = next_leaf2;
    leaf3 = next_leaf3;
    merged2 = next_merged2;
    merged3 = next_merged3;
  }
  leaves_before[leaves - 1] = static_cast<std::uint16_t>(leaf);
}

/// Adds 1 to `count` if a < b. In C++ this becomes an addition to a copy and a copy back, where one
/// waits for the other.
__device__ inline void count_if_less(std::uint32_t a, std::uint32_t b, int& count) {
  asm("{\n\t"
      ".reg .pred is_less;\n\t"
      "setp.lt.u32 is_less, %1, %2;\n\t"
      "@is_less add.s32 %0, %0, 1;\n\t"
      "}"
      : "+r"(count)
      : "r"(a), "r"(b));
}
__device__ inline void count_if_less(std::uint64_t a, std::uint64_t b, int& count) {
  asm("{\n\t"
      ".reg .pred is_less;\n\t"
      "setp.lt.u64 is_less, %1, %2;\n\t"
      "@is_less add.s32 %0, %0, 1;\n\t"
      "}"
      : "+r"(count)
      : "l"(a), "l"(b));
}

/// Finds s.size of the symbols with a count, s.of_size, and s.of_length before it is limited; these
/// must be clear. `place`: how many symbols with a count come before the thread's, `used`: how many
/// there are. Returns the largest size to thread 0.
template <typename Key>
__device__ int find_sizes(Shared& s, std::uint32_t count, int place, int used) {
  __shared__ Forest<Key> forest;
  const auto thread = static_cast<int>(threadIdx.x);
  const auto key_of = [](std::uint32_t n, int symbol) {
    return Key{n} << kIndexBits | (kIndexMask - static_cast<unsigned>(symbol));
  };
  const Key own = key_of(count, thread);
  if (count != 0) forest.key[place] = own;
  constexpr int kTogether = Forest<Key>::kTogether;
  if (thread < kTogether) forest.key[used + thread] = Forest<Key>::kNoEntry;
  if (thread < Forest<Key>::kAhead) {
    forest.leaf[used + 1 + thread] = Forest<Key>::kNoEntry;
    forest.merged[kReserved + thread] = Forest<Key>::kNoEntry;
  }
  if (thread == 0) forest.leaf[0] = key_of(1, kReserved);  // less than all others
  forest.merged[thread] = Forest<Key>::kNoEntry;
  __syncthreads();
  if (thread < used) {
    const Key key = forest.key[thread];
    int before[4] = {};  // additions to one number would wait for each other
#pragma unroll 1
    for (int i = 0; i < used; i += kTogether)
#pragma unroll
      for (int j = 0; j < kTogether; ++j) count_if_less(forest.key[i + j], key, before[j % 4]);
    forest.leaf[1 + before[0] + before[1] + before[2] + before[3]] = key;
  }
  __syncthreads();
  if (thread == 0) merge_trees(forest, used + 1, s.leaves_before);
  __syncthreads();
  if (thread < used) {
    const int leaf = s.leaves_before[thread], leaves = s.leaves_before[thread + 1] - leaf;
    const int tree = 2 * thread - leaf;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (i < leaves) s.parent_of_leaf[leaf + i] = static_cast<std::uint16_t>(thread);
      if (i < 2 - leaves) s.parent[tree + i] = static_cast<std::uint16_t>(thread);
    }
    if (thread == used - 1) s.parent[thread] = static_cast<std::uint16_t>(thread);  // the root
  }
  __syncthreads();
  // Leaves in order have falling sizes. The reserved one has the same parent as leaf 1.
  int size = 0;
  if (thread < used) {
    // A branch for several steps, so that a step takes little more than its load.
    constexpr int kSteps = 4;
    const int root = used - 1;
    size = 1;
    for (int tree = s.parent_of_leaf[1 + thread]; tree != root;) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        size += tree != root ? 1 : 0;
        tree = s.parent[tree];
      }
    }
    s.size[kIndexMask - static_cast<unsigned>(forest.leaf[1 + thread] & kIndexMask)] =
        static_cast<std::uint8_t>(size);
    atomicAdd(s.of_size + size, 1);
    atomicAdd(s.of_length + size, thread == 0 ? 2 : 1);
  }
  __syncthreads();
  return size;
}

/// Limits the lengths, then removes the reserved symbol, which has the longest codeword.
__device__ inline void limit_lengths(int* of_length, int longest) {
  limit_code_lengths(of_length, longest, kMaxCodeBits);
  int last = longest < kMaxCodeBits ? longest : kMaxCodeBits;
  while (last > 0 && of_length[last] == 0) --last;
  if (last > 0) --of_length[last];
}

/// By one warp, two sizes a lane.
__device__ inline void sum_sizes(Shared& s) {
  const unsigned lane = threadIdx.x % 32;
  const int even = s.of_size[2 * lane], odd = s.of_size[2 * lane + 1];
  const int end = static_cast<int>(warp_inclusive_sum(static_cast<unsigned>(even + odd)));
  s.before_size[2 * lane] = end - odd - even;
  s.before_size[2 * lane + 1] = end - odd;
}

/// Sort_input (T.81 Figure K.4): by length before limiting, then by symbol. The thread's symbol in
/// this order, if its size is not 0. s.of_warp must have been clear.
__device__ inline int place_among_values(const Shared& s, int size, unsigned same_size) {
  const auto counts = *reinterpret_cast<const uint2*>(s.of_warp[size]);
  const int warp = warp_of_thread();
  const auto sum_below = [](std::uint32_t bytes, int end) {
    return end <= 0 ? 0u
                    : __dp4a(end >= 4 ? bytes : bytes & ((1u << 8 * end) - 1), 0x01010101u, 0u);
  };
  return s.before_size[size] + static_cast<int>(sum_below(counts.x, warp)) +
         static_cast<int>(sum_below(counts.y, warp - 4)) + __popc(same_size & lanes_before());
}

/// The codeword at a position of the canonical code of fill_encode_table(). All lengths are looked
/// at, without a branch: only the sums of the lengths before wait for each other.
__device__ inline Codeword find_codeword(const int* of_length, int position) {
  Codeword found{1, 0, position};
  int end = 0, first = 0;               // positions of a length; the first one of `found`
  std::uint32_t taken = 0, before = 0;  // bit strings of kMaxCodeBits bits, likewise
#pragma unroll
  for (int length = 1; length < kMaxCodeBits; ++length) {
    end += of_length[length];
    taken += static_cast<std::uint32_t>(of_length[length]) << (kMaxCodeBits - length);
    if (position < end) continue;
    found.bits = static_cast<std::uint32_t>(length + 1);
    first = end;
    before = taken;
  }
  found.code =
      (before >> (kMaxCodeBits - found.bits)) + static_cast<std::uint32_t>(position - first);
  return found;
}

/// Before build_table(), by all threads; needs nothing of an earlier kernel.
__device__ inline void start_table(Shared& s) {
  static_assert(sizeof s.of_warp == 2 * sizeof(int) * kMostSizes);
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread < kMostSizes) {
    s.of_length[thread] = s.of_size[thread] = 0;
    *reinterpret_cast<uint2*>(s.of_warp[thread]) = uint2{};
  }
}

/// Builds the table of optimal_huffman_spec(); `count` is of the thread's symbol. All threads may
/// then read s.of_length, whose entries up to kMaxCodeBits are BITS.
__device__ inline Table build_table(Shared& s, std::uint32_t count) {
  const auto thread = static_cast<int>(threadIdx.x);
  constexpr std::uint32_t kMost = 1u << (32 - kIndexBits);
  const unsigned used_lanes = __ballot_sync(kFullWarp, count != 0);
  const std::uint32_t sum_of_warp = warp_add(min(count, kMost));
  if (thread % 32 == 0) {
    s.used[warp_of_thread()] = static_cast<std::uint32_t>(__popc(used_lanes));
    s.sum[warp_of_thread()] = sum_of_warp;
  }
  __syncthreads();
  int used = 0, place = __popc(used_lanes & lanes_before());
  std::uint32_t sum = 1;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    const auto of_warp = static_cast<int>(s.used[w]);
    used += of_warp;
    if (w < warp_of_thread()) place += of_warp;
    sum += s.sum[w];
  }
  // Whether the sum of all counts leaves room for an index in 32 bits. The last tree may then have
  // the key that stands for none, but it is compared with no other.
  const int longest = sum < kMost ? find_sizes<std::uint32_t>(s, count, place, used)
                                  : find_sizes<std::uint64_t>(s, count, place, used);

  const int size = count != 0 ? s.size[thread] : 0;
  const unsigned same_size = __match_any_sync(kFullWarp, size);
  if ((same_size & lanes_before()) == 0)
    s.of_warp[size][warp_of_thread()] = static_cast<std::uint8_t>(__popc(same_size));
  if (thread == 0) limit_lengths(s.of_length, longest);
  if (warp_of_thread() == 1) sum_sizes(s);
  __syncthreads();
  if (size == 0) return {{}, used};
  return {find_codeword(s.of_length, place_among_values(s, size, same_size)), used};
}

/// Stores the table as HUFFVAL and BITS.
__device__ inline void store_spec(const Shared& s, const Table& table, HuffmanSpec& spec) {
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread <= kMaxCodeBits)
    spec.bits.data()[thread] = static_cast<std::uint8_t>(s.of_length[thread]);
  if (table.own.bits > 0)
    spec.values.data()[table.own.position] = static_cast<std::uint8_t>(thread);
  if (thread >= table.count) spec.values.data()[thread] = 0;
}

}  // namespace zerorun::optimal_huffman
