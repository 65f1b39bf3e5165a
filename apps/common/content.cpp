// SPDX-License-Identifier: MIT
#include "apps/common/content.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>

#include "apps/common/figures.hpp"
#include "apps/common/input_output.hpp"
#include "apps/common/option_kinds.hpp"
#include "apps/common/process.hpp"
#include "codec/base/try.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::app {
namespace {

constexpr std::size_t kMaxPayload = 65533;  // T.81 B.1.1.4: the length field counts itself
constexpr std::size_t kMaxFile = std::size_t{16} << 20;
constexpr std::uint8_t kCom = 0xFE, kApp1 = 0xE1, kApp2 = 0xE2;
constexpr std::string_view kExifId{"Exif\0\0", 6};
constexpr std::string_view kIccId{"ICC_PROFILE\0", 12};

std::vector<std::uint8_t> read_whole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    fail(Exit::input, path, Status(Errc::open_failed, std::generic_category().message(errno)));
  std::vector<std::uint8_t> data;
  for (std::istreambuf_iterator<char> at(in), end; at != end; ++at) {
    if (data.size() == kMaxFile) fail(Exit::input, path + ": the file is over 16 MiB");
    data.push_back(static_cast<std::uint8_t>(*at));
  }
  if (data.empty()) fail(Exit::input, path + ": the file is empty or cannot be read");
  return data;
}

bool starts_with(const std::vector<std::uint8_t>& data, std::string_view start) {
  return data.size() >= start.size() && std::memcmp(data.data(), start.data(), start.size()) == 0;
}

bool is_jpeg(const std::vector<std::uint8_t>& data) { return starts_with(data, "\xFF\xD8"); }

/// The segments of one marker and identifier in a JPEG file.
std::vector<MarkerSegment> segments_of(const std::string& path,
                                       const std::vector<std::uint8_t>& data, std::uint8_t marker,
                                       std::string_view id) {
  const StreamInfo info = value_or_fail(
      inspect(std::as_bytes(std::span(data)), StreamLimits::any_size()), Exit::input, path);
  std::vector<MarkerSegment> found;
  for (const MarkerSegment& segment : info.segments)
    if (segment.marker == marker && starts_with(segment.payload, id)) found.push_back(segment);
  if (found.empty())
    fail(Exit::input, fmt::format("{}: this JPEG file has no {}", path,
                                  marker == kApp1 ? "EXIF" : "ICC profile"));
  return found;
}

}  // namespace

std::pair<QuantTable, QuantTable> read_quant_tables(const std::string& path) {
  const std::vector<std::uint8_t> data = read_whole(path);
  std::istringstream lines(std::string(data.begin(), data.end()));
  std::vector<std::uint16_t> numbers;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    for (std::string word; words >> word;) {
      const auto number = parse_integer(word);
      if (!number || *number < 1 || *number > 255)
        fail(Exit::input, fmt::format("{}: '{}' is not a table entry from 1 to 255", path, word));
      numbers.push_back(static_cast<std::uint16_t>(*number));
      if (numbers.size() > 128) fail(Exit::input, path + ": there are more than two tables");
    }
  }
  if (numbers.size() != 64 && numbers.size() != 128)
    fail(Exit::input,
         fmt::format("{}: {} numbers; one table has 64, two have 128", path, numbers.size()));
  std::pair<QuantTable, QuantTable> tables;
  std::copy_n(numbers.begin(), 64, tables.first.begin());
  std::copy_n(numbers.end() - 64, 64, tables.second.begin());
  return tables;
}

MarkerSegment comment_segment(const std::string& text) {
  if (text.size() > kMaxPayload)
    fail(Exit::usage,
         fmt::format("--comment: {} bytes; a comment holds at most {}", text.size(), kMaxPayload));
  return {kCom, {text.begin(), text.end()}};
}

