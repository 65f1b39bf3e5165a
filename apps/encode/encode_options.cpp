// Options of `zerorun encode`, and the encoder's parameters from them.
// SPDX-License-Identifier: MIT
#include "apps/encode/encode_options.hpp"

#include <fmt/core.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "apps/common/console.hpp"
#include "apps/common/content.hpp"
#include "apps/common/option_kinds.hpp"
#include "apps/shards/hash.hpp"

namespace zerorun::app {
namespace {

void add_coding_options(CLI::App& command, EncodeOptions& options) {
  command.option_defaults()->group("Coding");
  command.add_option("-q,--quality", options.quality, "1 to 100 on libjpeg's scale")
      ->type_name("N")
      ->check(CLI::Range(1, 100).description(""))
      ->default_str("90");
  using S = std::optional<Subsampling>;
  add_choice<S>(command, "--subsampling", options.subsampling,
                {{"auto", S{}},
                 {"420", Subsampling::s420},
                 {"422", Subsampling::s422},
                 {"444", Subsampling::s444},
                 {"440", Subsampling::s440},
                 {"411", Subsampling::s411},
                 {"gray", Subsampling::gray}},
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
  command.add_option("--comment", options.comment, "Put a COM segment into every frame")
      ->type_name("TEXT");
  command
      .add_option("--exif", options.exif,
                  "Put an EXIF segment into every frame: EXIF data, or a JPEG file with EXIF")
      ->type_name("FILE");
  add_content_choices(command, options.content, true);
  add_choice<bool>(command, "--audio", options.copy_audio, {{"copy", true}, {"none", false}},
                   "Copy the sound of the input into MOV, MP4, MKV and AVI, or leave it out");
  add_stream_options(command, options.copy_streams, options.stops_at_losses);
}

}  // namespace

std::optional<RestartPolicy> parse_restart(const std::string& text) {
  if (text == "auto") return RestartPolicy::automatic();
  if (text == "none") return RestartPolicy::none();
  const std::size_t digits = text.find_first_not_of("0123456789");
  const std::string unit = digits == std::string::npos ? "" : text.substr(digits);
  const auto count = parse_integer(text.substr(0, digits));
  if (!count || *count < 1 || *count > 65535 || (!unit.empty() && unit != "rows"))
    return std::nullopt;
  const int n = static_cast<int>(*count);
  return unit.empty() ? RestartPolicy::mcus(n) : RestartPolicy::mcu_rows(n);
}

void add_encode_options(CLI::App& command, EncodeOptions& options) {
  add_input_options(command, options.input);
  add_output_options(
      command, options.output,
      "video.mov, .mkv, .avi, .mp4, raw .mjpeg, picture.jpg, a pattern "
      "'dir/%05d.jpg', - for raw MJPEG on stdout, null: for nothing, or md5:FILE for "
      "the MD5 of each packet, as FFmpeg's framemd5");
  command.option_defaults()->group("Input");
  command.add_option("--format", options.format, "What - is: y4m, pnm, mjpeg, or raw (see --size)")
      ->type_name("y4m|pnm|mjpeg|raw")
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
  // What nobody asked for: RFC 2435 carries no tables.
  if (options.for_rtp && !options.tuning.huffman) params.huffman = HuffmanTables::standard;
  params.size = size_goal(options.size);
  params.note_setting = options.size.note_setting;
  params.restart = options.restart;
  params.device = options.device.index;
  if (!options.qtables.empty()) {
    auto [luma, chroma] = read_quant_tables(options.qtables);
    params.luma_table = luma;
    params.chroma_table = chroma;
  }
  if (!options.exif.empty()) params.segments.push_back(exif_segment(options.exif));
  if (options.content.icc == IccMode::file)
    for (MarkerSegment& segment : icc_segments(options.content.icc_file))
      params.segments.push_back(std::move(segment));
  if (!options.comment.empty()) params.segments.push_back(comment_segment(options.comment));
  return params;
}

}  // namespace zerorun::app
