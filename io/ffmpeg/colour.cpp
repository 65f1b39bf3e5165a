// Converts pictures of libavcodec to zerorun frames, and high dynamic range (PQ, HLG) to SDR by
// FFmpeg's filters zscale and tonemap.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/colour.hpp"

extern "C" {
#include <libavutil/opt.h>
}

#include <array>
#include <string>
#include <utility>

#include "codec/base/try.hpp"
#include "io/samples/pixel_pack.hpp"
#include "io/samples/samples.hpp"
#include "zerorun/ffmpeg.hpp"

namespace zerorun::io::av {
namespace {

Status no_memory() { return Status(Errc::out_of_memory, "a picture"); }

bool is_gray(const AVPixFmtDescriptor& d) noexcept { return d.nb_components <= 2; }

bool is_rgb_like(const AVPixFmtDescriptor& d) noexcept {
  constexpr std::uint64_t kNotYcc =
      AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BAYER;
  return (d.flags & kNotYcc) != 0;
}

/// True for planes of bytes or native 16-bit words, one component each, without a shift.
bool is_plain_planar(const AVPixFmtDescriptor& d) noexcept {
  const std::uint64_t awkward = AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_BITSTREAM |
                                AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_FLOAT;
  const int colours = is_gray(d) ? 1 : 3;
  const int bytes = d.comp[0].depth > 8 ? 2 : 1;
  if ((d.flags & awkward) != 0 || d.comp[0].depth < 8 || d.comp[0].depth > 16) return false;
  for (int i = 0; i < colours; ++i)
    if (d.comp[i].plane != i || d.comp[i].shift != 0 || d.comp[i].step != bytes) return false;
  return true;
}

/// The planar format of the same depth. swscale rearranges samples to it and changes no value
/// (between depths it would repeat bits, which is wrong for limited range).
AVPixelFormat planar_of(PixelFormat format, int depth_bits) {
  const std::string base = format == PixelFormat::gray8 ? "gray" : std::string(name(format));
  const AVPixelFormat same =
      depth_bits > 8 ? av_get_pix_fmt((base + std::to_string(depth_bits) + "le").c_str())
                     : AV_PIX_FMT_NONE;
  return same != AV_PIX_FMT_NONE ? same : av_get_pix_fmt(base.c_str());
}

/// nullopt for codings that no linear matrix describes.
std::optional<LumaWeights> weights_of(const AVFrame& picture) noexcept {
  switch (picture.colorspace) {
    case AVCOL_SPC_BT709:
      return kBt709;
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL:
      return kBt2020;  // players show CL so
    case AVCOL_SPC_FCC:
      return kFcc;
    case AVCOL_SPC_SMPTE240M:
      return kSmpte240m;
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M:
      return kBt601;
    case AVCOL_SPC_UNSPECIFIED:
    case AVCOL_SPC_RESERVED:
      // Players (mpv, VLC, SDL) show untagged video as BT.709 if it is high definition; the result
      // has to look the same.
      return picture.width >= 1280 || picture.height > 576 ? kBt709 : kBt601;
    default:
      return std::nullopt;
  }
}

/// The functions of libavfilter, which is opened for tone mapping alone. Its types are not looked
/// into.
struct Filters {
  void* (*graph_alloc)() = nullptr;
  void (*graph_free)(void** graph) = nullptr;
  const void* (*get_by_name)(const char* name) = nullptr;
  int (*create)(void** filter, const void* kind, const char* name, const char* arguments,
                void* opaque, void* graph) = nullptr;
  int (*link)(void* from, unsigned output, void* to, unsigned input) = nullptr;
  int (*config)(void* graph, void* log) = nullptr;
  int (*add_frame)(void* source, AVFrame* frame, int flags) = nullptr;
  int (*get_frame)(void* sink, AVFrame* frame) = nullptr;
  bool is_there = false;

