// Turning, mirroring and cutting a picture by moving the blocks of its coefficients.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/base/thread_pool.hpp"
#include "codec/pipeline/coefficient_coder.hpp"
#include "codec/syntax/header_parser.hpp"
#include "zerorun/transcoder.hpp"

namespace zerorun {

/// What a LosslessTransform does to one frame.
struct TransformPlan {
  FrameHeader frame;  ///< of the new picture
  /// The blocks are first transposed, then mirrored.
  bool transposes = false, mirrors_x = false, mirrors_y = false;
  /// MCUs of the new frame: where it begins in the turned picture, and how many whole ones that
  /// has. Blocks behind the whole ones are not mirrored.
  std::int32_t first_x = 0, first_y = 0, whole_x = 0, whole_y = 0;
  bool moves_blocks = false;  ///< false: every block that is kept stays where it is
};

/// `orientation` is EXIF's. Errors: invalid_argument (crop, edges), pixel_format (gray).
Result<TransformPlan> plan_transform(const FrameHeader& frame, ColorModel model,
                                     const LosslessTransform& transform, int orientation);

/// `from` has the frame of the plan's source; `to` gets that of the plan.
void transform_blocks(const TransformPlan& plan, const StoredFrame& from, ThreadPool& pool,
                      StoredFrame& to);

}  // namespace zerorun
