// Huffman table specifications.
// SPDX-License-Identifier: MIT
#include "codec/syntax/huffman_spec.hpp"

#include <algorithm>
#include <numeric>
#include <string>

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

constexpr int kReserved = 256;  // the pretended symbol that gets the all-ones codeword
constexpr int kNone = -1;

/// The entry with the least count above 0; of several the one with the largest index.
int least(std::span<const std::uint64_t> counts, int except) {
  int best = kNone;
  for (int i = 0; i < static_cast<int>(counts.size()); ++i) {
    const std::uint64_t count = counts[static_cast<std::size_t>(i)];
    if (count == 0 || i == except) continue;
    if (best == kNone || count <= counts[static_cast<std::size_t>(best)]) best = i;
  }
  return best;
}

/// Code_size (T.81 Figure K.1): code lengths of an unlimited Huffman code.
std::array<int, kReserved + 1> code_sizes(std::span<const std::uint32_t, 256> symbol_counts) {
  std::array<std::uint64_t, kReserved + 1> counts{};
  std::copy(symbol_counts.begin(), symbol_counts.end(), counts.begin());
  counts[kReserved] = 1;
  std::array<int, kReserved + 1> size{}, others;
  others.fill(kNone);
  for (;;) {
    const int v1 = least(counts, kNone);
    const int v2 = least(counts, v1);
    if (v2 == kNone) return size;
    const auto a = static_cast<std::size_t>(v1), b = static_cast<std::size_t>(v2);
    counts[a] += counts[b];
    counts[b] = 0;
    std::size_t tail = a;
    for (++size[tail]; others[tail] != kNone; ++size[tail])
      tail = static_cast<std::size_t>(others[tail]);
    others[tail] = v2;
    for (std::size_t i = b;; i = static_cast<std::size_t>(others[i])) {
      ++size[i];
      if (others[i] == kNone) break;
    }
  }
}

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
  const auto size = code_sizes(counts);
  std::array<int, kReserved + 2> of_length{};  // codes of each length, before limiting
  for (const int s : size)
    if (s > 0) ++of_length[static_cast<std::size_t>(s)];

  // Adjust_BITS (T.81 Figure K.3): a pair of codes that are too long moves under a shorter prefix.
  for (std::size_t i = kReserved + 1; i > kMaxCodeBits; --i) {
    while (of_length[i] > 0) {
      std::size_t j = i - 2;
      while (of_length[j] == 0) --j;
      of_length[i] -= 2;
      of_length[i - 1] += 1;
      of_length[j + 1] += 2;
      of_length[j] -= 1;
    }
  }
  // The reserved symbol holds the longest code: take it away.
  std::size_t longest = kMaxCodeBits;
  while (longest > 0 && of_length[longest] == 0) --longest;
  if (longest > 0) --of_length[longest];

  HuffmanSpec spec;
  for (std::size_t i = 1; i <= kMaxCodeBits; ++i)
    spec.bits[i] = static_cast<std::uint8_t>(of_length[i]);
  std::size_t next = 0;  // Sort_input (T.81 Figure K.4): by length before limiting, then by symbol
  for (int length = 1; length <= kReserved; ++length)
    for (std::size_t symbol = 0; symbol < 256; ++symbol)
      if (size[symbol] == length) spec.values[next++] = static_cast<std::uint8_t>(symbol);
  return spec;
}

}  // namespace zerorun