  Filters() {
    constexpr unsigned kBehindAvutil = 49;  // libavutil 57 comes with libavfilter 8, and so on
    void* const library = open_library("avfilter", LIBAVUTIL_VERSION_MAJOR - kBehindAvutil);
    is_there = find_function(library, "avfilter_graph_alloc", graph_alloc) &&
               find_function(library, "avfilter_graph_free", graph_free) &&
               find_function(library, "avfilter_get_by_name", get_by_name) &&
               find_function(library, "avfilter_graph_create_filter", create) &&
               find_function(library, "avfilter_link", link) &&
               find_function(library, "avfilter_graph_config", config) &&
               find_function(library, "av_buffersrc_add_frame_flags", add_frame) &&
               find_function(library, "av_buffersink_get_frame", get_frame) &&
               get_by_name("zscale") != nullptr && get_by_name("tonemap") != nullptr;
  }
  static const Filters& get() {
    static const Filters filters;
    return filters;
  }
};

/// 8 bits, with the sampling of `format`.
std::string mapped_format(AVPixelFormat format) {
  const PixelFormat closest = closest_format(format);
  const bool is_planar = closest == PixelFormat::yuv420p || closest == PixelFormat::yuv422p;
  return is_planar ? std::string(zerorun::name(closest)) : "yuv444p";
}

}  // namespace

Result<YccCoding> coding_of(const AVFrame& picture, bool gray, int depth_bits) {
  YccCoding coding;
  coding.depth_bits = depth_bits;
  coding.full_range = picture.color_range == AVCOL_RANGE_JPEG ||
                      ffmpeg::is_full_range_format(static_cast<AVPixelFormat>(picture.format)) ||
                      (gray && picture.color_range == AVCOL_RANGE_UNSPECIFIED);  // as FFmpeg
  if (gray) return coding;  // no chroma, no matrix
  const std::optional<LumaWeights> weights = weights_of(picture);
  if (!weights) {
    const char* name = av_color_space_name(picture.colorspace);
    return Status(Errc::bad_input, std::string("the colour matrix ") +
                                       (name == nullptr ? "of the video" : name) +
                                       " is not supported");
  }
  coding.weights = *weights;
  return coding;
}

PixelFormat closest_format(AVPixelFormat format) noexcept {
  const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(format);
  if (d == nullptr) return PixelFormat::yuv420p;
  if (is_rgb_like(*d)) return PixelFormat::rgb24;
  if (is_gray(*d)) return PixelFormat::gray8;
  const int w = d->log2_chroma_w, h = d->log2_chroma_h;
  if (w == 1) return h == 0 ? PixelFormat::yuv422p : PixelFormat::yuv420p;
  if (w == 0) return h == 1 ? PixelFormat::yuv440p : PixelFormat::yuv444p;
  return w == 2 && h == 0 ? PixelFormat::yuv411p : PixelFormat::yuv420p;  // 4:1:0
}

Status FrameScaler::scale(const AVFrame& picture, AVPixelFormat to, std::uint8_t* const data[],
                          const int stride[]) {
  const auto from = static_cast<AVPixelFormat>(picture.format);
  constexpr int kFlags = SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP | SWS_BICUBIC;
  scaler_.reset(sws_getCachedContext(scaler_.release(), picture.width, picture.height, from,
                                     picture.width, picture.height, to, kFlags, nullptr, nullptr,
                                     nullptr));
  if (!scaler_) {
    const char* name = av_get_pix_fmt_name(from);
    return Status(Errc::bad_input, std::string("the pixel format ") +
                                       (name == nullptr ? "of the video" : name) +
                                       " is not supported");
  }
  // The same range on both sides, so that swscale moves samples and does not change them.
  const int* table = sws_getCoefficients(SWS_CS_ITU601);
  sws_setColorspaceDetails(scaler_.get(), table, 1, table, 1, 0, 1 << 16, 1 << 16);
  const int rows =
      sws_scale(scaler_.get(), picture.data, picture.linesize, 0, picture.height, data, stride);
  if (rows != picture.height) return Status(Errc::bad_input, "a picture cannot be converted");
  return Status::ok();
}

Status FrameScaler::scale(const AVFrame& picture, AVPixelFormat to, FramePtr& out) {
  if (!out || out->format != to || out->width != picture.width || out->height != picture.height) {
    out.reset(av_frame_alloc());
    if (!out) return no_memory();
    out->format = to;
    out->width = picture.width;
    out->height = picture.height;
    if (av_frame_get_buffer(out.get(), 0) < 0) return no_memory();
  }
  return scale(picture, to, out->data, out->linesize);
}

Status ColourConverter::convert_ycc(const AVFrame& picture, PixelFormat format,
                                    const SampleRules& rules, Frame& out) {
  const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format));
  const AVFrame* source = &picture;
  const bool same_sampling = is_gray(*d) || d->log2_chroma_w < 2 || d->log2_chroma_h == 0;
  if (!is_plain_planar(*d) || !same_sampling) {
    const AVPixelFormat planar = planar_of(format, d->comp[0].depth);
    ZR_TRY(scaler_.scale(picture, planar, planar_));
    source = planar_.get();
    d = av_pix_fmt_desc_get(planar);
  }
  ZR_LET(coding, coding_of(picture, format == PixelFormat::gray8, d->comp[0].depth));
  if (!to_jfif_ || !(to_jfif_->coding() == coding)) to_jfif_.emplace(coding);
  YccPlanes planes;
  for (std::size_t i = 0; i < 3; ++i) {
    planes.data[i] = source->data[i];
    planes.stride_bytes[i] = source->linesize[i];
  }
  to_jfif_->convert(planes, out.view(), rules.dither);
  return Status::ok();
}

