// Inputs of the entropy parity tests.
// SPDX-License-Identifier: MIT
#include "tests/cuda/entropy/inputs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "tests/support/random.hpp"

namespace zerorun::test {

using entropy::Codebook;
using entropy::kSymbols;

std::vector<std::int32_t> runs_of(std::size_t size, int mean_run, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int32_t> values(size);
  std::int32_t value = -3;
  for (auto& element : values) {
    if (mean_run > 0 && random.below(mean_run) == 0) ++value;
    element = value;
  }
  return values;
}

std::vector<std::uint8_t> uniform_bytes(std::size_t size, int symbols, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint8_t> bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.below(symbols));
  return bytes;
}

namespace {

/// Entropy in bits of weights ratio^0 .. ratio^255.
double geometric_entropy(double ratio) {
  double sum = 0, weighted = 0, weight = 1;
  for (int i = 0; i < kSymbols; ++i, weight *= ratio) {
    if (weight <= 0) break;
    sum += weight;
    weighted -= weight * std::log2(weight);
  }
  return std::log2(sum) + weighted / sum;
}

}  // namespace

std::vector<std::uint8_t> bytes_of(std::size_t size, double bits, std::uint64_t seed) {
  double low = 0, high = 1;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (geometric_entropy(middle) < bits ? low : high) = middle;
  }
  std::array<double, kSymbols> limit{};  // of the sum of weights up to a symbol
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

Codebook codebook_of(const std::vector<std::uint8_t>& bytes, int max_bits) {
  std::array<std::uint64_t, kSymbols> counts{};
  if (!entropy::histogram(bytes, counts)) throw std::runtime_error("histogram");
  const auto book = entropy::build_codebook(counts, max_bits);
  if (!book) throw std::runtime_error(book.status().detail());
  return *book;
}

Codebook unary_codebook(int longest) {
  Codebook book;
  for (int s = 0; s <= longest; ++s) {
    const int bits = std::min(s + 1, longest);
    const auto at = static_cast<std::size_t>(s);
    book.bits[at] = static_cast<std::uint8_t>(bits);
    book.value[at] = 0xFFFFFFFFu >> (32 - bits);
    if (s < longest) --book.value[at];
  }
  return book;
}

Codebook flat_codebook(int bits) {
  Codebook book;
  for (std::size_t s = 0; s < std::size_t{1} << bits; ++s) {
    book.bits[s] = static_cast<std::uint8_t>(bits);
    book.value[s] = static_cast<std::uint32_t>(s);
  }
  return book;
}

Code encode_serially(const std::vector<std::uint8_t>& bytes, const Codebook& book) {
  Code code;
  const auto bits = entropy::encoded_bits(bytes, book);
  if (!bits) throw std::runtime_error(bits.status().detail());
  code.bits = *bits;
  code.words.resize(static_cast<std::size_t>((code.bits + 31) / 32));
  if (!entropy::encode(bytes, book, code.words)) throw std::runtime_error("encode");
  return code;
}

}  // namespace zerorun::test
