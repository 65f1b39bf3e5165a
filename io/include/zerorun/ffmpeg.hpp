// AVFrame in, AVPacket out, for applications that use FFmpeg. Header-only: needs libavcodec 59 and
// libavutil 57 or newer.
// SPDX-License-Identifier: MIT
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/hwcontext.h>
#include <libavutil/pixdesc.h>
}

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "zerorun/encoder.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun::ffmpeg {

/// JPEG is full range with the matrix of BT.601; viewers show other samples with wrong colours.
enum class ColourCheck {
  refuse,  ///< a YCbCr frame whose fields do not say full range BT.601 is an error
  ignore,  ///< the fields of the frame are not checked
};

namespace detail {

/// The first pair of a zerorun format has FFmpeg's name for what zerorun writes.
inline constexpr std::pair<AVPixelFormat, PixelFormat> kFormats[] = {
    {AV_PIX_FMT_GRAY8, PixelFormat::gray8},     {AV_PIX_FMT_YUVJ420P, PixelFormat::yuv420p},
    {AV_PIX_FMT_YUV420P, PixelFormat::yuv420p}, {AV_PIX_FMT_YUVJ422P, PixelFormat::yuv422p},
    {AV_PIX_FMT_YUV422P, PixelFormat::yuv422p}, {AV_PIX_FMT_YUVJ444P, PixelFormat::yuv444p},
    {AV_PIX_FMT_YUV444P, PixelFormat::yuv444p}, {AV_PIX_FMT_YUVJ440P, PixelFormat::yuv440p},
    {AV_PIX_FMT_YUV440P, PixelFormat::yuv440p}, {AV_PIX_FMT_YUVJ411P, PixelFormat::yuv411p},
    {AV_PIX_FMT_YUV411P, PixelFormat::yuv411p}, {AV_PIX_FMT_NV12, PixelFormat::nv12},
    {AV_PIX_FMT_NV21, PixelFormat::nv21},       {AV_PIX_FMT_YUYV422, PixelFormat::yuyv},
    {AV_PIX_FMT_UYVY422, PixelFormat::uyvy},    {AV_PIX_FMT_RGB24, PixelFormat::rgb24},
    {AV_PIX_FMT_BGR24, PixelFormat::bgr24},     {AV_PIX_FMT_RGB0, PixelFormat::rgbx32},
    {AV_PIX_FMT_RGBA, PixelFormat::rgbx32},     {AV_PIX_FMT_BGR0, PixelFormat::bgrx32},
    {AV_PIX_FMT_BGRA, PixelFormat::bgrx32},     {AV_PIX_FMT_0RGB, PixelFormat::xrgb32},
    {AV_PIX_FMT_ARGB, PixelFormat::xrgb32},     {AV_PIX_FMT_0BGR, PixelFormat::xbgr32},
    {AV_PIX_FMT_ABGR, PixelFormat::xbgr32}};

}  // namespace detail

/// The zerorun format of a pixel format; alpha and padding bytes are ignored. Errors:
/// invalid_frame.
inline Result<PixelFormat> pixel_format(AVPixelFormat format) {
  for (const auto& [av, ours] : detail::kFormats)
    if (av == format) return ours;
  const char* name = av_get_pix_fmt_name(format);
  return Status(Errc::invalid_frame, std::string("zerorun does not read the pixel format ") +
                                         (name == nullptr ? "of the frame" : name) +
                                         "; convert it with swscale");
}

/// FFmpeg's name of a format (the full-range name if there is one) for streams and output frames.
inline AVPixelFormat av_pixel_format(PixelFormat format) noexcept {
  for (const auto& [av, ours] : detail::kFormats)
    if (ours == format) return av;
  return AV_PIX_FMT_NONE;
}

/// FFmpeg's older formats for JPEG, which imply full range.
inline bool is_full_range_format(AVPixelFormat format) noexcept {
  const char* name = av_get_pix_fmt_name(format);
  return name != nullptr && std::string_view(name).starts_with("yuvj");
}