/// swscale's RGBA has the alpha of every format that has one.
Status ColourConverter::blend_alpha(const AVFrame& picture, Alpha over, Frame& out) {
  ZR_TRY(rgba_scaler_.scale(picture, AV_PIX_FMT_RGBA, rgba_));
  blend({rgba_->data[0] + 3, rgba_->linesize[0], 4, 8}, over, out.view());
  return Status::ok();
}

/// Applies the rules for pictures where the picture has alpha or more than 8 bits.
Status ColourConverter::convert_rgb(const AVFrame& picture, const SampleRules& rules, Frame& out) {
  const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format));
  if (!rules.dither || d->comp[0].depth <= 8) {
    const std::array<std::uint8_t*, 4> data{out.view().data[0], nullptr, nullptr, nullptr};
    const std::array<int, 4> stride{static_cast<int>(out.view().stride_bytes[0]), 0, 0, 0};
    return scaler_.scale(picture, AV_PIX_FMT_RGB24, data.data(), stride.data());
  }
  ZR_TRY(scaler_.scale(picture, AV_PIX_FMT_RGB48, planar_));
  SampleRules dither;
  dither.dither = true;
  const SampleReader reader{dither, -1};
  for (int y = 0; y < picture.height; ++y) {
    const auto* from = reinterpret_cast<const std::uint16_t*>(
        planar_->data[0] + y * std::ptrdiff_t{planar_->linesize[0]});
    std::uint8_t* to = row_of(out.view(), 0, y);
    for (int x = 0; x < picture.width; ++x, from += 3)
      for (int channel = 0; channel < 3; ++channel) *to++ = reader.read(from, channel, x, y);
  }
  return Status::ok();
}

Status ColourConverter::convert(const AVFrame& picture, const SampleRules& rules, Frame& out) {
  const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format));
  if (d == nullptr) return Status(Errc::bad_input, "the picture has no pixel format");
  const PixelFormat format = closest_format(static_cast<AVPixelFormat>(picture.format));
  ZR_TRY(out.reshape(format, picture.width, picture.height));
  ZR_TRY(format == PixelFormat::rgb24 ? convert_rgb(picture, rules, out)
                                      : convert_ycc(picture, format, rules, out));
  if (rules.alpha == Alpha::ignore || (d->flags & AV_PIX_FMT_FLAG_ALPHA) == 0) return Status::ok();
  return blend_alpha(picture, rules.alpha, out);
}

