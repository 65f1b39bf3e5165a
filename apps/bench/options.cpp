// The command line of `zerorun bench`.
// SPDX-License-Identifier: MIT
#include "apps/bench/options.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "apps/bench/synthetic.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/text.hpp"
#include "apps/encode_options.hpp"

namespace zerorun::app::bench {
namespace {

const std::vector<Subsampling> kSamplings = {Subsampling::s420, Subsampling::s422,
                                             Subsampling::s444, Subsampling::s440,
                                             Subsampling::s411, Subsampling::gray};

int cores() noexcept { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

template <typename T>
CLI::Option* add_list(CLI::App& command, const char* option, T& target, const char* type,
                      const char* default_text, const char* help) {
  return command.add_option(option, target, help)
      ->delimiter(',')
      ->type_name(type)
      ->default_str(default_text);
}

void add_case_options(CLI::App& command, Options& options) {
  command
      .add_option("INPUT", options.inputs,
                  "A file, pattern, glob or directory as for encode, or frames made on the spot: "
                  "synthetic:3840x2160:photo, or :noise, :ramp, :text; several are measured one "
                  "after another (default: synthetic:1920x1080:photo)")
      ->type_name("INPUT...")
      ->group("What");
  add_list(command, "--operation", options.operations, "encode,decode", "encode,decode",
           "What is measured; decode takes the streams that encode makes")
      ->group("What");
  add_list(command, "-q,--quality", options.qualities, "N,...", "90", "1 to 100 on libjpeg's scale")
      ->check(CLI::Range(1, 100).description(""))
      ->group("What");
  add_list(command, "--subsampling", options.samplings, "420,422,...", "420",
           "Of the stream: 420, 422, 444, 440, 411, gray")
      ->group("What");
  add_list(command, "--pixels", options.pixels, "planar,rgb24,...", "planar",
           "Layout of the frames: planar is that of the stream (yuv420p for 420); or bgr24 "
           "(which OpenCV takes), rgb24, nv12, yuyv and the others by FFmpeg's names")
      ->group("What");
  add_list(command, "--huffman", options.tables, "standard,optimal", "standard",
           "Tables of T.81 Annex K, or made for each frame")
      ->group("What");
  add_list(command, "--restart", options.restarts, "N,Nrows,auto,none", "auto",
           "Restart markers of zerorun's streams, as for encode; peers write none")
      ->group("What");
  command.add_option("--rotate", options.rotate, "So many different frames take turns")
      ->type_name("N")
      ->check(CLI::Range(1, 1000).description(""))
      ->default_str("4")
      ->group("What");
}

void add_primitive_options(CLI::App& command, Options& options) {
  auto* primitives = command.add_flag(
      "--primitives", options.primitives,
      "Instead of frames: run-length coding, scan, compaction, Huffman coding of bytes and their "
      "way back on the GPU, with CUB, one CPU core and a device copy beside them");
  primitives->group("What");
  command
      .add_flag("--quick", options.quick, "With --primitives: large arrays alone, no base lines")
      ->needs(primitives)
      ->group("What");
}

void add_coder_options(CLI::App& command, Options& options) {
  add_list(command, "--device", options.devices, "cpu,cuda[:N],...", "cpu, and cuda where it works",
           "Where zerorun codes, and which peers are measured")
      ->group("Who");
  add_list(command, "--threads", options.threads, "N,...", "1 and all cores",
           "Threads of the CPU coders: on one frame for latency, a frame each for throughput")
      ->group("Who");
  add_list(command, "--in-flight", options.in_flight, "N,...", "1,2,4,8",
           "Frames at once on a GPU, each with an encoder and a stream of its own")
      ->group("Who");
  add_list(command, "--peer-threads", options.peer_threads, "N,...", "1,2,4,8,16",
           "Threads of nvJPEG, each with a state and a stream of its own")
      ->group("Who");
  command.add_flag("--no-peers", options.no_peers, "zerorun alone")->group("Who");
  command
      .add_option("--only", options.only,
                  "Only rows whose name fits, for example 'zerorun/cuda:0/device>device/*'")
      ->type_name("GLOB")
      ->group("Who");
}

void add_time_options(CLI::App& command, Options& options) {
  const auto positive = CLI::Range(0.001, 3600.0).description("");
  command.add_option("--time", options.limits.seconds, "Seconds for one row")
      ->type_name("S")
      ->check(positive)
      ->default_str("0.5")
      ->group("How long");
  command
      .add_option("--warm-up", options.limits.warm_up_seconds,
                  "Seconds before it that do not count; every frame is coded once at least")
      ->type_name("S")
      ->check(CLI::Range(0.0, 3600.0).description(""))
      ->default_str("0.1")
      ->group("How long");
  command
      .add_option("--frames", options.limits.frames,
                  "Exactly so many frames for a latency, and for each repetition of a throughput")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000).description(""))
      ->group("How long");
  command.add_option("--repetitions", options.limits.repetitions, "Of a throughput measurement")
      ->type_name("N")
      ->check(CLI::Range(1, 1000).description(""))
      ->default_str("9")
      ->group("How long");
}

void add_report_options(CLI::App& command, Options& options) {
  command
      .add_flag("--every-row", options.every_row,
                "Show each number of frames in flight and of threads, not only the fastest")
      ->group("Reports");
  command.add_option("--json", options.json, "Write everything, with the time of each sample")
      ->type_name("FILE")
      ->group("Reports");
  command.add_option("--csv", options.csv, "Write a line for each sample of the frames")
      ->type_name("FILE")
      ->group("Reports");
  command
      .add_option("--html", options.html,
                  "Write a page with plots: coders beside each other, the time of each frame and "
                  "its distribution, the stages; one file that needs no network")
      ->type_name("FILE")
      ->group("Reports");
  command
      .add_option("--compare", options.compare,
                  "Measure nothing; tell what changed between two --json reports. Exit 1 if a row "
                  "became slower by more than --threshold and its noise")
      ->type_name("OLD.json NEW.json")
      ->expected(2)
      ->group("Reports");
  command.add_option("--threshold", options.threshold, "Per cent of the old median")
      ->type_name("P")
      ->check(CLI::Range(0.0, 1000.0).description(""))
      ->default_str("5")
      ->group("Reports");
  command.add_flag("-y,--overwrite", options.overwrite, "Replace files that exist")
      ->group("Reports");
  command.add_flag("--quiet", options.quiet, "Nothing on stderr but errors")->group("Reports");
}

Subsampling sampling_of(const std::string& word) {
  for (const Subsampling sampling : kSamplings)
    if (zerorun::name(sampling) == word) return sampling;
  fail(Exit::usage, "--subsampling: '" + word + "' is not one of 420, 422, 444, 440, 411, gray");
}

Operation operation_of(const std::string& word) {
  if (word == "encode") return Operation::encode;
  if (word == "decode") return Operation::decode;
  fail(Exit::usage, "--operation: '" + word + "' is not encode or decode");
}

PixelFormat pixels_of(const std::string& word, Subsampling sampling) {
  if (word == "planar") return planar_format(sampling);
  for (int i = 0; i < kPixelFormatCount; ++i)
    if (const auto format = static_cast<PixelFormat>(i); zerorun::name(format) == word)
      return format;
  fail(Exit::usage, "--pixels: '" + word + "' is not planar, rgb24, bgr24, nv12, ...");
}

HuffmanTables tables_of(const std::string& word) {
  if (word == "standard") return HuffmanTables::standard;
  if (word == "optimal") return HuffmanTables::optimal;
  fail(Exit::usage, "--huffman: '" + word + "' is not standard or optimal");
}

void add_device(const std::string& word, Selection& selection) {
  if (word == "cpu") {
    selection.cpu = true;
    return;
  }
  const auto index = word == "cuda"                ? std::optional<std::int64_t>(0)
                     : word.rfind("cuda:", 0) == 0 ? parse_integer(word.substr(5))
                                                   : std::nullopt;
  if (!index || *index < 0 || *index > 1023)
    fail(Exit::usage, "--device: '" + word + "' is not cpu, cuda or cuda:N");
  const int device = static_cast<int>(*index);
  if (const auto backend = resolve_backend(Backend::cuda, device); !backend)
    fail(Exit::device, backend.status().message());
  selection.cuda.push_back(device);
}

std::vector<int> counts_or(const std::vector<int>& given, std::vector<int> otherwise,
                           const char* option) {
  if (given.empty()) return otherwise;
  for (const int n : given)
    if (n < 1 || n > 1024) fail(Exit::usage, fmt::format("{}: {} is not 1 to 1024", option, n));
  return given;
}

}  // namespace

