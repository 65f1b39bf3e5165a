// RingReader reads the right bits however late the words come that it asked for, and asks for none
// in place of one that it has yet to read.
// SPDX-License-Identifier: MIT
#include "cuda/entropy/ring_reader.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

constexpr unsigned kShortBits = 12, kLongBits = 32;

/// A ring whose places are lost as soon as they are asked for, and filled when a reader waits: what
/// was asked for last comes first. Readers use it one after the other.
class LateWords {
 public:
  static constexpr unsigned kPlaces = 16;
  static constexpr std::uint32_t kLost = 0x10571057;

  explicit LateWords(const std::vector<std::uint32_t>& input) : input_(input) {
    place_.fill(kLost);
    groups_.emplace_back();
  }

  void ask(unsigned first) {
    EXPECT_EQ(first % 4, 0u);
    for (unsigned n = first; n < first + 4; ++n) place_[n % kPlaces] = kLost;
    groups_.back().push_back(first);
  }
  void commit() { groups_.emplace_back(); }
  /// For all groups that have ended but the last `left`.
  void wait(std::size_t left) {
    if (groups_.size() <= left + 1) return;
    const auto end = groups_.end() - 1 - static_cast<std::ptrdiff_t>(left);
    for (auto group = end; group-- != groups_.begin();)
      for (const unsigned first : *group)
        for (unsigned n = first; n < first + 4; ++n) place_[n % kPlaces] = input_.at(n);
    groups_.erase(groups_.begin(), end);
  }
  std::uint32_t word(unsigned n) const { return place_[n % kPlaces]; }

 private:
  const std::vector<std::uint32_t>& input_;
  std::array<std::uint32_t, kPlaces> place_{};
  std::vector<std::vector<unsigned>> groups_;  // the last one is still open
};

struct LateRing {
  LateWords* words;

  void ask(unsigned first) const { words->ask(first); }
  void commit() const { words->commit(); }
  void wait() const { words->wait(0); }
  void wait_but_last() const { words->wait(1); }
  std::uint32_t word(unsigned n) const { return words->word(n); }
};

using Reader = cuda_entropy::RingReader<LateRing, kShortBits>;
static_assert(Reader::kRingWords == LateWords::kPlaces);

std::uint32_t bits_at(const std::vector<std::uint32_t>& input, std::uint64_t bit) {
  const std::uint64_t two = std::uint64_t{input.at(bit / 32)} << 32 | input.at(bit / 32 + 1);
  return static_cast<std::uint32_t>(two << bit % 32 >> 32);
}

/// Words that all differ, so that none passes for another.
std::vector<std::uint32_t> some_words(Random& random, std::size_t count) {
  std::vector<std::uint32_t> words;
  for (std::size_t i = 0; i < count; ++i)
    words.push_back(static_cast<std::uint32_t>(random.next() >> 40 << 12 | i));
  return words;
}

/// Passes 16 codewords: short ones two at a time, as far as `next_bits` gives short ones.
template <typename NextBits>
void take_sixteen(Reader& reader, const std::vector<std::uint32_t>& input, std::uint64_t& bit,
                  NextBits&& next_bits) {
  reader.top_up();
  for (int taken = 0; taken < 16; taken += 2) {
    const std::array<unsigned, 2> bits{next_bits(), next_bits()};
    const bool both_short = bits[0] <= kShortBits && bits[1] <= kShortBits;
    for (std::size_t i = 0; i < bits.size(); ++i) {
      if (!both_short || i == 0) {
        reader.refill();
        ASSERT_EQ(reader.position(), bit);
        ASSERT_EQ(reader.window(), bits_at(input, bit)) << "at bit " << bit;
      }
      if (both_short)
        reader.skip(bits[i]);
      else
        reader.skip_long(bits[i]);
      bit += bits[i];
    }
  }
}

constexpr std::size_t kInputWords = 2048;
constexpr std::uint64_t kLastBit = 32 * (kInputWords - 2 * LateWords::kPlaces) - 16 * kLongBits;

TEST(RingReader, ReadsWhatComesAsLateAsItMay) {
  Random random(1);
  for (int round = 0; round < 400; ++round) {
    const std::vector<std::uint32_t> input = some_words(random, kInputWords);
    LateWords words(input);
    unsigned first = 0;
    for (int another = 0; another < 8; ++another) {
      first += static_cast<unsigned>(4 * random.below(64));
      const auto begin = static_cast<unsigned>(random.below(128));
      Reader reader({&words}, first, begin);
      std::uint64_t bit = first * 32 + begin;
      const std::uint64_t last =
          std::min(kLastBit, bit + static_cast<std::uint64_t>(random.below(16384)));
      const int long_ones = random.below(101), longest = random.between(1, kShortBits);
      while (bit < last) {
        take_sixteen(reader, input, bit, [&] {
          return static_cast<unsigned>(random.below(100) < long_ones
                                           ? random.between(kShortBits + 1, kLongBits)
                                           : random.between(1, longest));
        });
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace zerorun::test
