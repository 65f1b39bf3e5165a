// The ends of run_pipeline(): what it tells the steps that wait for other frames.
// SPDX-License-Identifier: MIT
#include "apps/common/frame_pipeline.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

namespace zerorun::app {
namespace {

struct TestJob {
  struct {
    std::int64_t index = 0;
    std::shared_ptr<void> held;
  } out;
  static std::string name() { return "a frame"; }
};

TEST(FramePipeline, StepsThatWaitForLeftOutFramesAreTold) {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_over = false, waits = false;
  int told = 0;
  const PipelineSteps<TestJob> steps = {
      .read = [](TestJob&) -> Result<bool> { return true; },
      .load = [](TestJob&, int) { return Status::ok(); },
      .code =
          [&](TestJob& job, int) {
            std::unique_lock lock(mutex);
            if (job.out.index == 1) {  // as if it needed the size of a frame that is left out
              waits = true;
              changed.notify_all();
              changed.wait(lock, [&] { return is_over; });
            }
            return Status::ok();
          },
      .write =
          [&](TestJob&) {
            std::unique_lock lock(mutex);
            changed.wait(lock, [&] { return waits; });
            return Status(Errc::write_failed);
          },
      .over =
          [&] {
            const std::lock_guard lock(mutex);
            is_over = true;
            ++told;
            changed.notify_all();
          }};
  const PipelineEnd end = run_pipeline<TestJob>(3, steps);
  EXPECT_EQ(end.status.code(), Errc::write_failed);
  EXPECT_EQ(end.frames, 0);
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace zerorun::app
