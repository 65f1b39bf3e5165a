// A capture that goes on in another thread.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "cuda/base/memory.hpp"

namespace zerorun::test {

/// In the mode in which CUDA refuses some calls to all threads. Fails the test if it is disturbed.
class CaptureOfAnotherThread {
 public:
  CaptureOfAnotherThread() : thread_([this] { capture(); }) { begun_.get_future().wait(); }
  ~CaptureOfAnotherThread() { end(); }
  void end() {
    if (!thread_.joinable()) return;
    enough_.set_value();
    thread_.join();
  }

 private:
  void capture() {
    Stream stream;
    EXPECT_TRUE(stream.create());
    EXPECT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), cudaSuccess);
    begun_.set_value();
    enough_.get_future().wait();
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  }

  std::promise<void> begun_, enough_;
  std::thread thread_;  // the last: it uses the others
};

}  // namespace zerorun::test
