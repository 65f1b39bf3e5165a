// Properties of walks over subsequences: they end whatever the bits are, skipping and decoding
// agree, and numbering leaves room for all subsequences. Pairs that are stored eight at a time: all
// of a walk's own, and nothing else.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "codec/arith/symbol.hpp"
#include "cuda/decode/pair_sink.hpp"
#include "tests/cuda/decode/host_subsequences.hpp"

namespace zerorun::test {
namespace {

/// Random bytes, in some turns with long stretches of 00 or FF.
std::vector<std::uint8_t> random_bytes(Random& random, std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  const int kind = random.below(4);
  for (std::size_t i = 0; i < count;) {
    const bool stretch = kind > 0 && random.below(2) == 0;
    const auto end = std::min(count, i + static_cast<std::size_t>(random.between(1, 40)));
    const auto filler = static_cast<std::uint8_t>(kind == 1 ? 0x00 : kind == 2 ? 0xFF : 0x55);
    for (; i < end; ++i) bytes[i] = stretch ? filler : random.byte();
  }
  return bytes;
}

/// What decoding has to store.
struct Expected : StoredPairs {
  bool gave_up = false;      ///< bits are no codeword
  std::vector<Walk> passed;  ///< before each codeword
};

class SubsequenceWalk : public testing::Test {
 protected:
  /// Tables for 1 to 3 pairs, periods of 1 to 10 blocks.
  void prepare(Random& random) {
    const auto sample = sample_tables();
    const int count = random.between(1, kMaxTablePairs);
    std::vector<TablePair> chosen;
    for (int i = 0; i < count; ++i)
      chosen.push_back(
          sample[static_cast<std::size_t>(random.below(static_cast<int>(sample.size())))]);
    tables_ = make_host_tables(chosen);
    const auto pairs = static_cast<std::uint32_t>(count);
    on_host_ = {tables_.get(), cycle_of(pairs, random.between(count, kMaxBlocksPerMcu))};
  }

  Walk random_walk(Random& random, WalkSpan span) {
    const std::uint32_t sub = span.stop - std::min(span.stop, kSubsequenceBits);
    const int most = static_cast<int>(span.stop - sub);
    return {sub + static_cast<std::uint32_t>(random.below(most)),
            static_cast<std::uint32_t>(random.below(on_host_.cycle.period)),
            random.below(4) == 0 ? 0 : static_cast<std::uint32_t>(random.below(kBlockSize))};
  }

  /// What decode() has to do, by one codeword after the other.
  Expected decode_singly(std::span<const std::uint32_t> words, WalkSpan span, PairTarget target,
                         Walk& at) const {
    Expected out;
    bool right = true;
    const auto period = static_cast<std::uint32_t>(on_host_.cycle.period);
    while (at.bit < span.stop) {
      out.passed.push_back(at);
      const std::uint32_t window = HostBits{words}.window(at.bit);
      const bool is_dc = at.k == 0;
      const auto& source = tables_->source[is_dc ? kDcSide : kAcSide];
      const DecodedSymbol symbol =
          decode_symbol(source[on_host_.cycle.pair[at.phase]], window >> 16);
      if (symbol.bits == 0) {
        out.end = {target.block + 1, target.pair};
        out.faults = kFaultCode;
        out.gave_up = true;
        at = {span.stop, 0, 0};
        return out;
      }
      const auto value = static_cast<std::uint32_t>(symbol.value);
      const auto ssss = static_cast<int>(value % 16);
      const std::uint32_t index = at.k + (is_dc ? 0 : value / 16);
      const bool eob = !is_dc && ssss == 0 && value != kZrl;
      if (is_dc) out.blocks.push_back({target.block, target.pair});
      if (is_dc || ssss != 0) {
        const std::uint32_t appended =
            ssss == 0 ? 0 : window << symbol.bits >> static_cast<std::uint32_t>(32 - ssss);
        out.pairs.push_back({index, extend(appended, ssss)});
        ++target.pair;
      }
      right = right && (eob || index < kBlockSize);
      at.bit += static_cast<std::uint32_t>(symbol.bits + ssss);
      at.k = index + 1;
      if (!eob && at.k < kBlockSize) continue;
      ++target.block;
      at = {at.bit, (at.phase + 1) % period, 0};
      if (at.bit < span.end && is_padding(HostBits{words}.window(at.bit), span.end - at.bit))
        at.bit = span.end;
    }
    out.end = target;
    out.faults = right && at.bit <= span.end ? 0 : kFaultCode;
    return out;
  }

