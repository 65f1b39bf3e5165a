// One image through a decode pipeline: headers, scans in order, output.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/decode_walk.hpp"

#include <string>

#include "codec/base/thread_pool.hpp"
#include "codec/base/try.hpp"
#include "codec/pipeline/cpu_choice.hpp"
#include "codec/syntax/sampling.hpp"

namespace zerorun {

bool planes_match(const FrameHeader& frame, ColorModel model, PixelFormat format) {
  if (!is_planar_yuv(format)) return false;
  if (model == ColorModel::gray) return format == PixelFormat::gray8;
  if (model == ColorModel::rgb || format == PixelFormat::gray8) return false;
  return has_sampling(frame.components, luma_factors(native_subsampling(format)));
}

Status validate_params(const DecodeParams& params) {
  ZR_TRY(validate_threads(params.threads));
  if (params.limits.max_pixels < 1 || params.limits.max_scans < 1 ||
      params.limits.max_header_bytes < 1)
    return Status(Errc::invalid_argument, "a limit is below 1");
  return validate_instruction_set(params.instruction_set);
}

Status walk_scan(DecodePipeline& pipeline, std::span<const std::byte> jpeg, HeaderParser& parser,
                 DecodeReport& report) {
  const std::size_t start = parser.scan().data_offset;
  const std::span data(reinterpret_cast<const std::uint8_t*>(jpeg.data()) + start,
                       jpeg.size() - start);
  ScanOutcome outcome;
  ZR_TRY(pipeline.decode_scan(parser.scan(), data, outcome));
  parser.resume_at(start + outcome.consumed_bytes);
  report.intervals += outcome.intervals;
  report.concealed_intervals += outcome.concealed_intervals;
  report.cpu_scans += outcome.on_cpu ? 1 : 0;
  if (!outcome.problem) {
    const auto offset = static_cast<std::int64_t>(start) + outcome.problem.byte_offset();
    parser.note_problem(Status(outcome.problem.code(), outcome.problem.detail())
                            .at_byte(offset)
                            .in_interval(outcome.problem.restart_interval()));
  }
  return Status::ok();
}

Status check_frame_size(const FrameView& frame, int image_width, int image_height) {
  if (frame.width == image_width && frame.height == image_height) return Status::ok();
  return Status(Errc::invalid_frame, "the image is " + std::to_string(image_width) + "x" +
                                         std::to_string(image_height) + ", the frame is " +
                                         std::to_string(frame.width) + "x" +
                                         std::to_string(frame.height));
}

}  // namespace zerorun
