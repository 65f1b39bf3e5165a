// Runs a scenario once for each of its allocations, which fails.
// SPDX-License-Identifier: MIT
#include "tests/faults/fail_every_allocation.hpp"

#include "tests/support/resources.hpp"

namespace zerorun::test {
namespace {

constexpr long kMost = 100'000;

/// False when the scenario ended before its allocation `number`.
bool fail_one(const std::function<Outcome()>& scenario, std::uint64_t expected, long number,
              bool lasting) {
  const long before = memory::live();
  bool has_failed = false;
  {
    memory::fail_at(number, lasting);
    const Outcome outcome = scenario();
    memory::let_all_pass();
    has_failed = memory::has_failed();
    const Errc code = outcome.status.code();
    EXPECT_TRUE(code == Errc::ok || (has_failed && code == Errc::out_of_memory))
        << outcome.status.message();
    if (outcome.result != 0) {
      EXPECT_EQ(outcome.result, expected);
    }
  }
  EXPECT_EQ(memory::live(), before) << "memory is lost";
  return has_failed;
}

void fail_every_allocation(const std::string& name, const std::function<Outcome()>& scenario,
                           bool lasting) {
  const Outcome whole = scenario();
  ASSERT_TRUE(whole.status.is_ok()) << name << ": " << whole.status.message();
  ASSERT_NE(whole.result, 0u) << name;
  long number = 1;
  while (number < kMost && fail_one(scenario, whole.result, number, lasting)) {
    ASSERT_FALSE(testing::Test::HasFailure())
        << name << ", allocation " << number << (lasting ? ", for ever" : "");
    number += kSanitized ? 3 : 1;
  }
  ASSERT_FALSE(testing::Test::HasFailure())
      << name << ", allocation " << number << " was not reached";
  EXPECT_GT(number, 1) << name << " allocates nothing";
  EXPECT_LT(number, kMost) << name;
  std::printf("%s: %ld allocations fail%s\n", name.c_str(), number - 1, lasting ? " for ever" : "");
}

}  // namespace

void fail_every_allocation(const std::string& name, const std::function<Outcome()>& scenario) {
  for (const bool lasting : {false, true}) fail_every_allocation(name, scenario, lasting);
}

}  // namespace zerorun::test
