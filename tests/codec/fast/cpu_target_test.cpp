// Choice of the CPU's instruction set.
// SPDX-License-Identifier: MIT
#include "codec/fast/cpu_target.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "codec/pipeline/cpu_choice.hpp"
#include "tests/codec/fast/cpu_choice.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun {
namespace {

using test::CpuChoice;

TEST(CpuTarget, ScalarIsThereAndTheListIsInOrder) {
  ASSERT_FALSE(cpu_targets().empty());
  EXPECT_EQ(cpu_targets().front(), CpuTarget::scalar);
  EXPECT_TRUE(std::is_sorted(cpu_targets().begin(), cpu_targets().end()));
}

/// tests/qemu says which there are on an emulated processor.
TEST(CpuTarget, TheExpectedOnesAreThere) {
  const char* expected = std::getenv("ZERORUN_EXPECTED_CPUS");
  if (expected == nullptr) GTEST_SKIP() << "ZERORUN_EXPECTED_CPUS is not set";
  std::string names;
  for (const InstructionSet set : instruction_sets()) {
    if (!names.empty()) names += ' ';
    names += name(set);
  }
  EXPECT_EQ(names, expected);
}

TEST(CpuChoice, EnvironmentChooses) {
  for (const CpuTarget target : cpu_targets()) {
    const CpuChoice choice(target);
    EXPECT_EQ(chosen_cpu_target(InstructionSet::best), target);
    EXPECT_EQ(*resolve_instruction_set(), target);
  }
}

TEST(CpuChoice, BestIsTheDefault) {
  const CpuChoice choice("best");
  EXPECT_EQ(chosen_cpu_target(InstructionSet::best), cpu_targets().back());
  EXPECT_EQ(*resolve_instruction_set(), cpu_targets().back());
}

TEST(CpuChoice, ParameterOverridesEnvironment) {
  const CpuChoice choice(CpuTarget::scalar);
  EXPECT_EQ(*resolve_instruction_set(cpu_targets().back()), cpu_targets().back());
  EXPECT_EQ(chosen_cpu_target(cpu_targets().back()), cpu_targets().back());
}

TEST(CpuChoice, UnknownNameIsReportedAndTheBestIsUsed) {
  const CpuChoice choice("mmx");
  EXPECT_EQ(chosen_cpu_target(InstructionSet::best), cpu_targets().back());
  const auto set = resolve_instruction_set();
  ASSERT_FALSE(set.is_ok());
  EXPECT_EQ(set.status().code(), Errc::invalid_argument);
  EXPECT_NE(set.status().message().find("mmx"), std::string::npos);
}

/// An instruction set that no machine has besides those of the other architecture.
InstructionSet absent() {
  for (const auto set : {InstructionSet::neon, InstructionSet::sse4})
    if (std::find(cpu_targets().begin(), cpu_targets().end(), set) == cpu_targets().end())
      return set;
  return InstructionSet::best;
}

TEST(CpuChoice, WhatTheMachineLacksIsReportedAndTheNextLowerIsUsed) {
  const CpuChoice choice(absent());
  const CpuTarget used = chosen_cpu_target(InstructionSet::best);
  EXPECT_NE(used, absent());
  EXPECT_NE(std::find(cpu_targets().begin(), cpu_targets().end(), used), cpu_targets().end());
  EXPECT_FALSE(resolve_instruction_set().is_ok());
}

TEST(CpuChoice, CodersRefuseWhatTheMachineLacks) {
  EncodeParams encode;
  encode.instruction_set = absent();
  const auto encoder = Encoder::create(encode);
  ASSERT_FALSE(encoder.is_ok());
  EXPECT_EQ(encoder.status().code(), Errc::invalid_argument);
  DecodeParams decode;
  decode.instruction_set = absent();
  const auto decoder = Decoder::create(decode);
  ASSERT_FALSE(decoder.is_ok());
  // The sentence names what was asked for and what there is.
  EXPECT_NE(decoder.status().message().find(name(absent())), std::string::npos);
  for (const CpuTarget target : cpu_targets())
    EXPECT_NE(decoder.status().message().find(name(target)), std::string::npos);
}

}  // namespace
}  // namespace zerorun
