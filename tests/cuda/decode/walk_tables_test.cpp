// Tables of the GPU decoder: skip entries and symbols against decoding one codeword after the
// other, and the order of tables in an MCU against its definition.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>

#include "codec/arith/symbol.hpp"
#include "tests/cuda/decode/host_subsequences.hpp"

namespace zerorun::test {
namespace {

/// A codeword with its appended bits.
struct Step {
  std::uint32_t code_bits, bits;
  std::uint32_t indices;  ///< that it passes; EOB: 0
  bool makes_pair, is_codeword;
};

/// The first steps of 64 bits: a DC first if `side` says so, then AC. Ends at EOB.
std::vector<Step> steps_of(const WalkTables& tables, std::size_t pair, int side,
                           std::uint64_t bits) {
  std::vector<Step> out;
  for (std::uint32_t taken = 0; taken <= 64 - kMaxCodeBits - kMostStepBits;) {
    const bool dc = side == kDcSide && out.empty();
    const DecodedSymbol symbol =
        decode_symbol(tables.source[dc ? kDcSide : kAcSide][pair],
                      static_cast<std::uint32_t>(bits << taken >> (64 - kMaxCodeBits)));
    if (symbol.bits == 0) {
      out.push_back({0, 1, 0, false, false});
      return out;
    }
    const auto value = static_cast<std::uint32_t>(symbol.value);
    const std::uint32_t run = dc ? 0 : value >> 4, ssss = value & 15;
    const auto code_bits = static_cast<std::uint32_t>(symbol.bits);
    const bool end_of_block = !dc && ssss == 0 && run != 15;
    out.push_back({code_bits, code_bits + ssss, end_of_block ? 0 : run + 1, dc || ssss != 0, true});
    taken += out.back().bits;
    if (end_of_block) return out;
  }
  return out;
}

std::uint32_t entry_of(const Step& step) {
  return make_skip(step.bits, step.indices == 0 ? kEndOfBlock + 1 : step.indices, step.makes_pair);
}

/// The steps that an entry stands for; none if there are no such steps.
std::vector<Step> steps_of_entry(std::uint32_t entry, const std::vector<Step>& steps) {
  std::vector<Step> out;
  std::uint32_t sum = 0, known = 0;
  for (const Step& step : steps) {
    if (!step.is_codeword || known + step.code_bits > kSkipBits) return {};
    known += step.bits;
    sum += entry_of(step);
    out.push_back(step);
    const std::uint32_t what = ~(((1u << 14) - 1) << kSkipFirstShift);  // all but the first symbol
    if (sum == (entry & what)) return out;
  }
  return {};
}

/// Whether these steps from index `k` on end the block before their last, or go beyond it.
bool passes_end(const std::vector<Step>& steps, std::uint32_t k) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    k += steps[i].indices;
    const bool ends = steps[i].indices == 0 || k >= kBlockSize;
    if (k > kBlockSize || (ends && i + 1 < steps.size())) return true;
    if (steps[i].indices == 0 && k == kBlockSize)
      return true;  // the last step was the next block's DC
  }
  return false;
}

class SkipTable : public testing::TestWithParam<std::size_t> {
 protected:
  void check(int side, std::uint32_t index, Random& random) {
    const std::uint32_t entry = tables_->skip[side][0][index];
    const std::uint64_t tail = random.next() >> kSkipBits;
    const auto steps = steps_of(*tables_, 0, side, std::uint64_t{index} << (64 - kSkipBits) | tail);
    const bool short_codeword = steps[0].is_codeword && steps[0].code_bits <= kSkipBits;
    ASSERT_EQ(entry != kNoStep << kSkipIndexShift, short_codeword);
    if (!short_codeword) return;
    EXPECT_EQ(unpack_first(first_of(entry)), entry_of(steps[0]));
    const auto passed = steps_of_entry(entry, steps);
    ASSERT_FALSE(passed.empty()) << std::hex << entry;
    for (std::uint32_t k = side == kDcSide ? 0 : 1; k < (side == kDcSide ? 1 : kBlockSize); ++k) {
      const std::uint32_t last = k - 1 + (entry >> kSkipIndexShift);
      ASSERT_EQ(goes_beyond(last), passes_end(passed, k)) << "from index " << k;
      std::uint32_t index_after = k;
      for (const Step& step : passed) index_after += step.indices;
      const bool ends = passed.back().indices == 0 || index_after == kBlockSize;
      if (!goes_beyond(last)) {
        ASSERT_EQ(last >= kBlockSize - 1, ends) << "from index " << k;
      }
    }
  }

