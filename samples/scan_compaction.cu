// Prefix sums and stream compaction as in textbooks, timed together with CUB's: a naive
// scan (n log n additions), a work-efficient one (up-sweep and down-sweep over a balanced tree) and
// compaction by flag, scan and scatter. The library itself uses CUB (zerorun/cuda_entropy.hpp).
// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "zerorun/cuda_entropy.hpp"

namespace {

namespace library = zerorun::cuda_entropy;
namespace serial = zerorun::entropy;
using Word = std::uint32_t;

constexpr unsigned kThreads = 256;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "scan_compaction: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

void check(const zerorun::Status& status) {
  if (status) return;
  std::fprintf(stderr, "scan_compaction: %s\n", status.message().c_str());
  std::exit(1);
}

unsigned blocks_for(std::uint64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

__device__ std::uint64_t thread_index() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

/// Naive scan, one pass per power of two. Each pass goes from one array to another: in place, a
/// thread could read what another has already written.
__global__ void naive_pass(const Word* in, Word* out, std::uint64_t size, std::uint64_t distance) {
  const std::uint64_t i = thread_index();
  if (i < size) out[i] = i >= distance ? in[i] + in[i - distance] : in[i];
}

/// Inclusive sums are exclusive sums, shifted by one element.
__global__ void shift_right(const Word* in, Word* out, std::uint64_t size) {
  const std::uint64_t i = thread_index();
  if (i < size) out[i] = i > 0 ? in[i - 1] : 0;
}

void naive_exclusive_scan(const Word* in, Word* first, Word* second, Word* out,
                          std::uint64_t size) {
  const Word* from = in;
  Word* to = first;
  for (std::uint64_t distance = 1; distance < size; distance *= 2) {
    naive_pass<<<blocks_for(size), kThreads>>>(from, to, size, distance);
    from = to;
    to = from == first ? second : first;
  }
  shift_right<<<blocks_for(size), kThreads>>>(from, out, size);
  check(cudaGetLastError());
}

/// Up-sweep: each node of a level, at the right end of its `step` elements, becomes the sum of its
/// two halves. Zeros pad the array to a power of two.
__global__ void up_sweep(Word* tree, std::uint64_t nodes, std::uint64_t step) {
  const std::uint64_t node = thread_index();
  if (node < nodes) tree[(node + 1) * step - 1] += tree[(node + 1) * step - 1 - step / 2];
}

/// Down-sweep: the left half starts at its parent's start, the right half after the left half's
/// sum.
__global__ void down_sweep(Word* tree, std::uint64_t nodes, std::uint64_t step) {
  const std::uint64_t node = thread_index();
  if (node >= nodes) return;
  const std::uint64_t right = (node + 1) * step - 1, left = right - step / 2;
  const Word left_sum = tree[left];
  tree[left] = tree[right];
  tree[right] += left_sum;
}

std::uint64_t power_of_two_from(std::uint64_t size) {
  std::uint64_t padded = 1;
  while (padded < size) padded *= 2;
  return padded;
}

/// In place; the array has power_of_two_from(size) elements, zero from `size` on.
void work_efficient_exclusive_scan(Word* tree, std::uint64_t padded) {
  for (std::uint64_t step = 2; step <= padded; step *= 2)
    up_sweep<<<blocks_for(padded / step), kThreads>>>(tree, padded / step, step);
  check(cudaMemsetAsync(tree + padded - 1, 0, sizeof(Word)));  // the root starts at 0
  for (std::uint64_t step = padded; step >= 2; step /= 2)
    down_sweep<<<blocks_for(padded / step), kThreads>>>(tree, padded / step, step);
  check(cudaGetLastError());
}

/// Step 1 of compaction: 1 for every element to keep. A last flag, always 0, follows the flags of
/// the elements, so the last exclusive sum is the number of kept elements.
__global__ void flag_non_zeros(const std::int32_t* in, Word* flags, std::uint64_t size) {
  const std::uint64_t i = thread_index();
  if (i <= size) flags[i] = i < size && in[i] != 0;
}

/// Step 3: the exclusive sum of an element (step 2) is its place.
__global__ void scatter(const std::int32_t* in, const Word* places, std::int32_t* out,
                        std::uint64_t size) {
  const std::uint64_t i = thread_index();
  if (i < size && in[i] != 0) out[places[i]] = in[i];
}

template <typename T>
T* allocate(std::uint64_t size) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, size * sizeof(T)));
  return static_cast<T*>(memory);
}

