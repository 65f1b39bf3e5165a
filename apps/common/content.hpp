// What comes beside the samples: metadata, colour profiles, sound, and what an output cannot keep;
// and the options for it.
// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/common/figures.hpp"
#include "apps/common/input_output.hpp"
#include "apps/common/option_kinds.hpp"
#include "apps/common/options.hpp"
#include "apps/common/process.hpp"
#include "codec/base/try.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/io.hpp"

namespace zerorun::app {

inline constexpr std::size_t kMaxPayload = 65533;  // T.81 B.1.1.4: the length field counts itself

/// A file that an option names: tables or segments. Ends the command with exit 3 if it cannot be
/// used.
class NamedFile {
 public:
  explicit NamedFile(const std::string& path) : path_(path) {
    constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
    std::ifstream in(path, std::ios::binary);
    if (!in)
      fail(Exit::input, path, Status(Errc::open_failed, std::generic_category().message(errno)));
    for (std::istreambuf_iterator<char> at(in), end; at != end; ++at) {
      if (data_.size() == kMaxBytes) fail(Exit::input, path + ": the file is over 16 MiB");
      data_.push_back(*at);
    }
    if (data_.empty()) fail(Exit::input, path + ": the file is empty or cannot be read");
  }

  /// Text as for cjpeg's -qtables: 64 or 128 whole numbers 1..255 in row order; # starts a comment.
  /// The first table is for luma, the second for chroma; a single one is for both.
  std::pair<QuantTable, QuantTable> quant_tables() const {
    std::istringstream lines(data_);
    std::vector<std::uint16_t> numbers;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line.substr(0, line.find('#')));
      for (std::string word; words >> word;) {
        const auto number = parse_integer(word);
        if (!number || *number < 1 || *number > 255)
          fail(Exit::input,
               fmt::format("{}: '{}' is not a table entry from 1 to 255", path_, word));
        numbers.push_back(static_cast<std::uint16_t>(*number));
        if (numbers.size() > 128) fail(Exit::input, path_ + ": there are more than two tables");
      }
    }
    if (numbers.size() != 64 && numbers.size() != 128)
      fail(Exit::input,
           fmt::format("{}: {} numbers; one table has 64, two have 128", path_, numbers.size()));
    std::pair<QuantTable, QuantTable> tables;
    std::copy_n(numbers.begin(), 64, tables.first.begin());
    std::copy_n(numbers.end() - 64, 64, tables.second.begin());
    return tables;
  }
  /// APP1. The file is a TIFF structure ("II*\0", "MM\0*"), the same after "Exif\0\0", or a JPEG
  /// file with EXIF.
  MarkerSegment exif() const {
    constexpr std::string_view kId{"Exif\0\0", 6}, kLittle{"II*\0", 4}, kBig{"MM\0*", 4};
    constexpr std::uint8_t kApp1 = 0xE1;
    if (is_jpeg()) return segments(kApp1, kId, "EXIF").front();
    const bool is_tiff = data_.starts_with(kLittle) || data_.starts_with(kBig);
    if (!is_tiff && !data_.starts_with(kId))
      fail(Exit::input, path_ + ": neither EXIF data nor a JPEG file with EXIF");
    const std::string data = (is_tiff ? std::string(kId) : std::string()) + data_;
    if (data.size() > kMaxPayload)
      fail(Exit::input, fmt::format("{}: {} bytes of EXIF; a segment holds at most {}", path_,
                                    data.size(), kMaxPayload));
    return {kApp1, {data.begin(), data.end()}};
  }
  /// APP2 segments of at most 65519 profile bytes each (ICC.1 B.4). The file is an ICC profile, or
  /// a JPEG file with one.
  std::vector<MarkerSegment> icc() const {
    if (is_jpeg()) return segments(0xE2, {"ICC_PROFILE\0", 12}, "ICC profile");
    // ICC.1 7.2: the header is 128 bytes with 'acsp' at offset 36.
    if (data_.size() < 128 || data_.compare(36, 4, "acsp") != 0)
      fail(Exit::input, path_ + ": neither an ICC profile nor a JPEG file with one");
    io::PictureContent content;
    content.icc = {data_.begin(), data_.end()};
    std::string too_long;
    std::vector<MarkerSegment> all = io::jpeg_segments(content, &too_long);
    if (!too_long.empty()) fail(Exit::input, path_ + ": the profile is too long for 255 segments");
    return all;
  }

 private:
  bool is_jpeg() const { return data_.starts_with("\xFF\xD8"); }
  /// The segments of one marker and identifier in a JPEG file.
  std::vector<MarkerSegment> segments(std::uint8_t marker, std::string_view id,
                                      const char* what) const {
    StreamInfo info = value_or_fail(
        inspect(std::as_bytes(std::span(data_)), StreamLimits::any_size()), Exit::input, path_);
    std::erase_if(info.segments, [&](const MarkerSegment& segment) {
      const std::string payload(segment.payload.begin(), segment.payload.end());
      return segment.marker != marker || !payload.starts_with(id);
    });
    if (info.segments.empty())
      fail(Exit::input, fmt::format("{}: this JPEG file has no {}", path_, what));
    return std::move(info.segments);
  }

  const std::string path_;
  std::string data_;
};

inline MarkerSegment comment_segment(const std::string& text) {
  if (text.size() > kMaxPayload)
    fail(Exit::usage,
         fmt::format("--comment: {} bytes; a comment holds at most {}", text.size(), kMaxPayload));
  constexpr std::uint8_t kCom = 0xFE;
  return {kCom, {text.begin(), text.end()}};
}

