// Runs a scenario once for each of its allocations, which fails.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tests/faults/failing_memory.hpp"
#include "zerorun/status.hpp"

namespace zerorun::test {

/// A number that stands for the result of a scenario, so that keeping it takes no memory.
inline std::uint64_t digest(std::span<const std::byte> bytes,
                            std::uint64_t from = 0xCBF29CE484222325u) {
  for (const std::byte byte : bytes)
    from = (from ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3u;
  return from;
}

/// The status of the first call that did not work, and the digest of the result, 0 if there is
/// none.
struct Outcome {
  Status status;
  std::uint64_t result = 0;
};

/// An object whose call failed is asked again, with all the memory that it wants: that has to work.
template <typename Call>
Outcome called_until_it_works(const Call& call) {
  Outcome first = call();
  if (first.status.is_ok()) return first;
  memory::let_all_pass();
  Outcome second = call();
  EXPECT_TRUE(second.status.is_ok()) << "the next call: " << second.status.message();
  return {std::move(first.status), second.result};
}

/// Once and for ever: `scenario` ends well with its result, or with out_of_memory, and frees all it
/// took.
void fail_every_allocation(const std::string& name, const std::function<Outcome()>& scenario);

}  // namespace zerorun::test
