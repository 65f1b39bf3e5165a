// Tags, time code, field order and stereo layout of containers.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/container_content.hpp"

extern "C" {
#include <libavutil/timecode.h>
}

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "codec/base/try.hpp"

namespace zerorun::io::av {
namespace {

/// Tags that describe the file that was read, and not its content.
constexpr std::array<std::string_view, 9> kOfTheFile{
    "major_brand", "minor_version", "compatible_brands", "encoder",    "duration",
    "timecode",    "handler_name",  "vendor_id",         "stereo_mode"};

std::vector<std::pair<std::string, std::string>> tags_of(const AVDictionary* dictionary) {
  std::vector<std::pair<std::string, std::string>> tags;
  const AVDictionaryEntry* entry = nullptr;
  while ((entry = av_dict_get(dictionary, "", entry, AV_DICT_IGNORE_SUFFIX)) != nullptr) {
    std::string key(entry->key);
    std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) {
      return static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    });
    const bool of_the_file =
        std::find(kOfTheFile.begin(), kOfTheFile.end(), key) != kOfTheFile.end();
    if (!of_the_file && !key.starts_with("_statistics"))
      tags.emplace_back(entry->key, entry->value);
  }
  return tags;
}

std::string tag(const AVDictionary* dictionary, const char* key) {
  const AVDictionaryEntry* entry = av_dict_get(dictionary, key, nullptr, 0);
  return entry == nullptr ? "" : entry->value;
}

std::string or_empty(const char* name) {
  return name == nullptr || std::string_view(name) == "unknown" ? "" : name;
}

FieldOrder field_order_of(AVFieldOrder order) noexcept {
  switch (order) {
    case AV_FIELD_PROGRESSIVE:
      return FieldOrder::progressive;
    case AV_FIELD_TT:
    case AV_FIELD_TB:
      return FieldOrder::top_first;
    case AV_FIELD_BB:
    case AV_FIELD_BT:
      return FieldOrder::bottom_first;
    default:
      return FieldOrder::unknown;
  }
}

}  // namespace

ContainerContent content_of(AVFormatContext& context, AVStream& video) {
  const AVCodecParameters& codec = *video.codecpar;
  ContainerContent content;
  content.tags = tags_of(context.metadata);
  content.stream_tags = tags_of(video.metadata);
  content.timecode = tag(video.metadata, "timecode");
  if (content.timecode.empty()) content.timecode = tag(context.metadata, "timecode");
  content.field_order = field_order_of(codec.field_order);
  content.range = or_empty(av_color_range_name(codec.color_range));
  content.matrix = or_empty(av_color_space_name(codec.color_space));
  content.transfer = or_empty(av_color_transfer_name(codec.color_trc));
  content.primaries = or_empty(av_color_primaries_name(codec.color_primaries));
  content.pixel_format = or_empty(av_get_pix_fmt_name(static_cast<AVPixelFormat>(codec.format)));
  if (const AVPixFmtDescriptor* d = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(codec.format));
      d != nullptr) {
    content.bits = d->comp[0].depth;
    content.has_alpha = (d->flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
    content.is_rgb = (d->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)) != 0;
  }
  std::size_t bytes = 0;
  const auto* stereo =
      reinterpret_cast<const AVStereo3D*>(side_data(video, AV_PKT_DATA_STEREO3D, bytes));
  if (stereo != nullptr && stereo->type != AV_STEREO3D_2D) {
    content.stereo_mode = tag(video.metadata, "stereo_mode");
    if (content.stereo_mode.empty()) content.stereo_mode = av_stereo3d_type_name(stereo->type);
  }
  return content;
}

void set_tags(const SinkOptions& options, AVFormatContext& output) {
  const ContainerContent& content = options.content;
  for (const auto& [key, value] : content.tags)
    av_dict_set(&output.metadata, key.c_str(), value.c_str(), 0);
  AVTimecode code;
  if (content.timecode.empty() || !options.frame_rate.known() ||
      av_timecode_init_from_string(&code, to_av(options.frame_rate), content.timecode.c_str(),
                                   nullptr) < 0)
    return;
  std::array<char, AV_TIMECODE_STR_SIZE> text{};
  av_timecode_make_string(&code, text.data(), static_cast<int>(options.first_frame));
  av_dict_set(&output.metadata, "timecode", text.data(), 0);
}

void set_stream_tags(const ContainerContent& content, AVStream& video) {
  for (const auto& [key, value] : content.stream_tags)
    av_dict_set(&video.metadata, key.c_str(), value.c_str(), 0);
}

void set_field_order(const ContainerContent& content, AVCodecParameters& codec) {
  if (content.field_order == FieldOrder::top_first) codec.field_order = AV_FIELD_TT;
  if (content.field_order == FieldOrder::bottom_first) codec.field_order = AV_FIELD_BB;
}

Status set_stereo_mode(const ContainerContent& content, const std::string& muxer, AVStream& video) {
  if (content.stereo_mode.empty()) return Status::ok();
  // Matroska's muxer takes a tag; MOV's and MP4's take side data.
  if (muxer == "matroska") {
    av_dict_set(&video.metadata, "stereo_mode", content.stereo_mode.c_str(), 0);
    return Status::ok();
  }
  const int type = av_stereo3d_from_name(content.stereo_mode.c_str());
  if (type < 0) return Status::ok();
  std::size_t bytes = 0;
  const std::unique_ptr<AVStereo3D, Release> stereo(allocate_stereo(bytes));
  std::uint8_t* data = add_side_data(video, AV_PKT_DATA_STEREO3D, bytes);
  if (!stereo || data == nullptr) return Status(Errc::out_of_memory);
  stereo->type = static_cast<AVStereo3DType>(type);
  std::memcpy(data, stereo.get(), bytes);
  return Status::ok();
}

}  // namespace zerorun::io::av
