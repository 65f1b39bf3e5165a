// What zerorundec announces downstream.
// SPDX-License-Identifier: MIT
#include "io/gstreamer/decoder_output.hpp"

#include "io/gstreamer/video_formats.hpp"

namespace zerorun::gst {
namespace {

GstVideoFormat choose_format(GstVideoDecoder* decoder, const StreamInfo& stream) {
  const GstVideoFormat native = native_format(stream);
  GstCaps* allowed = gst_pad_get_allowed_caps(GST_VIDEO_DECODER_SRC_PAD(decoder));
  if (allowed == nullptr) return native;
  GstCaps* wanted = gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING,
                                        gst_video_format_to_string(native), nullptr);
  GstVideoFormat format = native;
  if (!gst_caps_can_intersect(allowed, wanted) && !gst_caps_is_empty(allowed)) {
    allowed = gst_caps_fixate(allowed);
    const char* name = gst_structure_get_string(gst_caps_get_structure(allowed, 0), "format");
    if (name != nullptr) format = gst_video_format_from_string(name);
  }
  gst_caps_unref(wanted);
  gst_caps_unref(allowed);
  return pixel_format(format) ? format : native;
}

bool is_announced(GstVideoDecoder* decoder, GstVideoFormat format, const StreamInfo& stream) {
  GstVideoCodecState* state = gst_video_decoder_get_output_state(decoder);
  if (state == nullptr) return false;
  const GstVideoInfo& info = state->info;
  const bool same = info.width == stream.width && info.height == stream.height &&
                    GST_VIDEO_INFO_FORMAT(&info) == format;
  gst_video_codec_state_unref(state);
  return same;
}

bool has_pixel_aspect(const GstVideoCodecState* input) {
  return input != nullptr && input->caps != nullptr &&
         gst_structure_has_field(gst_caps_get_structure(input->caps, 0), "pixel-aspect-ratio");
}

}  // namespace

bool negotiate_output(GstVideoDecoder* decoder, const StreamInfo& stream,
                      GstVideoCodecState* input) {
  const GstVideoFormat format = choose_format(decoder, stream);
  if (is_announced(decoder, format, stream)) return true;
  GstVideoCodecState* output = gst_video_decoder_set_output_state(
      decoder, format, static_cast<guint>(stream.width), static_cast<guint>(stream.height), input);
  set_jpeg_colorimetry(output->info);
  if (!has_pixel_aspect(input)) {
    output->info.par_n = stream.pixel_aspect_x;
    output->info.par_d = stream.pixel_aspect_y;
  }
  gst_video_codec_state_unref(output);
  return gst_video_decoder_negotiate(decoder) != FALSE;
}

}  // namespace zerorun::gst