MarkerSegment exif_segment(const std::string& path) {
  std::vector<std::uint8_t> data = read_whole(path);
  if (is_jpeg(data)) return segments_of(path, data, kApp1, kExifId).front();
  const bool is_tiff = starts_with(data, {"II*\0", 4}) || starts_with(data, {"MM\0*", 4});
  if (!is_tiff && !starts_with(data, kExifId))
    fail(Exit::input, path + ": neither EXIF data nor a JPEG file with EXIF");
  if (is_tiff) data.insert(data.begin(), kExifId.begin(), kExifId.end());
  if (data.size() > kMaxPayload)
    fail(Exit::input, fmt::format("{}: {} bytes of EXIF; a segment holds at most {}", path,
                                  data.size(), kMaxPayload));
  return {kApp1, std::move(data)};
}

std::vector<MarkerSegment> icc_segments(const std::string& path) {
  const std::vector<std::uint8_t> data = read_whole(path);
  if (is_jpeg(data)) return segments_of(path, data, kApp2, kIccId);
  // ICC.1 7.2: the header is 128 bytes with 'acsp' at offset 36.
  if (data.size() < 128 || std::memcmp(data.data() + 36, "acsp", 4) != 0)
    fail(Exit::input, path + ": neither an ICC profile nor a JPEG file with one");
  io::PictureContent content;
  content.icc = data;
  std::string too_long;
  std::vector<MarkerSegment> segments = io::jpeg_segments(content, &too_long);
  if (!too_long.empty()) fail(Exit::input, path + ": the profile is too long for 255 segments");
  return segments;
}

Result<io::ProfileConverter> ToSrgb::converter(const std::vector<std::uint8_t>& icc,
                                               PixelFormat format) {
  const std::lock_guard lock(mutex_);
  if (!converter_ || icc != icc_ || format != format_) {
    ZR_LET(made, io::ProfileConverter::create(icc, format));
    converter_ = made;
    icc_ = icc;
    format_ = format;
  }
  return *converter_;
}

Status ToSrgb::convert(const io::PictureContent& content, const FrameView& frame) {
  // A profile of inks has been used by the decoder, or the samples are grey.
  if (content.icc.empty() || io::is_ink_profile(content.icc)) return Status::ok();
  ZR_LET(found, converter(content.icc, frame.format));
  found.convert(frame);
  return Status::ok();
}

io::SampleRules SampleOptions::rules() const {
  io::SampleRules rules;
  rules.alpha = alpha.value_or(io::Alpha::ignore);
  rules.dither = dither.value_or(false);
  rules.matrix = matrix;
  rules.range = range;
  rules.tonemap = tonemap;
  return rules;
}

void add_sample_options(CLI::App& app, SampleOptions& options) {
  app.option_defaults()->group("Input");
  using A = std::optional<io::Alpha>;
  add_choice<A>(app, "--alpha", options.alpha,
                {{"ignore", io::Alpha::ignore},
                 {"black", io::Alpha::black},
                 {"premultiply", io::Alpha::black},
                 {"white", io::Alpha::white}},
                "What becomes of transparent pixels: the colours that are stored, or those seen "
                "over black (premultiply is the same) or white")
      ->default_str("ignore");
  using D = std::optional<bool>;
  add_choice<D>(
      app, "--dither", options.dither, {{"none", false}, {"ordered", true}},
      "How samples of more than 8 bits become 8: rounded, or with an ordered pattern, which hides "
      "the steps of smooth gradients")
      ->default_str("none");
  add_choice<std::string>(
      app, "--matrix", options.matrix,
      {{"auto", ""}, {"601", "smpte170m"}, {"709", "bt709"}, {"2020", "bt2020nc"}},
      "Colour matrix of video; auto takes what the file says, and BT.709 for high definition where "
      "it does not say (raw video and YUV4MPEG2: BT.601). --range has the range of its samples");
  add_choice<std::string>(
      app, "--tonemap", options.tonemap,
      {{"none", ""}, {"hable", "hable"}, {"mobius", "mobius"}, {"reinhard", "reinhard"}},
      "Make SDR of video of high dynamic range (PQ, HLG) by this curve of FFmpeg's filter tonemap, "
      "or leave its samples as they are");
}

