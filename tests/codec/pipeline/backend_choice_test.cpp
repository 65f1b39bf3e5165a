// When the CPU takes the place of CUDA.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/backend_choice.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace zerorun {
namespace {

/// Makes an int with a CUDA that fails; remembers what was tried.
struct Maker {
  bool cpu_fails = false;
  std::vector<Backend>* tried;

  Result<int> operator()(Backend backend) const {
    tried->push_back(backend);
    if (backend == Backend::cuda) return Status(Errc::device_failure, "no memory on the device");
    if (cpu_fails) return Status(Errc::out_of_memory, "no memory on the host");
    return 7;
  }
};

TEST(BackendChoice, TheCpuTakesThePlaceOfCudaOnlyWhereTheChoiceIsAutomatic) {
  std::vector<Backend> tried;
  const auto automatic = make_with_backend(Backend::automatic, Backend::cuda, Maker{false, &tried});
  ASSERT_TRUE(automatic) << automatic.status().message();
  EXPECT_EQ(*automatic, 7);
  EXPECT_EQ(tried, (std::vector{Backend::cuda, Backend::cpu}));

  tried.clear();
  const auto wanted = make_with_backend(Backend::cuda, Backend::cuda, Maker{false, &tried});
  EXPECT_EQ(wanted.status().code(), Errc::device_failure);
  EXPECT_EQ(tried, std::vector{Backend::cuda});
}

TEST(BackendChoice, TheCpuIsTriedOnce) {
  std::vector<Backend> tried;
  const auto none = make_with_backend(Backend::automatic, Backend::cpu, Maker{true, &tried});
  EXPECT_EQ(none.status().code(), Errc::out_of_memory);
  EXPECT_EQ(tried, std::vector{Backend::cpu});
}

}  // namespace
}  // namespace zerorun
