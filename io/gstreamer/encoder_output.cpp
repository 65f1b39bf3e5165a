// What zerorunenc says about its stream.
// SPDX-License-Identifier: MIT
#include "io/gstreamer/encoder_output.hpp"

#include <string>

#include "io/gstreamer/video_formats.hpp"

namespace zerorun::gst {
namespace {

/// jpegparse's words; size and rate are added by the base class.
GstCaps* output_caps(const EncodeParams& params, PixelFormat format) {
  const Subsampling sampling =
      params.subsampling.value_or(is_rgb(format) ? Subsampling::s420 : native_subsampling(format));
  const bool gray = sampling == Subsampling::gray;
  std::string word = gray ? "GRAYSCALE" : "YCbCr-";
  if (!gray) {
    const std::string_view digits = name(sampling);
    word += {digits[0], ':', digits[1], ':', digits[2]};
  }
  return gst_caps_new_simple("image/jpeg", "parsed", G_TYPE_BOOLEAN, TRUE, "sof-marker", G_TYPE_INT,
                             0, "colorspace", G_TYPE_STRING, gray ? "GRAY" : "sYUV", "sampling",
                             G_TYPE_STRING, word.c_str(), nullptr);
}

/// One lane is like an element that works in the streaming thread. With more of them an encoder
/// that keeps up may take as many frame times as there are lanes.
void announce_latency(GstVideoEncoder* encoder, const GstVideoInfo& info, int lanes) {
  if (info.fps_n < 1 || info.fps_d < 1) return;
  const GstClockTime latency =
      gst_util_uint64_scale(static_cast<guint64>(lanes - 1) * GST_SECOND,
                            static_cast<guint64>(info.fps_d), static_cast<guint64>(info.fps_n));
  gst_video_encoder_set_latency(encoder, latency, latency);
}

}  // namespace

void set_pixel_aspect(EncodeParams& params, const GstVideoInfo& info) noexcept {
  constexpr int kMax = 65535;
  if (info.par_n < 1 || info.par_d < 1 || info.par_n > kMax || info.par_d > kMax) return;
  params.pixel_aspect_x = info.par_n;
  params.pixel_aspect_y = info.par_d;
}

void announce_output(GstVideoEncoder* encoder, GstVideoCodecState* input,
                     const EncodeParams& params, int lanes) {
  const PixelFormat format = *pixel_format(GST_VIDEO_INFO_FORMAT(&input->info));
  GstVideoCodecState* output =
      gst_video_encoder_set_output_state(encoder, output_caps(params, format), input);
  // Whatever came in, this is what the stream holds; RGB becomes YCbCr too.
  output->info.colorimetry = {GST_VIDEO_COLOR_RANGE_0_255, GST_VIDEO_COLOR_MATRIX_BT601,
                              input->info.colorimetry.transfer, input->info.colorimetry.primaries};
  output->info.chroma_site = GST_VIDEO_CHROMA_SITE_JPEG;
  gst_video_codec_state_unref(output);
  announce_latency(encoder, input->info, lanes);
}

}  // namespace zerorun::gst
