// Runs a scenario once for each CUDA call that it makes, which fails.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/faults/stand_in_cudart.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {

using stand_in::How;

/// Where the real runtime is wrapped there has to be a GPU.
class CudaFault : public testing::Test {
 protected:
  void SetUp() override {
    const std::string absence = stand_in::computes() ? gpu_absence() : "";
    if (absence.empty()) return;
    if (gpu_required()) FAIL() << "ZERORUN_REQUIRE_GPU=1, but there is no GPU: " << absence;
    GTEST_SKIP() << "needs a GPU: " << absence;
  }
};

inline const TestFrame& faulty_picture() {
  static const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 200, 120, 1);
  return frame;
}

inline EncodeParams fault_params(Backend backend) {
  EncodeParams params;
  params.backend = backend;
  params.threads = 1;
  return params;
}

inline std::vector<std::byte> cpu_stream(EncodeParams params = {}) {
  params.backend = Backend::cpu;
  params.threads = 1;
  std::vector<std::byte> jpeg;
  EXPECT_TRUE(Encoder::create(params)->encode(faulty_picture().view(), jpeg).is_ok());
  return jpeg;
}

/// A call of a coder: an error where work was lost, success where the failure is over, and where it
/// says that all is well, `is_right` holds (kernels without a GPU do nothing).
inline Status judged(const std::function<Status()>& call, const std::function<bool()>& is_right) {
  const bool is_over = stand_in::is_over();
  const Status status = call();
  if (stand_in::has_lost_work()) {
    EXPECT_FALSE(status.is_ok()) << "the device is dead";
  }
  if (is_over) {
    EXPECT_TRUE(status.is_ok()) << "after the failure: " << status.message();
  }
  if (status.is_ok() && stand_in::computes()) {
    EXPECT_TRUE(is_right()) << "ok, and wrong";
  }
  return status;
}

/// `scenario` gives the status of its last call.
void fail_every_call(const std::string& what, const std::function<Status()>& scenario);

}  // namespace zerorun::test