  /// Whatever the bits are.
  void check_decoding(std::span<const std::uint32_t> words, WalkSpan span, const Walk& start) {
    Walk decoded = start, expected_end = start;
    const PairTarget target{1000, 5000};
    const StoredPairs found = decode(words, on_host_, span, target, decoded);
    const Expected expected = decode_singly(words, span, target, expected_end);
    ASSERT_TRUE(found.in_order);
    ASSERT_EQ(decoded, expected_end);
    ASSERT_EQ(found.faults, expected.faults);
    ASSERT_EQ(found.pairs, expected.pairs);
    ASSERT_EQ(found.blocks, expected.blocks);
    ASSERT_EQ(found.end.block, expected.end.block);
    ASSERT_EQ(found.end.pair, expected.end.pair);
    // Skipping passes some symbols at once, and so may end behind the stop.
    Walk skipped = start, there = start;
    const WalkTally tally = skip(words, on_host_, span, skipped);
    ASSERT_LE(skipped.bit, span.stop + kMostStepBits - 1);
    const Expected passed = decode_singly(words, {skipped.bit, span.end}, target, there);
    ASSERT_EQ(skipped, there);
    ASSERT_EQ(tally.blocks, passed.end.block - target.block);
    ASSERT_EQ(tally.pairs, passed.pairs.size());
  }

