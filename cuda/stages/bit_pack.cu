// CUDA twin of codec/encode/bit_pack.cpp: counts bits, forms prefix sums, and writes each block to
// its final position. A thread packs a block.
// SPDX-License-Identifier: MIT
#include "codec/encode/bit_pack.hpp"

#include "cuda/base/launch.hpp"
#include "cuda/base/scratch.hpp"

namespace zerorun {
namespace {

constexpr int kThreads = 128;

__global__ void block_bits_kernel(BitPackArgs a, std::uint32_t* block_bits) {
  for (std::int64_t b = grid_thread(); b < a.blocks; b += grid_threads()) {
    const std::uint32_t end = a.block_first_symbol[b + 1];
    std::uint32_t bits = 0;
    for (std::uint32_t s = a.block_first_symbol[b]; s < end; ++s) bits += a.code_bits[s];
    block_bits[b] = bits;
  }
  // The scan reads a last element, whose value it does not use.
  if (grid_thread() == 0) block_bits[a.blocks] = 0;
}

/// Leaves the bytes of each interval in interval_first_byte, for the scan.
__global__ void interval_kernel(BitPackArgs a, std::int64_t intervals,
                                const std::uint64_t* block_first_bit) {
  for (std::int64_t i = grid_thread(); i < intervals; i += grid_threads()) {
    const std::int64_t begin = i * a.interval_blocks;
    const std::int64_t end = min(begin + a.interval_blocks, a.blocks);
    const std::uint64_t bits = block_first_bit[end] - block_first_bit[begin];
    a.interval_bits[i] = bits;
    a.interval_first_byte[i] = (bits + 7) / 8;
  }
  if (grid_thread() == 0) a.interval_first_byte[intervals] = 0;
}

/// Writes one thread's bits. Other threads may have bits in its first and last word; the words in
/// between are its own and are plainly stored.
class BlockWriter {
 public:
  __device__ BlockWriter(std::uint32_t* words, std::uint64_t first_bit)
      : out_(words + first_bit / 32),
        count_(static_cast<int>(first_bit % 32)),
        shared_(count_ != 0) {}

  /// 1 to 32 bits.
  __device__ void put(std::uint32_t code, int bits) {
    pending_ = pending_ << bits | code;
    count_ += bits;
    if (count_ < 32) return;
    count_ -= 32;
    const std::uint32_t word = big_endian(static_cast<std::uint32_t>(pending_ >> count_));
    if (shared_)
      atomicOr(out_, word);
    else
      *out_ = word;
    shared_ = false;
    ++out_;
  }
  __device__ void finish() {
    if (count_ > 0)
      atomicOr(out_, big_endian(static_cast<std::uint32_t>(pending_ << (32 - count_))));
  }
  /// Bits that the last byte still lacks.
  __device__ int missing_bits() const { return -count_ & 7; }

 private:
  __device__ static std::uint32_t big_endian(std::uint32_t x) { return __byte_perm(x, 0, 0x0123); }

  std::uint32_t* out_;
  std::uint64_t pending_ = 0;  // the low count_ bits are not stored yet
  int count_;                  // < 32 between calls; bits of others in front count as zeros
  bool shared_;                // the current word has bits of others in front
};

__global__ void bit_pack_kernel(BitPackArgs a, const std::uint64_t* block_first_bit) {
  auto* words = reinterpret_cast<std::uint32_t*>(a.bytes);
  for (std::int64_t b = grid_thread(); b < a.blocks; b += grid_threads()) {
    const std::int64_t interval = b / a.interval_blocks;
    const std::int64_t interval_start = interval * a.interval_blocks;
    const bool last = b + 1 == min(interval_start + a.interval_blocks, a.blocks);
    BlockWriter writer(words, a.interval_first_byte[interval] * 8 + block_first_bit[b] -
                                  block_first_bit[interval_start]);
    const std::uint32_t end = a.block_first_symbol[b + 1];
    for (std::uint32_t s = a.block_first_symbol[b]; s < end; ++s)
      writer.put(a.code[s], a.code_bits[s]);
    if (last && writer.missing_bits() > 0)
      writer.put((1u << writer.missing_bits()) - 1, writer.missing_bits());
    writer.finish();
  }
}

}  // namespace

Status bit_pack_cuda(const BitPackArgs& a, Exec& exec) {
  const cudaStream_t stream = stream_of(exec);
  if (a.blocks == 0) {
    ZR_CUDA_TRY(cudaMemsetAsync(a.interval_first_byte, 0, sizeof *a.interval_first_byte, stream));
    return Status::ok();
  }
  const std::int64_t intervals = ceil_div(a.blocks, a.interval_blocks);
  std::int64_t temp_bytes = 0;  // there are never more intervals than blocks
  ZR_TRY(device_scan_temp_bytes(a.blocks + 1, temp_bytes));
  std::byte* temp = nullptr;
  std::uint32_t* block_bits = nullptr;
  std::uint64_t* block_first_bit = nullptr;
  ZR_TRY(scratch_of(exec).carve(scratch_array(temp, temp_bytes),
                                scratch_array(block_bits, a.blocks + 1),
                                scratch_array(block_first_bit, a.blocks + 1)));
  const unsigned grid = grid_size(a.blocks, kThreads);
  ZR_LAUNCH(block_bits_kernel, grid, kThreads, stream, a, block_bits);
  ZR_TRY(
      device_exclusive_scan(block_bits, block_first_bit, a.blocks + 1, temp, temp_bytes, stream));
  ZR_LAUNCH(interval_kernel, grid_size(intervals, kThreads), kThreads, stream, a, intervals,
            block_first_bit);
  ZR_TRY(device_exclusive_scan(a.interval_first_byte, a.interval_first_byte, intervals + 1, temp,
                               temp_bytes, stream));
  // Bits are ORed into the words that threads share.
  ZR_CUDA_TRY(cudaMemsetAsync(a.bytes, 0, static_cast<std::size_t>(a.bytes_capacity), stream));
  ZR_LAUNCH(bit_pack_kernel, grid, kThreads, stream, a, block_first_bit);
  return Status::ok();
}

}  // namespace zerorun
