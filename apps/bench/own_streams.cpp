// The streams of a JPEG input as they are, and what the CPU makes of them.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <utility>

#include "apps/bench/frame_set.hpp"
#include "apps/bench/libjpeg_coder.hpp"
#include "apps/common/console.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/pixel_limit.hpp"

namespace zerorun::app::bench {
namespace {

/// The planar format that holds the stream's own samples.
Result<PixelFormat> stored_format(const StreamInfo& info) {
  if (info.color == ColorModel::gray) return PixelFormat::gray8;
  if (info.color == ColorModel::ycbcr && info.subsampling) return planar_format(*info.subsampling);
  return Status(Errc::pixel_format,
                "no planar layout holds its components; --pixels rgb24 or bgr24 takes it");
}

/// Decoders differ in what they make of a damaged stream, and its times say nothing.
Status check_by_libjpeg(std::span<const std::byte> jpeg, const ConstFrameView& like) {
  if (libjpeg_version().empty() || !libjpeg_takes(like.format)) return Status::ok();
  auto picture = PaddedFrame::create(like.format, like.width, like.height);
  if (!picture) return picture.status();
  Status status = LibjpegDecoder().decode(jpeg, picture->view());
  return status ? status : Status(status.code(), "libjpeg-turbo: " + status.message());
}

Result<PaddedFrame> decode(Decoder& decoder, std::span<const std::byte> jpeg,
                           const std::optional<PixelFormat>& wanted) {
  const auto info = inspect(jpeg, decoder.params().limits);
  if (!info) return info.status();
  const auto format = wanted ? Result<PixelFormat>(*wanted) : stored_format(*info);
  if (!format) return format.status();
  auto frame = Frame::create(*format, info->width, info->height);
  if (!frame) return frame.status();
  if (const auto report = decoder.decode(jpeg, frame->view()); !report) return report.status();
  if (Status status = check_by_libjpeg(jpeg, frame->view()); !status) return status;
  return PaddedFrame::copy_of(std::as_const(*frame).view());
}

bool same_shape(const ConstFrameView& a, const ConstFrameView& b) noexcept {
  return a.format == b.format && a.width == b.width && a.height == b.height;
}

}  // namespace

FrameSet load_streams(const FrameRequest& request) {
  const std::string& input = request.input;
  auto opened = io::open_packets({input, "", {}}, {});
  if (!opened && opened.status().code() == Errc::unknown_format)
    fail(Exit::input, "--streams input: '" + input + "' is neither JPEG nor Motion JPEG");
  auto source = value_or_fail(std::move(opened), Exit::input, input);
  DecodeParams params;
  params.backend = Backend::cpu;
  params.strict = true;  // peers conceal damage in other ways
  params.limits = stream_limits(request.max_pixels);
  auto decoder = value_or_fail(Decoder::create(params), Exit::failed, input);
  FrameSet set{input, {}, {}, request.mixed};
  std::vector<std::byte> jpeg;
  io::FrameTime time;
  int others = 0, refused = 0;
  Status why;
  std::string whose;
  while (set.size() < request.count &&
         value_or_fail(source->read(jpeg, time), Exit::input, input)) {
    auto frame = decode(decoder, jpeg, request.format);
    if (!frame) {
      if (refused++ == 0) {
        why = frame.status();
        whose = source->last_name();
      }
    } else if (!request.mixed && set.size() > 0 &&
               !same_shape(std::as_const(*frame).view(), set.view(0))) {
      ++others;
    } else {
      set.frames.push_back(*std::move(frame));
      set.streams.push_back(jpeg);
    }
  }
  if (refused > 0 && set.frames.empty()) fail_input(whose, why, true);
  if (refused > 0)
    console::note(fmt::format("{} image{} left out; {}: {}{}", refused,
                              refused == 1 ? " is" : "s are", whose, why.message(),
                              max_pixels_hint(why)));
  if (others > 0)
    console::note(
        fmt::format("{}: {} image{} of another size or sampling than the first and left "
                    "out; --mixed takes all",
                    input, others, others == 1 ? " is" : "s are"));
  if (set.frames.empty()) fail(Exit::input, input + ": there are no images");
  return set;
}

}  // namespace zerorun::app::bench
