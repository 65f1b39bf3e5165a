// Streams, chapters, tags, colours, time code, field order, stereo layout and display matrix of
// containers.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/container_content.hpp"

extern "C" {
#include <libavutil/avstring.h>
#include <libavutil/timecode.h>
}

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "codec/base/try.hpp"
#include "io/base/location.hpp"

namespace zerorun::io::av {
namespace {

/// Tags that describe the file that was read, and not its content.
constexpr std::array<std::string_view, 9> kOfTheFile{
    "major_brand", "minor_version", "compatible_brands", "encoder",    "duration",
    "timecode",    "handler_name",  "vendor_id",         "stereo_mode"};

/// The languages for which QuickTime has numbers, as FFmpeg writes them: some by their English
/// code, some by their own.
constexpr std::string_view kMovLanguages =
    "eng fra ger ita dut sve spa dan por nor heb jpn ara fin gre ice mlt tur chi urd hin tha kor "
    "lit pol hun est lav rus alb ron ces slk slv yid mac bul ukr bel uzb kaz arm geo mol kir tgk "
    "tuk mon pus kur tib nep san mar ben asm guj ori mal kan tam tel bur khm lao vie ind tgl may "
    "amh tir orm som swa mlg epo wel baq cat lat que aym tat uig dzo jav";
/// The other code of ISO 639-2 of some of them, and theirs.
constexpr std::string_view kSameLanguage =
    "deu:ger fre:fra nld:dut swe:sve ell:gre zho:chi cze:ces rum:ron slo:slk isl:ice sqi:alb "
    "msa:may";

std::string_view mov_language(std::string_view language) {
  const std::size_t at = kSameLanguage.find(std::string(language) + ":");
  return at == std::string_view::npos || language.size() != 3 ? language
                                                              : kSameLanguage.substr(at + 4, 3);
}

bool is_mov(const AVFormatContext& output) noexcept {
  return std::string_view(output.oformat->name) == "mov";
}

std::string tag(const AVDictionary* dictionary, const char* key) {
  const AVDictionaryEntry* entry = av_dict_get(dictionary, key, nullptr, 0);
  return entry == nullptr ? "" : entry->value;
}

std::string or_empty(const char* name) {
  return name == nullptr || std::string_view(name) == "unknown" ? "" : name;
}

StreamKind kind_of(const AVStream& stream) noexcept {
  switch (stream.codecpar->codec_type) {
    case AVMEDIA_TYPE_VIDEO:
      return stream.disposition & AV_DISPOSITION_ATTACHED_PIC ? StreamKind::cover
                                                              : StreamKind::video;
    case AVMEDIA_TYPE_AUDIO:
      return StreamKind::sound;
    case AVMEDIA_TYPE_SUBTITLE:
      return StreamKind::subtitles;
    case AVMEDIA_TYPE_ATTACHMENT:
      return StreamKind::attachment;
    default:
      return StreamKind::data;
  }
}

/// The tracks in which MOV and MP4 keep chapters and time codes are no streams of their own.
bool is_helper(const AVStream& stream) noexcept {
  const std::uint32_t tag = stream.codecpar->codec_tag;
  return stream.codecpar->codec_type == AVMEDIA_TYPE_DATA &&
         (tag == MKTAG('t', 'm', 'c', 'd') || tag == MKTAG('t', 'e', 'x', 't'));
}

std::vector<StreamContent> streams_of(const AVFormatContext& context, const AVStream& video) {
  std::vector<StreamContent> streams;
  const double begins = video.start_time == AV_NOPTS_VALUE
                            ? 0.0
                            : static_cast<double>(video.start_time) * av_q2d(video.time_base);
  for (unsigned i = 0; i < context.nb_streams; ++i) {
    const AVStream& stream = *context.streams[i];
    if (&stream == &video || is_helper(stream)) continue;
    StreamContent content;
    content.kind = kind_of(stream);
    content.codec = avcodec_get_name(stream.codecpar->codec_id);
    content.language = tag(stream.metadata, "language");
    if (content.language == "und") content.language.clear();
    content.title = tag(stream.metadata, "title");
    if (content.kind == StreamKind::attachment) content.codec = tag(stream.metadata, "filename");
    if (stream.start_time != AV_NOPTS_VALUE)
      content.delay_seconds =
          static_cast<double>(stream.start_time) * av_q2d(stream.time_base) - begins;
    streams.push_back(std::move(content));
  }
  return streams;
}

std::vector<Chapter> chapters_of(const AVFormatContext& context) {
  std::vector<Chapter> chapters;
  const double begins = context.start_time == AV_NOPTS_VALUE
                            ? 0.0
                            : static_cast<double>(context.start_time) / AV_TIME_BASE;
  for (unsigned i = 0; i < context.nb_chapters; ++i) {
    const AVChapter& chapter = *context.chapters[i];
    const double clock = av_q2d(chapter.time_base);
    chapters.push_back({static_cast<double>(chapter.start) * clock - begins,
                        static_cast<double>(chapter.end) * clock - begins,
                        tag(chapter.metadata, "title")});
  }
  return chapters;
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

using Matrix = std::array<std::int32_t, 9>;

}  // namespace

Tags tags_of(const AVDictionary* dictionary) {
  Tags tags;
  const AVDictionaryEntry* entry = nullptr;
  while ((entry = av_dict_get(dictionary, "", entry, AV_DICT_IGNORE_SUFFIX)) != nullptr) {
    const std::string key = lower_case(entry->key);
    const bool of_the_file =
        std::find(kOfTheFile.begin(), kOfTheFile.end(), key) != kOfTheFile.end();
    if (!of_the_file && !key.starts_with("_statistics"))
      tags.emplace_back(entry->key, entry->value);
  }
  return tags;
}

bool holds_language(const std::string& muxer, const std::string& language) {
  if (muxer != "mov") return muxer == "mp4" || muxer == "matroska";
  return kMovLanguages.find(mov_language(language)) != std::string_view::npos;
}

ContainerContent content_of(AVFormatContext& context, AVStream& video) {
  const AVCodecParameters& codec = *video.codecpar;
  ContainerContent content;
  content.tags = tags_of(context.metadata);
  content.stream_tags = tags_of(video.metadata);
  content.is_default = (video.disposition & AV_DISPOSITION_DEFAULT) != 0;
  content.streams = streams_of(context, video);
  content.chapters = chapters_of(context);
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

bool needs_key_list(const ContainerContent& content, const std::string& muxer) {
  // Keys that FFmpeg writes without the list: in both, in MOV, in MP4.
  constexpr std::string_view kBoth[] = {"title",   "artist",    "album",    "date",         "genre",
                                        "comment", "copyright", "location", "creation_time"};
  constexpr std::string_view kMov[] = {"make", "model"};
  constexpr std::string_view kMp4[] = {"composer",    "album_artist", "grouping", "lyrics",
                                       "description", "synopsis",     "show",     "episode_id",
                                       "network",     "keywords",     "track",    "disc"};
  const auto is_plain = [&](const auto& tag) {
    const auto is_key = [&](std::string_view key) {
      return av_strcasecmp(tag.first.c_str(), key.data()) == 0;
    };
    return std::ranges::any_of(kBoth, is_key) ||
           (muxer == "mov" ? std::ranges::any_of(kMov, is_key) : std::ranges::any_of(kMp4, is_key));
  };
  return !std::ranges::all_of(content.tags, is_plain);
}

/// MOV and MP4 have no title of a track; players show the name of its handler.
void set_stream_tags(const Tags& tags, const AVFormatContext& output, AVStream& stream) {
  const bool has_handlers = is_mov(output) || std::string_view(output.oformat->name) == "mp4";
  for (const auto& [key, value] : tags) {
    const std::string written =
        key == "language" && is_mov(output) ? std::string(mov_language(value)) : value;
    av_dict_set(&stream.metadata, key.c_str(), written.c_str(), 0);
    if (key == "title" && has_handlers)
      av_dict_set(&stream.metadata, "handler_name", value.c_str(), 0);
  }
}

Status add_chapters(const SinkOptions& options, AVFormatContext& output) {
  constexpr AVRational kClock{1, 1000};
  for (const Chapter& chapter : options.content.chapters) {
    double start = chapter.start - options.audio_start_seconds;
    double end = chapter.end - options.audio_start_seconds;
    if (options.audio_end_seconds >= 0)
      end = std::min(end, options.audio_end_seconds - options.audio_start_seconds);
    start = std::max(start, 0.0);
    if (end <= start) continue;
    auto* made = static_cast<AVChapter*>(av_mallocz(sizeof(AVChapter)));
    if (made == nullptr ||
        av_dynarray_add_nofree(&output.chapters, reinterpret_cast<int*>(&output.nb_chapters),
                               made) < 0) {
      av_free(made);
      return Status(Errc::out_of_memory);
    }
    made->id = output.nb_chapters;
    made->time_base = kClock;
    made->start = std::llround(start * kClock.den);
    made->end = std::llround(end * kClock.den);
    if (!chapter.title.empty()) av_dict_set(&made->metadata, "title", chapter.title.c_str(), 0);
  }
  return Status::ok();
}

void set_colour(const ContainerContent& content, AVCodecParameters& codec) {
  if (content.primaries.empty() && content.transfer.empty()) return;
  const auto set = [](auto& field, const std::string& name, int (*find)(const char*)) {
    const int value = name.empty() ? -1 : find(name.c_str());
    if (value >= 0) field = static_cast<std::remove_reference_t<decltype(field)>>(value);
  };
  set(codec.color_primaries, content.primaries, av_color_primaries_from_name);
  set(codec.color_trc, content.transfer, av_color_transfer_from_name);
  set(codec.color_space, content.matrix, av_color_space_from_name);
  set(codec.color_range, content.range, av_color_range_from_name);
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

void read_display_matrix(const AVStream& stream, SourceInfo& info) {
  std::size_t bytes = 0;
  const std::uint8_t* data = side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, bytes);
  Matrix matrix{};
  if (data == nullptr || bytes < sizeof(matrix)) return;
  std::memcpy(matrix.data(), data, sizeof(matrix));
  // x' = m[0] x + m[3] y, y' = m[1] x + m[4] y: a negative determinant mirrors. To mirror before
  // turning negates what is multiplied by x.
  const bool mirrored = std::int64_t{matrix[0]} * matrix[4] < std::int64_t{matrix[1]} * matrix[3];
  if (mirrored)
    for (const std::size_t i : {0U, 1U})
      matrix[i] = static_cast<std::int32_t>(-std::int64_t{matrix[i]});
  const double counter_clockwise = av_display_rotation_get(matrix.data());
  if (std::isnan(counter_clockwise)) return;
  const long quarters = std::lround(-counter_clockwise / 90.0);
  info.rotation_degrees = static_cast<int>(((quarters % 4) + 4) % 4) * 90;
  info.mirrored = mirrored;
}

Status set_display_matrix(const SinkOptions& options, AVStream& stream) {
  auto* matrix = reinterpret_cast<std::int32_t*>(
      add_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, sizeof(Matrix)));
  if (matrix == nullptr) return Status(Errc::out_of_memory);
  av_display_rotation_set(matrix, options.rotation_degrees);
  // Negates the factors of x, which mirrors the picture before it is turned.
  if (options.mirrored)
    for (const int i : {0, 1}) matrix[i] = -matrix[i];
  return Status::ok();
}

bool holds_display_matrix(const std::string& muxer) {
  return muxer != "avi" && (muxer != "matroska" || matroska_holds_rotation());
}

}  // namespace zerorun::io::av
