// Runs a scenario once for each CUDA call that it makes, which fails.
// SPDX-License-Identifier: MIT
#include "tests/faults/fail_every_call.hpp"

namespace zerorun::test {
namespace {

bool is_of_the_device(Errc code) {
  return group(code) == ErrorGroup::device || code == Errc::out_of_memory;
}

const char* name(How how) {
  return how == How::memory ? "memory" : how == How::call ? "call" : "fault";
}

}  // namespace

void fail_every_call(const std::string& what, const std::function<Status()>& scenario) {
  for (const How how : {How::call, How::memory, How::fault}) {
    stand_in::fail_at(0, how);
    (void)scenario();  // what stays for the whole process is made here
    stand_in::fail_at(0, how);
    (void)scenario();
    const long all = stand_in::calls();
    ASSERT_GT(all, 10) << what;
    for (long number = 1; number <= all; ++number) {
      SCOPED_TRACE(what + ", call " + std::to_string(number) + " of " + std::to_string(all) + ", " +
                   name(how));
      const long before = stand_in::live();
      stand_in::fail_at(number, how);
      const Status status = scenario();
      stand_in::fail_at(0, how);
      EXPECT_TRUE(status.is_ok() || is_of_the_device(status.code())) << status.message();
      EXPECT_FALSE(!status.is_ok() && status.message().empty());
      EXPECT_EQ(stand_in::live(), before) << "memory, streams or events are lost";
      if (testing::Test::HasFailure()) return;
    }
    std::printf("%s: %ld calls fail, %s\n", what.c_str(), all, name(how));
  }
}

}  // namespace zerorun::test
