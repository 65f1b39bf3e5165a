// When the CPU takes the place of CUDA.
// SPDX-License-Identifier: MIT
#include "codec/api/pipelines.hpp"

#include <gtest/gtest.h>

namespace zerorun {
namespace {

/// A pipeline that fails in a certain way, or not.
struct Fake {
  Errc failure;
  int runs = 0;
};

struct Fakes {
  explicit Fakes(Errc failure, bool has_spare = true)
      : pipelines(std::make_unique<Fake>(Fake{failure}), 0,
                  has_spare ? std::function([this]() -> Result<std::unique_ptr<Fake>> {
                    ++spares;
                    if (spare_fails) return Status(Errc::out_of_memory, "no spare");
                    return std::make_unique<Fake>(Fake{Errc::ok});
                  })
                            : nullptr) {}

  Status run() {
    return pipelines.run([&]() -> Status {
      ++pipelines.active().runs;
      return Status(pipelines.active().failure, "");
    });
  }

  int spares = 0;
  bool spare_fails = false;
  PipelineAndSpare<Fake> pipelines;
};

TEST(PipelineAndSpare, TheSpareTakesFramesWithWhichTheDeviceFails) {
  for (const Errc failure : {Errc::out_of_memory, Errc::device_failure}) {
    Fakes fakes(failure);
    EXPECT_TRUE(fakes.run());
    EXPECT_EQ(fakes.pipelines.active().runs, 1);
    EXPECT_EQ(fakes.pipelines.active().failure, Errc::ok);
    EXPECT_TRUE(fakes.run());
    EXPECT_EQ(fakes.pipelines.active().runs, 2) << "each frame is tried on the device first";
    EXPECT_EQ(fakes.spares, 1) << "the spare is made once";
  }
}

TEST(PipelineAndSpare, OtherErrorsAreThoseOfTheFrame) {
  for (const Errc failure : {Errc::ok, Errc::bad_huffman_code, Errc::output_too_small}) {
    Fakes fakes(failure);
    EXPECT_EQ(fakes.run().code(), failure);
    EXPECT_EQ(fakes.spares, 0);
  }
}

TEST(PipelineAndSpare, WithoutASpareTheErrorStays) {
  Fakes alone(Errc::device_failure, false);
  EXPECT_EQ(alone.run().code(), Errc::device_failure);
  Fakes failing(Errc::device_failure);
  failing.spare_fails = true;
  EXPECT_EQ(failing.run().code(), Errc::device_failure) << "the device's error, not the spare's";
}

}  // namespace
}  // namespace zerorun