  void SetUp() override { tables_ = make_host_tables({&sample_[GetParam()], 1}); }
  const std::vector<TablePair> sample_ = sample_tables();
  std::unique_ptr<WalkTables> tables_;
};

TEST_P(SkipTable, EveryEntryPassesWhatItsCodewordsSay) {
  Random random(GetParam());
  for (const int side : {kDcSide, kAcSide})
    for (std::uint32_t index = 0; index < (1u << kSkipBits); ++index) {
      SCOPED_TRACE(testing::Message() << (side == kDcSide ? "DC " : "AC ") << index);
      check(side, index, random);
      if (HasFailure()) return;
    }
}

/// The device looks each prefix up by its length, the host fills the prefixes of each codeword.
TEST_P(SkipTable, LookUpsByLengthAreThoseOfTheHost) {
  for (const HuffmanSpec& spec : {sample_[GetParam()].dc, sample_[GetParam()].ac}) {
    HuffmanDecodeTable filled, found;
    fill_decode_table(spec, filled);
    std::ranges::copy(spec.values, found.values);
    fill_lengths(spec, found);
    EXPECT_TRUE(std::ranges::equal(filled.limit, found.limit));
    EXPECT_TRUE(std::ranges::equal(filled.value_offset, found.value_offset));
    for (std::uint32_t prefix = 0; prefix < (1u << kLookupBits); ++prefix)
      ASSERT_EQ(lookup_entry(found, prefix), filled.lookup[prefix]) << "prefix " << prefix;
  }
}

/// A symbol entry against the codewords of 64 bits that it is looked up for.
void check_symbols(std::uint32_t entry, int side, const std::vector<Step>& steps,
                   std::uint64_t bits) {
  const Step& first = steps[0];
  const std::uint32_t one = first_symbol(entry);
  const auto indices_of = [](const Step& step) {
    return step.indices == 0 ? kEndOfBlock : step.indices - 1;
  };
  const auto window = static_cast<std::uint32_t>(bits >> 32);
  const auto level_of = [&](const Step& step, std::uint32_t before) {
    const std::uint32_t ssss = step.bits - step.code_bits;
    return extend(static_cast<std::int32_t>(bits << (before + step.code_bits) >> 32 >> (32 - ssss)),
                  static_cast<int>(ssss));
  };
  const std::uint32_t k = side == kDcSide ? 0 : 1;
  // The first alone.
  ASSERT_EQ(one & kSymbolFault, 0u);
  ASSERT_EQ(taken_by(one), first.bits);
  ASSERT_EQ(one >> kSymbolIndexShift, indices_of(first));
  const StepPairs alone(window, one, k == 0, k, k + indices_of(first));
  ASSERT_EQ(alone.first.exists, first.makes_pair);
  ASSERT_EQ(alone.first.level, level_of(first, 0));
  ASSERT_FALSE(alone.second.exists);
  if (first.makes_pair) {
    ASSERT_EQ(alone.first.index, k + indices_of(first));
  }
  // Both, where the second has all that it needs.
  const bool two = first.indices != 0 && steps.size() > 1 && steps[1].is_codeword &&
                   first.bits + steps[1].code_bits <= kSymbolIndexBits &&
                   steps[1].bits - steps[1].code_bits <= kMostSecondSsss;
  ASSERT_EQ(entry != one, two);
  if (!two) return;
  const Step& second = steps[1];
  const std::uint32_t after = k + (entry >> kSymbolIndexShift);
  const StepPairs both(window, entry, k == 0, k, after);
  ASSERT_EQ(taken_by(entry), first.bits + second.bits);
  ASSERT_EQ(entry >> kSymbolIndexShift, first.indices + indices_of(second));
  ASSERT_EQ(both.first.exists, first.makes_pair);
  ASSERT_EQ(both.first.index, alone.first.index);
  ASSERT_EQ(both.first.level, alone.first.level);
  ASSERT_EQ(both.second.exists, second.makes_pair);
  ASSERT_EQ(both.second.index, after);
  if (second.makes_pair) {
    ASSERT_EQ(both.second.level, level_of(second, first.bits));
  }
}

