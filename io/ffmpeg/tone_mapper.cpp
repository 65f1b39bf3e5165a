// High dynamic range (PQ, HLG) to SDR by FFmpeg's filters zscale and tonemap.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/tone_mapper.hpp"

#include <dlfcn.h>

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
    if (library == nullptr) return;
    is_there = true;
    const auto find = [&](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      is_there = is_there && function != nullptr;
    };
    find(graph_alloc, "avfilter_graph_alloc");
    find(graph_free, "avfilter_graph_free");
    find(get_by_name, "avfilter_get_by_name");
    find(create, "avfilter_graph_create_filter");
    find(link, "avfilter_link");
    find(config, "avfilter_graph_config");
    find(add_frame, "av_buffersrc_add_frame_flags");
    find(get_frame, "av_buffersink_get_frame");
    is_there = is_there && get_by_name("zscale") != nullptr && get_by_name("tonemap") != nullptr;
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

ToneMapper::ToneMapper(ToneMapper&& other) noexcept
    : graph_(std::exchange(other.graph_, nullptr)),
      source_(other.source_),
      sink_(other.sink_),
      shape_(std::move(other.shape_)) {}

ToneMapper::~ToneMapper() {
  if (graph_ != nullptr) Filters::get().graph_free(&graph_);
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
  if (graph_ != nullptr) filters.graph_free(&graph_);
  graph_ = filters.graph_alloc();
  if (graph_ == nullptr) return Status(Errc::out_of_memory);
  av_opt_set(graph_, "threads", "1", 0);  // pictures are mapped side by side already
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
      error = filters.create(&filter, filters.get_by_name(kind), nullptr,
                             arguments.empty() ? nullptr : arguments.c_str(), nullptr, graph_);
    if (error >= 0 && sink_ != nullptr) error = filters.link(sink_, 0, filter, 0);
    if (source_ == nullptr) source_ = filter;
    sink_ = filter;
  }
  if (error >= 0) error = filters.config(graph_, nullptr);
  if (error < 0) return failure(Errc::bad_input, "--tonemap " + curve, error);
  return Status::ok();
}

Status ToneMapper::map(const AVFrame& picture, const std::string& curve, FramePtr& out) {
  FramePtr tagged(av_frame_clone(&picture));
  if (!out) out.reset(av_frame_alloc());
  if (!tagged || !out) return Status(Errc::out_of_memory);
  if (tagged->color_primaries == AVCOL_PRI_UNSPECIFIED) tagged->color_primaries = AVCOL_PRI_BT2020;
  if (tagged->colorspace == AVCOL_SPC_UNSPECIFIED) tagged->colorspace = AVCOL_SPC_BT2020_NCL;
  if (tagged->color_range == AVCOL_RANGE_UNSPECIFIED) tagged->color_range = AVCOL_RANGE_MPEG;
  const std::string shape = std::to_string(picture.width) + "x" + std::to_string(picture.height) +
                            " " + std::to_string(picture.format) + " " +
                            std::to_string(tagged->colorspace) + curve;
  if (graph_ == nullptr || shape != shape_) {
    shape_.clear();
    ZR_TRY(open(*tagged, curve));
    shape_ = shape;
  }
  av_frame_unref(out.get());
  int error = Filters::get().add_frame(source_, tagged.get(), 0);
  if (error >= 0) error = Filters::get().get_frame(sink_, out.get());
  return error < 0 ? failure(Errc::bad_input, "--tonemap " + curve, error) : Status::ok();
}

}  // namespace zerorun::io::av