bool is_high_range(AVColorTransferCharacteristic transfer) noexcept {
  return transfer == AVCOL_TRC_SMPTE2084 || transfer == AVCOL_TRC_ARIB_STD_B67;
}

void ToneMapper::FreeGraph::operator()(void* graph) const noexcept {
  Filters::get().graph_free(&graph);
}

Status ToneMapper::load() {
  if (Filters::get().is_there) return Status::ok();
  return Status(Errc::not_built,
                "--tonemap needs FFmpeg's libavfilter with its filter zscale, which is not "
                "installed");
}

/// Linear light, the primaries of SDR, the curve, and the transfer of SDR again.
Status ToneMapper::open(const AVFrame& picture, const std::string& curve) {
  const Filters& filters = Filters::get();
  graph_.reset(filters.graph_alloc());
  if (!graph_) return Status(Errc::out_of_memory);
  av_opt_set(graph_.get(), "threads", "1", 0);  // pictures are mapped side by side already
  std::string shape =
      "video_size=" + std::to_string(picture.width) + "x" + std::to_string(picture.height) +
      ":pix_fmt=" + std::to_string(picture.format) + ":time_base=1/25:pixel_aspect=1/1";
  if (kGraphsHaveColours)
    shape += ":colorspace=" + std::to_string(picture.colorspace) +
             ":range=" + std::to_string(picture.color_range);
  const std::pair<const char*, std::string> chain[] = {
      {"buffer", shape},
      {"zscale", "transfer=linear:npl=100"},
      {"format", "pix_fmts=gbrpf32le"},
      {"zscale", "primaries=bt709"},
      {"tonemap", "tonemap=" + curve + ":desat=0"},
      {"zscale", "transfer=bt709:matrix=bt709:range=tv"},
      {"format", "pix_fmts=" + mapped_format(static_cast<AVPixelFormat>(picture.format))},
      {"buffersink", ""}};
  source_ = sink_ = nullptr;
  int error = 0;
  for (const auto& [kind, arguments] : chain) {
    void* filter = nullptr;
    if (error >= 0)
      error =
          filters.create(&filter, filters.get_by_name(kind), nullptr,
                         arguments.empty() ? nullptr : arguments.c_str(), nullptr, graph_.get());
    if (error >= 0 && sink_ != nullptr) error = filters.link(sink_, 0, filter, 0);
    if (source_ == nullptr) source_ = filter;
    sink_ = filter;
  }
  if (error >= 0) error = filters.config(graph_.get(), nullptr);
  return error < 0 ? failure(Errc::bad_input, "--tonemap " + curve, error) : Status::ok();
}

Status ToneMapper::map(AVFrame& picture, const std::string& curve, FramePtr& out) {
  out.reset(av_frame_alloc());
  if (!out) return Status(Errc::out_of_memory);
  if (picture.color_primaries == AVCOL_PRI_UNSPECIFIED) picture.color_primaries = AVCOL_PRI_BT2020;
  if (picture.colorspace == AVCOL_SPC_UNSPECIFIED) picture.colorspace = AVCOL_SPC_BT2020_NCL;
  if (picture.color_range == AVCOL_RANGE_UNSPECIFIED) picture.color_range = AVCOL_RANGE_MPEG;
  const std::string shape = std::to_string(picture.width) + "x" + std::to_string(picture.height) +
                            " " + std::to_string(picture.format) + " " +
                            std::to_string(picture.colorspace) + curve;
  if (shape != shape_) {
    shape_.clear();
    ZR_TRY(open(picture, curve));
    shape_ = shape;
  }
  int error = Filters::get().add_frame(source_, &picture, 0);
  if (error >= 0) error = Filters::get().get_frame(sink_, out.get());
  return error < 0 ? failure(Errc::bad_input, "--tonemap " + curve, error) : Status::ok();
}

}  // namespace zerorun::io::av
