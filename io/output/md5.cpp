// The MD5 message-digest algorithm (RFC 1321).
// SPDX-License-Identifier: MIT
#include "io/output/md5.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace zerorun::io {
namespace {

static_assert(std::endian::native == std::endian::little);

/// Table T of section 3.4.
const std::array<std::uint32_t, 64> kSines = [] {
  std::array<std::uint32_t, 64> sines{};
  for (std::size_t i = 0; i < sines.size(); ++i)
    sines[i] = static_cast<std::uint32_t>(4294967296.0 * std::abs(std::sin(double(i + 1))));
  return sines;
}();
/// Rotations of the four rounds.
constexpr int kTurns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

/// One of the four rounds of 16 steps.
template <int kRound>
void run_round(std::array<std::uint32_t, 4>& s, const std::uint32_t* words) noexcept {
  for (std::size_t i = 0; i < 16; ++i) {
    const std::uint32_t b = s[1], c = s[2], d = s[3];
    const std::uint32_t mixed = kRound == 0   ? (b & c) | (~b & d)
                                : kRound == 1 ? (b & d) | (c & ~d)
                                : kRound == 2 ? b ^ c ^ d
                                              : c ^ (b | ~d);
    constexpr std::size_t kFirst[] = {0, 1, 5, 0}, kStep[] = {1, 5, 3, 7};
    const std::uint32_t word = words[(kFirst[kRound] + kStep[kRound] * i) % 16];
    const std::uint32_t sum = s[0] + mixed + word + kSines[16 * kRound + i];
    s = {d, b + std::rotl(sum, kTurns[kRound][i % 4]), b, c};
  }
}

}  // namespace

void Md5::take_block(const std::byte* block) noexcept {
  std::uint32_t words[16];
  std::memcpy(words, block, sizeof words);
  std::array<std::uint32_t, 4> s = state_;
  run_round<0>(s, words);
  run_round<1>(s, words);
  run_round<2>(s, words);
  run_round<3>(s, words);
  for (std::size_t i = 0; i < 4; ++i) state_[i] += s[i];
}

void Md5::add(std::span<const std::byte> data) noexcept {
  const std::size_t used = bytes_ % kBlockBytes;
  bytes_ += data.size();
  if (used > 0) {
    const std::size_t part = std::min(kBlockBytes - used, data.size());
    if (part > 0) std::memcpy(rest_.data() + used, data.data(), part);
    data = data.subspan(part);
    if (used + part < kBlockBytes) return;
    take_block(rest_.data());
  }
  for (; data.size() >= kBlockBytes; data = data.subspan(kBlockBytes)) take_block(data.data());
  if (!data.empty()) std::memcpy(rest_.data(), data.data(), data.size());
}

std::string Md5::finish() {
  const std::uint64_t bits = bytes_ * 8;
  constexpr std::byte kEnd[kBlockBytes] = {std::byte{0x80}};
  // One bit, and zeros up to 8 bytes before the end of a block.
  add({kEnd, 1 + (2 * kBlockBytes - 8 - 1 - bytes_ % kBlockBytes) % kBlockBytes});
  add(std::as_bytes(std::span(&bits, 1)));
  std::string text;
  for (const std::uint32_t word : state_)
    for (int shift = 0; shift < 32; shift += 8) {
      text += "0123456789abcdef"[word >> (shift + 4) & 15];
      text += "0123456789abcdef"[word >> shift & 15];
    }
  return text;
}

}  // namespace zerorun::io
