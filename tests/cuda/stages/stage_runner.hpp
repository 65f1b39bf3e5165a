// What the parity tests of the stages share: a stream with scratch memory, layouts and blocks.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "codec/arith/symbol.hpp"
#include "codec/arith/zigzag.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "codec/pipeline/stage_table.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/stages/stages_cuda.hpp"
#include "tests/cuda/device_memory.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {

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
  Exec& exec() { return exec_; }

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

inline EncodeSetup setup_for(const EncodeParams& params, PixelFormat format, int width,
                             int height) {
  auto setup = make_encode_setup(params, format, width, height);
  EXPECT_TRUE(setup) << setup.status().message();
  return *setup;
}

/// A frame's layout by sampling, size and restart interval.
inline ScanLayout layout_for(Subsampling sampling, int width, int height, int restart) {
  EncodeParams params;
  params.subsampling = sampling;
  params.restart = restart == 0 ? RestartPolicy::none() : RestartPolicy::mcus(restart);
  return setup_for(params, PixelFormat::rgb24, width, height).layout;
}

/// A value of exactly `ssss` magnitude bits, 1..15.
inline std::int16_t value_of_category(Random& random, int ssss) {
  const int magnitude = random.between(1 << (ssss - 1), (1 << ssss) - 1);
  return static_cast<std::int16_t>(random.below(2) == 0 ? magnitude : -magnitude);
}

/// Blocks in zig-zag order: every run length with and without an end, all zero, all dense, the
/// largest amplitudes, then random densities up to `blocks` in all. By default DC is what samples
/// can give; a difference has twice that range.
inline std::vector<std::int16_t> hard_blocks(std::int64_t blocks, std::uint64_t seed,
                                             int least_dc = -1024, int most_dc = 1023) {
  Random random(seed);
  std::vector<std::int16_t> zz(static_cast<std::size_t>(blocks) * kBlockSize, 0);
  for (std::int64_t b = 0; b < blocks; ++b) {
    std::int16_t* block = zz.data() + b * kBlockSize;
    const auto kind = static_cast<int>(b % 200);
    block[0] = static_cast<std::int16_t>(random.between(least_dc, most_dc));
    if (kind < 63) {  // one coefficient behind a run of `kind` zeros, the rest zero
      block[1 + kind] = value_of_category(random, random.between(1, 10));
    } else if (kind < 126) {  // the same with the last coefficient coded
      block[1 + kind - 63] = value_of_category(random, 10);
      block[63] = -1023;
    } else if (kind == 126) {
      for (int k = 1; k < kBlockSize; ++k)
        block[k] = static_cast<std::int16_t>(k % 2 == 0 ? 1023 : -1023);
    } else if (kind == 127) {
      for (int k = 1; k < kBlockSize; ++k) block[k] = 1;
    } else if (kind > 128) {  // 128 is all zero
      const int density = random.between(1, 100);
      for (int k = 1; k < kBlockSize; ++k)
        if (random.below(100) < density)
          block[k] = value_of_category(random, random.between(1, random.between(1, 10)));
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
