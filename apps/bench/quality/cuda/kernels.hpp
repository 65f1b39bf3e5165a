// The kernels of the GPU's meter. All pointers are to device memory, work is enqueued on the stream
// of the current device.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/bench/quality/cuda/window_tile.hpp"
#include "apps/bench/quality/hvs_block.hpp"
#include "apps/bench/quality/pixel_rules.hpp"
#include "apps/bench/quality/score_sums.hpp"
#include "zerorun/status.hpp"

namespace zerorun::rd {

/// Luma, linear light and XYB of `rgb`: 3 bytes a pixel, no gaps. Three planes, one behind another,
/// are [3][pixels].
struct FirstPlanes {
  const std::uint8_t* rgb;
  const LinearTable* table;
  float root;  ///< xyb_root()
  std::int64_t pixels;
  float *luma, *linear, *xyb;
};
Status make_first_planes(const FirstPlanes& planes, cudaStream_t stream);

/// A plane to one of half its size. `out` is none of `in`.
Status halve(const float* in, Size size, float* out, Size half, cudaStream_t stream);

/// Three planes of linear light, and their XYB.
struct LinearHalves {
  const float* in;
  Size size, half;
  float *linear, *xyb;
  float root;
};
Status halve_linear(const LinearHalves& planes, cudaStream_t stream);

/// Memory for what CTAs add up, before it becomes one sum.
struct PartialSums {
  double* data;
  cudaStream_t stream;
};
/// Elements that pictures of a size need.
std::int64_t partial_sums(Size size);

/// Writes a sum of ScoreSums each: squares, masked, ssim[scale], features[scale] of three
/// components. The order of additions depends on the size alone. `planes` of the last have three
/// planes each.
Status add_squares(const PlanePair& luma, const PartialSums& partial, double* out);
Status add_masked(const PlanePair& luma, const HvsTables* tables, const PartialSums& partial,
                  double* out);
Status add_similarities(const PlanePair& luma, const PartialSums& partial, double* out);
Status add_feature_errors(const PlanePair& xyb, const PartialSums& partial, double* out);

/// Adds up `values` rows of `count` partial sums.
Status add_partials(const PartialSums& partial, int values, std::int64_t count, double* out);

}  // namespace zerorun::rd
