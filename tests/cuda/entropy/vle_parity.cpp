// Variable-length encode on the device equals the serial twin, bit for bit.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/cuda/entropy/device_call.hpp"
#include "tests/cuda/entropy/inputs.hpp"
#include "tests/support/gpu.hpp"

namespace zerorun::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using entropy::Codebook;

constexpr std::size_t kSizes[] = {0,     1,     2,     15,    16,    17,    511,   512,
                                  513,   1023,  1024,  1025,  8191,  8192,  8193,  15359,
                                  15360, 15361, 16384, 30720, 30721, 57344, 57345, 100003};

struct Encoded {
  cuda_entropy::Outcome outcome;
  std::vector<std::uint32_t> words;
  std::vector<std::uint64_t> offsets;
};

/// Into `capacity` words, with `entries` of an index if that is not 0.
Encoded encode_on_device(const Bytes& in, const Codebook& book, std::size_t capacity,
                         std::uint32_t chunk_symbols = 0, std::size_t entries = 0,
                         std::size_t skew = 0) {
  GuardedBuffer<std::uint8_t> d_in(Memory::device, in, skew);
  GuardedBuffer<Codebook> d_book(Memory::device, std::span(&book, 1));
  GuardedBuffer<std::uint32_t> d_out(Memory::device, capacity);
  GuardedBuffer<std::uint64_t> d_offsets(Memory::device, entries);
  const auto outcome = outcome_of([&](void* scratch, std::size_t& bytes, auto* d_outcome) {
    return cuda_entropy::encode(scratch, bytes, d_in.data(), in.size(), d_book.data(), d_out.data(),
                                capacity, chunk_symbols, entries > 0 ? d_offsets.data() : nullptr,
                                d_outcome, nullptr);
  });
  return {outcome, d_out.to_host(), d_offsets.to_host()};
}

Encoded encode_chained(const Bytes& in, const Codebook& book, std::size_t capacity) {
  GuardedBuffer<std::uint8_t> d_in(Memory::device, in);
  GuardedBuffer<Codebook> d_book(Memory::device, std::span(&book, 1));
  GuardedBuffer<std::uint32_t> d_out(Memory::device, capacity);
  const auto outcome = outcome_of([&](void* scratch, std::size_t& bytes, auto* d_outcome) {
    return cuda_entropy::encode_chained(scratch, bytes, d_in.data(), in.size(), d_book.data(),
                                        d_out.data(), capacity, d_outcome, nullptr);
  });
  return {outcome, d_out.to_host(), {}};
}

void expect_same(const Encoded& found, const Code& expected) {
  EXPECT_TRUE(cuda_entropy::to_status(found.outcome).is_ok());
  EXPECT_EQ(found.outcome.count, expected.bits);
  EXPECT_TRUE(found.words == expected.words);
}

/// Outputs of exactly the right size; in must be encodable.
void expect_encode_parity(const Bytes& in, const Codebook& book, std::uint32_t chunk_symbols,
                          std::size_t skew = 0) {
  const Code expected = encode_serially(in, book);
  std::vector<std::uint64_t> offsets((in.size() + chunk_symbols - 1) / chunk_symbols + 1);
  ASSERT_TRUE(entropy::chunk_offsets(in, book, chunk_symbols, offsets).is_ok());
  const Encoded found =
      encode_on_device(in, book, expected.words.size(), chunk_symbols, offsets.size(), skew);
  expect_same(found, expected);
  EXPECT_TRUE(found.offsets == offsets);
}

void expect_chained_parity(const Bytes& in, const Codebook& book) {
  const Code expected = encode_serially(in, book);
  expect_same(encode_chained(in, book, expected.words.size()), expected);
}

class EncodeParity : public GpuTest {};

TEST_F(EncodeParity, EverySizeAndEntropy) {
  for (const std::size_t size : kSizes) {
    for (const double bits : {0.0, 1.0, 2.0, 4.0, 6.0, 7.5, 8.0}) {
      SCOPED_TRACE(testing::Message() << size << " bytes, entropy " << bits);
      const Bytes in = bytes_of(size, bits, size);
      const Codebook book = codebook_of(in, 32);
      expect_encode_parity(in, book, 64);
      expect_chained_parity(in, book);
    }
  }
}

