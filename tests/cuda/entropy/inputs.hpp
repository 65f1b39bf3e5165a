// Inputs that the entropy parity tests share - runs, bytes of given entropy, awkward codes - and
// calls of primitives as an application makes them: with scratch of exactly the size that they ask
// for.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "tests/support/guarded_buffer.hpp"
#include "tests/support/random.hpp"
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
inline std::vector<std::int32_t> runs_of(std::size_t size, int mean_run, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int32_t> values(size);
  std::int32_t value = -3;
  for (auto& element : values) {
    if (mean_run > 0 && random.below(mean_run) == 0) ++value;
    element = value;
  }
  return values;
}

/// Bytes below `symbols`, all equally likely.
inline std::vector<std::uint8_t> uniform_bytes(std::size_t size, int symbols, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint8_t> bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.below(symbols));
  return bytes;
}

/// Entropy in bits of weights ratio^0 .. ratio^255.
inline double geometric_entropy(double ratio) {
  double sum = 0, weighted = 0, weight = 1;
  for (int i = 0; i < entropy::kSymbols; ++i, weight *= ratio) {
    if (weight <= 0) break;
    sum += weight;
    weighted -= weight * std::log2(weight);
  }
  return std::log2(sum) + weighted / sum;
}

/// Bytes with about `bits` bits of entropy, 0..8: a geometric distribution over scattered symbols.
inline std::vector<std::uint8_t> bytes_of(std::size_t size, double bits, std::uint64_t seed) {
  double low = 0, high = 1;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (geometric_entropy(middle) < bits ? low : high) = middle;
  }
  std::array<double, entropy::kSymbols> limit{};  // of the sum of weights up to a symbol
  double sum = 0, weight = 1;
  for (auto& entry : limit) {
    entry = sum += weight;
    weight *= high;
  }
  Random random(seed);
  std::vector<std::uint8_t> bytes(size);
  for (auto& byte : bytes) {
    const double at = static_cast<double>(random.next() >> 11) * 0x1p-53 * sum;
    const auto index = std::upper_bound(limit.begin(), limit.end() - 1, at) - limit.begin();
    byte = static_cast<std::uint8_t>(index * 167 + 13);  // odd factor: all symbols, scattered
  }
  return bytes;
}

/// The Huffman code of the bytes, at most max_bits long.
inline entropy::Codebook codebook_of(const std::vector<std::uint8_t>& bytes, int max_bits) {
  std::array<std::uint64_t, entropy::kSymbols> counts{};
  if (!entropy::histogram(bytes, counts)) throw std::runtime_error("histogram");
  const auto book = entropy::build_codebook(counts, max_bits);
  if (!book) throw std::runtime_error(book.status().detail());
  return *book;
}

/// 0, 10, 110, ... : lengths 1..longest, the last twice; longest + 1 symbols.
inline entropy::Codebook unary_codebook(int longest) {
  entropy::Codebook book;
  for (int s = 0; s <= longest; ++s) {
    const int bits = std::min(s + 1, longest);
    const auto at = static_cast<std::size_t>(s);
    book.bits[at] = static_cast<std::uint8_t>(bits);
    book.value[at] = 0xFFFFFFFFu >> (32 - bits);
    if (s < longest) --book.value[at];
  }
  return book;
}

/// 2^bits symbols of `bits` bits each: a code that never synchronises.
inline entropy::Codebook flat_codebook(int bits) {
  entropy::Codebook book;
  for (std::size_t s = 0; s < std::size_t{1} << bits; ++s) {
    book.bits[s] = static_cast<std::uint8_t>(bits);
    book.value[s] = static_cast<std::uint32_t>(s);
  }
  return book;
}

/// Words of the code, as the serial encoder writes them.
struct Code {
  std::vector<std::uint32_t> words;
  std::uint64_t bits = 0;
};
inline Code encode_serially(const std::vector<std::uint8_t>& bytes, const entropy::Codebook& book) {
  Code code;
  const auto bits = entropy::encoded_bits(bytes, book);
  if (!bits) throw std::runtime_error(bits.status().detail());
  code.bits = *bits;
  code.words.resize(static_cast<std::size_t>((code.bits + 31) / 32));
  if (!entropy::encode(bytes, book, code.words)) throw std::runtime_error("encode");
  return code;
}

}  // namespace zerorun::test
