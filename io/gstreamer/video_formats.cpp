// GStreamer's raw video in zerorun's types.
// SPDX-License-Identifier: MIT
#include "io/gstreamer/video_formats.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace zerorun::gst {
namespace {

struct FormatPair {
  GstVideoFormat gst;
  PixelFormat zerorun;
};
constexpr FormatPair kFormats[] = {
    {GST_VIDEO_FORMAT_I420, PixelFormat::yuv420p}, {GST_VIDEO_FORMAT_YV12, PixelFormat::yuv420p},
    {GST_VIDEO_FORMAT_NV12, PixelFormat::nv12},    {GST_VIDEO_FORMAT_NV21, PixelFormat::nv21},
    {GST_VIDEO_FORMAT_Y42B, PixelFormat::yuv422p}, {GST_VIDEO_FORMAT_Y444, PixelFormat::yuv444p},
    {GST_VIDEO_FORMAT_Y41B, PixelFormat::yuv411p}, {GST_VIDEO_FORMAT_YUY2, PixelFormat::yuyv},
    {GST_VIDEO_FORMAT_UYVY, PixelFormat::uyvy},    {GST_VIDEO_FORMAT_GRAY8, PixelFormat::gray8},
    {GST_VIDEO_FORMAT_RGB, PixelFormat::rgb24},    {GST_VIDEO_FORMAT_BGR, PixelFormat::bgr24},
    {GST_VIDEO_FORMAT_RGBx, PixelFormat::rgbx32},  {GST_VIDEO_FORMAT_BGRx, PixelFormat::bgrx32},
    {GST_VIDEO_FORMAT_xRGB, PixelFormat::xrgb32},  {GST_VIDEO_FORMAT_xBGR, PixelFormat::xbgr32}};

io::LumaWeights weights_of(GstVideoColorMatrix matrix) noexcept {
  switch (matrix) {
    case GST_VIDEO_COLOR_MATRIX_BT709:
      return io::kBt709;
    case GST_VIDEO_COLOR_MATRIX_BT2020:
      return io::kBt2020;
    case GST_VIDEO_COLOR_MATRIX_FCC:
      return io::kFcc;
    case GST_VIDEO_COLOR_MATRIX_SMPTE240M:
      return io::kSmpte240m;
    case GST_VIDEO_COLOR_MATRIX_BT601:
    case GST_VIDEO_COLOR_MATRIX_UNKNOWN:
    case GST_VIDEO_COLOR_MATRIX_RGB:
      break;
  }
  return io::kBt601;
}

}  // namespace

GstCaps* raw_caps() {
  GstVideoFormat formats[std::size(kFormats)];
  std::ranges::transform(kFormats, formats, &FormatPair::gst);
  GstCaps* caps = gst_video_make_raw_caps(formats, std::size(formats));
  gst_caps_set_simple(caps, "width", GST_TYPE_INT_RANGE, 1, kMaxDimension, "height",
                      GST_TYPE_INT_RANGE, 1, kMaxDimension, nullptr);
  return caps;
}

std::optional<PixelFormat> pixel_format(GstVideoFormat format) noexcept {
  for (const FormatPair& pair : kFormats)
    if (pair.gst == format) return pair.zerorun;
  return std::nullopt;
}

GstVideoFormat native_format(const StreamInfo& stream) noexcept {
  if (stream.color == ColorModel::rgb) return GST_VIDEO_FORMAT_RGB;
  switch (stream.subsampling.value_or(Subsampling::s444)) {
    case Subsampling::s420:
      return GST_VIDEO_FORMAT_I420;
    case Subsampling::s422:
      return GST_VIDEO_FORMAT_Y42B;
    case Subsampling::s411:
      return GST_VIDEO_FORMAT_Y41B;
    case Subsampling::gray:
      return GST_VIDEO_FORMAT_GRAY8;
    case Subsampling::s444:
    case Subsampling::s440:
      break;
  }
  return GST_VIDEO_FORMAT_Y444;
}

FrameView view_of(const GstVideoFrame& frame, PixelFormat format) noexcept {
  FrameView view{format, GST_VIDEO_FRAME_WIDTH(&frame), GST_VIDEO_FRAME_HEIGHT(&frame), {}, {}};
  // By component: YV12 stores Cr first.
  const bool planar = is_planar_yuv(format);
  for (int p = 0; p < plane_count(format); ++p) {
    const auto plane = static_cast<std::size_t>(p);
    view.data[plane] = static_cast<std::uint8_t*>(planar ? GST_VIDEO_FRAME_COMP_DATA(&frame, p)
                                                         : GST_VIDEO_FRAME_PLANE_DATA(&frame, p));
    view.stride_bytes[plane] =
        planar ? GST_VIDEO_FRAME_COMP_STRIDE(&frame, p) : GST_VIDEO_FRAME_PLANE_STRIDE(&frame, p);
  }
  return view;
}

Result<io::YccCoding> coding_of(const GstVideoInfo& info) {
  io::YccCoding coding;
  coding.full_range = info.colorimetry.range != GST_VIDEO_COLOR_RANGE_16_235;
  if (GST_VIDEO_INFO_IS_RGB(&info) && !coding.full_range)
    return Status(Errc::invalid_frame,
                  "limited-range RGB is not supported; put videoconvert before the encoder");
  // The matrix does not matter for grey.
  if (GST_VIDEO_INFO_IS_YUV(&info)) coding.weights = weights_of(info.colorimetry.matrix);
  return coding;
}

}  // namespace zerorun::gst