/// Keeps the converter of the profile used last: pictures of a sequence have the same. Thread-safe.
class ToSrgb {
 public:
  /// Converts a frame of rgb24 or gray8 in place. Errors: those of ProfileConverter::create().
  Status convert(const io::PictureContent& content, const FrameView& frame) {
    // A profile of inks has been used by the decoder, or the samples are grey.
    if (content.icc.empty() || io::is_ink_profile(content.icc)) return Status::ok();
    std::unique_lock lock(mutex_);
    if (!converter_ || content.icc != icc_ || frame.format != format_) {
      ZR_LET(made, io::ProfileConverter::create(content.icc, frame.format));
      converter_ = made;
      icc_ = content.icc;
      format_ = frame.format;
    }
    const io::ProfileConverter converter = *converter_;
    lock.unlock();
    converter.convert(frame);
    return Status::ok();
  }

 private:
  std::mutex mutex_;
  std::vector<std::uint8_t> icc_;
  PixelFormat format_ = PixelFormat::rgb24;
  std::optional<io::ProfileConverter> converter_;
};

/// Unset = as by default, with a note where it matters.
struct SampleOptions {
  std::optional<io::Alpha> alpha;
  std::optional<bool> dither;
  std::string matrix, range, tonemap;

  io::SampleRules rules() const {
    return {.alpha = alpha.value_or(io::Alpha::ignore),
            .dither = dither.value_or(false),
            .matrix = matrix,
            .range = range,
            .tonemap = tonemap};
  }
};

inline void add_sample_options(CLI::App& app, SampleOptions& options) {
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

/// What decides the samples, as JSON.
inline nlohmann::ordered_json sample_parameters(const SampleOptions& options) {
  const io::SampleRules rules = options.rules();
  nlohmann::ordered_json all = {static_cast<int>(rules.alpha), rules.dither, rules.matrix,
                                rules.range};
  if (!rules.tonemap.empty()) all.push_back(rules.tonemap);
  return all;
}

/// Prints a line if readers would take the samples of written raw video for those of another range.
/// A name with j says full range; `raw_format` is empty if `format` names the samples.
inline void note_raw_range(const std::string& output, const std::string& raw_format,
                           PixelFormat format) {
  const bool names_full_range = raw_format.starts_with("yuvj") || raw_format.starts_with("gray");
  const bool has_range = is_planar_yuv(format) || native_subsampling(format) != Subsampling::s444;
  if (!has_range || format == PixelFormat::gray8 || names_full_range) return;
  console::note(fmt::format(
      "{}: the samples have full range, which the name {} does not tell; read them with `--range "
      "full` (FFmpeg: -color_range pc before -i)",
      output, raw_format.empty() ? std::string(name(format)) : raw_format));
}

/// Prints at most one line each for alpha, bits, and a matrix or range that is guessed.
inline void note_losses(const std::string& name, const io::SourceInfo& info,
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

/// The colours of the samples, which are no metadata.
inline void keep_colour(const io::ContainerContent& content, io::SinkOptions& sink) {
  sink.content.primaries = content.primaries;
  sink.content.transfer = content.transfer;
  sink.content.matrix = content.matrix;
  sink.content.range = content.range;
}

/// Sets what `sink`, whose frame rate is known, copies beside the pictures, and its range of time.
inline void choose_streams(const InputOptions& input, const io::SourceInfo& info,
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

enum class IccMode { keep, convert, none, file };  ///< the words of --icc, then a name

struct ContentOptions {
  bool copy_metadata = true;
  bool autorotate = true;
  IccMode icc = IccMode::keep;
  std::string icc_file;
};

/// Whether INPUT can be opened a second time, for its sound and other streams.
inline bool is_reopened(const InputOptions& input) {
  std::error_code ignored;
  return input.name != "-" && std::filesystem::is_regular_file(input.name, ignored);
}

/// Prints one line for what is lost, and with -v a line for each fact. Ends the command with exit 4
/// if something is lost and `stops`. Returns the ledger for the last event of `--progress json`.
inline nlohmann::ordered_json tell_ledger(const std::string& input, const io::SourceInfo& info,
                                          const io::Location& output,
                                          const io::LedgerChoices& choices, bool stops = false) {
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

/// What `info` declares, as JSON.
inline nlohmann::ordered_json facts_json(const io::SourceInfo& info) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const io::SourceFact& fact : io::facts_of(info))
    json.push_back({{"fact", name(fact.fact)}, {"what", fact.what}, {"value", fact.value}});
  return json;
}

/// --metadata and --icc; `with_file` also takes the name of a profile.
inline void add_content_choices(CLI::App& app, ContentOptions& content, bool with_file) {
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

/// --streams and --losses.
inline void add_stream_options(CLI::App& app, bool& copies_streams, bool& stops_at_losses) {
  add_choice<bool>(app, "--streams", copies_streams, {{"copy", true}, {"none", false}},
                   "Copy the subtitles and attachments of INPUT into containers that hold them, or "
                   "leave all streams but pictures and sound out");
  add_choice<bool>(
      app, "--losses", stops_at_losses, {{"note", false}, {"stop", true}},
      "What happens if OUTPUT has no place for something that INPUT has: one line says "
      "so (-v lists all), or nothing is written (exit 4)");
}

/// What decides the bytes of an output, as JSON.
inline nlohmann::ordered_json content_parameters(const ContentOptions& content) {
  return {{"metadata", content.copy_metadata},
          {"autorotate", content.autorotate},
          {"icc", static_cast<int>(content.icc)},
          {"icc_file", content.icc_file}};
}

}  // namespace zerorun::app
