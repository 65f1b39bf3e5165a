// Huffman table specifications, and the look-up tables of their codes.
// SPDX-License-Identifier: MIT
#include "codec/syntax/tables.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "codec/base/code_lengths.hpp"
#include "codec/syntax/huffman_code.hpp"

namespace zerorun {
namespace {

constexpr std::array<HuffmanSpec, 4> kStandard{
    spec_of_lengths("bcccccdefghi"), spec_of_lengths("bbbcdefghijk"),
    spec_of_lengths("d,bbcdeghj,degik,ehjl,fil,fj,gk,gl,hl,io,i,i,j,j,k,,k"),
    spec_of_lengths("b,bcdeefgijl,dfhikl,ehjlo,ehjl,fi,fj,gk,gk,h,i,i,i,i,k,n,jo")};

constexpr std::size_t kReserved = 256;  // a symbol with count 1 that takes the all-ones codeword

}  // namespace

int HuffmanSpec::count() const noexcept { return std::accumulate(bits.begin() + 1, bits.end(), 0); }

bool operator==(const HuffmanSpec& a, const HuffmanSpec& b) noexcept {
  return std::equal(a.bits.begin() + 1, a.bits.end(), b.bits.begin() + 1) &&
         std::equal(a.values.begin(), a.values.begin() + std::min(a.count(), 256),
                    b.values.begin());
}

const HuffmanSpec& standard_huffman_spec(int table) noexcept {
  return kStandard[static_cast<std::size_t>(table)];
}

const std::array<HuffmanSpec, 4>& standard_huffman_specs() noexcept { return kStandard; }

Status check_huffman_spec(const HuffmanSpec& spec, bool is_dc) {
  if (spec.count() > 256)
    return Status(Errc::bad_huffman_table, std::to_string(spec.count()) + " symbols");
  std::uint32_t code = 0;
  for (int length = 1; length <= kMaxCodeBits; ++length) {
    const std::uint32_t used = spec.bits[static_cast<std::size_t>(length)];
    code += used;
    // `code` is now one past the last codeword of this length; all ones may not be taken.
    if (used > 0 && code >= (1u << length))
      return Status(Errc::bad_huffman_table,
                    "too many codewords of " + std::to_string(length) + " bits");
    code <<= 1;
  }
  for (int i = 0; is_dc && i < spec.count(); ++i)
    if (spec.values[static_cast<std::size_t>(i)] > 15)
      return Status(Errc::bad_huffman_table,
                    "DC category " + std::to_string(spec.values[static_cast<std::size_t>(i)]));
  return Status::ok();
}

HuffmanSpec optimal_huffman_spec(std::span<const std::uint32_t, 256> counts) {
  std::array<std::uint64_t, kReserved + 1> with_reserved{};
  std::copy(counts.begin(), counts.end(), with_reserved.begin());
  with_reserved[kReserved] = 1;
  std::array<int, kReserved + 1> size;
  find_code_lengths(with_reserved, size);
  std::array<int, kReserved + 2> of_length{};
  for (const int s : size)
    if (s > 0) ++of_length[static_cast<std::size_t>(s)];
  limit_code_lengths(of_length.data(), int{kReserved} + 1, kMaxCodeBits);
  // The reserved symbol has one of the longest codewords: remove that.
  std::size_t longest = kMaxCodeBits;
  while (longest > 0 && of_length[longest] == 0) --longest;
  if (longest > 0) --of_length[longest];

  HuffmanSpec spec;
  for (std::size_t i = 1; i <= kMaxCodeBits; ++i)
    spec.bits[i] = static_cast<std::uint8_t>(of_length[i]);
  std::size_t next = 0;  // Sort_input (T.81 Figure K.4): by length before limiting, then by symbol
  const int largest = *std::max_element(size.begin(), size.end());
  for (int length = 1; length <= largest; ++length)
    for (std::size_t symbol = 0; symbol < 256; ++symbol)
      if (size[symbol] == length) spec.values[next++] = static_cast<std::uint8_t>(symbol);
  return spec;
}

void fill_encode_table(const HuffmanSpec& spec, int table, HuffmanEncodeTables& out) {
  std::memset(out.code[table], 0, sizeof out.code[table]);
  std::memset(out.bits[table], 0, sizeof out.bits[table]);
  std::uint32_t code = 0;
  std::size_t next = 0;
  for (std::size_t length = 1; length <= kMaxCodeBits; ++length) {
    for (int i = 0; i < spec.bits[length]; ++i) {
      const std::uint8_t symbol = spec.values[next++];
      out.code[table][symbol] = code++;
      out.bits[table][symbol] = static_cast<std::uint8_t>(length);
    }
    code <<= 1;
  }
}

void fill_decode_table(const HuffmanSpec& spec, HuffmanDecodeTable& out) {
  std::memset(out.lookup, 0, sizeof out.lookup);
  std::memcpy(out.values, spec.values.data(), sizeof out.values);
  fill_lengths(spec, out);
  std::int32_t next = 0;
  for (int length = 1; length <= kLookupBits; ++length) {
    for (int i = 0; i < spec.bits[static_cast<std::size_t>(length)]; ++i, ++next) {
      const auto entry =
          static_cast<std::uint16_t>(length << 8 | spec.values[static_cast<std::size_t>(next)]);
      const auto code = static_cast<std::uint32_t>(next - out.value_offset[length]);
      const std::uint32_t first = code << (kLookupBits - length);
      for (std::uint32_t fill = 0; fill < (1u << (kLookupBits - length)); ++fill)
        out.lookup[first + fill] = entry;
    }
  }
}

}  // namespace zerorun
