// One image through a decode pipeline: headers, scans in order, output. Shared by Decoder and the
// CUDA backend's DeviceDecoder.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "codec/base/try.hpp"
#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/syntax/header_parser.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun {

// Scaled and region decoding: which blocks of an image are wanted, and how large their samples are.

/// What is decoded for a region is its window: the MCUs that it touches, and those around it that
/// the filters for chroma read. Planes and the frame that is made of them are the window's; the
/// region is then copied out of that frame.
struct ImagePart {
  /// The frame header of a picture that is the window: sizes, sampling factors after scaling, and
  /// where the components' planes begin.
  FrameHeader window;
  /// In libjpeg, a picture of 1/8 is enlarged by repetition.
  bool can_be_fancy = true;
  ImageSize size;          ///< of the frame that the caller gets
  int x = 0, y = 0;        ///< of the region in the window
  bool is_region = false;  ///< false: the frame is the window
};

/// Errc::invalid_argument with a sentence: a scale or a region that no picture has.
Status validate_part(int scale, const Region& region);

/// Errors: invalid_argument if the region goes beyond the picture; limit-free otherwise.
Result<ImagePart> image_part(const FrameHeader& frame, int scale, const Region& region);

/// Errc::invalid_argument for yuyv and uyvy if the region begins at an odd column.
Status check_region_format(const ImagePart& part, PixelFormat format);

/// Bytes of a plane's row before the region, and rows before it.
struct PlaneOffset {
  std::ptrdiff_t bytes;
  int rows;
};
PlaneOffset region_offset(PixelFormat format, int plane, int x, int y);

/// Copies a region to a place in a frame of the same format; both in host memory.
void copy_region(const ConstFrameView& from, const Region& region, const FrameView& to,
                 int to_x = 0, int to_y = 0);

// One image.

/// The planes of such a frame are the components of the stream, sample for sample.
bool planes_match(const FrameHeader& frame, ColorModel model, PixelFormat format);

/// Checks everything but backend and device.
Status validate_params(const DecodeParams& params);

/// Decodes the parser's current scan, and moves the parser behind the data of the scan.
Status walk_scan(DecodePipeline& pipeline, std::span<const std::byte> jpeg, HeaderParser& parser,
                 DecodeReport& report);

/// As walk_scan(), but the scan is put off: that of a progressive frame, and that of a frame which
/// is coded again.
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
  // A component that was never sent counts as one concealed interval.
  report.intervals += parser.unsent_components();
  report.concealed_intervals += parser.unsent_components();
  report.bytes_consumed = parser.position();
  report.first_problem = parser.problem();
  if (!scans.empty()) ZR_TRY(decode_put_off(pipeline, parser.frame(), scans, report));
  if (params.strict && !report.first_problem) return report.first_problem;
  ZR_TRY(finish(parser));
  return report;
}

inline bool wants_part(const DecodeParams& params) {
  return params.scale != 1 || !(params.region == Region());
}

/// The frame of a region's window in host memory. Keeps its memory.
class HostWindow {
 public:
  Status reserve(PixelFormat format, int width, int height, FrameView& window) {
    ZR_TRY(frame_.reshape(format, width, height));
    window = frame_.view();
    return Status::ok();
  }
  Status copy(const ImagePart& part, const FrameView& window, const FrameView& out) {
    copy_region(window, {part.x, part.y, out.width, out.height}, out);
    return Status::ok();
  }

 private:
  Frame frame_;
};

/// Decodes into a frame. `target` provides the frame for the size of what is wanted, or an error;
/// `finish` fills it, or the frame of a region's window, which is `window`'s.
template <typename Target, typename Finish, typename Window>
Result<DecodeReport> walk_frame(DecodePipeline& pipeline, const DecodeParams& params,
                                std::span<const std::byte> jpeg, const Target& target,
                                const Finish& finish, Window& window) {
  FrameView out, made;
  std::optional<ImagePart> part;
  ChromaUpsampling upsampling = params.upsampling;
  return walk_image(
      pipeline, params, jpeg,
      [&](const HeaderParser& parser) -> Status {
        if (wants_part(params)) {
          ZR_LET(chosen, image_part(parser.frame(), params.scale, params.region));
          part = std::move(chosen);
          if (!part->can_be_fancy) upsampling = ChromaUpsampling::nearest;
        }
        const FrameHeader& frame = part ? part->window : parser.frame();
        const ImageSize size = part ? part->size : ImageSize{frame.width, frame.height};
        ZR_TRY(target(size.width, size.height, out));
        made = out;
        if (part && part->is_region) {
          ZR_TRY(check_region_format(*part, out.format));
          ZR_TRY(window.reserve(out.format, frame.width, frame.height, made));
        }
        const ColorModel model = parser.color_model();
        if (made.format == PixelFormat::cmyk32 && !has_inks(model))
          return Status(Errc::pixel_format, "cmyk32 is for CMYK and YCCK");
        const bool direct = planes_match(frame, model, made.format);
        const bool has_luma = model == ColorModel::gray || model == ColorModel::ycbcr;
        const bool luma_only = made.format == PixelFormat::gray8 && has_luma;
        ZR_TRY(pipeline.begin_planes(frame, direct ? &made : nullptr, luma_only));
        pipeline.expect_frame(model, upsampling, made);
        return Status::ok();
      },
      [&](const HeaderParser& parser) -> Status {
        ZR_TRY(finish(parser.color_model(), upsampling, made));
        return part && part->is_region ? window.copy(*part, made, out) : Status::ok();
      });
}

/// Errc::invalid_frame if the caller's frame does not have the size of the image.
Status check_frame_size(const FrameView& frame, int image_width, int image_height);

}  // namespace zerorun
