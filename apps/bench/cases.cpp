// Words of the command line -> cases, frames and coders.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "apps/bench/peers/libjpeg_coder.hpp"
#include "apps/bench/options.hpp"
#include "apps/bench/frames/synthetic.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/pixel_limit.hpp"
#include "apps/common/text.hpp"
#include "apps/encode/encode_options.hpp"

namespace zerorun::app::bench {
namespace {

const std::vector<Subsampling> kSamplings = {Subsampling::s420, Subsampling::s422,
                                             Subsampling::s444, Subsampling::s440,
                                             Subsampling::s411, Subsampling::gray};

int cores() noexcept { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

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

Streams streams_of(const std::string& word) {
  for (const Streams streams : {Streams::zerorun, Streams::libjpeg, Streams::input})
    if (name(streams) == word) return streams;
  fail(Exit::usage, "--streams: '" + word + "' is not zerorun, libjpeg or input");
}

bool index_of(const std::string& word) {
  if (word == "no" || word == "yes") return word == "yes";
  fail(Exit::usage, "--index: '" + word + "' is not no or yes");
}

Megapixels megapixels_of(const std::string& text) {
  const std::size_t dash = text.find('-');
  const auto number = [](const std::string& word) -> double {
    std::size_t used = 0;
    try {
      const double value = std::stod(word, &used);
      return used == word.size() ? value : 0.0;
    } catch (const std::exception&) {
      return 0.0;
    }
  };
  if (dash != std::string::npos) {
    const Megapixels sizes{number(text.substr(0, dash)), number(text.substr(dash + 1))};
    if (sizes.least >= 0.0001 && sizes.least <= sizes.most && sizes.most <= 1000) return sizes;
  }
  fail(Exit::usage, "--megapixels: '" + text + "' is not A-B, for example 0.1-12");
}

/// A case without what has no meaning for it, so that cases can be told apart.
void normalise(Case& what) {
  if (what.operation == Operation::encode) what.streams = Streams::zerorun;
  if (what.streams != Streams::zerorun) what.restart = "none";
  if (what.streams != Streams::zerorun) what.index = false;
  if (what.streams != Streams::input) return;
  const Case plain;
  what.sampling = plain.sampling;
  what.quality = plain.quality;
  what.huffman = plain.huffman;
  if (what.planar) what.pixels = plain.pixels;
}

bool is_mixed(const Options& options) { return options.mixed || !options.megapixels.empty(); }

void check_case(const Options& options, const Case& what) {
  const std::string& input = what.input;
  const Streams streams = what.streams;
  if (is_synthetic(input)) {
    (void)parse_synthetic(input);  // a wrong word is told before anything runs
    check_max_pixels(input, options.max_pixels, false);
  }
  if (streams == Streams::libjpeg && libjpeg_version().empty())
    fail(Exit::usage, "--streams libjpeg: this build was made without libjpeg-turbo");
  if (streams == Streams::libjpeg && !libjpeg_takes(what.pixels))
    fail(Exit::usage, fmt::format("--streams libjpeg: libjpeg-turbo does not encode {} frames",
                                  zerorun::name(what.pixels)));
  // Planes go in as they are, and whoever compares them wants them back so.
  if (streams != Streams::input && is_planar_yuv(what.pixels) &&
      native_subsampling(what.pixels) != what.sampling)
    fail(Exit::usage, fmt::format("--pixels {} does not go with --subsampling {}; planar does",
                                  zerorun::name(what.pixels), zerorun::name(what.sampling)));
  if (streams != Streams::input) return;
  if (is_synthetic(input))
    fail(Exit::usage, "--streams input: '" + input + "' has no streams of its own");
  if (!options.megapixels.empty())
    fail(Exit::usage, "--streams input: --megapixels cuts frames, and streams stay whole");
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
  selection.batches = counts_or(options.batches, {16}, "--batch");
  selection.peer_threads = counts_or(options.peer_threads, {1, 2, 4, 8, 16}, "--peer-threads");
  selection.peer_batches = counts_or(options.peer_batches, {64}, "--peer-batch");
  selection.only = options.only;
  return selection;
}

std::vector<Case> cases_of(const Options& options, const std::string& input) {
  for (const std::string& word : options.restarts)
    if (!parse_restart(word))
      fail(Exit::usage, "--restart: '" + word + "' is not N, Nrows, auto or none");
  std::vector<Case> cases = {Case{}};
  cases[0].input = input;
  cases[0].mixed = is_mixed(options);
  // Every value of every option with every other; the last one changes fastest.
  const auto with_each = [&cases](const auto& values, const auto& set) {
    std::vector<Case> more;
    for (const Case& before : cases)
      for (const auto& value : values) set(more.emplace_back(before), value);
    cases = std::move(more);
  };
  with_each(options.samplings, [](Case& c, const auto& v) { c.sampling = sampling_of(v); });
  with_each(options.pixels, [](Case& c, const auto& v) {
    c.pixels = pixels_of(v, c.sampling);
    c.planar = v == "planar";
  });
  with_each(options.operations, [](Case& c, const auto& v) { c.operation = operation_of(v); });
  with_each(options.qualities, [](Case& c, int v) { c.quality = v; });
  with_each(options.tables, [](Case& c, const auto& v) { c.huffman = tables_of(v); });
  with_each(options.restarts, [](Case& c, const auto& v) { c.restart = v; });
  with_each(options.indexes, [](Case& c, const auto& v) { c.index = index_of(v); });
  with_each(options.streams, [](Case& c, const auto& v) { c.streams = streams_of(v); });
  std::vector<Case> different;
  for (Case& what : cases) {
    normalise(what);
    if (what.mixed && what.operation == Operation::encode) continue;
    check_case(options, what);
    if (std::find(different.begin(), different.end(), what) == different.end())
      different.push_back(what);
  }
  if (different.empty()) fail(Exit::usage, "--mixed and --megapixels are for --operation decode");
  return different;
}

static int rotate(const Options& options) {
  return options.rotate.value_or(is_mixed(options) ? 256 : 4);
}

FrameRequest frame_request(const Options& options, const Case& what) {
  FrameRequest request;
  request.input = what.input;
  request.own_streams = what.streams == Streams::input;
  if (!request.own_streams || !what.planar) request.format = what.pixels;
  request.count = static_cast<std::size_t>(rotate(options));
  request.mixed = what.mixed;
  request.max_pixels = options.max_pixels;
  if (!options.megapixels.empty()) request.cut = megapixels_of(options.megapixels);
  return request;
}

std::string limits_text(const Options& options) {
  const Limits& limits = options.limits;
  std::string text =
      fmt::format("--rotate {} --time {} --warm-up {} --repetitions {}", rotate(options),
                  limits.seconds, limits.warm_up_seconds, limits.repetitions);
  if (limits.frames > 0) text += fmt::format(" --frames {}", limits.frames);
  if (options.max_pixels) text += fmt::format(" --max-pixels {}", *options.max_pixels);
  if (!options.megapixels.empty()) {
    text += " --megapixels " + options.megapixels;
  } else if (options.mixed) {
    text += " --mixed";
  }
  return text;
}

}  // namespace zerorun::app::bench
