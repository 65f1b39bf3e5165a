// Codes the packets of `zerorun copy` again without loss: the options, and the coders of the lanes.
// SPDX-License-Identifier: MIT
#include "apps/copy/recode.hpp"

#include <CLI/CLI.hpp>

#include <span>
#include <utility>

#include "apps/common/option_kinds.hpp"
#include "apps/common/process.hpp"
#include "codec/base/try.hpp"
#include "zerorun/content.hpp"

namespace zerorun::app {
namespace {

/// MCUs, or 0 for none.
std::optional<std::optional<int>> parse_interval(const std::string& text) {
  if (text == "none") return 0;
  const auto count = parse_integer(text);
  if (!count || *count < 1 || *count > 65535) return std::nullopt;
  return static_cast<int>(*count);
}

template <typename Enum>
std::vector<std::pair<std::string, Enum>> words_but_first() {
  auto words = words_of_choice<Enum>();
  words.erase(words.begin());
  return words;
}

bool starts_image(std::span<const std::byte> bytes) {
  return bytes.size() >= 3 && bytes[0] == std::byte{0xFF} && bytes[1] == std::byte{0xD8} &&
         bytes[2] == std::byte{0xFF};
}

}  // namespace

bool RecodeOptions::any() const {
  return params.optimize || baseline || progressive || params.restart_interval || transforms();
}

void add_recode_options(CLI::App& command, RecodeOptions& options) {
  TranscodeParams& params = options.params;
  LosslessTransform& transform = params.transform;
  command.option_defaults()->group("Recoding without loss");
  command.add_flag("--optimize", params.optimize,
                   "Code each stream again with Huffman tables of its own. The samples stay what "
                   "they are; a stream that would not get smaller stays as it is");
  auto* const progressive = command.add_flag(
      "--progressive", options.progressive,
      "Write progressive JPEG, in the scans that take the fewest bytes. Not every player shows it");
  command
      .add_flag("--baseline", options.baseline,
                "Make sequential JPEG of progressive, for players that show no other")
      ->excludes(progressive);
  add_parsed(command, "--restart", params.restart_interval, parse_interval, "N|none",
             "a number of MCUs from 1 to 65535, or none",
             "Put a restart marker after every N MCUs, or remove them");
  add_choice<Rotation>(command, "--rotate", transform.rotate, words_but_first<Rotation>(),
                       "Turn the pictures clockwise by moving their coefficients; auto: as EXIF or "
                       "the container tells, which then tell of no rotation");
  add_choice<Flip>(command, "--flip", transform.flip, words_but_first<Flip>(),
                   "Mirror the turned pictures: h left and right, v top and bottom");
  command
      .add_option_function<std::string>(
          "--crop", [&transform](const std::string& text) { transform.crop = parse_crop(text); },
          "Keep this region of the turned pictures: width, height, and the first column and row, "
          "which move to the MCU that they lie in")
      ->type_name("WxH+X+Y");
  command.add_flag("--gray", transform.gray, "Keep luma alone");
  add_choice<Edges>(command, "--edges", transform.edges, words_of_choice<Edges>(),
                    "Columns and rows at an edge that are no whole MCU and would have to move to "
                    "the other side: keep them where they are, trim them, or refuse the picture");
  command.add_flag("--verify", params.verify,
                   "Decode each new stream to coefficients, too, and compare them with those of "
                   "the old one, turned as they are");
  add_threads_option(command, options.threads);
}

void check_recode_options(RecodeOptions& options) {
  TranscodeParams& params = options.params;
  if (options.baseline) params.scans = ScanChoice::baseline;
  if (options.progressive) params.scans = ScanChoice::progressive;
  if (params.verify && !options.any())
    fail(Exit::usage, "--verify compares what is coded again, for example by --optimize");
}

Recoder::Recoder(const RecodeOptions& options, const StreamLimits& limits, bool holds_fields,
                 int lanes)
    : params_(options.params),
      holds_fields_(holds_fields),
      coders_(static_cast<std::size_t>(lanes)) {
  params_.limits = limits;
  params_.threads = lanes > 1 ? 1 : options.threads;
}

Result<int> Recoder::recode(int lane, std::vector<std::byte>& packet) {
  Coder& coder = coders_[static_cast<std::size_t>(lane)];
  if (!coder.transcoder) {
    ZR_LET(made, Transcoder::create(params_));
    coder.transcoder = std::move(made);
  }
  if (!holds_fields_) {
    ZR_LET(file, io::transcode_file(*coder.transcoder, packet, coder.packet));
    if (file.first.is_unchanged) ++unchanged_;
    std::swap(packet, coder.packet);
    return file.left_out;
  }
  coder.packet.clear();
  std::span<const std::byte> rest = packet;
  bool is_unchanged = true;
  do {
    ZR_LET(report, coder.transcoder->transcode(rest, coder.image));
    is_unchanged &= report.is_unchanged;
    coder.packet.insert(coder.packet.end(), coder.image.begin(), coder.image.end());
    rest = rest.subspan(report.bytes_consumed);
  } while (starts_image(rest));
  coder.packet.insert(coder.packet.end(), rest.begin(), rest.end());
  if (is_unchanged) ++unchanged_;
  std::swap(packet, coder.packet);
  return 0;
}

}  // namespace zerorun::app
