// Choice of the CPU's instruction set.
// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "codec/pipeline/cpu_choice.hpp"
#include "tests/codec/fast/any_stream.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun {
namespace {

/// Sets ZERORUN_CPU, and puts back what it was.
class CpuChoice {
 public:
  explicit CpuChoice(const std::string& value) {
    if (const char* before = std::getenv("ZERORUN_CPU")) {
      before_ = before;
      had_ = true;
    }
    ::setenv("ZERORUN_CPU", value.c_str(), 1);
  }
  explicit CpuChoice(InstructionSet target) : CpuChoice(std::string(name(target))) {}
  ~CpuChoice() {
    if (had_)
      ::setenv("ZERORUN_CPU", before_.c_str(), 1);
    else
      ::unsetenv("ZERORUN_CPU");
  }
  CpuChoice(const CpuChoice&) = delete;
  CpuChoice& operator=(const CpuChoice&) = delete;

 private:
  std::string before_;
  bool had_ = false;
};

TEST(InstructionSet, ScalarIsThereAndTheListIsInOrder) {
  const std::vector<InstructionSet> sets = instruction_sets();
  ASSERT_FALSE(sets.empty());
  EXPECT_EQ(sets.front(), InstructionSet::scalar);
  EXPECT_TRUE(std::is_sorted(sets.begin(), sets.end()));
}

/// tests/qemu says which there are on an emulated processor.
TEST(InstructionSet, TheExpectedOnesAreThere) {
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
  for (const InstructionSet target : instruction_sets()) {
    const CpuChoice choice(target);
    EXPECT_EQ(chosen_cpu_target(InstructionSet::best), target);
    EXPECT_EQ(*resolve_instruction_set(), target);
  }
  const CpuChoice choice("best");
  EXPECT_EQ(chosen_cpu_target(InstructionSet::best), instruction_sets().back());
  EXPECT_EQ(*resolve_instruction_set(), instruction_sets().back());
}

TEST(CpuChoice, ParameterOverridesEnvironment) {
  const CpuChoice choice(InstructionSet::scalar);
  EXPECT_EQ(*resolve_instruction_set(instruction_sets().back()), instruction_sets().back());
  EXPECT_EQ(chosen_cpu_target(instruction_sets().back()), instruction_sets().back());
}

TEST(CpuChoice, UnknownNameIsReportedAndTheBestIsUsed) {
  const CpuChoice choice("mmx");
  EXPECT_EQ(chosen_cpu_target(InstructionSet::best), instruction_sets().back());
  const auto set = resolve_instruction_set();
  ASSERT_FALSE(set.is_ok());
  EXPECT_EQ(set.status().code(), Errc::invalid_argument);
  EXPECT_NE(set.status().message().find("mmx"), std::string::npos);
}

bool is_there(InstructionSet set) {
  const std::vector<InstructionSet> sets = instruction_sets();
  return std::find(sets.begin(), sets.end(), set) != sets.end();
}

/// An instruction set that no machine has besides those of the other architecture.
InstructionSet absent() {
  for (const auto set : {InstructionSet::neon, InstructionSet::sse4})
    if (!is_there(set)) return set;
  return InstructionSet::best;
}

TEST(CpuChoice, WhatTheMachineLacksIsReportedAndTheNextLowerIsUsed) {
  const CpuChoice choice(absent());
  const InstructionSet used = chosen_cpu_target(InstructionSet::best);
  EXPECT_NE(used, absent());
  EXPECT_TRUE(is_there(used));
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
  for (const InstructionSet target : instruction_sets())
    EXPECT_NE(decoder.status().message().find(name(target)), std::string::npos);
}

}  // namespace
}  // namespace zerorun
