// SPDX-License-Identifier: MIT
#include "apps/encode/encode_options.hpp"

#include <fmt/core.h>

#include <span>
#include <utility>

#include "apps/common/figures.hpp"
#include "apps/common/option_kinds.hpp"
#include "apps/common/options.hpp"
#include "apps/common/process.hpp"
#include "apps/shards/hash.hpp"

namespace zerorun::app {

void add_tune_options(CLI::App& command, TuneOptions& options) {
  command.option_defaults()->group("Coding");
  using H = std::optional<HuffmanTables>;
  add_choice<H>(command, "--huffman", options.huffman, words_of_choice<HuffmanTables, H>(),
                "Tables of T.81 Annex K, tables made for each frame (smaller, slower), or tables "
                "that were trained on pictures (smaller, as fast as Annex K's)")
      ->default_str("standard; trained with --tune, optimal with --effort best too");
  add_choice<Tune>(
      command, "--tune", options.tune, words_of_choice<Tune>(),
      "Which coefficients are kept: all, with the bytes of libjpeg-turbo (exact), or those worth "
      "their bits to the eye in photos or in text and drawings, or by squared error");
  add_choice<Effort>(command, "--effort", options.effort, words_of_choice<Effort>(),
                     "With --tune: decide by a dead zone, or by the bits that each coefficient "
                     "saves (smaller, slower)");
  add_value(command, "--tables", options.tables, "NAME|FILE",
            "Quantisation tables, scaled by --quality: annex-k (libjpeg's), flat, ffmpeg (the "
            "matrix of FFmpeg's mjpeg), tuned (trained on photos), auto (as suits --tune), or "
            "a file as for --qtables, which is not scaled")
      ->default_str("auto");
}

/// The code tables that were asked for, or that suit the effort.
static HuffmanTables huffman_of(const TuneOptions& options) {
  if (options.huffman) return *options.huffman;
  if (options.tune == Tune::exact) return HuffmanTables::standard;
  return options.effort == Effort::best ? HuffmanTables::optimal : HuffmanTables::trained;
}

void set_tuning(const TuneOptions& options, EncodeParams& params) {
  params.tune = options.tune;
  params.effort = options.effort;
  params.huffman = huffman_of(options);
  if (const auto tables = parse_choice<QuantTables>(options.tables)) {
    params.tables = *tables;
    return;
  }
  const auto [luma, chroma] = NamedFile(options.tables).quant_tables();
  params.luma_table = luma;
  params.chroma_table = chroma;
}

std::string tuning_text(const TuneOptions& options) {
  std::string text;
  if (options.tune != Tune::exact)
    text += ", tune " + std::string(name(options.tune)) + " " + std::string(name(options.effort));
  if (options.tables != "auto") text += ", tables " + options.tables;
  return text;
}

namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;
constexpr const char* kExpected = "a number from 1 on, also with k, M or G (200000, 200k, 1.5M)";

std::int64_t unit_of(char letter) {
  switch (letter) {
    case 'k':
      return 1000;
    case 'M':
      return 1000000;
    case 'G':
      return 1000000000;
    default:
      return 0;
  }
}

/// A number above 0, up to `most`.
std::optional<double> parse_target(const std::string& text, double most) {
  const auto number = parse_number<double>(text);
  return number && *number > 0 && *number <= most ? number : std::nullopt;
}

/// Thousands; nullopt if it is not a whole number from 1 to 2^50.
std::optional<std::int64_t> parse_amount(const std::string& text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  std::int64_t unit = unit_of(text.back());
  const std::string number = unit == 0 ? text : text.substr(0, text.size() - 1);
  if (unit == 0) unit = 1;
  const std::size_t point = number.find('.');
  const auto whole = parse_integer(number.substr(0, point));
  if (!whole || *whole < 0 || *whole > kMostBytes / unit) return std::nullopt;
  std::int64_t amount = *whole * unit;
  if (point != std::string::npos) {
    if (point + 1 == number.size()) return std::nullopt;
    for (const char digit : number.substr(point + 1)) {
      if (digit < '0' || digit > '9' || unit % 10 != 0) return std::nullopt;
      unit /= 10;
      amount += (digit - '0') * unit;
    }
  }
  if (amount < 1 || amount > kMostBytes) return std::nullopt;
  return amount;
}

/// One of these and no size.
void add_quality_targets(CLI::App& command, SizeOptions& options) {
  CLI::Option* psnr = add_parsed(
      command, "--target-psnr", options.psnr,
      [](const std::string& text) { return parse_target(text, 200); }, "DB",
      "a number of dB above 0, up to 200 (42.5)",
      "Find the lowest quality, in 16ths, with which each frame has this PSNR, as --psnr measures "
      "it. --quality does not count");
  CLI::Option* ssim = add_parsed(
      command, "--target-ssim", options.ssim,
      [](const std::string& text) { return parse_target(text, 1); }, "VALUE",
      "a number above 0, up to 1 (0.985)",
      "The same for the SSIM of luma, as FFmpeg's ssim filter measures it");
  psnr->excludes(ssim);
  for (const char* size : {"--target-size", "--max-frame-size", "--bitrate"})
    for (CLI::Option* target : {psnr, ssim}) target->excludes(command.get_option(size));
}

}  // namespace

