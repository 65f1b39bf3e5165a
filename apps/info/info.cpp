// `zerorun info`: describes an input without decoding it.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "apps/commands.hpp"
#include "apps/common/figures.hpp"
#include "apps/common/input_output.hpp"
#include "apps/common/process.hpp"
#include "apps/info/info_report.hpp"

#include <CLI/CLI.hpp>

namespace zerorun::app {
namespace {

struct InfoOptions {
  std::string input;
  std::string format;
  bool json = false;
  bool packets = false;
};

std::optional<std::int64_t> regular_file_bytes(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error) return std::nullopt;
  return static_cast<std::int64_t>(bytes);
}

/// SOS segments before EOI, or before the end of a stream that is cut short.
int count_scans(std::span<const std::byte> jpeg) {
  const auto byte = [&](std::size_t at) { return std::to_integer<unsigned>(jpeg[at]); };
  int scans = 0;
  for (std::size_t at = 2; at + 3 < jpeg.size();) {
    const unsigned code = byte(at + 1);
    // Bytes of a scan, stuffed ones, fill bytes, and markers without a length: TEM and RSTm.
    if (byte(at) != 0xFF || code <= 0x01 || (code >= 0xD0 && code <= 0xD7) || code == 0xFF) {
      const auto next = std::find(jpeg.begin() + static_cast<std::ptrdiff_t>(at) + 1, jpeg.end(),
                                  std::byte{0xFF});
      at = static_cast<std::size_t>(next - jpeg.begin());
      continue;
    }
    if (code == 0xD9) break;
    scans += code == 0xDA ? 1 : 0;
    at += 2 + (byte(at + 2) << 8 | byte(at + 3));
  }
  return scans;
}

/// Reads the headers of the first JPEG stream, and with `all` the sizes of all streams.
void read_packets(io::PacketSource& source, bool all, InputFacts& facts) {
  std::vector<std::byte> jpeg;
  io::FrameTime time;
  PacketSizes sizes;
  while (value_or_fail(source.read(jpeg, time), Exit::input, facts.name)) {
    const auto bytes = static_cast<std::int64_t>(jpeg.size());
    if (sizes.count == 0) {
      facts.first_bytes = jpeg.size();
      facts.kind = io::jpeg_kind(jpeg);
      facts.scans = count_scans(jpeg);
      facts.picture = io::picture_content(std::span<const std::byte>(jpeg));
      if (auto stream = inspect(jpeg, StreamLimits::any_size())) {
        facts.stream = *std::move(stream);
      } else if (stream.status().code() == Errc::out_of_memory) {
        fail(Exit::input, facts.name, stream.status());
      } else {
        facts.stream_problem = stream.status().message();
      }
      sizes.smallest = bytes;
    }
    ++sizes.count;
    sizes.total += bytes;
    sizes.smallest = std::min(sizes.smallest, bytes);
    sizes.largest = std::max(sizes.largest, bytes);
    if (!all) return;
  }
  if (sizes.count == 0) fail(Exit::input, facts.name + ": there are no frames");
  facts.sizes = sizes;
}

InputFacts gather(const InfoOptions& options) {
  InputOptions input;
  input.name = options.input;
  input.format = options.format;
  InputFacts facts;
  facts.name = options.input;
  facts.file_bytes = regular_file_bytes(options.input);
  io::SourceOptions source;
  source.opened = io::opened_file();
  const auto packets = open_jpeg_packets(input, source);
  if (!packets) {
    facts.source = value_or_fail(io::probe(input, source), Exit::input, input.name);
    if (facts.source.picture) facts.picture = *facts.source.picture;
    return facts;
  }
  facts.source = packets->info();
  // Raw MJPEG has no index: its frames can only be counted by reading them.
  const bool all = options.packets || facts.source.frame_count < 0;
  read_packets(*packets, all, facts);
  return facts;
}

}  // namespace

Command add_info(CLI::App& program) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* command = program.add_subcommand(
      "info", "Describe an input: container, pictures, and the headers of its first JPEG stream");
  command
      ->add_option("-i,--input,INPUT", options->input,
                   "A file, pattern, glob, directory, @list.txt, or - for stdin")
      ->required()
      ->type_name("INPUT");
  command->add_option("--format", options->format, "What INPUT is, if its name does not say")
      ->type_name("NAME");
  command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("--packets", options->packets,
                    "Read all JPEG streams: their number and the smallest, largest and mean size "
                    "(always done for raw MJPEG, which has no index)");
  return [options] {
    console::hide_lines_of_libraries();
    const InputFacts facts = gather(*options);
    fmt::print("{}\n", options->json ? json_text(to_json(facts), 2) : to_text(facts));
    return Exit::done;
  };
}

}  // namespace zerorun::app
