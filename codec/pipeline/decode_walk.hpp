// One image through a decode pipeline: headers, scans in order, output. Shared by Decoder and the
// CUDA backend's DeviceDecoder.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "codec/base/try.hpp"
#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/syntax/header_parser.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun {

/// The planes of such a frame are the components of the stream, sample for sample.
bool planes_match(const FrameHeader& frame, ColorModel model, PixelFormat format);

/// Checks everything but backend and device.
Status validate_params(const DecodeParams& params);

/// Decodes the parser's current scan, and moves the parser behind the data of the scan.
Status walk_scan(DecodePipeline& pipeline, std::span<const std::byte> jpeg, HeaderParser& parser,
                 DecodeReport& report);

/// As walk_scan(), but the scan of a progressive frame is put off.
void put_off_scan(std::span<const std::byte> jpeg, HeaderParser& parser,
                  std::vector<FrameScan>& scans);
/// Decodes them; `first_problem` becomes the one that lies first in the stream.
Status decode_put_off(DecodePipeline& pipeline, const FrameHeader& frame,
                      std::span<const FrameScan> scans, DecodeReport& report);

/// Calls begin(parser) when the frame header is known, before the first scan, and finish(parser)
/// after the last one.
template <typename Begin, typename Finish>
Result<DecodeReport> walk_image(DecodePipeline& pipeline, const DecodeParams& params,
                                std::span<const std::byte> jpeg, const Begin& begin,
                                const Finish& finish) {
  HeaderParser parser(jpeg, params.limits);
  ZR_TRY(parser.start());
  DecodeReport report;
  bool begun = false;
  std::vector<FrameScan> scans;
  for (;;) {
    const auto more = parser.next_scan();
    if (!more) return more.status();
    if (!*more) break;
    if (!begun) {
      ZR_TRY(begin(parser));
      begun = true;
    }
    if (parser.frame().progressive)
      put_off_scan(jpeg, parser, scans);
    else
      ZR_TRY(walk_scan(pipeline, jpeg, parser, report));
  }
  // What was never sent is as much concealed as what was damaged: one interval of the component.
  report.intervals += parser.unsent_components();
  report.concealed_intervals += parser.unsent_components();
  report.bytes_consumed = parser.position();
  report.first_problem = parser.problem();
  if (!scans.empty()) ZR_TRY(decode_put_off(pipeline, parser.frame(), scans, report));
  if (params.strict && !report.first_problem) return report.first_problem;
  ZR_TRY(finish(parser));
  return report;
}

/// Decodes into a frame. `target` provides the frame for the image's size, or an error; `finish`
/// fills it.
template <typename Target, typename Finish>
Result<DecodeReport> walk_frame(DecodePipeline& pipeline, const DecodeParams& params,
                                std::span<const std::byte> jpeg, const Target& target,
                                const Finish& finish) {
  FrameView out;
  return walk_image(
      pipeline, params, jpeg,
      [&](const HeaderParser& parser) -> Status {
        const FrameHeader& frame = parser.frame();
        const ColorModel model = parser.color_model();
        ZR_TRY(target(frame.width, frame.height, out));
        const bool direct = planes_match(frame, model, out.format);
        if (out.format == PixelFormat::cmyk32 && !has_inks(model))
          return Status(Errc::pixel_format, "cmyk32 is for CMYK and YCCK");
        const bool has_luma = model == ColorModel::gray || model == ColorModel::ycbcr;
        const bool luma_only = out.format == PixelFormat::gray8 && has_luma;
        ZR_TRY(pipeline.begin_planes(frame, direct ? &out : nullptr, luma_only));
        pipeline.expect_frame(model, params.upsampling, out);
        return Status::ok();
      },
      [&](const HeaderParser& parser) {
        return finish(parser.color_model(), params.upsampling, out);
      });
}

/// Errc::invalid_frame if the caller's frame does not have the size of the image.
Status check_frame_size(const FrameView& frame, int image_width, int image_height);

}  // namespace zerorun
