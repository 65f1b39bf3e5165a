// What the parity tests of the decode stages share: a stream with scratch memory, guarded device
// arrays, layouts and blocks.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "codec/arith/zigzag.hpp"
#include "codec/pipeline/encode_setup.hpp"
#include "codec/pipeline/stage_table.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/stages/stages_cuda.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/guarded_buffer.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {

/// In device memory, of exact size, poisoned, between canaries.
template <typename T>
class DeviceArray : public GuardedBuffer<T> {
 public:
  explicit DeviceArray(std::size_t size) : GuardedBuffer<T>(Memory::device, size) {}
  explicit DeviceArray(const std::vector<T>& values)
      : GuardedBuffer<T>(Memory::device, std::span<const T>(values)) {}
};

/// Runs a stage of the CUDA table on a stream of its own and waits for it.
class CudaRunner {
 public:
  CudaRunner() {
    const Status status = stream_.create();
    EXPECT_TRUE(status) << status.message();
    exec_ = cuda_exec(stream_.get(), scratch_);
  }

  template <typename Args>
  void operator()(Stage<Args> stage, const std::type_identity_t<Args>& args) {
    ASSERT_NE(stage, nullptr) << "the stage has no CUDA twin";
    const Status status = stage(args, exec_);
    EXPECT_TRUE(status) << status.message();
    EXPECT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
  }

 private:
  Stream stream_;
  Scratch scratch_;
  Exec exec_;
};

template <typename Args>
void run_cpu(Stage<Args> stage, const std::type_identity_t<Args>& args) {
  Exec exec;
  const Status status = stage(args, exec);
  EXPECT_TRUE(status) << status.message();
}

/// A frame's layout by sampling, size and restart interval.
inline ScanLayout layout_for(Subsampling sampling, int width, int height, int restart) {
  EncodeParams params;
  params.subsampling = sampling;
  params.restart = restart == 0 ? RestartPolicy::none() : RestartPolicy::mcus(restart);
  auto setup = make_encode_setup(params, PixelFormat::rgb24, width, height);
  EXPECT_TRUE(setup) << setup.status().message();
  return setup->layout;
}

/// A value of exactly so many magnitude bits, 1..15.
inline std::int16_t value_of_category(Random& random, int ssss) {
  const int magnitude = random.between(1 << (ssss - 1), (1 << ssss) - 1);
  return static_cast<std::int16_t>(random.below(2) == 0 ? magnitude : -magnitude);
}

/// Blocks in zig-zag order: every run length with and without an end, all zero, all dense, then
/// random densities.
inline std::vector<std::int16_t> hard_blocks(std::int64_t blocks, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int16_t> zz(static_cast<std::size_t>(blocks) * kBlockSize, 0);
  for (std::int64_t b = 0; b < blocks; ++b) {
    std::int16_t* block = zz.data() + b * kBlockSize;
    const auto kind = static_cast<int>(b % 200);
    block[0] = static_cast<std::int16_t>(random.between(-2047, 2047));
    if (kind < 126) {  // one coefficient behind a run of zeros; from 63 on the last one too
      block[1 + kind % 63] = value_of_category(random, random.between(1, 10));
      if (kind >= 63) block[63] = -1023;
    } else if (kind == 126) {
      for (int k = 1; k < kBlockSize; ++k) block[k] = static_cast<std::int16_t>(k % 2 ? -1023 : 1);
    } else if (kind > 127) {  // 127 is all zero
      const int density = random.between(1, 100);
      for (int k = 1; k < kBlockSize; ++k)
        if (random.below(100) < density)
          block[k] = value_of_category(random, random.between(1, 10));
    }
  }
  return zz;
}

/// The first `count` elements.
template <typename T>
std::vector<T> head(std::vector<T> values, std::size_t count) {
  values.resize(count);
  return values;
}

}  // namespace zerorun::test
