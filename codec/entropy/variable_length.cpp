// Serial variable-length (Huffman) coding of bytes: histogram, length-limited code, coder. CUDA
// twins: cuda/entropy/codebook.cu, vle_*.cu, vld.cu.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "codec/base/code_lengths.hpp"
#include "codec/base/try.hpp"
#include "zerorun/entropy.hpp"

namespace zerorun::entropy {

Status histogram(std::span<const std::uint8_t> in, std::span<std::uint64_t, kSymbols> counts) {
  std::fill(counts.begin(), counts.end(), std::uint64_t{0});
  for (const std::uint8_t symbol : in) ++counts[symbol];
  return Status::ok();
}

namespace {

/// T.81 Figure C.2: shorter codewords first, then smaller symbols, each value one more than the
/// last. The lengths alone define the code, also where the limit gives symbols of different depths
/// the same length.
void assign_values(Codebook& book) {
  std::uint64_t next = 0;
  for (int length = 1; length <= kMaxCodeBits; ++length, next <<= 1)
    for (std::size_t s = 0; s < kSymbols; ++s)
      if (book.bits[s] == length) book.value[s] = static_cast<std::uint32_t>(next++);
}

}  // namespace

Result<Codebook> build_codebook(std::span<const std::uint64_t, kSymbols> counts, int max_bits) {
  if (max_bits < 8 || max_bits > kMaxCodeBits)
    return Status(Errc::invalid_argument, "the longest codeword must have 8 to 32 bits");
  std::array<std::uint64_t, kSymbols> freq;
  std::copy(counts.begin(), counts.end(), freq.begin());
  std::uint64_t total = 0;
  for (const std::uint64_t count : freq) {
    if (count > std::numeric_limits<std::uint64_t>::max() - total)
      return Status(Errc::invalid_argument, "the counts add up to 2^64 and more");
    total += count;
  }
  const bool lone = std::count(counts.begin(), counts.end(), std::uint64_t{0}) == kSymbols - 1;
  std::array<int, kSymbols> depth;
  find_code_lengths(freq, depth);
  if (lone)
    for (std::size_t i = 0; i < kSymbols; ++i) depth[i] = counts[i] > 0;

  // Codewords of each length. A tree of 256 leaves is at most 255 deep.
  std::array<int, kSymbols> bits{};
  for (const int d : depth)
    if (d > 0) ++bits[static_cast<std::size_t>(d)];
  limit_code_lengths(bits.data(), kSymbols - 1, max_bits);

  Codebook book;
  std::size_t length = 1;
  for (int d = 1; d < kSymbols; ++d)  // T.81 Figure K.4 (Sort_input): by depth, then by symbol
    for (std::size_t s = 0; s < kSymbols; ++s) {
      if (depth[s] != d) continue;
      while (bits[length] == 0) ++length;
      --bits[length];
      book.bits[s] = static_cast<std::uint8_t>(length);
    }
  assign_values(book);
  return book;
}

namespace {

constexpr std::uint64_t kWordBits = 32;

std::uint64_t words_of(std::uint64_t bits) { return bits / kWordBits + (bits % kWordBits != 0); }

/// encode() can write these codewords: at most 32 bits, and no bit above them.
Status check_codewords(const Codebook& book) {
  for (std::size_t s = 0; s < kSymbols; ++s) {
    const int bits = book.bits[s];
    if (bits == 0) continue;  // no codeword: the value does not matter
    if (bits > kMaxCodeBits || (bits < kMaxCodeBits && book.value[s] >> bits != 0))
      return Status(Errc::invalid_argument,
                    "the codeword of symbol " + std::to_string(s) + " is wider than its length");
  }
  return Status::ok();
}

/// A codeword as an interval of 32-bit windows: those that begin with it.
struct Interval {
  std::uint64_t first;
  std::uint64_t end;
  std::uint8_t symbol;
  int bits;
};

/// The codewords in the order of their bits; an error if one is the beginning of another.
Result<std::vector<Interval>> sort_codewords(const Codebook& book) {
  std::vector<Interval> intervals;
  for (std::size_t s = 0; s < kSymbols; ++s) {
    const int bits = book.bits[s];
    if (bits == 0) continue;
    const int unused = kMaxCodeBits - bits;
    const std::uint64_t first = std::uint64_t{book.value[s]} << unused;
    intervals.push_back(
        {first, first + (std::uint64_t{1} << unused), static_cast<std::uint8_t>(s), bits});
  }
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.first < b.first; });
  for (std::size_t i = 1; i < intervals.size(); ++i)
    if (intervals[i].first < intervals[i - 1].end)
      return Status(Errc::invalid_argument, "one codeword is the beginning of another");
  return intervals;
}

/// The 32 bits from position `at` on; bits after `end` read as 0. Precondition: at < end.
std::uint64_t window(std::span<const std::uint32_t> in, std::uint64_t at, std::uint64_t end) {
  const auto word = static_cast<std::size_t>(at / kWordBits);
  const std::uint64_t next = word + 1 < in.size() ? in[word + 1] : 0;
  const std::uint64_t pair = (std::uint64_t{in[word]} << kWordBits) | next;
  const std::uint64_t bits = (pair >> (kWordBits - at % kWordBits)) & 0xFFFFFFFFu;
  const std::uint64_t left = end - at;
  return left >= kWordBits ? bits : bits & (0xFFFFFFFFu << (kWordBits - left));
}

