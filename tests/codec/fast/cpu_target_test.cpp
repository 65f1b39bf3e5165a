// Choice of the CPU's instruction set.
// SPDX-License-Identifier: MIT
#include "codec/fast/cpu_target.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "codec/pipeline/cpu_choice.hpp"
#include "tests/codec/fast/cpu_choice.hpp"
#include "zerorun/backend.hpp"

namespace zerorun {
namespace {

using test::CpuChoice;

TEST(CpuTarget, NamesGoBothWays) {
  for (const CpuTarget target : cpu_targets())
    EXPECT_EQ(cpu_target_from_name(name(target)), target);
  EXPECT_EQ(cpu_target_from_name("best"), std::nullopt);
  EXPECT_EQ(cpu_target_from_name(""), std::nullopt);
}

TEST(CpuTarget, ScalarIsThereAndTheListIsInOrder) {
  ASSERT_FALSE(cpu_targets().empty());
  EXPECT_EQ(cpu_targets().front(), CpuTarget::scalar);
  EXPECT_TRUE(std::is_sorted(cpu_targets().begin(), cpu_targets().end()));
}

TEST(CpuChoice, EnvironmentChooses) {
  for (const CpuTarget target : cpu_targets()) {
    const CpuChoice choice(target);
    EXPECT_EQ(chosen_cpu_target(), target);
    EXPECT_EQ(*cpu_instruction_set(), name(target));
  }
}

TEST(CpuChoice, BestIsTheDefault) {
  const CpuChoice choice("best");
  EXPECT_EQ(chosen_cpu_target(), cpu_targets().back());
  EXPECT_EQ(*cpu_instruction_set(), name(cpu_targets().back()));
}

TEST(CpuChoice, UnknownNameIsReportedAndTheBestIsUsed) {
  const CpuChoice choice("mmx");
  EXPECT_EQ(chosen_cpu_target(), cpu_targets().back());
  ASSERT_FALSE(cpu_instruction_set().is_ok());
  EXPECT_EQ(cpu_instruction_set().status().code(), Errc::invalid_argument);
  EXPECT_NE(cpu_instruction_set().status().message().find("mmx"), std::string::npos);
}

TEST(CpuChoice, WhatTheMachineLacksIsReportedAndTheNextLowerIsUsed) {
  if (cpu_targets().back() == CpuTarget::avx512) GTEST_SKIP() << "this machine has them all";
  const CpuChoice choice("avx512");
  EXPECT_EQ(chosen_cpu_target(), cpu_targets().back());
  EXPECT_FALSE(cpu_instruction_set().is_ok());
}

}  // namespace
}  // namespace zerorun
