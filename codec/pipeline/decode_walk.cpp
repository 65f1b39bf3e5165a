// One image through a decode pipeline: headers, scans in order, output.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/decode_walk.hpp"

#include <string>

#include "codec/base/thread_pool.hpp"
#include "codec/base/try.hpp"
#include "codec/decode/byte_unstuff.hpp"
#include "codec/pipeline/cpu_choice.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun {

bool planes_match(const FrameHeader& frame, ColorModel model, PixelFormat format) {
  if (!is_planar_yuv(format)) return false;
  if (model == ColorModel::gray) return format == PixelFormat::gray8;
  if (model != ColorModel::ycbcr || format == PixelFormat::gray8) return false;
  return has_sampling(frame.components, luma_factors(native_subsampling(format)));
}

Status validate_params(const DecodeParams& params) {
  ZR_TRY(validate_threads(params.threads));
  if (params.limits.max_pixels < 1 || params.limits.max_scans < 1 ||
      params.limits.max_header_bytes < 1)
    return Status(Errc::invalid_argument, "a limit is below 1");
  ZR_TRY(validate_part(params.scale, params.region));
  return validate_instruction_set(params.instruction_set);
}

namespace {

/// From the scan's first byte to the end of the stream.
std::span<const std::uint8_t> data_from(std::span<const std::byte> jpeg, const ScanHeader& scan) {
  return {reinterpret_cast<const std::uint8_t*>(jpeg.data()) + scan.data_offset,
          jpeg.size() - scan.data_offset};
}

void count(const ScanOutcome& outcome, DecodeReport& report) {
  report.intervals += outcome.intervals;
  report.concealed_intervals += outcome.concealed_intervals;
  report.cpu_scans += outcome.on_cpu ? 1 : 0;
}

/// The problem of a scan that begins at `start`, by its place in the stream.
Status in_stream(const Status& problem, std::size_t start) {
  if (problem) return problem;
  return Status(problem.code(), problem.detail())
      .at_byte(static_cast<std::int64_t>(start) + problem.byte_offset())
      .in_interval(problem.restart_interval());
}

}  // namespace

Status walk_scan(DecodePipeline& pipeline, std::span<const std::byte> jpeg, HeaderParser& parser,
                 DecodeReport& report) {
  const std::size_t start = parser.scan().data_offset;
  ScanOutcome outcome;
  ZR_TRY(pipeline.decode_scan(parser.scan(), data_from(jpeg, parser.scan()), outcome));
  parser.resume_at(start + outcome.consumed_bytes);
  count(outcome, report);
  if (!outcome.problem) parser.note_problem(in_stream(outcome.problem, start));
  return Status::ok();
}

void put_off_scan(std::span<const std::byte> jpeg, HeaderParser& parser,
                  std::vector<FrameScan>& scans) {
  const auto data = data_from(jpeg, parser.scan());
  const std::size_t end = entropy_end(data);
  scans.push_back({parser.scan(), data.first(end)});
  parser.resume_at(parser.scan().data_offset + end);
}

Status decode_put_off(DecodePipeline& pipeline, const FrameHeader& frame,
                      std::span<const FrameScan> scans, DecodeReport& report) {
  std::vector<ScanOutcome> outcomes(scans.size());
  if (frame.progressive) {
    ZR_TRY(pipeline.decode_progressive(frame, scans, outcomes));
  } else {
    for (std::size_t s = 0; s < scans.size(); ++s)
      ZR_TRY(pipeline.decode_scan(scans[s].header, scans[s].data, outcomes[s]));
  }
  for (std::size_t s = 0; s < scans.size(); ++s) {
    count(outcomes[s], report);
    const Status problem = in_stream(outcomes[s].problem, scans[s].header.data_offset);
    Status& first = report.first_problem;
    if (!problem && (first || problem.byte_offset() < first.byte_offset())) first = problem;
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
