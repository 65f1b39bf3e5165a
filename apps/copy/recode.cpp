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
  add_device_options(command, options.device);
}

void check_recode_options(RecodeOptions& options) {
  TranscodeParams& params = options.params;
  if (options.baseline) params.scans = ScanChoice::baseline;
  if (options.progressive) params.scans = ScanChoice::progressive;
  if (params.verify && !options.any())
    fail(Exit::usage, "--verify compares what is coded again, for example by --optimize");
  if (options.device.backend == Backend::cuda && !options.optimizes_alone())
    fail(Exit::usage,
         "--device cuda is for --optimize alone; the CPU does all else that copy does");
  find_all_devices(options.device);
}

Recoder::Recoder(const RecodeOptions& options, const StreamLimits& limits, bool holds_fields,
                 int lanes, Backend backend, std::vector<int> devices)
    : params_(options.params),
      holds_fields_(holds_fields),
      memory_(static_cast<std::size_t>(lanes)),
      devices_(std::move(devices)),
      coders_(devices_, lanes, [this](int device) {
        TranscodeParams params = params_;
        if (device != kCpuDevice) params.device = device;
        return Transcoder::create(params);
      }) {
  params_.limits = limits;
  params_.threads = lanes > 1 ? 1 : options.device.threads;
  params_.backend = backend;
}

Result<int> Recoder::recode(int lane, std::vector<std::byte>& packet) {
  Memory& memory = memory_[static_cast<std::size_t>(lane)];
  int left_out = 0;
  ZR_TRY(coders_.run(lane, [&](Transcoder& coder, int) -> Status {
    ZR_LET(lost, code(coder, packet, memory));
    left_out = lost;
    return Status::ok();
  }));
  std::swap(packet, memory.packet);
  return left_out;
}

Result<int> Recoder::code(Transcoder& coder, std::span<const std::byte> packet, Memory& m) {
  if (!holds_fields_) {
    ZR_LET(file, io::transcode_file(coder, packet, m.packet));
    if (file.first.is_unchanged) ++unchanged_;
    return file.left_out;
  }
  m.packet.clear();
  bool is_unchanged = true;
  do {
    ZR_LET(report, coder.transcode(packet, m.image));
    is_unchanged &= report.is_unchanged;
    m.packet.insert(m.packet.end(), m.image.begin(), m.image.end());
    packet = packet.subspan(report.bytes_consumed);
  } while (starts_image(packet));
  m.packet.insert(m.packet.end(), packet.begin(), packet.end());
  if (is_unchanged) ++unchanged_;
  return 0;
}

}  // namespace zerorun::app