void add_options(CLI::App& command, Options& options) {
  add_case_options(command, options);
  add_primitive_options(command, options);
  add_coder_options(command, options);
  add_time_options(command, options);
  add_report_options(command, options);
}

Selection selection(const Options& options) {
  Selection selection;
  selection.cpu = options.devices.empty();
  for (const std::string& word : options.devices) add_device(word, selection);
  if (options.devices.empty() && resolve_backend(Backend::cuda)) selection.cuda.push_back(0);
  selection.peers = !options.no_peers;
  std::vector<int> threads = {1};
  if (cores() > 1) threads.push_back(cores());
  selection.threads = counts_or(options.threads, threads, "--threads");
  selection.in_flight = counts_or(options.in_flight, {1, 2, 4, 8}, "--in-flight");
  selection.peer_threads = counts_or(options.peer_threads, {1, 2, 4, 8, 16}, "--peer-threads");
  selection.only = options.only;
  return selection;
}

std::vector<Case> cases_of(const Options& options, const std::string& input) {
  for (const std::string& word : options.restarts)
    if (!parse_restart(word))
      fail(Exit::usage, "--restart: '" + word + "' is not N, Nrows, auto or none");
  if (is_synthetic(input))
    (void)parse_synthetic(input);  // a wrong word is told before anything runs
  std::vector<Case> cases = {Case{}};
  cases[0].input = input;
  // Every value of every option with every other; the last one changes fastest.
  const auto with_each = [&cases](const auto& values, const auto& set) {
    std::vector<Case> more;
    for (const Case& before : cases)
      for (const auto& value : values) set(more.emplace_back(before), value);
    cases = std::move(more);
  };
  with_each(options.samplings, [](Case& c, const auto& v) { c.sampling = sampling_of(v); });
  with_each(options.pixels, [](Case& c, const auto& v) { c.pixels = pixels_of(v, c.sampling); });
  with_each(options.operations, [](Case& c, const auto& v) { c.operation = operation_of(v); });
  with_each(options.qualities, [](Case& c, int v) { c.quality = v; });
  with_each(options.tables, [](Case& c, const auto& v) { c.huffman = tables_of(v); });
  with_each(options.restarts, [](Case& c, const auto& v) { c.restart = v; });
  return cases;
}

std::string limits_text(const Options& options) {
  const Limits& limits = options.limits;
  std::string text =
      fmt::format("--rotate {} --time {} --warm-up {} --repetitions {}", options.rotate,
                  limits.seconds, limits.warm_up_seconds, limits.repetitions);
  if (limits.frames > 0) text += fmt::format(" --frames {}", limits.frames);
  return text;
}

}  // namespace zerorun::app::bench