TEST_P(SkipTable, SymbolsOfEveryCodewordLength) {
  Random random(GetParam());
  for (const int side : {kDcSide, kAcSide})
    for (std::uint32_t next16 = 0; next16 < (1u << kMaxCodeBits); ++next16) {
      SCOPED_TRACE(testing::Message() << (side == kDcSide ? "DC " : "AC ") << next16);
      const std::uint64_t bits = std::uint64_t{next16} << 48 | random.next() >> 16;
      const auto steps = steps_of(*tables_, 0, side, bits);
      std::uint32_t entry = tables_->symbol[side][0][next16 >> (kMaxCodeBits - kSymbolIndexBits)];
      const bool is_short = steps[0].is_codeword && steps[0].code_bits <= kSymbolIndexBits;
      ASSERT_EQ(entry != kLongCode, is_short);
      if (!is_short) entry = long_symbol_of(*tables_, side, 0, next16);
      if (!steps[0].is_codeword) {
        ASSERT_EQ(entry >> kSymbolIndexShift, kEndOfBlock + kBlockSize);
        ASSERT_EQ(taken_by(entry), 1u);
        ASSERT_FALSE(has_first_level(entry) || has_second_level(entry));
      } else if (is_short) {
        check_symbols(entry, side, steps, bits);
      } else {
        check_symbols(entry, side, {steps[0]}, bits);
      }
      if (HasFatalFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Tables, SkipTable, testing::Range<std::size_t>(0, sample_tables().size()));

ScanLayout random_layout(Random& random) {
  ComponentSpec specs[kMaxComponents];
  const int components = random.between(1, kMaxComponents);
  for (;;) {
    int blocks = 0;
    for (int c = 0; c < components; ++c) {
      specs[c] = {random.between(1, 4), random.between(1, 4),
                  static_cast<std::uint8_t>(random.below(2)),
                  static_cast<std::uint8_t>(random.below(2))};
      blocks += specs[c].h * specs[c].v;
    }
    if (blocks <= kMaxBlocksPerMcu) break;
  }
  const int all[] = {0, 1, 2};
  return make_scan_layout(100, 100, specs, components, all, components, 0);
}

TEST(PairCycle, IsTheShortestOrderOfTables) {
  Random random(4);
  for (int turn = 0; turn < 1000; ++turn) {
    const ScanLayout layout = random_layout(random);
    const PairCycle cycle = make_pair_cycle(layout);
    const auto tables_of = [&](std::int32_t block) {
      const auto& component = layout.component[layout.block_component[block]];
      return std::pair(component.dc_table, component.ac_table);
    };
    const auto repeats = [&](std::int32_t period) {
      for (std::int32_t i = 0; i < 2 * layout.blocks_per_mcu; ++i)
        if (tables_of(i % layout.blocks_per_mcu) != tables_of((i + period) % layout.blocks_per_mcu))
          return false;
      return true;
    };
    ASSERT_TRUE(repeats(cycle.period));
    for (std::int32_t shorter = 1; shorter < cycle.period; ++shorter)
      ASSERT_FALSE(layout.blocks_per_mcu % shorter == 0 && repeats(shorter));
    for (std::int32_t i = 0; i < layout.blocks_per_mcu; ++i) {
      const std::int32_t pair = cycle.pair[i % cycle.period];
      ASSERT_LT(pair, cycle.pairs);
      ASSERT_EQ(std::pair(cycle.dc_table[pair], cycle.ac_table[pair]), tables_of(i));
    }
  }
}

}  // namespace
}  // namespace zerorun::test
