// SPDX-License-Identifier: MIT
#include "apps/bench/options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "apps/common/input_output.hpp"
#include "apps/encode/encode_options.hpp"
#include "codec/api/device_set.hpp"
#include "codec/base/choices.hpp"
#include "codec/base/cuda_device.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::app::bench {
namespace {

/// Adds options under one heading of the help.
class Group {
 public:
  Group(CLI::App& command, const char* name) : command_(command), name_(name) {}

  template <typename T>
  CLI::Option* add(const char* option, T& target, const char* type, const char* help) {
    return command_.add_option(option, target, help)->type_name(type)->group(name_);
  }
  /// Values with commas between them.
  template <typename T>
  CLI::Option* list(const char* option, T& target, const char* type, const char* default_text,
                    const char* help) {
    return add(option, target, type, help)->delimiter(',')->default_str(default_text);
  }
  template <typename T>
  CLI::Option* number(const char* option, T& target, const char* type, double least, double most,
                      const char* help) {
    return add(option, target, type, help)->check(CLI::Range(least, most).description(""));
  }
  CLI::Option* flag(const char* option, bool& target, const char* help) {
    return command_.add_flag(option, target, help)->group(name_);
  }

 private:
  CLI::App& command_;
  const char* name_;
};

void add_case_options(CLI::App& command, Options& options) {
  Group what(command, "What");
  what.add("INPUT", options.inputs, "INPUT...",
           "A file, pattern, glob or directory as for encode, or generated frames: "
           "synthetic:3840x2160:photo, or :grain, :sensor, :noise, :ramp, :flat, :text, :screen, "
           ":lineart, :pattern; several are measured one after another (default: "
           "synthetic:1920x1080:photo)");
  what.list("--operation", options.operations, "encode,decode", "encode,decode",
            "What is measured; decode reads the streams that --streams names");
  what.list("-q,--quality", options.qualities, "N,...", "90", "1 to 100 on libjpeg's scale")
      ->check(CLI::Range(1, 100).description(""));
  add_amount(command, "--target-size", options.target_size, "BYTES",
             "Encode each frame to this size, as encode --target-size does; --quality does not "
             "count. Peers and stages, which cannot do that, are left out, as is decoding")
      ->group("What");
  what.list("--subsampling", options.samplings, "420,422,...", "420",
            "Of the stream: 420, 422, 444, 440, 411, gray");
  what.list("--pixels", options.pixels, "planar,rgb24,...", "planar",
            "Layout of the frames: planar is that of the stream (yuv420p for 420); or bgr24 "
            "(which OpenCV takes), rgb24, nv12, yuyv422 and the others by FFmpeg's names");
  what.list("--huffman", options.tables, "standard,optimal", "standard",
            "Tables of T.81 Annex K, or made for each frame");
  what.list("--scans", options.scans, "baseline,progressive", "baseline",
            "One scan, or progressive ones with tables made for each: chosen for size by zerorun, "
            "the usual ones by libjpeg-turbo; other peers are left out");
  what.list("--tunes", options.tunes, "exact,photo,text,psnr", "exact",
            "What zerorun decides coefficients for, as for encode; peers do as always");
  what.list("--effort", options.efforts, "fast,best", "fast", "How they are decided");
  what.list("--restart", options.restarts, "N,Nrows,auto,none", "auto",
            "Restart markers of zerorun's streams, as for encode; peers write none");
  what.list("--streams", options.streams, "zerorun,libjpeg,input", "zerorun",
            "Who wrote the streams to decode: zerorun; libjpeg-turbo, which writes no restart "
            "markers; or the JPEG files or Motion JPEG of INPUT as they are, with their own "
            "quality, sampling, tables and restart markers");
  what.number("--rotate", options.rotate, "N", 1, 10000,
              "Number of different frames that take turns")
      ->default_str("4; 256 of a mixed batch");
  add_max_pixels(command, options.max_pixels)->group("What");
  what.flag("--mixed", options.mixed,
            "Decode the images of INPUT as one batch, whatever their sizes: only throughput is "
            "measured, and each sample is a whole number of batches");
  what.add("--megapixels", options.megapixels, "A-B",
           "A mixed batch of --rotate images, from A to B megapixels, cut out of the frames of "
           "INPUT");
  auto* files = what.flag("--files", options.files,
                          "What a user gets: run the program itself from file to file, FFmpeg "
                          "beside it, and what moving the bytes alone takes");
  what.add("--folder", options.folder, "FOLDER",
           "Where --files writes; a folder in it is removed at the end (default: $TMPDIR or /tmp)")
      ->needs(files);
  what.flag("--start-alone", options.start_alone,
            "Measure nothing: start a GPU, pin 100 MB of memory, and end. --files runs this beside "
            "its own start");
  auto* primitives =
      what.flag("--primitives", options.primitives,
                "Instead of frames, measure run-length coding, scan, compaction, Huffman coding "
                "of bytes and their inverses on the GPU, with CUB, one CPU core and a device copy "
                "for comparison");
  what.flag("--quick", options.quick,
            "With --primitives: only large arrays, nothing to compare with")
      ->needs(primitives);
}

void add_coder_options(CLI::App& command, Options& options) {
  Group who(command, "Who");
  Selection& selection = options.selection;
  who.list("--device", options.devices, "cpu,cuda[:N],...", "cpu, and cuda where it works",
           "Where zerorun codes, and which peers are measured; cuda:0,1 and cuda:all have rows of "
           "several GPUs that work on the same frames");
  who.list("--threads", selection.threads, "N,...", "1 and all cores",
           "Threads of the CPU coders: on one frame for latency, a frame each for throughput");
  who.list("--cpu", options.cpus, "NAME,...", "all that the machine has",
           "Instruction sets with a row of their own, such as zerorun-scalar, on one thread; the "
           "other rows use the best one, or the environment's ZERORUN_CPU");
  who.list("--in-flight", selection.in_flight, "N,...", "1,2,4,8",
           "Frames at once on a GPU, each with an encoder or decoder and a stream of its own; "
           "decoders also have a thread each, of the benchmark or, in rows of zerorun-async, of "
           "AsyncDecoder");
  who.list("--batch", selection.batches, "N,...", "16",
           "Device frames that zerorun-batch encodes in one call, by two encoders in turn");
  who.list("--peer-threads", selection.peer_threads, "N,...", "1,2,4,8,16",
           "Threads of nvJPEG, each with a state and a stream of its own");
  who.list("--peer-batch", selection.peer_batches, "N,...", "64",
           "Images in a batch of nvJPEG's batched decoding; its GPU Huffman decoder takes batches "
           "of more than 50");
  who.flag("--no-peers", selection.no_peers, "Measure only zerorun");
  who.add("--only", selection.only, "GLOB",
          "Only rows whose name matches, for example 'zerorun/cuda:0/device>device/*'");
}

void add_time_options(CLI::App& command, Options& options) {
  Group time(command, "How long");
  Limits& limits = options.limits;
  time.number("--time", limits.seconds, "S", 0.001, 3600, "Seconds for one row")
      ->default_str("0.5");
  time.number("--warm-up", limits.warm_up_seconds, "S", 0, 3600,
              "Seconds before it that do not count; every frame is coded at least once")
      ->default_str("0.1");
  time.number("--frames", limits.frames, "N", 1, 1000000,
              "Exactly this many frames for a latency, and for each repetition of a throughput");
  time.number("--repetitions", limits.repetitions, "N", 1, 1000,
              "Of a throughput measurement; of a mixed batch each is at least one pass over it, "
              "after one to check and one to warm up")
      ->default_str("9; 5 of --files");
}

void add_report_options(CLI::App& command, Options& options) {
  Group reports(command, "Reports");
  reports.flag("--energy", options.energy,
               "Also measure the energy of a frame in throughput rows, by the counter of the GPU "
               "(NVML) or of the CPU's packages (RAPL): all of it, and what is above that of the "
               "idle machine. Takes 2 s a row");
  reports.flag("--every-row", options.every_row,
               "Show each number of frames in flight and of threads, not only the fastest");
  reports.add("--json", options.json, "FILE", "Write everything, with the time of each sample");
  reports.add("--csv", options.csv, "FILE", "Write a line for each sample of the frames");
  reports.add("--html", options.html, "FILE",
              "Write a page with plots: coders beside each other, the time of each frame and its "
              "distribution, the stages; one file that needs no network");
  reports
      .add("--compare", options.compare, "OLD.json NEW.json",
           "Measure nothing; show what changed between two --json reports. Exit 1 if a row became "
           "slower by more than --threshold and its noise")
      ->expected(2);
  reports.number("--threshold", options.threshold, "P", 0, 1000, "Per cent of the old median")
      ->default_str("5");
  reports.flag("-y,--overwrite", options.overwrite, "Replace existing files");
  reports.flag("--quiet", options.quiet, "Print only errors to stderr");
}

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
  if (what.progressive) what.huffman = HuffmanTables::optimal;
  if (what.streams != Streams::input) return;
  const Case plain;
  what.sampling = plain.sampling;
  what.quality = plain.quality;
  what.huffman = plain.huffman;
  what.progressive = false;
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

void add_options(CLI::App& command, Options& options) {
  add_case_options(command, options);
  add_coder_options(command, options);
  add_time_options(command, options);
  add_report_options(command, options);
}

void refuse_beside(const char* option, const CLI::App& command,
                   std::initializer_list<const char*> options) {
  for (const char* other : options)
    if (command.count(other) > 0)
      fail(Exit::usage, std::string(other) + " does not go with " + option);
}

void choose_target_size(const CLI::App& command, Options& options) {
  refuse_beside("--target-size", command,
                {"--mixed", "--megapixels", "--files", "--primitives", "--compare"});
  if (std::find(options.operations.begin(), options.operations.end(), "encode") ==
      options.operations.end())
    fail(Exit::usage, "--target-size is for --operation encode: decoding makes no streams");
  options.is_decoding_left_out = std::erase(options.operations, "decode") > 0;
}

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
  with_each(options.scans, [&options](Case& c, const auto& v) {
    c.progressive = v == "progressive";
    if (c.progressive && options.files)
      fail(Exit::usage, "--scans progressive does not go with --files");
    if (!c.progressive && v != "baseline")
      fail(Exit::usage, "--scans: '" + v + "' is not one of baseline, progressive");
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

std::string command_text(const Options& options, const Selection& selection) {
  if (options.primitives)
    return fmt::format("zerorun bench --primitives{} --device cuda:{}",
                       options.quick ? " --quick" : "", selection.cuda.front());
  std::string text = fmt::format(
      "zerorun bench '{}' --operation {} --pixels {} {} --subsampling {} --huffman {} --scans {} "
      "--tunes {} --effort {} --restart {} --streams {} --device {} --threads {} {}",
      join(options.inputs, "' '"), join(options.operations), join(options.pixels),
      goal_text(options), join(options.samplings), join(options.tables), join(options.scans),
      join(options.tunes), join(options.efforts), join(options.restarts), join(options.streams),
      devices_text(selection), join(selection.threads), limits_text(options));
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
  options.scans = {what.progressive ? "progressive" : "baseline"};
  options.tunes = {std::string(zerorun::name(what.tune))};
  options.efforts = {std::string(zerorun::name(what.effort))};
  options.restarts = {what.restart};
  options.streams = {name(what.streams)};
  return command_text(options, selection);
}

}  // namespace zerorun::app::bench