CLI::Option* add_amount(CLI::App& command, const std::string& option, std::int64_t& target,
                        const std::string& type, const std::string& help) {
  return add_parsed(command, option, target, parse_amount, type, kExpected, help);
}

void add_size_options(CLI::App& command, SizeOptions& options) {
  command.option_defaults()->group("Size");
  CLI::Option* target = add_amount(
      command, "--target-size", options.target, "BYTES",
      "Find the quality with which each frame has this size: never more bytes, mostly at most "
      "0.5 % fewer. --quality does not count");
  add_amount(command, "--max-frame-size", options.max_frame, "BYTES",
             "Code with --quality, and frames that would be larger so that they fill these bytes");
  CLI::Option* bitrate =
      add_amount(
          command, "--bitrate", options.bitrate, "BITS",
          "Bits a second, by a leaky bucket that begins half full: frames get equal shares, "
          "and more after frames that did not fill theirs. Pictures have 25 a second without --fps")
          ->excludes(target);
  add_amount(command, "--bucket", options.bucket, "BYTES",
             "With --bitrate: what the receiver's buffer holds")
      ->needs(bitrate)
      ->default_str("a second, or four frames if those are more");
  add_quality_targets(command, options);
  command.add_flag(
      "--note-setting", options.note_setting,
      "Put a COM segment into every frame that tells the quality it was coded with, or "
      "that its tables are those of --qtables");
}

SizeGoal size_goal(const SizeOptions& options) {
  return {static_cast<std::size_t>(options.target), static_cast<std::size_t>(options.max_frame),
          options.psnr, options.ssim};
}

RateControl make_rate_control(const SizeOptions& options, const std::string& input,
                              io::Rational rate) {
  if (!rate.known())
    fail(Exit::usage, input + ": --bitrate needs the frame rate, and the input tells none (--fps)");
  auto made = RateControl::create({options.bitrate, rate.num, rate.den,
                                   static_cast<std::size_t>(options.bucket),
                                   static_cast<std::size_t>(options.max_frame)});
  if (!made)
    fail(Exit::usage, options.bucket != 0 ? "--bitrate and --bucket" : "--bitrate", made.status());
  return *std::move(made);
}

std::string size_text(const SizeOptions& options, int quality) {
  if (options.bitrate != 0) return with_commas(options.bitrate) + " bits/s";
  if (options.target != 0) return with_commas(options.target) + " bytes a frame";
  if (options.psnr != 0) return fmt::format("{} dB a frame", options.psnr);
  if (options.ssim != 0) return fmt::format("SSIM {} a frame", options.ssim);
  const std::string cap = options.max_frame == 0 ? ""
                                                 : fmt::format(", at most {} bytes a frame",
                                                               with_commas(options.max_frame));
  return fmt::format("quality {}{}", quality, cap);
}

std::string size_parameters(const SizeOptions& options) {
  std::string text = fmt::format("target {} max {} note {}", options.target, options.max_frame,
                                 options.note_setting);
  if (options.is_of_quality()) text += fmt::format(" psnr {} ssim {}", options.psnr, options.ssim);
  return text;
}