template <typename T>
std::vector<T> download(const T* from, std::uint64_t size) {
  std::vector<T> values(size);
  check(cudaMemcpy(values.data(), from, size * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

/// Median of 11 launches in milliseconds; `prepare` is not timed.
template <typename Prepare, typename Launch>
double median_ms(const Prepare& prepare, const Launch& launch) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  std::vector<float> times;
  for (int i = 0; i < 12; ++i) {
    prepare();
    check(cudaEventRecord(begin));
    launch();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    if (i > 0) times.push_back(ms);  // the first one warms up
  }
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
  std::nth_element(times.begin(), times.begin() + 5, times.end());
  return times[5];
}

void report(const char* what, std::uint64_t size, double ms, bool right) {
  std::printf("%-34s %10llu elements %10.4f ms %8.1f GB/s of input  %s\n", what,
              static_cast<unsigned long long>(size), ms,
              static_cast<double>(size) * sizeof(Word) / ms / 1e6, right ? "right" : "WRONG");
  if (!right) std::exit(1);
}

void run(std::uint64_t size) {
  std::vector<std::int32_t> host(size);
  for (std::uint64_t i = 0; i < size; ++i)  // about two thirds are zero
    host[i] = static_cast<std::int32_t>(i * 2654435761u >> 16) % 3 == 0
                  ? static_cast<std::int32_t>(i % 100 + 1)
                  : 0;
  std::vector<Word> words(host.begin(), host.end()), expected(size);
  check(serial::exclusive_scan(words, expected));

  const std::uint64_t padded = power_of_two_from(size + 1);
  auto* const in = allocate<std::int32_t>(size);
  auto* const kept = allocate<std::int32_t>(size);
  Word *const a = allocate<Word>(padded), *const b = allocate<Word>(size),
              *const out = allocate<Word>(size);
  check(cudaMemcpy(in, host.data(), size * sizeof(Word), cudaMemcpyHostToDevice));
  const auto* const in_words = reinterpret_cast<const Word*>(in);
  const auto nothing = [] {};

  double ms = median_ms(nothing, [&] { naive_exclusive_scan(in_words, a, b, out, size); });
  report("naive scan", size, ms, download(out, size) == expected);

  ms = median_ms(
      [&] {
        check(cudaMemset(a, 0, padded * sizeof(Word)));
        check(cudaMemcpy(a, in, size * sizeof(Word), cudaMemcpyDeviceToDevice));
      },
      [&] { work_efficient_exclusive_scan(a, padded); });
  report("work-efficient scan", size, ms, download(a, size) == expected);

  std::size_t scratch_bytes = 0;
  check(library::exclusive_scan(nullptr, scratch_bytes, in_words, size, out, nullptr));
  auto* scratch = allocate<unsigned char>(scratch_bytes);
  ms = median_ms(nothing, [&] {
    check(library::exclusive_scan(scratch, scratch_bytes, in_words, size, out, nullptr));
  });
  report("CUB scan", size, ms, download(out, size) == expected);
  check(cudaFree(scratch));

  std::vector<std::uint8_t> flags(size);
  std::transform(host.begin(), host.end(), flags.begin(), [](auto value) { return value != 0; });
  std::vector<std::int32_t> compacted(size);
  const auto count = serial::compact(host, flags, compacted);
  check(count.status());
  compacted.resize(*count);

  ms = median_ms([&] { check(cudaMemset(a, 0, padded * sizeof(Word))); },
                 [&] {
                   flag_non_zeros<<<blocks_for(size + 1), kThreads>>>(in, a, size);
                   work_efficient_exclusive_scan(a, padded);
                   scatter<<<blocks_for(size), kThreads>>>(in, a, kept, size);
                   check(cudaGetLastError());
                 });
  const Word found = download(a + size, 1)[0];
  report("flag, scan, scatter", size, ms, found == *count && download(kept, found) == compacted);

  auto* const d_flags = allocate<std::uint8_t>(size);
  auto* const d_kept = allocate<std::uint64_t>(1);
  check(cudaMemcpy(d_flags, flags.data(), size, cudaMemcpyHostToDevice));
  check(library::compact(nullptr, scratch_bytes, in, d_flags, size, kept, d_kept, nullptr));
  scratch = allocate<unsigned char>(scratch_bytes);
  ms = median_ms(nothing, [&] {
    check(library::compact(scratch, scratch_bytes, in, d_flags, size, kept, d_kept, nullptr));
  });
  report("CUB select", size, ms,
         download(d_kept, 1)[0] == *count && download(kept, *count) == compacted);
  for (void* const memory :
       {static_cast<void*>(in), static_cast<void*>(kept), static_cast<void*>(a),
        static_cast<void*>(b), static_cast<void*>(out), static_cast<void*>(d_flags),
        static_cast<void*>(d_kept), static_cast<void*>(scratch)})
    check(cudaFree(memory));
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "scan_compaction: needs an NVIDIA GPU\n");
    return 5;
  }
  for (const std::uint64_t size : {1000ull, 1ull << 16, (1ull << 20) + 3, 1ull << 24, 100000000ull})
    run(size);
  return 0;
}
