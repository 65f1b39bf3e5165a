// Huffman table specifications, and the look-up tables of their codes.
// SPDX-License-Identifier: MIT
#include "codec/syntax/huffman_spec.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "codec/base/code_lengths.hpp"
#include "codec/syntax/huffman_code.hpp"

namespace zerorun {
namespace {

constexpr std::array<std::uint8_t, 12> kDcValues{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
constexpr std::array<std::uint8_t, 17> kDcLumaBits{0, 0, 1, 5, 1, 1, 1, 1, 1, 1};
constexpr std::array<std::uint8_t, 17> kDcChromaBits{0, 0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1};

constexpr std::array<std::uint8_t, 17> kAcLumaBits{0, 0, 2, 1, 3, 3, 2, 4,   3,
                                                   5, 5, 4, 4, 0, 0, 1, 0x7d};
constexpr std::array<std::uint8_t, 162> kAcLumaValues{
    0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61,
    0x07, 0x22, 0x71, 0x14, 0x32, 0x81, 0x91, 0xa1, 0x08, 0x23, 0x42, 0xb1, 0xc1, 0x15, 0x52,
    0xd1, 0xf0, 0x24, 0x33, 0x62, 0x72, 0x82, 0x09, 0x0a, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x25,
    0x26, 0x27, 0x28, 0x29, 0x2a, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45,
    0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x63, 0x64,
    0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x83,
    0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99,
    0x9a, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6,
    0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3,
    0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8,
    0xe9, 0xea, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa};

constexpr std::array<std::uint8_t, 17> kAcChromaBits{0, 0, 2, 1, 2, 4, 4, 3,   4,
                                                     7, 5, 4, 4, 0, 1, 2, 0x77};
constexpr std::array<std::uint8_t, 162> kAcChromaValues{
    0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61,
    0x71, 0x13, 0x22, 0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xa1, 0xb1, 0xc1, 0x09, 0x23, 0x33,
    0x52, 0xf0, 0x15, 0x62, 0x72, 0xd1, 0x0a, 0x16, 0x24, 0x34, 0xe1, 0x25, 0xf1, 0x17, 0x18,
    0x19, 0x1a, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43, 0x44,
    0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x63,
    0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a,
    0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97,
    0x98, 0x99, 0x9a, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4,
    0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca,
    0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7,
    0xe8, 0xe9, 0xea, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa};

template <std::size_t N>
constexpr HuffmanSpec make_spec(const std::array<std::uint8_t, 17>& bits,
                                const std::array<std::uint8_t, N>& values) {
  HuffmanSpec spec;
  spec.bits = bits;
  std::copy(values.begin(), values.end(), spec.values.begin());
  return spec;
}

constexpr std::array<HuffmanSpec, 4> kStandard{
    make_spec(kDcLumaBits, kDcValues), make_spec(kDcChromaBits, kDcValues),
    make_spec(kAcLumaBits, kAcLumaValues), make_spec(kAcChromaBits, kAcChromaValues)};

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
