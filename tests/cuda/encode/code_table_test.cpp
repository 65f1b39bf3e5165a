// Where the kernels look codes up.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "cuda/encode/code_table.hpp"

namespace zerorun::test {
namespace {

/// Calls visit(ac, destination, symbol, negative) for all symbols of a scan with both signs.
template <typename Visit>
void for_all_slots(const Visit& visit) {
  for (const bool ac : {false, true})
    for (int destination = 0; destination < 2; ++destination)
      for (int symbol = 0; symbol < 256; ++symbol)
        if (has_code_slot(ac, symbol))
          for (const bool negative : {false, true}) visit(ac, destination, symbol, negative);
}

TEST(CodeTable, EverySymbolHasItsOwnWord) {
  std::set<int> taken;
  for_all_slots([&](bool ac, int destination, int symbol, bool negative) {
    const int slot = code_slot(ac, destination, symbol, negative);
    ASSERT_GE(slot, 0);
    ASSERT_LT(slot, kCodeWords);
    if (symbol == 0 && negative)
      EXPECT_EQ(slot, code_slot(ac, destination, symbol, false));
    else
      EXPECT_TRUE(taken.insert(slot).second) << ac << destination << " " << symbol << negative;
  });
}

/// As the kernels do it: the size, the row by run, then destination and sign.
TEST(CodeTable, RowsAreRunsAndStepsAreSizes) {
  for (int destination = 0; destination < 2; ++destination)
    for (const bool negative : {false, true}) {
      const int first = 2 * destination + (negative ? 0 : 1);
      for (int size = 1; size <= kMostCodeSize; ++size)
        EXPECT_EQ(code_slot(false, destination, size, negative), first + size * kSizeWords);
      for (int run = 0; run < 16; ++run)
        for (int size = 1; size <= kMostCodeSize; ++size)
          EXPECT_EQ(code_slot(true, destination, run * 16 + size, negative),
                    first + size * kSizeWords + (run + 1) * kCodeSigns);
      EXPECT_EQ(code_slot(true, destination, kZrl, negative), first + 16 * kCodeSigns);
      EXPECT_EQ(code_slot(negative, destination, 0, negative), first);
    }
}

/// No symbol has the size of items without bits.
TEST(CodeTable, ItemsWithoutBitsHaveNoCode) {
  for_all_slots([&](bool ac, int destination, int symbol, bool negative) {
    EXPECT_LT(code_slot(ac, destination, symbol, negative), kNoCodeSize * kSizeWords);
  });
}

/// The kernels' way from a word and a value to bits, left-aligned, against T.81 F.1.2.1.
TEST(CodeTable, AWordMasksTheAppendedBits) {
  constexpr std::uint32_t kCode = 0b1011;
  constexpr std::uint32_t kBits = 4;
  for (int value = -1023; value <= 1023; ++value) {
    if (value == 0) continue;
    const Symbol symbol = make_symbol(0, value, 2);
    const std::uint32_t size = symbol.rrrrssss;
    const std::uint32_t word = code_word(kCode, kBits, size, value < 0);
    const std::uint32_t length = word & 0xFFFF;
    ASSERT_EQ(length, kBits + size);
    const auto appended = static_cast<std::uint32_t>(value < 0 ? value - 1 : value);
    const std::uint32_t found = (word & 0xFFFF0000u) ^ appended << (32 - length);
    EXPECT_EQ(found >> (32 - length), kCode << size | symbol.appended) << value;
  }
}

}  // namespace
}  // namespace zerorun::test