/// What a kernel before left in shared memory is not in the output's last word, behind its bits.
TEST_F(EncodeParity, BitsBehindTheLastAreZero) {
  const Bytes noise = bytes_of(100'003, 8.0, 3);
  const Codebook book_of_noise = codebook_of(noise, 32);
  for (const double bits : {1.0, 2.0, 5.3, 7.5}) {
    const Bytes all = bytes_of(3 * 15'360, bits, 5);
    const Codebook book = codebook_of(all, 32);
    for (std::size_t missing = 0; missing < 34; ++missing)
      for (const std::size_t tiles : {1u, 2u, 3u}) {
        SCOPED_TRACE(testing::Message() << tiles << " tiles but " << missing << ", " << bits);
        expect_encode_parity(noise, book_of_noise, 64);
        expect_encode_parity(
            Bytes(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(tiles * 15'360 - missing)),
            book, 64);
        if (HasFailure()) return;
      }
  }
}

TEST_F(EncodeParity, CodewordsOfEveryLength) {
  // 16 and 23 use the packed table (pairs to 32 bits and more), 24 and 32 the plain one.
  // Tiles of long codewords go straight to the output, alone and between others.
  for (const int longest : {1, 8, 16, 17, 22, 23, 24, 31, 32}) {
    for (const std::size_t size : {33u, 15360u, 50001u}) {
      SCOPED_TRACE(testing::Message() << longest << " bits, " << size << " bytes");
      const Codebook book = unary_codebook(longest);
      const Bytes any = uniform_bytes(size, longest + 1, size);
      expect_encode_parity(any, book, 16);
      expect_chained_parity(any, book);
      const Bytes longest_only(size, static_cast<std::uint8_t>(longest));
      expect_encode_parity(longest_only, book, 1024);
      expect_chained_parity(longest_only, book);
    }
  }
}

TEST_F(EncodeParity, RareLongCodewordsAmongShortOnes) {
  Bytes in(50000, 0);
  for (std::size_t i = 0; i < in.size(); i += 997) in[i] = in[i + i % 2] = 22;
  expect_encode_parity(in, unary_codebook(22), 128);
}

TEST_F(EncodeParity, LongTilesBetweenShortOnes) {
  for (const int longest : {22, 32}) {
    SCOPED_TRACE(longest);
    Bytes in = uniform_bytes(130000, 3, 7);
    for (const std::size_t tile : {1u, 4u, 5u, 7u})
      std::fill_n(in.begin() + static_cast<std::ptrdiff_t>(tile * 15360), 15360, longest);
    expect_encode_parity(in, unary_codebook(longest), 16);
  }
}

TEST_F(EncodeParity, EveryChunkSizeAndAlignment) {
  const Bytes in = bytes_of(30011, 5, 3);
  const Codebook book = codebook_of(in, 16);
  for (std::uint32_t chunk = cuda_entropy::kMinChunkSymbols; chunk <= 65536; chunk *= 2) {
    SCOPED_TRACE(chunk);
    expect_encode_parity(in, book, chunk, chunk % 7);
  }
}

TEST_F(EncodeParity, SymbolsWithoutCodeword) {
  const Bytes good = bytes_of(40000, 4, 9);
  for (const bool plain : {false, true}) {
    const Codebook book = plain ? unary_codebook(32) : codebook_of(good, 16);
    for (const std::size_t at : {std::size_t{0}, std::size_t{16}, std::size_t{7168},
                                 std::size_t{33333}, good.size() - 1}) {
      SCOPED_TRACE(testing::Message() << "plain " << plain << ", at " << at);
      Bytes in = plain ? uniform_bytes(good.size(), 33, at) : good;
      std::uint8_t missing = 255;
      while (book.bits[missing] != 0) --missing;
      for (std::size_t i = at; i < in.size(); i += 5000) in[i] = missing;
      const auto expected = entropy::encoded_bits(in, book);
      constexpr std::size_t kCapacity = 1000;  // too small as well
      for (const Encoded& found :
           {encode_on_device(in, book, kCapacity), encode_chained(in, book, kCapacity)})
        expect_same_fault(cuda_entropy::to_status(found.outcome), expected.status());
    }
  }
}

TEST_F(EncodeParity, OutputTooSmall) {
  const Bytes usual = bytes_of(40000, 6, 10), longest(40000, 32);
  for (const bool long_tiles : {false, true}) {
    const Bytes& in = long_tiles ? longest : usual;
    const Codebook book = long_tiles ? unary_codebook(32) : codebook_of(in, 16);
    const Code expected = encode_serially(in, book);
    const std::size_t words = expected.words.size();
    for (const std::size_t capacity : {std::size_t{0}, std::size_t{1}, words / 2, words - 1}) {
      SCOPED_TRACE(capacity);
      for (const Encoded& found :
           {encode_on_device(in, book, capacity), encode_chained(in, book, capacity)}) {
        EXPECT_EQ(cuda_entropy::to_status(found.outcome).code(), Errc::output_too_small);
        EXPECT_EQ(found.outcome.count, expected.bits);
      }
    }
  }
}

TEST_F(EncodeParity, ArgumentsOutOfRange) {
  std::size_t bytes = 0;
  std::uint64_t* const some_offsets = reinterpret_cast<std::uint64_t*>(&bytes);
  for (const std::uint32_t chunk : {0u, 8u, 24u, 1u << 21}) {
    EXPECT_EQ(cuda_entropy::encode(nullptr, bytes, nullptr, 0, nullptr, nullptr, 0, chunk,
                                   some_offsets, nullptr, nullptr)
                  .code(),
              Errc::invalid_argument);
  }
  ASSERT_TRUE(cuda_entropy::encode(nullptr, bytes, nullptr, 100000, nullptr, nullptr, 0, 0, nullptr,
                                   nullptr, nullptr)
                  .is_ok());
  GuardedBuffer<unsigned char> scratch(Memory::device, bytes);
  bytes = 1;
  EXPECT_EQ(cuda_entropy::encode(scratch.data(), bytes, nullptr, 100000, nullptr, nullptr, 0, 0,
                                 nullptr, nullptr, nullptr)
                .code(),
            Errc::invalid_argument);
}

TEST_F(EncodeParity, Large) {
  for (const double bits : {0.0, 2.0, 7.5}) {
    SCOPED_TRACE(bits);
    const Bytes in = bytes_of((std::size_t{1} << 26) + 11, bits, 12);
    expect_encode_parity(in, codebook_of(in, 32), 1024);
  }
  expect_chained_parity(bytes_of((std::size_t{1} << 24) + 11, 4, 12), flat_codebook(8));
}

}  // namespace
}  // namespace zerorun::test
