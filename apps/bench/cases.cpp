// From the words of the command line to cases and frames.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "apps/bench/named_value.hpp"
#include "apps/bench/options.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/pixel_limit.hpp"
#include "apps/common/text.hpp"
#include "apps/encode/encode_options.hpp"

namespace zerorun::app::bench {
namespace {

const std::vector<Subsampling> kSamplings = {Subsampling::s420, Subsampling::s422,
                                             Subsampling::s444, Subsampling::s440,
                                             Subsampling::s411, Subsampling::gray};

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

/// Resets what has no meaning for the case, so that equal cases compare equal.
void normalise(Case& what) {
  if (what.operation == Operation::encode) what.streams = Streams::zerorun;
  if (what.streams != Streams::zerorun) what.restart = "none";
  if (what.streams != Streams::zerorun) what.index = false;
  if (what.streams != Streams::zerorun) what.tune = Tune::exact;
  if (what.tune == Tune::exact) what.effort = Effort::fast;
  if (what.target_size != 0) what.quality = Case{}.quality;
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
    check_synthetic(input);  // before anything runs
    check_max_pixels(input, options.max_pixels, false);
  }
  if (streams == Streams::libjpeg && !have_libjpeg())
    fail(Exit::usage, "--streams libjpeg: this build was made without libjpeg-turbo");
  if (streams == Streams::libjpeg && !is_planar_or_rgb(what.pixels))
    fail(Exit::usage, fmt::format("--streams libjpeg: libjpeg-turbo does not encode {} frames",
                                  zerorun::name(what.pixels)));
  // Planes are coded as they are, and compared in the same sampling.
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

}  // namespace

std::vector<Case> cases_of(const Options& options, const std::string& input) {
  for (const std::string& word : options.restarts)
    if (!parse_restart(word))
      fail(Exit::usage, "--restart: '" + word + "' is not N, Nrows, auto or none");
  std::vector<Case> cases = {Case{}};
  cases[0].input = input;
  cases[0].mixed = is_mixed(options);
  cases[0].target_size = options.target_size;
  // Combines every value of every option; the last option changes fastest.
  const auto with_each = [&cases](const auto& values, const auto& set) {
    std::vector<Case> more;
    for (const Case& before : cases)
      for (const auto& value : values) set(more.emplace_back(before), value);
    cases = std::move(more);
  };
  with_each(options.samplings,
            [](Case& c, const auto& v) { c.sampling = value_of("--subsampling", v, kSamplings); });
  with_each(options.pixels, [](Case& c, const auto& v) {
    c.pixels = pixels_of(v, c.sampling);
    c.planar = v == "planar";
  });
  with_each(options.operations, [](Case& c, const auto& v) {
    c.operation = value_of<Operation>("--operation", v, {Operation::encode, Operation::decode});
  });
  with_each(options.qualities, [](Case& c, int v) { c.quality = v; });
  with_each(options.tables, [](Case& c, const auto& v) {
    c.huffman =
        value_of<HuffmanTables>("--huffman", v, {HuffmanTables::standard, HuffmanTables::optimal});
  });
  with_each(options.tunes, [](Case& c, const auto& v) {
    c.tune = value_of<Tune>("--tunes", v, {std::begin(kAllTunes), std::end(kAllTunes)});
  });
  with_each(options.efforts, [](Case& c, const auto& v) {
    c.effort = value_of<Effort>("--effort", v, {Effort::fast, Effort::best});
  });
  with_each(options.restarts, [](Case& c, const auto& v) { c.restart = v; });
  with_each(options.indexes, [](Case& c, const auto& v) {
    if (v != "no" && v != "yes") fail(Exit::usage, "--index: '" + v + "' is not no or yes");
    c.index = v == "yes";
  });
  with_each(options.streams, [](Case& c, const auto& v) {
    c.streams =
        value_of<Streams>("--streams", v, {Streams::zerorun, Streams::libjpeg, Streams::input});
  });
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
