// Variable-length decode on the device equals the serial twin: symbols, error codes, positions.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/cuda/entropy/inputs.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Offsets = std::vector<std::uint64_t>;
using entropy::Codebook;

/// Calls `decode` with the arrays of the device, and expects what the serial twin made of it.
/// `skew`: of the output in bytes and of the input in words.
template <typename Decode>
void expect_on_device(const Code& code, const Codebook& book, const Status& status,
                      const Bytes& expected, std::size_t skew, const Decode& decode) {
  GuardedBuffer<std::uint32_t> d_in(Memory::device, code.words, skew);
  GuardedBuffer<Codebook> d_book(Memory::device, std::span(&book, 1));
  GuardedBuffer<std::uint8_t> d_out(Memory::device, expected.size(), skew);
  const auto outcome = outcome_of([&](void* scratch, std::size_t& bytes, auto* d_outcome) {
    return decode(scratch, bytes, d_in.data(), d_book.data(), d_out.data(), d_outcome);
  });
  expect_same_fault(cuda_entropy::to_status(outcome), status);
  if (!status) return;
  EXPECT_EQ(outcome.count, expected.size());
  EXPECT_TRUE(d_out.to_host() == expected);
}

void expect_decode_parity(const Code& code, const Codebook& book, std::size_t symbols,
                          std::size_t skew = 0) {
  Bytes expected(symbols);
  const Status status = entropy::decode(code.words, code.bits, book, expected);
  expect_on_device(code, book, status, expected, skew,
                   [&](void* scratch, std::size_t& bytes, const auto* d_in, const auto* d_book,
                       auto* d_out, auto* d_outcome) {
                     return cuda_entropy::decode(scratch, bytes, d_in, code.bits, d_book, d_out,
                                                 symbols, d_outcome, nullptr);
                   });
}

void expect_chunks_parity(const Code& code, const Codebook& book, std::uint32_t chunk_symbols,
                          const Offsets& offsets, std::size_t symbols, std::size_t skew = 0) {
  Bytes expected(symbols);
  const Status status =
      entropy::decode_chunks(code.words, code.bits, book, chunk_symbols, offsets, expected);
  GuardedBuffer<std::uint64_t> d_offsets(Memory::device, offsets);
  expect_on_device(code, book, status, expected, skew,
                   [&](void* scratch, std::size_t& bytes, const auto* d_in, const auto* d_book,
                       auto* d_out, auto* d_outcome) {
                     return cuda_entropy::decode_chunks(scratch, bytes, d_in, code.bits, d_book,
                                                        chunk_symbols, d_offsets.data(), d_out,
                                                        symbols, d_outcome, nullptr);
                   });
}

Offsets offsets_of(const Bytes& in, const Codebook& book, std::uint32_t chunk_symbols) {
  Offsets offsets((in.size() + chunk_symbols - 1) / chunk_symbols + 1);
  EXPECT_TRUE(entropy::chunk_offsets(in, book, chunk_symbols, offsets).is_ok());
  return offsets;
}

void expect_both(const Bytes& in, const Codebook& book, std::size_t skew = 0) {
  const Code code = encode_serially(in, book);
  expect_decode_parity(code, book, in.size(), skew);
  for (const std::uint32_t chunk : {16u, 32u, 1024u})
    expect_chunks_parity(code, book, chunk, offsets_of(in, book, chunk), in.size(), skew);
}

class DecodeParity : public GpuTest {};

TEST_F(DecodeParity, EverySizeAndEntropy) {
  for (const std::size_t size :
       {0u, 1u, 15u, 16u, 17u, 127u, 128u, 129u, 1023u, 1024u, 1025u, 2049u, 30000u, 100003u}) {
    for (const double bits : {0.0, 1.0, 2.0, 4.0, 6.0, 7.5, 8.0}) {
      SCOPED_TRACE(testing::Message() << size << " bytes, entropy " << bits);
      const Bytes in = bytes_of(size, bits, size);
      expect_both(in, codebook_of(in, 32), size % 4);
    }
  }
}

TEST_F(DecodeParity, CodewordsOfEveryLength) {
  for (const int longest : {1, 2, 11, 12, 16, 31, 32}) {
    SCOPED_TRACE(longest);
    expect_both(uniform_bytes(20001, longest + 1, 3), unary_codebook(longest));
    expect_both(Bytes(5000, static_cast<std::uint8_t>(longest)), unary_codebook(longest));
  }
}

/// The decoders find codewords of more than 12 bits by a search, whether others begin alike or not.
TEST_F(DecodeParity, LongCodewordsWithManyBeginnings) {
  for (const int bits : {15, 16, 17, 20}) {
    for (const int shared : {1, 2, 8}) {
      SCOPED_TRACE(testing::Message() << bits << " bits, " << shared << " share a beginning");
      Codebook book;
      for (std::size_t s = 0; s < 256; ++s) {
        const auto begin = static_cast<std::uint32_t>(s) / static_cast<std::uint32_t>(shared);
        const auto rest = static_cast<std::uint32_t>(s) % static_cast<std::uint32_t>(shared);
        book.bits[s] = static_cast<std::uint8_t>(bits);
        book.value[s] = begin << (book.bits[s] - 12) | rest;
      }
      expect_both(uniform_bytes(70001, 256, 14), book, 1);
    }
  }
}