  std::unique_ptr<WalkTables> tables_;
  HostTables on_host_{};
};

TEST_F(SubsequenceWalk, DecodesAsOneCodewordAfterTheOtherToAnyStop) {
  Random random(14);
  int exact = 0;
  for (int turn = 0; turn < 300; ++turn) {
    prepare(random);
    const auto words = words_of(random_bytes(random, 2 * kSubsequenceBytes));
    const auto end = static_cast<std::uint32_t>(random.between(1, 2 * kSubsequenceBytes)) * 8;
    const WalkSpan all{std::min(kSubsequenceBits, end), end};
    const Walk start = random_walk(random, all);
    Walk at = start;
    const Expected whole = decode_singly(words, all, {0, 0}, at);
    for (std::size_t i = 1; i < whole.passed.size(); ++i) {
      // The next subsequence begins here, maybe between two symbols of one look-up.
      const WalkSpan span{whole.passed[i].bit, end};
      SCOPED_TRACE(testing::Message() << "turn " << turn << ": from " << start.bit << " to "
                                      << span.stop << ", end " << end);
      ASSERT_NO_FATAL_FAILURE(check_decoding(words, span, start));
      ++exact;
    }
    // Nor need a codeword begin there.
    for (std::uint32_t stop = start.bit + 1; stop <= all.stop; ++stop) {
      SCOPED_TRACE(testing::Message() << "turn " << turn << ": from " << start.bit << " to " << stop
                                      << ", end " << end);
      ASSERT_NO_FATAL_FAILURE(check_decoding(words, {stop, end}, start));
    }
  }
  EXPECT_GT(exact, 1500);
}

TEST_F(SubsequenceWalk, PaddingIsPassedOnlyWhereNothingElseIsLeft) {
  for (std::uint32_t left = 0; left <= 9; ++left)
    for (std::uint32_t first_zero = 0; first_zero <= 9; ++first_zero) {
      // `first_zero` ones, then zeros.
      const std::uint32_t next32 = first_zero == 0 ? 0 : 0xFFFFFFFFu << (32 - first_zero);
      EXPECT_EQ(is_padding(next32, left), left < 8 && first_zero >= left)
          << left << " bits, " << first_zero << " ones";
    }
}

TEST(SubsequenceNumbers, LeaveRoomForThoseOfNeighbours) {
  Random random(12);
  for (int turn = 0; turn < 200; ++turn) {
    std::uint32_t first_byte = 0;
    const int longest = 1 << random.below(16);
    for (std::uint32_t interval = 0; interval < 500; ++interval) {
      const std::uint32_t bytes = static_cast<std::uint32_t>(
          random.below(8) == 0 ? random.below(3) * static_cast<int>(kSubsequenceBytes)
                               : random.below(longest + 1));
      const std::uint32_t subs = (bytes + kSubsequenceBytes - 1) / kSubsequenceBytes;
      ASSERT_GE(first_subsequence_of(interval + 1, first_byte + bytes),
                first_subsequence_of(interval, first_byte) + subs)
          << "interval " << interval << " from byte " << first_byte << ", " << bytes << " bytes";
      first_byte += bytes;
    }
  }
}

TEST(Levels, DoNotDependOnTheBitsBehindTheAppendedOnes) {
  Random random(13);
  for (std::uint32_t ssss = 0; ssss <= 15; ++ssss)
    for (std::uint32_t appended = 0; appended < (1u << ssss); ++appended) {
      auto bits = static_cast<std::uint32_t>(random.next());
      if (ssss > 0) bits = (bits & (0xFFFFFFFFu >> ssss)) | appended << (32 - ssss);
      const auto anything = static_cast<std::uint32_t>(random.next()) << 5;
      ASSERT_EQ(extend_level(bits, anything | ssss), extend(appended, static_cast<int>(ssss)));
    }
}

TEST(Pairs, KeepIndexAndLevelUnlessItIsWide) {
  for (std::uint32_t index = 0; index < kBlockSize; ++index)
    for (std::int32_t level = -32767; level <= 32767; ++level) {
      const bool wide = is_wide(level);
      ASSERT_EQ(wide, level < -511 || level > 511);
      const std::uint16_t pair = pack_pair(index, wide ? kWideLevel : level);
      ASSERT_EQ(pair & kPairIndexMask, index);
      ASSERT_EQ(level_of(pair), wide ? kWideLevel : level);
    }
}

/// The memory of a few pairs; what is not stored there stays as it was.
struct PairMemory {
  static constexpr std::size_t kPairs = 192;
  alignas(16) std::array<std::uint16_t, kPairs> pairs;
  std::array<std::int16_t, kPairs> wide;

  PairMemory() {
    pairs.fill(0xAAAA);
    wide.fill(0x5555);
  }
  void store(std::uint32_t& number, const WalkPair& pair) {
    if (!pair.exists) return;
    pairs[number] = pack_pair(pair.index, is_wide(pair.level) ? kWideLevel : pair.level);
    if (is_wide(pair.level)) wide[number] = static_cast<std::int16_t>(pair.level);
    ++number;
  }
};

TEST(PairSink, StoresTheWalksPairsAndNoOthers) {
  Random random(15);
  for (int turn = 0; turn < 20000; ++turn) {
    const auto begin = static_cast<std::uint32_t>(random.below(17));
    PairMemory found, expected;
    PairSink sink{found.pairs.data(), found.wide.data(), nullptr, begin};
    std::uint32_t number = begin, expected_number = begin;
    const auto pair_below = [&](std::int32_t bound) {
      return WalkPair{random.below(4) != 0, static_cast<std::uint32_t>(random.below(kBlockSize)),
                      random.between(1 - bound, bound - 1)};
    };
    for (int steps = random.below(38); steps > 0; --steps) {
      const WalkPair first = pair_below(random.below(8) == 0 ? 32768 : 512);
      const WalkPair second = pair_below(512);
      number = sink.put(number, first, second);
      expected.store(expected_number, first);
      expected.store(expected_number, second);
      ASSERT_EQ(number, expected_number);
    }
    sink.finish(number);
    ASSERT_EQ(found.pairs, expected.pairs) << "from " << begin << " to " << number;
    ASSERT_EQ(found.wide, expected.wide);
  }
}

}  // namespace
}  // namespace zerorun::test