namespace detail {

inline Status check_colours(const AVFrame& frame, AVPixelFormat format) {
  const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(format);
  const bool is_ycc = (d.flags & AV_PIX_FMT_FLAG_RGB) == 0 && d.nb_components >= 3;
  if (frame.color_range == AVCOL_RANGE_MPEG && !is_full_range_format(format))
    return Status(Errc::invalid_frame,
                  "the frame is limited range, JPEG is full range; convert it with swscale or the "
                  "filter scale=out_range=full:out_color_matrix=bt601");
  if (!is_ycc) return Status::ok();  // RGB or grey: no matrix, and an unspecified range is full
  if (frame.color_range != AVCOL_RANGE_JPEG && !is_full_range_format(format))
    return Status(Errc::invalid_frame,
                  "the frame does not tell its range, which FFmpeg takes for limited; set "
                  "color_range to AVCOL_RANGE_JPEG if its samples go from 0 to 255, else convert "
                  "it with swscale");
  const AVColorSpace matrix = frame.colorspace;
  if (matrix == AVCOL_SPC_UNSPECIFIED || matrix == AVCOL_SPC_BT470BG ||
      matrix == AVCOL_SPC_SMPTE170M)
    return Status::ok();
  const char* name = av_color_space_name(matrix);
  return Status(Errc::invalid_frame, std::string("the colour matrix of the frame is ") +
                                         (name == nullptr ? "unknown" : name) +
                                         ", that of JPEG is BT.601; convert it with swscale");
}

template <typename View>
Result<View> view_as(const AVFrame& frame, AVPixelFormat format, ColourCheck check) {
  const Result<PixelFormat> ours = pixel_format(format);
  if (!ours) return ours.status();
  if ((frame.crop_left | frame.crop_right | frame.crop_top | frame.crop_bottom) != 0)
    return Status(Errc::invalid_frame, "the frame is not cropped; call av_frame_apply_cropping");
  if (check == ColourCheck::refuse)
    if (Status status = check_colours(frame, format); !status) return status;
  View view{*ours, frame.width, frame.height, {}, {}};
  for (std::size_t p = 0; p < static_cast<std::size_t>(plane_count(*ours)); ++p) {
    view.data[p] = frame.data[p];
    view.stride_bytes[p] = frame.linesize[p];
  }
  if (Status status = validate(view); !status) return status;
  return view;
}

inline Status no_memory() { return Status(Errc::out_of_memory, "a packet"); }

/// Copies the side data of a frame that has the same meaning in a packet.
inline Status copy_side_data(const AVFrame& from, AVPacket& to) {
  constexpr std::pair<AVFrameSideDataType, AVPacketSideDataType> kSame[] = {
      {AV_FRAME_DATA_A53_CC, AV_PKT_DATA_A53_CC},
      {AV_FRAME_DATA_AFD, AV_PKT_DATA_AFD},
      {AV_FRAME_DATA_DISPLAYMATRIX, AV_PKT_DATA_DISPLAYMATRIX},
      {AV_FRAME_DATA_ICC_PROFILE, AV_PKT_DATA_ICC_PROFILE},
      {AV_FRAME_DATA_S12M_TIMECODE, AV_PKT_DATA_S12M_TIMECODE},
      {AV_FRAME_DATA_SPHERICAL, AV_PKT_DATA_SPHERICAL},
      {AV_FRAME_DATA_STEREO3D, AV_PKT_DATA_STEREO3D}};
  for (const auto& [frame_type, packet_type] : kSame) {
    const AVFrameSideData* data = av_frame_get_side_data(&from, frame_type);
    if (data == nullptr) continue;
    std::uint8_t* copy = av_packet_new_side_data(&to, packet_type, data->size);
    if (copy == nullptr) return no_memory();
    std::memcpy(copy, data->data, data->size);
  }
  return Status::ok();
}

inline std::int64_t duration(const AVFrame& frame) noexcept {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
  return frame.duration;
#else
  return frame.pkt_duration;
#endif
}

}  // namespace detail

/// A frame in host memory with any linesize. The view is valid as long as the frame's buffers.
/// Errors: invalid_frame (format, colours, cropping, no data).
inline Result<ConstFrameView> frame_view(const AVFrame& frame,
                                         ColourCheck check = ColourCheck::refuse) {
  return detail::view_as<ConstFrameView>(frame, static_cast<AVPixelFormat>(frame.format), check);
}

/// A frame to decode into, which has to be writable (av_frame_make_writable). Sets its colour
/// fields to what the decoder writes.
inline Result<FrameView> writable_view(AVFrame& frame) {
  const Result<FrameView> view = detail::view_as<FrameView>(
      frame, static_cast<AVPixelFormat>(frame.format), ColourCheck::ignore);
  if (!view) return view;
  frame.color_range = AVCOL_RANGE_JPEG;
  frame.colorspace = is_rgb(view->format) ? AVCOL_SPC_RGB : AVCOL_SPC_BT470BG;
  frame.chroma_location = AVCHROMA_LOC_CENTER;
  return view;
}

