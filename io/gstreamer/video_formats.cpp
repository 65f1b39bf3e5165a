// GStreamer's raw video in zerorun's types, and what the elements negotiate: caps, colorimetry,
// latency, buffer pools, and what a payloader for RFC 2435 behind the encoder asks for.
// SPDX-License-Identifier: MIT
#include "io/gstreamer/video_formats.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>

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
    default:
      return io::kBt601;
  }
}

/// Full range BT.601.
void set_jpeg_colorimetry(GstVideoInfo& info, GstVideoTransferFunction transfer,
                          GstVideoColorPrimaries primaries) noexcept {
  info.chroma_site = GST_VIDEO_CHROMA_SITE_JPEG;
  info.colorimetry = {GST_VIDEO_COLOR_RANGE_0_255, GST_VIDEO_COLOR_MATRIX_BT601, transfer,
                      primaries};
}

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

/// Caps in the words of jpegparse. The base class adds size and rate.
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

/// With one lane the encoder is like an element that works in the streaming thread. With n lanes it
/// keeps up with the input even if a frame takes n frame times.
void announce_latency(GstVideoEncoder* encoder, const GstVideoInfo& info, int lanes) {
  if (info.fps_n < 1 || info.fps_d < 1) return;
  const GstClockTime latency =
      gst_util_uint64_scale(static_cast<guint64>(lanes - 1) * GST_SECOND,
                            static_cast<guint64>(info.fps_d), static_cast<guint64>(info.fps_n));
  gst_video_encoder_set_latency(encoder, latency, latency);
}

/// The element behind a pad, or null. The caller owns the reference.
GstElement* element_behind(GstPad* source) {
  GstPad* peer = gst_pad_get_peer(source);
  if (peer == nullptr) return nullptr;
  GstElement* element = gst_pad_get_parent_element(peer);
  gst_object_unref(peer);
  return element;
}

bool is_jpeg_payloader(GstElement* element) {
  const GstElementFactory* factory = gst_element_get_factory(element);
  return factory != nullptr && std::string(GST_OBJECT_NAME(factory)) == "rtpjpegpay";
}

/// True if rtpjpegpay is the next element, or behind elements such as queues that pass on what they
/// get.
bool has_jpeg_payloader(GstElement* encoder) {
  constexpr int kMostElements = 16;
  GstElement* element = GST_ELEMENT(gst_object_ref(encoder));
  bool found = false;
  for (int i = 0; i < kMostElements && element != nullptr && !found; ++i) {
    GstPad* source = gst_element_get_static_pad(element, "src");
    gst_object_unref(element);
    element = source != nullptr ? element_behind(source) : nullptr;
    if (source != nullptr) gst_object_unref(source);
    found = element != nullptr && is_jpeg_payloader(element);
  }
  if (element != nullptr) gst_object_unref(element);
  return found;
}

void warn(GstElement* encoder, const char* sentence) {
  GST_ELEMENT_WARNING(encoder, STREAM, ENCODE, ("%s", sentence), (nullptr));
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
  if (stream.color == ColorModel::rgb || has_inks(stream.color)) return GST_VIDEO_FORMAT_RGB;
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

bool negotiate_output(GstVideoDecoder* decoder, const StreamInfo& stream,
                      GstVideoCodecState* input) {
  const GstVideoFormat format = choose_format(decoder, stream);
  if (is_announced(decoder, format, stream)) return true;
  const auto given = input != nullptr ? input->info.colorimetry : GstVideoColorimetry{};
  GstVideoCodecState* output = gst_video_decoder_set_output_state(
      decoder, format, static_cast<guint>(stream.width), static_cast<guint>(stream.height), input);
  if (GST_VIDEO_INFO_IS_RGB(&output->info))
    output->info.chroma_site = GST_VIDEO_CHROMA_SITE_JPEG;
  else
    set_jpeg_colorimetry(output->info, given.transfer, given.primaries);
  if (input == nullptr || !has_pixel_aspect(input)) {
    output->info.par_n = stream.pixel_aspect_x;
    output->info.par_d = stream.pixel_aspect_y;
  }
  gst_video_codec_state_unref(output);
  return gst_video_decoder_negotiate(decoder) != FALSE;
}

void use_any_strides(GstQuery* query) {
  GstBufferPool* pool = nullptr;
  guint size = 0, least = 0, most = 0;
  gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &least, &most);
  if (pool == nullptr) return;
  if (gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr)) {
    GstStructure* config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    gst_buffer_pool_set_config(pool, config);
  }
  gst_object_unref(pool);
}

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
  set_jpeg_colorimetry(output->info, input->info.colorimetry.transfer,
                       input->info.colorimetry.primaries);
  gst_video_codec_state_unref(output);
  announce_latency(encoder, input->info, lanes);
}

void fit_to_payloader(GstElement* encoder, EncodeParams& params, PixelFormat format) {
  if (!has_jpeg_payloader(encoder)) return;
  const auto fits = [](Subsampling s) { return s == Subsampling::s420 || s == Subsampling::s422; };
  if (!params.subsampling && !is_rgb(format) && !fits(native_subsampling(format)))
    params.subsampling = Subsampling::s420;
  if (params.subsampling && !fits(*params.subsampling))
    warn(encoder, "RFC 2435 (rtpjpegpay) has 4:2:0 and 4:2:2 alone; set subsampling to 420 or 422");
  if (params.huffman != HuffmanTables::standard)
    warn(encoder, "RFC 2435 (rtpjpegpay) carries no Huffman tables; set huffman to standard");
  if (params.progressive)
    warn(encoder, "RFC 2435 (rtpjpegpay) carries no progressive streams; set progressive to false");
}

}  // namespace zerorun::gst