namespace {

void add_coding_options(CLI::App& command, EncodeOptions& options) {
  command.option_defaults()->group("Coding");
  add_number(command, "-q,--quality", options.quality, 1, 100, "1 to 100 on libjpeg's scale")
      ->default_str("90");
  using S = std::optional<Subsampling>;
  std::vector<std::pair<std::string, S>> samplings{{"auto", S{}}};
  for (const Subsampling sampling : {Subsampling::s420, Subsampling::s422, Subsampling::s444,
                                     Subsampling::s440, Subsampling::s411, Subsampling::gray})
    samplings.emplace_back(name(sampling), sampling);
  add_choice<S>(command, "--subsampling", options.subsampling, samplings,
                "Chroma sampling, also as 4:2:0 or grey; auto keeps that of the input and takes "
                "4:2:0 for RGB")
      ->transform([](std::string word) {
        std::erase(word, ':');
        return word == "grey" ? std::string("gray") : word;
      });
  add_tune_options(command, options.tuning);
  add_parsed(
      command, "--restart", options.restart, parse_restart, "N|Nrows|auto|none",
      "a number of MCUs or MCU rows from 1 to 65535 (64, 1rows), auto or none",
      "Restart marker after every N MCUs, after every N rows of MCUs, as suits parallel coding "
      "(auto, at most 1.5 % of the size), or none")
      ->default_str("auto");
  command.add_flag(
      "--progressive", options.progressive,
      "Write progressive JPEG: the coefficients of each frame in the scans that take the fewest "
      "bytes, with tables of their own (--huffman does not count) and, by auto, without restart "
      "markers. Smaller and slower; some players do not show it in videos");
  add_choice<bool>(
      command, "--compat", options.for_rtp, {{"none", false}, {"rtp", true}},
      "Write only what a receiver understands. rtp: RFC 2435, that is standard Huffman "
      "tables, 4:2:0 or 4:2:2, no restart markers, and at most 2040x2040");
  command
      .add_option(
          "--qtables", options.qtables,
          "Quantisation tables instead of --quality: 64 or 128 numbers from 1 to 255 in row "
          "order, luma then chroma; # starts a comment")
      ->type_name("FILE")
      ->excludes("--quality")
      ->excludes("--tables");
}

void add_content_options(CLI::App& command, EncodeOptions& options) {
  command.option_defaults()->group("Content");
  add_value(command, "--comment", options.comment, "TEXT", "Put a COM segment into every frame");
  add_value(command, "--exif", options.exif, "FILE",
            "Put an EXIF segment into every frame: EXIF data, or a JPEG file with EXIF");
  add_content_choices(command, options.content, true);
  add_choice<bool>(command, "--audio", options.copy_audio, {{"copy", true}, {"none", false}},
                   "Copy the sound of the input into MOV, MP4, MKV and AVI, or leave it out");
  add_stream_options(command, options.copy_streams, options.stops_at_losses);
}

}  // namespace

void add_encode_options(CLI::App& command, EncodeOptions& options) {
  add_input_options(command, options.input);
  add_output_options(
      command, options.output,
      "video.mov, .mkv, .avi, .mp4, raw .mjpeg, picture.jpg, a pattern "
      "'dir/%05d.jpg', - for raw MJPEG on stdout, null: for nothing, or md5:FILE for "
      "the MD5 of each packet, as FFmpeg's framemd5");
  command.option_defaults()->group("Input");
  add_value(command, "--format", options.format, "y4m|pnm|mjpeg|raw",
            "What - is: y4m, pnm, mjpeg, or raw (see --size)")
      ->check(CLI::IsMember({"y4m", "pnm", "mjpeg", "raw"}).description(""));
  add_raw_input_options(command, options.input);
  add_sample_options(command, options.samples);
  command.add_flag("--deinterlace", options.deinterlace,
                   "Make whole pictures of interlaced ones: the lines of the first field stay, the "
                   "others are interpolated");
  add_shard_options(command, options.shard, options.samples.range);
  add_coding_options(command, options);
  add_size_options(command, options.size);
  add_content_options(command, options);
  add_device_options(command, options.device);
  command.option_defaults()->group("Reports");
  command.add_flag("--psnr", options.psnr,
                   "Decode every frame and measure its PSNR against the input, over all samples in "
                   "the input's own format (as FFmpeg's psnr filter does)");
  command.add_flag(
      "--verify", options.verify,
      "Read OUTPUT back at the end: every frame must have the bytes that were coded and decode on "
      "the CPU without damage. Frames from a GPU are coded on the CPU too and compared. Exit 6 if "
      "anything differs");
  add_report_options(
      command, options.report,
      "index, pts, bytes, encode_us, gpu_us, what the frame was coded with "
      "(quality, thrift), how often it was coded, what a target reached, and with --psnr "
      "the PSNR");
}