void note_losses(const std::string& name, const io::SourceInfo& info,
                 const SampleOptions& options) {
  const bool is_picture = info.picture != nullptr;
  const bool has_alpha = is_picture ? info.picture->has_alpha : info.content.has_alpha;
  const int bits = is_picture ? info.picture->bits : info.content.bits;
  if (has_alpha && !options.alpha)
    console::note(name + ": the alpha channel is left out (--alpha black, white or ignore)");
  if (bits > 8 && !options.dither)
    console::note(
        fmt::format("{}: {} bits a sample become 8 (--dither ordered or none)", name, bits));
  const bool is_ycc = !info.is_jpeg && !info.content.pixel_format.empty() && !info.content.is_rgb &&
                      info.format != PixelFormat::gray8;
  const bool is_jpeg_like = info.content.pixel_format.starts_with("yuvj");
  const bool is_raw = info.container == "raw video";
  const bool guesses_matrix =
      is_ycc && info.content.matrix.empty() && options.matrix.empty() && !(is_raw && is_jpeg_like);
  const bool guesses_range =
      is_ycc && info.content.range.empty() && options.range.empty() && !is_jpeg_like;
  if (!guesses_matrix && !guesses_range) return;
  const bool is_hd = !is_raw && (info.width >= 1280 || info.height > 576);
  std::string what, option;
  if (guesses_matrix)
    what = std::string("colour matrix, taken as ") + (is_hd ? "BT.709" : "BT.601");
  if (guesses_range)
    what += std::string(what.empty() ? "" : ", and no ") + "range, taken as limited";
  option = guesses_matrix && guesses_range ? "--matrix, --range"
           : guesses_matrix                ? "--matrix"
                                           : "--range";
  console::note(fmt::format("{}: the file names no {} ({})", name, what, option));
}

void note_raw_range(const std::string& output, const std::string& raw_format, PixelFormat format) {
  const bool names_full_range = raw_format.starts_with("yuvj") || raw_format.starts_with("gray");
  const bool has_range = is_planar_yuv(format) || native_subsampling(format) != Subsampling::s444;
  if (!has_range || format == PixelFormat::gray8 || names_full_range) return;
  console::note(fmt::format(
      "{}: the samples have full range, which the name {} does not tell; read them with `--range "
      "full` (FFmpeg: -color_range pc before -i)",
      output, raw_format.empty() ? std::string(name(format)) : raw_format));
}

nlohmann::ordered_json sample_parameters(const SampleOptions& options) {
  const io::SampleRules rules = options.rules();
  nlohmann::ordered_json all = {static_cast<int>(rules.alpha), rules.dither, rules.matrix,
                                rules.range};
  if (!rules.tonemap.empty()) all.push_back(rules.tonemap);
  return all;
}

void keep_colour(const io::ContainerContent& content, io::SinkOptions& sink) {
  sink.content.primaries = content.primaries;
  sink.content.transfer = content.transfer;
  sink.content.matrix = content.matrix;
  sink.content.range = content.range;
}

void choose_streams(const InputOptions& input, const io::SourceInfo& info,
                    const io::Location& output, const io::LedgerChoices& choices,
                    io::SinkOptions& sink) {
  if (!is_container(output)) return;
  if (choices.sound && info.has_audio && choices.is_readable) {
    if (input.frame_rate.known())
      console::note("--fps changes the speed of the pictures, but not that of the sound");
    sink.audio_from = input.name;
  }
  const bool has_others = std::ranges::any_of(info.content.streams, [](const auto& stream) {
    return stream.kind == io::StreamKind::subtitles || stream.kind == io::StreamKind::attachment;
  });
  if (choices.streams && has_others && choices.is_readable) sink.streams_from = input.name;
  const double start = static_cast<double>(info.first_pts) * info.time_base.value();
  sink.audio_start_seconds = start;
  const FrameRange& range = input.range;
  if (range.last >= 0 && sink.frame_rate.known())
    sink.audio_end_seconds =
        start + static_cast<double>(range.last - range.first) / sink.frame_rate.value();
  if (input.most_seconds > 0)
    sink.audio_end_seconds = sink.audio_end_seconds < 0
                                 ? start + input.most_seconds
                                 : std::min(sink.audio_end_seconds, start + input.most_seconds);
}

