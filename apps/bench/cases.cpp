// From the words of the command line to devices, cases and frames, and back to commands.
// SPDX-License-Identifier: MIT
#include "apps/bench/options.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "apps/common/failure.hpp"
#include "apps/common/inputs.hpp"
#include "apps/common/text.hpp"
#include "apps/encode/encode_options.hpp"
#include "codec/api/device_set.hpp"
#include "codec/base/device_name.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::app::bench {
namespace {

/// Commas part the words, and a comma also parts the numbers of a list: 0 and 2 of cuda:0,2 belong
/// together.
Words join_lists(const Words& words) {
  Words joined;
  for (const std::string& word : words) {
    const bool is_number = !word.empty() && word.find_first_not_of("0123456789") == word.npos;
    if (is_number && !joined.empty() && joined.back().starts_with("cuda:"))
      joined.back() += "," + word;
    else
      joined.push_back(word);
  }
  return joined;
}

void add_device(const std::string& word, Selection& selection) {
  if (word == "cpu") {
    selection.cpu = true;
    return;
  }
  auto device = parse_device_names(word);
  if (!device || device->backend != Backend::cuda)
    fail(Exit::usage,
         "--device: '" + word + "' is not cpu, cuda or cuda:N, nor a list as cuda:N,M or cuda:all");
  if (const Status status = find_all_devices(*device); !status)
    fail(Exit::device, status.message());
  if (const auto plan = plan_devices(Backend::cuda, device->index, device->list); !plan)
    fail(Exit::device, plan.status().message());
  if (device->list.empty())
    selection.cuda.push_back(device->index);
  else
    selection.teams.push_back(device->list);
}

/// The instruction sets of the rows that are not those of the chosen one.
std::vector<InstructionSet> cpus_of(const Options& options) {
  const std::vector<InstructionSet> there = instruction_sets();
  std::vector<InstructionSet> all = there;
  all.push_back(InstructionSet::best);
  std::vector<InstructionSet> wanted = options.cpus.empty() ? there : std::vector<InstructionSet>{};
  for (const std::string& word : options.cpus) wanted.push_back(value_of("--cpu", word, all));
  std::erase(wanted, InstructionSet::best);
  std::erase(wanted, *resolve_instruction_set());
  return wanted;
}

void check_counts(const char* option, std::vector<int>& counts, std::vector<int> if_not_given) {
  if (counts.empty()) counts = std::move(if_not_given);
  for (const int n : counts)
    if (n < 1 || n > 1024) fail(Exit::usage, fmt::format("{}: {} is not 1 to 1024", option, n));
}

}  // namespace

Selection selection(const Options& options) {
  Selection selection = options.selection;
  selection.cpu = options.devices.empty();
  for (const std::string& word : join_lists(options.devices)) add_device(word, selection);
  if (options.devices.empty() && resolve_backend(Backend::cuda)) selection.cuda.push_back(0);
  selection.cpus = cpus_of(options);
  std::vector<int> threads = {1};
  if (usable_processors() > 1) threads.push_back(usable_processors());
  check_counts("--threads", selection.threads, threads);
  check_counts("--in-flight", selection.in_flight, {1, 2, 4, 8});
  check_counts("--batch", selection.batches, {16});
  check_counts("--peer-threads", selection.peer_threads, {1, 2, 4, 8, 16});
  check_counts("--peer-batch", selection.peer_batches, {64});
  return selection;
}

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

namespace {

template <typename T>
std::string join(const std::vector<T>& values, const char* separator = ",") {
  return fmt::format("{}", fmt::join(values, separator));
}

std::string devices_text(const Selection& selection) {
  std::string text = selection.cpu ? "cpu" : "";
  for (const int device : selection.cuda)
    text += fmt::format("{}cuda:{}", text.empty() ? "" : ",", device);
  for (const std::vector<int>& team : selection.teams)
    text += fmt::format("{}cuda:{}", text.empty() ? "" : ",", join(team));
  return text;
}

std::string goal_text(const Options& options) {
  return options.target_size != 0 ? fmt::format("--target-size {}", options.target_size)
                                  : "--quality " + join(options.qualities);
}

}  // namespace

std::string command_text(const Options& options, const Selection& selection) {
  if (options.primitives)
    return fmt::format("zerorun bench --primitives{} --device cuda:{}",
                       options.quick ? " --quick" : "", selection.cuda.front());
  std::string text = fmt::format(
      "zerorun bench '{}' --operation {} --pixels {} {} --subsampling {} --huffman {} --tunes {} "
      "--effort {} --restart {} --streams {} --device {} --threads {} {}",
      join(options.inputs, "' '"), join(options.operations), join(options.pixels),
      goal_text(options), join(options.samplings), join(options.tables), join(options.tunes),
      join(options.efforts), join(options.restarts), join(options.streams), devices_text(selection),
      join(selection.threads), limits_text(options));
  if (!selection.cuda.empty() || !selection.teams.empty())
    text += fmt::format(" --in-flight {} --batch {} --peer-threads {} --peer-batch {}",
                        join(selection.in_flight), join(selection.batches),
                        join(selection.peer_threads), join(selection.peer_batches));
  if (options.files) text += " --files";
  if (options.energy) text += " --energy";
  if (!options.folder.empty()) text += " --folder '" + options.folder + "'";
  if (selection.no_peers) text += " --no-peers";
  for (const std::string& glob : selection.only) text += " --only '" + glob + "'";
  return text;
}

std::string command_of(const Options& all, const Selection& selection, const Case& what) {
  Options options = all;
  const bool as_stored = what.streams == Streams::input && what.planar;
  options.inputs = {what.input};
  options.operations = {name(what.operation)};
  options.pixels = {as_stored ? "planar" : std::string(zerorun::name(what.pixels))};
  options.qualities = {what.quality};
  options.samplings = {std::string(zerorun::name(what.sampling))};
  options.tables = {name(what.huffman)};
  options.tunes = {std::string(zerorun::name(what.tune))};
  options.efforts = {std::string(zerorun::name(what.effort))};
  options.restarts = {what.restart};
  options.streams = {name(what.streams)};
  return command_text(options, selection);
}

}  // namespace zerorun::app::bench