TEST_F(DecodeParity, EveryAlignment) {
  const Bytes in = bytes_of(40000, 5, 15);
  const Codebook book = codebook_of(in, 16);
  for (std::size_t skew = 0; skew < 17; ++skew) {
    SCOPED_TRACE(skew);
    expect_both(in, book, skew);
  }
}

TEST_F(DecodeParity, CodesThatDoNotFallIntoStep) {
  for (const int bits : {3, 5, 7}) {
    SCOPED_TRACE(bits);
    expect_both(uniform_bytes(300000, 1 << bits, 4), flat_codebook(bits));
  }
}

TEST_F(DecodeParity, FewerAndMoreSymbolsThanTheBitsHold) {
  const Bytes in = bytes_of(20000, 3, 5);
  const Codebook book = codebook_of(in, 16);
  const Code code = encode_serially(in, book);
  for (const std::size_t symbols : {0u, 1u, 777u, 19999u, 20001u, 25000u}) {
    SCOPED_TRACE(symbols);
    expect_decode_parity(code, book, symbols);
  }
  expect_decode_parity({}, book, 5);
}

TEST_F(DecodeParity, EveryWayToEnd) {
  const Bytes in = bytes_of(600, 5, 6);
  const Codebook book = codebook_of(in, 16);
  for (std::uint64_t cut = 0; cut < 80; ++cut) {
    SCOPED_TRACE(cut);
    Code code = encode_serially(in, book);
    code.bits -= cut;
    code.words.resize(static_cast<std::size_t>((code.bits + 31) / 32));
    expect_decode_parity(code, book, in.size());
  }
}

TEST_F(DecodeParity, CorruptBitsOfACodeWithGaps) {
  Random random(7);
  Codebook book = unary_codebook(12);
  book.bits[12] = 0;  // twelve 1 bits are no codeword now
  const Bytes in = uniform_bytes(30000, 12, 8);
  const Code clean = encode_serially(in, book);
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    Code code = clean;
    for (int flips = random.between(1, 4); flips > 0; --flips) {
      const auto at = random.next() % code.bits;
      code.words[static_cast<std::size_t>(at / 32)] ^= 1u << (at % 32);
    }
    expect_decode_parity(code, book, in.size());
    expect_chunks_parity(code, book, 64, offsets_of(in, book, 64), in.size());
  }
}

TEST_F(DecodeParity, NoiseAndAllOnes) {
  Codebook book = unary_codebook(20);
  book.bits[20] = 0;
  Random random(9);
  Code code{std::vector<std::uint32_t>(5000), 5000 * 32 - 7};
  for (auto& word : code.words) word = static_cast<std::uint32_t>(random.next());
  expect_decode_parity(code, book, 60000);
  expect_decode_parity(code, flat_codebook(7), 30000);
  std::fill(code.words.begin(), code.words.end(), 0xFFFFFFFFu);
  expect_decode_parity(code, book, 60000);
}

TEST_F(DecodeParity, HostileIndex) {
  const Bytes in = bytes_of(5000, 4, 10);
  const Codebook book = codebook_of(in, 16);
  const Code code = encode_serially(in, book);
  const Offsets right = offsets_of(in, book, 64);
  Random random(11);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    Offsets wrong = right;
    const auto at = static_cast<std::size_t>(random.next() % wrong.size());
    switch (round % 4) {
      case 0:
        wrong[at] = random.next();
        break;
      case 1:
        wrong[at] += 1;
        break;
      case 2:
        wrong[at] = at > 0 ? wrong[at - 1] : 5;
        break;
      default:
        wrong[at] = code.bits + 1;
        break;
    }
    expect_chunks_parity(code, book, 64, wrong, in.size());
  }
}

TEST_F(DecodeParity, BooksThatAreNoPrefixCodes) {
  const Code code{{0x12345678u, 0x9ABCDEF0u}, 64};
  Codebook ambiguous = flat_codebook(2);
  ambiguous.bits[7] = 3;
  Codebook wide = flat_codebook(2);
  wide.value[1] = 9;
  Codebook endless = flat_codebook(2);
  endless.bits[9] = 33;
  for (const Codebook& book : {ambiguous, wide, endless, Codebook{}}) {
    expect_decode_parity(code, book, 0);
    expect_decode_parity(code, book, 10);
    expect_chunks_parity(code, book, 16, {0, 20}, 10);
  }
}

TEST_F(DecodeParity, Large) {
  for (const double bits : {0.0, 2.0, 7.5}) {
    SCOPED_TRACE(bits);
    const Bytes in = bytes_of((std::size_t{1} << 25) + 11, bits, 12);
    expect_both(in, codebook_of(in, 16));
  }
  expect_both(uniform_bytes((std::size_t{1} << 24) + 3, 128, 13), flat_codebook(7));
}

}  // namespace
}  // namespace zerorun::test