bool is_reopened(const InputOptions& input) {
  std::error_code ignored;
  return input.name != "-" && std::filesystem::is_regular_file(input.name, ignored);
}

nlohmann::ordered_json tell_ledger(const std::string& input, const io::SourceInfo& info,
                                   const io::Location& output, const io::LedgerChoices& choices,
                                   bool stops) {
  const std::vector<io::LedgerEntry> ledger = compare(io::facts_of(info), output, choices);
  const std::string losses = losses_text(ledger, input, choices);
  if (!losses.empty() && stops) fail(Exit::output, output.name + ": " + losses);
  if (!losses.empty()) console::note(output.name + ": " + losses);
  if (choices.is_coded && !info.inks.empty())
    console::note(fmt::format("{}: {} becomes RGB{}", input, info.inks,
                              !info.has_ink_profile ? ""
                              : choices.by_profile
                                  ? " by its colour profile"
                                  : " without its colour profile (--icc convert uses it)"));
  const std::string& transfer = info.content.transfer;
  if (choices.is_coded && (transfer == "smpte2084" || transfer == "arib-std-b67"))
    console::note(
        fmt::format("{}: high dynamic range ({}) stays as it is, and what shows 8 bits "
                    "without its transfer shows pale colours{}",
                    input, transfer == "smpte2084" ? "PQ" : "HLG",
                    info.picture ? "" : " (--tonemap hable makes SDR of it)"));
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const io::LedgerEntry& entry : ledger) {
    console::detail(fmt::format("{}: {}: {}{}", output.name, entry.fact.what, name(entry.fate),
                                entry.is_meant ? " (" + entry.option + ")" : ""));
    json.push_back({{"fact", name(entry.fact.fact)},
                    {"what", entry.fact.what},
                    {"fate", name(entry.fate)},
                    {"option", entry.option},
                    {"meant", entry.is_meant}});
  }
  return json;
}

nlohmann::ordered_json facts_json(const io::SourceInfo& info) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const io::SourceFact& fact : io::facts_of(info))
    json.push_back({{"fact", name(fact.fact)}, {"what", fact.what}, {"value", fact.value}});
  return json;
}

void add_content_choices(CLI::App& app, ContentOptions& content, bool with_file) {
  add_choice<bool>(app, "--metadata", content.copy_metadata, {{"copy", true}, {"none", false}},
                   "Keep EXIF, XMP, colour profiles, titles and the other tags of INPUT, or leave "
                   "them out. The orientation of pictures is always kept");
  const auto parse = [&content, with_file](const std::string& word) -> std::optional<IccMode> {
    if (word == "keep") return IccMode::keep;
    if (word == "convert") return IccMode::convert;
    if (word == "none") return IccMode::none;
    content.icc_file = word;
    return with_file ? std::optional(IccMode::file) : std::nullopt;
  };
  std::string words = "keep|convert|none";
  std::string help =
      "The colour profile of INPUT: keep it, convert the pictures to sRGB, or leave it out";
  if (with_file)
    help += "; or the profile of FILE, an ICC file or a JPEG file with one, for every frame";
  add_parsed(app, "--icc", content.icc, parse, with_file ? words + "|FILE" : words,
             "one of " + words, help)
      ->default_str("keep");
}

void add_stream_options(CLI::App& app, bool& copies_streams, bool& stops_at_losses) {
  add_choice<bool>(app, "--streams", copies_streams, {{"copy", true}, {"none", false}},
                   "Copy the subtitles and attachments of INPUT into containers that hold them, or "
                   "leave all streams but pictures and sound out");
  add_choice<bool>(
      app, "--losses", stops_at_losses, {{"note", false}, {"stop", true}},
      "What happens if OUTPUT has no place for something that INPUT has: one line says "
      "so (-v lists all), or nothing is written (exit 4)");
}

nlohmann::ordered_json content_parameters(const ContentOptions& content) {
  return {{"metadata", content.copy_metadata},
          {"autorotate", content.autorotate},
          {"icc", static_cast<int>(content.icc)},
          {"icc_file", content.icc_file}};
}

}  // namespace zerorun::app
