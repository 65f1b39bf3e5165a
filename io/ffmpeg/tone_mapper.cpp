// High dynamic range (PQ, HLG) to SDR by FFmpeg's filters zscale and tonemap.
// SPDX-License-Identifier: MIT

#include <utility>

#include "codec/base/try.hpp"
#include "io/ffmpeg/colour.hpp"

extern "C" {
#include <libavutil/opt.h>
}

namespace zerorun::io::av {
namespace {

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
#if LIBAVUTIL_VERSION_MAJOR >= 59
  shape += ":colorspace=" + std::to_string(picture.colorspace) +
           ":range=" + std::to_string(picture.color_range);
#endif
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