nlohmann::ordered_json coding_parameters(const EncodeOptions& options) {
  const EncodeParams params = encode_params(options);
  Xxh3 tables, segments;
  for (const auto& table : {params.luma_table, params.chroma_table})
    for (std::size_t i = 0; table && i < table->size(); ++i) tables.add(std::uint64_t{(*table)[i]});
  for (const MarkerSegment& segment : params.segments) {
    segments.add(std::uint64_t{segment.marker} << 32 | segment.payload.size());
    segments.add(std::as_bytes(std::span(segment.payload)));
  }
  nlohmann::ordered_json all = {
      {"quality", params.quality},
      {"qtables", options.qtables.empty() ? "" : hash_text(tables.value())},
      {"subsampling", params.subsampling ? std::string(name(*params.subsampling)) : "auto"},
      {"tune", std::string(name(params.tune))},
      {"effort", std::string(name(params.effort))},
      {"tables", std::string(name(params.tables))},
      {"huffman", static_cast<int>(params.huffman)},
      {"restart", {static_cast<int>(params.restart.kind), params.restart.count}},
      {"segments", hash_text(segments.value())},
      {"content", content_parameters(options.content)},
      {"samples", sample_parameters(options.samples)},
      {"deinterlace", options.deinterlace},
      {"rtp", options.for_rtp},
      {"audio", options.copy_audio}};
  if (options.progressive) all["progressive"] = true;
  if (options.size.any() || options.size.note_setting) all["size"] = size_parameters(options.size);
  return all;
}

void fit_to_rtp(EncodeParams& params, const std::string& input, int width, int height,
                Subsampling native) {
  constexpr int kMostPixels = 2040;  // RFC 2435, 3.1.5: eight bits that count blocks
  if (params.huffman != HuffmanTables::standard)
    fail(Exit::usage,
         "--compat rtp: RFC 2435 carries no Huffman tables, so they are --huffman standard");
  if (width > kMostPixels || height > kMostPixels)
    fail(Exit::output,
         fmt::format("{}: {}x{} is too large for --compat rtp; RFC 2435 holds 2040x2040", input,
                     width, height));
  const auto fits = [](Subsampling s) { return s == Subsampling::s420 || s == Subsampling::s422; };
  if (params.subsampling && !fits(*params.subsampling))
    fail(Exit::usage, "--compat rtp: RFC 2435 has 4:2:0 and 4:2:2 alone");
  if (!params.subsampling && !fits(native)) params.subsampling = Subsampling::s420;
  params.restart = RestartPolicy::none();  // FFmpeg's packetizer drops their interval
  if (width % 8 != 0 || height % 8 != 0)
    console::note("--compat rtp: receivers see the size rounded up to multiples of 8");
}

EncodeParams encode_params(const EncodeOptions& options) {
  EncodeParams params;
  params.quality = options.quality;
  params.subsampling = options.subsampling;
  set_tuning(options.tuning, params);
  // RFC 2435 carries no tables.
  if (options.for_rtp && !options.tuning.huffman) params.huffman = HuffmanTables::standard;
  params.size = size_goal(options.size);
  params.note_setting = options.size.note_setting;
  params.restart = options.restart;
  params.progressive = options.progressive;
  if (options.progressive && options.for_rtp)
    fail(Exit::usage, "--compat rtp: RFC 2435 carries no progressive streams");
  if (options.progressive &&
      options.tuning.huffman.value_or(HuffmanTables::optimal) != HuffmanTables::optimal)
    fail(Exit::usage,
         "--progressive: every scan has tables of its own, so they are --huffman "
         "optimal");
  if (options.progressive) params.huffman = HuffmanTables::optimal;
  params.device = options.device.index;
  if (!options.qtables.empty()) {
    auto [luma, chroma] = NamedFile(options.qtables).quant_tables();
    params.luma_table = luma;
    params.chroma_table = chroma;
  }
  if (!options.exif.empty()) params.segments.push_back(NamedFile(options.exif).exif());
  if (options.content.icc == IccMode::file)
    for (MarkerSegment& segment : NamedFile(options.content.icc_file).icc())
      params.segments.push_back(std::move(segment));
  if (!options.comment.empty()) params.segments.push_back(comment_segment(options.comment));
  return params;
}

}  // namespace zerorun::app
