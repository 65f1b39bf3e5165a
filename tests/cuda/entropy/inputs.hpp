// Inputs that the entropy parity tests share - runs, bytes of given entropy, awkward codes - and
// calls of primitives as an application makes them: with scratch of exactly the size that they ask
// for.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/guarded_buffer.hpp"
#include "zerorun/cuda_entropy.hpp"
#include "zerorun/entropy.hpp"

namespace zerorun::test {

/// call(scratch, bytes) is made twice, to measure and to launch.
template <typename Call>
void with_scratch(const Call& call) {
  std::size_t bytes = 0;
  const Status measured = call(nullptr, bytes);
  ASSERT_TRUE(measured.is_ok()) << measured.detail();
  GuardedBuffer<unsigned char> scratch(Memory::device, bytes);
  const Status launched = call(scratch.data(), bytes);
  ASSERT_TRUE(launched.is_ok()) << launched.detail();
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

/// The same for calls that leave an outcome on the device.
template <typename Call>
cuda_entropy::Outcome outcome_of(const Call& call) {
  GuardedBuffer<cuda_entropy::Outcome> outcome(Memory::device, 1);
  with_scratch(
      [&](void* scratch, std::size_t& bytes) { return call(scratch, bytes, outcome.data()); });
  return outcome.to_host()[0];
}

/// Code and position; the sentences of the twins differ.
inline void expect_same_fault(const Status& device, const Status& host) {
  EXPECT_EQ(name(device.code()), name(host.code()));
  EXPECT_EQ(device.byte_offset(), host.byte_offset());
}

/// Integers that change with probability 1 / mean_run; 0 never changes.
std::vector<std::int32_t> runs_of(std::size_t size, int mean_run, std::uint64_t seed);

/// Bytes with about `bits` bits of entropy, 0..8: a geometric distribution over scattered symbols.
std::vector<std::uint8_t> bytes_of(std::size_t size, double bits, std::uint64_t seed);

/// Bytes below `symbols`, all equally likely.
std::vector<std::uint8_t> uniform_bytes(std::size_t size, int symbols, std::uint64_t seed);

/// The Huffman code of the bytes, at most max_bits long.
entropy::Codebook codebook_of(const std::vector<std::uint8_t>& bytes, int max_bits);

/// 0, 10, 110, ... : lengths 1..longest, the last twice; longest + 1 symbols.
entropy::Codebook unary_codebook(int longest);

/// 2^bits symbols of `bits` bits each: a code that never synchronises.
entropy::Codebook flat_codebook(int bits);

/// Words of the code, as the serial encoder writes them.
struct Code {
  std::vector<std::uint32_t> words;
  std::uint64_t bits = 0;
};
Code encode_serially(const std::vector<std::uint8_t>& bytes, const entropy::Codebook& book);

}  // namespace zerorun::test