/// Checks the preconditions of decoding and sorts the codewords.
Result<std::vector<Interval>> prepare(std::span<const std::uint32_t> in, std::uint64_t bits,
                                      const Codebook& book) {
  if (words_of(bits) > in.size())
    return Status(Errc::invalid_argument, "the input has fewer words than the bits need");
  ZR_TRY(check_codewords(book));
  return sort_codewords(book);
}

/// Decodes out.size() symbols from the bits at..end and moves `at` past them.
Status decode_range(std::span<const std::uint32_t> in, const std::vector<Interval>& codewords,
                    std::uint64_t& at, std::uint64_t end, std::span<std::uint8_t> out) {
  for (std::uint8_t& symbol : out) {
    const auto byte = static_cast<std::int64_t>(at / 8);
    if (at == end)
      return Status(Errc::truncated, "the bits end before the symbols do").at_byte(byte);
    const std::uint64_t next_bits = window(in, at, end);
    auto found = std::upper_bound(
        codewords.begin(), codewords.end(), next_bits,
        [](std::uint64_t value, const Interval& interval) { return value < interval.first; });
    if (found == codewords.begin() || next_bits >= (--found)->end)
      return Status(Errc::bad_huffman_code, "the bits are no codeword").at_byte(byte);
    if (static_cast<std::uint64_t>(found->bits) > end - at)
      return Status(Errc::truncated, "the bits end inside a codeword").at_byte(byte);
    symbol = found->symbol;
    at += static_cast<std::uint64_t>(found->bits);
  }
  return Status::ok();
}

}  // namespace

Result<std::uint64_t> encoded_bits(std::span<const std::uint8_t> in, const Codebook& book) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (book.bits[in[i]] == 0)
      return Status(Errc::invalid_argument,
                    "symbol " + std::to_string(in[i]) + " has no codeword in the codebook")
          .at_byte(static_cast<std::int64_t>(i));
    bits += book.bits[in[i]];
  }
  return bits;
}

Status chunk_offsets(std::span<const std::uint8_t> in, const Codebook& book,
                     std::uint32_t chunk_symbols, std::span<std::uint64_t> offsets) {
  if (chunk_symbols == 0) return Status(Errc::invalid_argument, "a chunk has 1 symbol or more");
  const std::size_t chunks = in.size() / chunk_symbols + (in.size() % chunk_symbols != 0);
  if (offsets.size() < chunks + 1)
    return Status(Errc::output_too_small, "there is one offset for each chunk and one for the end");
  std::uint64_t bits = 0;
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    offsets[chunk] = bits;
    const std::size_t begin = chunk * chunk_symbols;
    const auto size = std::min<std::size_t>(chunk_symbols, in.size() - begin);
    const auto chunk_bits = encoded_bits(in.subspan(begin, size), book);
    if (!chunk_bits) {
      Status fault = chunk_bits.status();
      const std::int64_t at = fault.byte_offset() + static_cast<std::int64_t>(begin);
      return std::move(fault).at_byte(at);
    }
    bits += *chunk_bits;
  }
  offsets[chunks] = bits;
  return Status::ok();
}

Result<std::uint64_t> encode(std::span<const std::uint8_t> in, const Codebook& book,
                             std::span<std::uint32_t> out) {
  ZR_TRY(check_codewords(book));
  ZR_LET(total, encoded_bits(in, book));
  if (words_of(total) > out.size())
    return Status(Errc::output_too_small,
                  "the code needs " + std::to_string(total) + " bits of output");
  std::uint64_t pending = 0;  // codeword bits not yet written, in the low `count` bits
  int count = 0;
  std::size_t words = 0;
  for (const std::uint8_t symbol : in) {
    pending = (pending << book.bits[symbol]) | book.value[symbol];
    count += book.bits[symbol];
    if (count < 32) continue;
    count -= 32;
    out[words++] = static_cast<std::uint32_t>(pending >> count);
  }
  if (count > 0) out[words] = static_cast<std::uint32_t>(pending << (32 - count));
  return total;
}

Status decode(std::span<const std::uint32_t> in, std::uint64_t bits, const Codebook& book,
              std::span<std::uint8_t> out) {
  ZR_LET(codewords, prepare(in, bits, book));
  std::uint64_t at = 0;
  return decode_range(in, codewords, at, bits, out);
}

Status decode_chunks(std::span<const std::uint32_t> in, std::uint64_t bits, const Codebook& book,
                     std::uint32_t chunk_symbols, std::span<const std::uint64_t> offsets,
                     std::span<std::uint8_t> out) {
  if (chunk_symbols == 0) return Status(Errc::invalid_argument, "a chunk has 1 symbol or more");
  const std::size_t chunks = out.size() / chunk_symbols + (out.size() % chunk_symbols != 0);
  if (offsets.size() < chunks + 1)
    return Status(Errc::invalid_argument, "the index has too few offsets for the symbols");
  ZR_LET(codewords, prepare(in, bits, book));
  for (std::size_t c = 0; c < chunks; ++c)
    if (offsets[c] > offsets[c + 1] || offsets[c + 1] > bits)
      return Status(Errc::invalid_argument, "the offsets of the index decrease or pass the end");
  for (std::size_t c = 0; c < chunks; ++c) {
    const std::size_t begin = c * chunk_symbols;
    const auto size = std::min<std::size_t>(chunk_symbols, out.size() - begin);
    std::uint64_t at = offsets[c];
    ZR_TRY(decode_range(in, codewords, at, offsets[c + 1], out.subspan(begin, size)));
    if (at != offsets[c + 1])
      return Status(Errc::extraneous_data, "a chunk has more bits than its symbols need")
          .at_byte(static_cast<std::int64_t>(at / 8));
  }
  return Status::ok();
}

}  // namespace zerorun::entropy