/// A frame of AV_PIX_FMT_CUDA (NVDEC, hwupload_cuda) in device memory, for DeviceEncoder::encode().
inline Result<ConstFrameView> device_view(const AVFrame& frame,
                                          ColourCheck check = ColourCheck::refuse) {
  if (frame.format != AV_PIX_FMT_CUDA || frame.hw_frames_ctx == nullptr)
    return Status(Errc::invalid_frame, "the frame is not in CUDA memory; use frame_view()");
  const auto* context = reinterpret_cast<const AVHWFramesContext*>(frame.hw_frames_ctx->data);
  return detail::view_as<ConstFrameView>(frame, context->sw_format, check);
}

/// Describes a Motion JPEG stream as players expect it: full range BT.601, progressive.
inline void describe_stream(AVCodecParameters& codec, int width, int height,
                            Subsampling sampling = Subsampling::s420) noexcept {
  codec.codec_type = AVMEDIA_TYPE_VIDEO;
  codec.codec_id = AV_CODEC_ID_MJPEG;
  codec.width = width;
  codec.height = height;
  codec.format = av_pixel_format(planar_format(sampling));
  codec.color_range = AVCOL_RANGE_JPEG;
  codec.color_space = AVCOL_SPC_BT470BG;  // the BT.601 matrix; JFIF leaves the primaries open
  codec.chroma_location = AVCHROMA_LOC_CENTER;
  codec.field_order = AV_FIELD_PROGRESSIVE;
}

/// Makes `packet` a key frame with a copy of `jpeg` and the time stamps, duration, time base, side
/// data and `opaque` of `frame`. Releases what the packet held before; does not set the stream
/// index. Errors: invalid_argument (2 GiB or more), out_of_memory; the packet is then blank.
inline Status make_packet(std::span<const std::byte> jpeg, const AVFrame& frame, AVPacket& packet) {
  av_packet_unref(&packet);
  if (jpeg.size() > std::size_t{INT32_MAX} - AV_INPUT_BUFFER_PADDING_SIZE)
    return Status(Errc::invalid_argument, "a packet of FFmpeg holds less than 2 GiB");
  if (av_new_packet(&packet, static_cast<int>(jpeg.size())) < 0) return detail::no_memory();
  if (!jpeg.empty()) std::memcpy(packet.data, jpeg.data(), jpeg.size());
  packet.pts = packet.dts = frame.pts;
  packet.duration = detail::duration(frame);
  packet.time_base = frame.time_base;
  packet.flags |= AV_PKT_FLAG_KEY;
  packet.opaque = frame.opaque;
  Status status = detail::copy_side_data(frame, packet);
  if (status && frame.opaque_ref != nullptr) {
    packet.opaque_ref = av_buffer_ref(frame.opaque_ref);
    if (packet.opaque_ref == nullptr) status = detail::no_memory();
  }
  if (!status) av_packet_unref(&packet);
  return status;
}

/// zerorun's Encoder in FFmpeg's types. Move-only; one thread at a time per object.
class PacketEncoder {
 public:
  /// Errors: those of Encoder::create().
  static Result<PacketEncoder> create(const EncodeParams& params,
                                      ColourCheck check = ColourCheck::refuse) {
    Result<Encoder> encoder = Encoder::create(params);
    if (!encoder) return encoder.status();
    return PacketEncoder(*std::move(encoder), check);
  }

  /// Encodes one frame to one packet. Errors: those of frame_view(), Encoder::encode() and
  /// make_packet(); the packet is then unchanged or blank.
  Result<EncodeReport> encode(const AVFrame& frame, AVPacket& packet) {
    const Result<ConstFrameView> view = frame_view(frame, check_);
    if (!view) return view.status();
    const Result<EncodeReport> report = encoder_.encode(*view, jpeg_);
    if (!report) return report;
    if (Status status = make_packet(jpeg_, frame, packet); !status) return status;
    return report;
  }

  const Encoder& encoder() const noexcept { return encoder_; }

 private:
  PacketEncoder(Encoder encoder, ColourCheck check) noexcept
      : encoder_(std::move(encoder)), check_(check) {}

  Encoder encoder_;
  std::vector<std::byte> jpeg_;
  ColourCheck check_;
};

}  // namespace zerorun::ffmpeg
