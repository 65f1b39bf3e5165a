// Variable-length coding of bytes on the CPU.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "zerorun/entropy.hpp"

namespace zerorun::entropy {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Words = std::vector<std::uint32_t>;

Codebook book_of(const std::vector<std::pair<std::uint32_t, int>>& codewords) {
  Codebook book;
  for (std::size_t s = 0; s < codewords.size(); ++s) {
    book.value[s] = codewords[s].first;
    book.bits[s] = static_cast<std::uint8_t>(codewords[s].second);
  }
  return book;
}

/// Codewords 0, 10, 110, ... up to 31 bits, then two of 32.
Codebook unary_book() {
  Codebook book;
  for (std::uint32_t s = 0; s < 33; ++s) {
    const std::uint32_t bits = std::min(s + 1, 32u);
    book.bits[s] = static_cast<std::uint8_t>(bits);
    book.value[s] = 0xFFFFFFFFu >> (32 - bits);
    if (s < 32) --book.value[s];
  }
  return book;
}

const Codebook kSmall = book_of({{0b0, 1}, {0b10, 2}, {0b110, 3}});  // 111 is no codeword

Words encoded(const Bytes& in, const Codebook& book, std::uint64_t& bits) {
  const auto expected = encoded_bits(in, book);
  EXPECT_TRUE(expected.is_ok());
  Words out(static_cast<std::size_t>((*expected + 31) / 32));
  const auto written = encode(in, book, out);
  EXPECT_TRUE(written.is_ok());
  EXPECT_EQ(*written, *expected);
  bits = *expected;
  return out;
}

TEST(Encode, HandWritten) {
  std::uint64_t bits = 0;
  // 10 0 110 10 -> 1001 1010
  EXPECT_EQ(encoded({1, 0, 2, 1}, kSmall, bits), Words{0b10011010u << 24});
  EXPECT_EQ(bits, 8u);
}

TEST(Encode, CrossesWords) {
  const Codebook book = book_of({{0x12345678u, 32}, {1, 1}});
  std::uint64_t bits = 0;
  EXPECT_EQ(encoded({1, 0, 0}, book, bits), (Words{0x891A2B3Cu, 0x091A2B3Cu, 0}));
  EXPECT_EQ(bits, 65u);
}

TEST(Encode, EmptyInput) {
  std::uint64_t bits = 1;
  EXPECT_TRUE(encoded({}, kSmall, bits).empty());
  EXPECT_EQ(bits, 0u);
}

TEST(Encode, Errors) {
  const Bytes in = {0, 1, 9};
  Words out(1);
  EXPECT_EQ(encode(in, kSmall, out).status().code(), Errc::invalid_argument);
  EXPECT_EQ(encoded_bits(in, kSmall).status().byte_offset(), 2);
  const Bytes many(33, 0);
  EXPECT_EQ(encode(many, kSmall, out).status().code(), Errc::output_too_small);
  const Codebook wide = book_of({{0b10, 1}});
  EXPECT_EQ(encode(Bytes{0}, wide, out).status().code(), Errc::invalid_argument);
}

TEST(ChunkOffsets, StartOfEveryChunkAndTheEnd) {
  const Bytes in = {1, 0, 2, 1, 2};
  std::vector<std::uint64_t> offsets(4);
  ASSERT_TRUE(chunk_offsets(in, kSmall, 2, offsets).is_ok());
  EXPECT_EQ(offsets, (std::vector<std::uint64_t>{0, 3, 8, 11}));
  std::vector<std::uint64_t> end(1, 5);
  ASSERT_TRUE(chunk_offsets({}, kSmall, 2, end).is_ok());
  EXPECT_EQ(end[0], 0u);
}

TEST(ChunkOffsets, Errors) {
  const Bytes in = {1, 0, 2, 9};
  std::vector<std::uint64_t> offsets(3);
  EXPECT_EQ(chunk_offsets(in, kSmall, 2, offsets).byte_offset(), 3);
  EXPECT_EQ(chunk_offsets(in, kSmall, 0, offsets).code(), Errc::invalid_argument);
  EXPECT_EQ(chunk_offsets(in, kSmall, 1, offsets).code(), Errc::output_too_small);
}

TEST(Decode, HandWritten) {
  Bytes out(4);
  ASSERT_TRUE(decode(Words{0b10011010u << 24}, 8, kSmall, out).is_ok());
  EXPECT_EQ(out, (Bytes{1, 0, 2, 1}));
}

TEST(Decode, BadCodewordNamesItsByte) {
  Bytes out(20);
  // Eight codewords of one bit, two of two bits, then 111.
  const Status status = decode(Words{0b00000000'1010'1110u << 16}, 32, kSmall, out);
  EXPECT_EQ(status.code(), Errc::bad_huffman_code);
  EXPECT_EQ(status.byte_offset(), 1);
}

TEST(Decode, Truncated) {
  Bytes out(5);
  const Status between = decode(Words{0b10011010u << 24}, 8, kSmall, out);
  EXPECT_EQ(between.code(), Errc::truncated);
  EXPECT_EQ(between.byte_offset(), 1);
  // Bits after the end do not count: the last codeword would be 10, but its 0 is not there.
  const Status inside = decode(Words{0b10011010u << 24}, 7, kSmall, std::span(out).first(4));
  EXPECT_EQ(inside.code(), Errc::truncated);
  EXPECT_EQ(inside.byte_offset(), 0);
}

TEST(DecodeChunks, EveryChunkByItself) {
  const Bytes in = {1, 0, 2, 1, 2};
  const Words code = {0b10011010'11000000u << 16};  // 10 0 | 110 10 | 110
  const std::vector<std::uint64_t> offsets = {0, 3, 8, 11};
  Bytes out(in.size());
  ASSERT_TRUE(decode_chunks(code, 11, kSmall, 2, offsets, out).is_ok());
  EXPECT_EQ(out, in);
}

TEST(DecodeChunks, Errors) {
  const Words code = {0b10011010'11000000u << 16};
  Bytes out(5);
  using Offsets = std::vector<std::uint64_t>;
  const auto decoded = [&](const Offsets& offsets) {
    return decode_chunks(code, 11, kSmall, 2, offsets, out);
  };
  EXPECT_EQ(decoded(Offsets{0, 3, 8}).code(), Errc::invalid_argument);
  EXPECT_EQ(decoded(Offsets{0, 3, 2, 11}).code(), Errc::invalid_argument);
  EXPECT_EQ(decoded(Offsets{0, 3, 8, 12}).code(), Errc::invalid_argument);
  EXPECT_EQ(decoded(Offsets{0, 2, 8, 11}).code(), Errc::truncated);
  const Status left = decoded(Offsets{0, 3, 9, 11});
  EXPECT_EQ(left.code(), Errc::extraneous_data);
  EXPECT_EQ(left.byte_offset(), 1);
  EXPECT_EQ(decode_chunks(code, 11, kSmall, 0, Offsets{0}, out).code(), Errc::invalid_argument);
}

TEST(Decode, NothingAskedNothingRead) { EXPECT_TRUE(decode({}, 0, kSmall, {}).is_ok()); }

TEST(Decode, RefusesWhatIsNoPrefixCode) {
  Bytes out(1);
  const Codebook ambiguous = book_of({{0b0, 1}, {0b01, 2}});
  EXPECT_EQ(decode(Words{0}, 32, ambiguous, out).code(), Errc::invalid_argument);
  const Codebook twice = book_of({{0b0, 1}, {0b0, 1}});
  EXPECT_EQ(decode(Words{0}, 32, twice, out).code(), Errc::invalid_argument);
  EXPECT_EQ(decode(Words{0}, 33, kSmall, out).code(), Errc::invalid_argument);
  EXPECT_EQ(decode(Words{0}, 32, Codebook{}, out).code(), Errc::bad_huffman_code);
}

TEST(Decode, CodewordsOfEveryLength) {
  std::mt19937 random(5);
  Bytes in(5000);
  for (auto& symbol : in) symbol = static_cast<std::uint8_t>(random() % 33);
  std::uint64_t bits = 0;
  const Words code = encoded(in, unary_book(), bits);
  Bytes out(in.size());
  ASSERT_TRUE(decode(code, bits, unary_book(), out).is_ok());
  EXPECT_EQ(out, in);
}

}  // namespace
}  // namespace zerorun::entropy
