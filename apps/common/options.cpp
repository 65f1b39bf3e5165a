// SPDX-License-Identifier: MIT
#include "apps/common/options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "apps/common/input_output.hpp"
#include "apps/common/option_kinds.hpp"
#include "apps/common/process.hpp"

namespace zerorun::app {
namespace {

/// Lanes for a GPU. Where rows have to be taken apart (reading PPM) or samples are compressed
/// (PNG), every processor helps. What is only copied needs some for the kernel's copying, too:
/// 2,400 frames of 3848x2168 from a y4m file in memory to null: take 1.72, 1.54, 1.41, 1.36
/// and 1.42 s with 8, 10, 12, 14 and 16 lanes on 16 cores (H200, 2026-11-28), 600 frames 0.67,
/// 0.62, 0.65, 0.65 and 0.66 s. Into one .mjpeg file all take the same, because a file takes one
/// write at a time. 1,200 frames of 4K from Motion JPEG to null: take 0.80, 0.82 and 0.91 s with 8,
/// 12 and 16 lanes, 600 frames to PPM files 1.72, 1.39 and 1.49 s. Each lane costs 5 ms at the
/// start.
constexpr int kMinGpuLanes = 4, kMaxGpuLanes = 16;

/// For all coders of the program, those of JPEG input and --verify too: they are made with `best`.
void choose_cpu(const std::string& word) {
  std::string names(name(InstructionSet::best));
  bool known = word == names;
  for (const InstructionSet set : instruction_sets()) {
    known |= word == name(set);
    names += fmt::format(", {}", name(set));
  }
  if (!known)
    throw CLI::ValidationError(
        "--cpu", fmt::format("'{}' is not one of {}, which this machine has", word, names));
  ::setenv("ZERORUN_CPU", word.c_str(), 1);
}

/// The words of INPUT. Several are files, one for each picture.
void set_inputs(InputOptions& input, const std::vector<std::string>& words) {
  input.name = words.front();
  if (words.size() < 2) return;
  for (const std::string& word : words) {
    std::error_code ignored;
    if (!std::filesystem::exists(word, ignored))
      throw CLI::ValidationError("INPUT", "'" + word + "' is not there; several inputs are files");
  }
  input.names = words;
  input.name = fmt::format("{} and {} more", words.front(), words.size() - 1);
}

std::optional<io::FileNumbers> parse_file_numbers(std::string_view text) {
  io::FileNumbers numbers;
  const auto one = parse_integer(text);
  if (one) numbers = {*one, *one};
  const bool is_good = one ? *one >= 0 : parse_ends(text, numbers.first, numbers.last);
  return is_good && numbers.first <= numbers.last ? std::optional(numbers) : std::nullopt;
}

/// WxH+X+Y.
std::optional<Region> parse_region(const std::string& text) {
  Region region;
  int read = -1;
  const int fields = std::sscanf(text.c_str(), "%6dx%6d+%6d+%6d%n", &region.width, &region.height,
                                 &region.x, &region.y, &read);
  const bool is_whole = fields == 4 && read == static_cast<int>(text.size()) &&
                        text.find_first_not_of("0123456789x+") == std::string::npos;
  const bool is_region = is_whole && region.width > 0 && region.height > 0;
  return is_region ? std::optional(region) : std::nullopt;
}

}  // namespace

void add_device_options(CLI::App& app, DeviceOptions& device) {
  app.option_defaults()->group("Device");
  const auto parse = [&device](const std::string& text) {
    device.is_index_named = text.find(':') != std::string::npos;
    return parse_device_names(text);
  };
  add_parsed(app, "--device", static_cast<DeviceName&>(device), parse, "auto|cpu|cuda[:N,...|:all]",
             "auto, cpu, cuda or cuda:N, nor a list as cuda:N,M or cuda:all",
             "Where frames are coded; all devices give the same bytes. auto: a GPU if usable and "
             "worth its start of 0.3 s, else the CPU (-v says why). cuda: a GPU, else exit 5. "
             "cuda:0,2 and cuda:all: several for one stream; if one fails, the others go on")
      ->default_str("auto");
  app.add_option_function<std::string>(
         "--cpu", choose_cpu,
         "Instruction set of the CPU's coders, one of those that `zerorun devices` lists; every "
         "one gives the same bytes. Instead of the environment's ZERORUN_CPU")
      ->type_name("best|scalar|sse4|avx2|avx512|neon")
      ->default_str("best");
  add_threads_option(app, device.threads);
}

void add_threads_option(CLI::App& app, int& threads) {
  add_number(app, "--threads", threads, 0, 1024, "CPU threads; 0 is one per core")
      ->default_str("0");
}

int worker_count(const DeviceOptions& device, Backend backend) noexcept {
  // A GPU spreads one frame over all of its multiprocessors already.
  if (backend == Backend::cuda) return device.device_count();
  return device.threads > 0 ? device.threads : usable_processors();
}

int lane_count(const DeviceOptions& device, Backend backend, bool only_copies) noexcept {
  const int threads = device.threads > 0 ? device.threads : usable_processors();
  if (backend != Backend::cuda) return threads;
  const int devices = device.device_count();
  if (device.threads > 0) return std::max(threads, devices);
  const int wanted = only_copies ? threads * 3 / 4 : threads;
  return std::clamp(wanted, kMinGpuLanes * devices, kMaxGpuLanes * devices);
}

void find_all_devices(DeviceOptions& device) {
  if (const Status status = zerorun::find_all_devices(static_cast<DeviceName&>(device)); !status)
    fail(Exit::device, status.message());
}

void hide_unused_devices(const DeviceOptions& device) {
  if (device.backend == Backend::cpu || device.index != 0 || !device.list.empty() ||
      device.all_devices)
    return;
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string all = visible == nullptr ? "0," : visible;
  if (const std::size_t comma = all.find(','); comma != all.npos)
    ::setenv("CUDA_VISIBLE_DEVICES", all.substr(0, comma).c_str(), 1);
}

Backend choose_backend(const DeviceOptions& device) {
  hide_unused_devices(device);
  auto plan = plan_devices(device.backend, device.index, device.list);
  if (!plan) fail(exit_for(plan.status(), Exit::device), plan.status().message());
  return plan->backend;
}

std::string device_text(Backend backend, const DeviceOptions& device) {
  if (backend == Backend::cuda) {
    const std::vector<int> all = device.indices();
    std::string text = fmt::format("cuda:{}", fmt::join(all, ","));
    const char* before = " ";
    for (const int index : all)
      if (const auto info = cuda_device(index)) text += std::exchange(before, ", ") + info->name;
    return text;
  }
  const int threads = worker_count(device, backend);
  return fmt::format("cpu, {} thread{}", threads, threads == 1 ? "" : "s");
}

CLI::Option* add_max_pixels(CLI::App& app, std::optional<std::int64_t>& max_pixels) {
  return add_number(
      app, "--max-pixels", max_pixels, 1, StreamLimits::any_size().max_pixels,
      "Refuse pictures with more pixels before allocating memory for them (default: " +
          std::to_string(StreamLimits{}.max_pixels) + ")");
}

void add_raw_input_options(CLI::App& app, InputOptions& input) {
  app.option_defaults()->group("Input");
  const auto read = [&input](const std::string& text) {
    const auto frame = parse_region(text + "+0+0");
    if (!frame || std::max(frame->width, frame->height) > kMaxDimension)
      throw CLI::ValidationError("--size", "'" + text + "' is not a size such as 1920x1080");
    input.raw.width = frame->width;
    input.raw.height = frame->height;
    input.format = "raw";
  };
  CLI::Option* size =
      app.add_option_function<std::string>(
             "--size", read, "INPUT is raw video of this size: frames without headers")
          ->type_name("WxH");
  app.add_option("--pix-fmt", input.raw.pixel_format,
                 "Samples of raw video by FFmpeg's words: yuv420p, nv12, yuyv422, rgb24, bgra, "
                 "yuv422p10le ... (yuv has limited range, yuvj full range; more than 8 bits are "
                 "rounded)")
      ->type_name("NAME")
      ->default_str("yuv420p")
      ->needs(size);
}

void add_input_options(CLI::App& app, InputOptions& input) {
  app.option_defaults()->group("Input");
  app.add_option_function<std::vector<std::string>>(
         "-i,--input,INPUT", [&input](const auto& words) { set_inputs(input, words); },
         "A file, several pictures in this order, a pattern 'dir/%05d.png' or 'dir/shot.####.png', "
         "a quoted glob 'dir/*.png', a directory, @list.txt with one path a line, - for stdin, "
         "http://, https://, rtsp://, udp://, or a camera v4l2:/dev/video0")
      ->required()
      ->type_name("INPUT");
  add_value(app, "--input-format", input.format, "NAME",
            "What INPUT is, if its name does not say: y4m, pnm, mjpeg, raw, or a container");
  add_parsed(app, "--fps", input.frame_rate, parse_rational, "RATE",
             "a frame rate such as 25, 30000/1001 or 23.976",
             "Frame rate such as 25, 30000/1001 or 23.976 (24000/1001), instead of the input's; "
             "images and raw MJPEG have 25 without it");
  add_parsed(app, "--frames", input.range, parse_range, "A:B|N",
             "a range A:B of frames that holds at least one, or a number of frames",
             "Only the frames A to B-1, counted from 0; A: and :B leave an end open, N is 0:N");
  app.add_option_function<std::int64_t>(
         "--page",
         [&input](const std::int64_t& page) {
           input.page = page;
           input.range = {page - 1, page};
         },
         "Only page N of a file with several pictures, counted from 1: TIFF, animated PNG, GIF")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 32).description(""))
      ->excludes("--frames");
  add_value(app, "--duration", input.most_seconds, "SECONDS",
            "End so long after the first frame, by its time stamps and for cameras by the clock")
      ->check(CLI::PositiveNumber.description(""));
  add_value(app, "--timeout", input.timeout_seconds, "SECONDS",
            "End an address or a camera that gives nothing for so long")
      ->check(CLI::PositiveNumber.description(""))
      ->default_str("10");
  add_parsed(app, "--file-numbers", input.file_numbers, parse_file_numbers, "A:B",
             "a range A:B of numbers",
             "Of a sequence, only the files whose names have the numbers A to B, both included; A: "
             "and :B leave an end open");
  add_parsed(
      app, "--start-number", input.start_number, parse_integer, "N", "a whole number",
      "First number of a pattern: of INPUT (default: the smallest that exists) and of OUTPUT "
      "(default: 1)");
  add_choice<io::MissingFrames>(
      app, "--missing", input.missing,
      {{"error", io::MissingFrames::error},
       {"skip", io::MissingFrames::skip},
       {"hold", io::MissingFrames::hold}},
      "At a gap in a numbered sequence: stop, leave the gap out, or repeat the frame before it. "
      "Gaps in a glob or directory are left out and noted, or repeated");
  add_choice<io::BrokenFrames>(
      app, "--on-error", input.broken,
      {{"stop", io::BrokenFrames::stop},
       {"skip", io::BrokenFrames::skip},
       {"hold", io::BrokenFrames::hold},
       {"black", io::BrokenFrames::black}},
      "At a picture that cannot be read: stop, leave it out, repeat the one before it, or take a "
      "black one; each is noted");
  add_max_pixels(app, input.max_pixels);
}

void add_output_options(CLI::App& app, OutputOptions& output, const std::string& kinds) {
  app.option_defaults()->group("Output");
  app.add_option("-o,--output", output.name, kinds)->required()->type_name("OUTPUT");
  add_value(app, "--output-format", output.format, "NAME",
            "What OUTPUT becomes, if its name does not say");
  app.add_flag("-y,--overwrite", output.overwrite, "Replace files that exist");
  app.add_flag("--keep-tree", output.keep_tree,
               "With names as those of INPUT: read the sub-folders of a directory, too, and write "
               "the same ones");
}

void add_console_options(CLI::App& app, const std::string& details) {
  CLI::Option* quiet =
      app.add_flag_callback("--quiet", console::be_quiet, "Print nothing but errors to stderr");
  app.add_flag_callback("-v,--verbose", console::be_verbose, details)->excludes(quiet);
}

void add_progress_option(CLI::App& app, ProgressMode& progress) {
  add_choice<ProgressMode>(
      app, "--progress", progress,
      {{"auto", ProgressMode::automatic},
       {"none", ProgressMode::none},
       {"plain", ProgressMode::plain},
       {"json", ProgressMode::json}},
      "Progress on stderr: a line on a terminal, nothing, text, or JSON lines, "
      "the last with \"progress\":\"end\"");
}

void add_report_options(CLI::App& app, ReportOptions& report, const std::string& stats_columns) {
  app.option_defaults()->group("Reports");
  app.add_option(
         "--stats", report.stats,
         "Write a table of the frames: .json, or .csv with facts of the run in FILE.json; " +
             stats_columns)
      ->type_name("FILE");
  add_progress_option(app, report.progress);
  add_console_options(app, "Say what is read, how it is coded, and what was unusual");
}

Region parse_crop(const std::string& text) {
  if (const auto region = parse_region(text)) return *region;
  throw CLI::ValidationError("--crop", text + " is not WxH+X+Y, for example 640x480+100+50");
}

io::SourceOptions source_options(const InputOptions& input, const DeviceOptions& device) {
  std::error_code ignored;
  if (input.page > 0 &&
      (!input.names.empty() || std::filesystem::is_directory(input.name, ignored)))
    fail(Exit::usage, input.name + ": --page is for one file; --frames chooses from several");
  io::SourceOptions options = input;
  options.first_frame = input.range.first;
  options.last_frame = input.range.last;
  options.backend = device.backend;
  options.device = device.index;
  options.threads = device.threads;
  options.limits = stream_limits(input.max_pixels);
  options.all_pages = !input.first_page_only;
  options.tell_broken = [broken = input.broken](const std::string& name, const Status& error) {
    const char* const what = broken == io::BrokenFrames::skip   ? "it is left out"
                             : broken == io::BrokenFrames::hold ? "the one before it is repeated"
                                                                : "it becomes black";
    console::note(fmt::format("{}; {}", sentence_about(name, error), what));
  };
  return options;
}

namespace {

constexpr std::size_t kTextColumn = 34, kLineEnd = 100;

/// `left` and, beside it, `text` wrapped between words. A long `left` gets a line of its own.
std::string two_columns(const std::string& left, const std::string& text) {
  std::string out, line = "  " + left;
  const auto break_line = [&] { out += std::exchange(line, {}) + "\n"; };
  if (line.size() + 2 > kTextColumn) break_line();
  line.resize(kTextColumn, ' ');
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (line.size() > kTextColumn && line.size() + 1 + word.size() > kLineEnd) {
      break_line();
      line.resize(kTextColumn, ' ');
    }
    line += (line.size() > kTextColumn ? " " : "") + word;
  }
  return out + line + "\n";
}

/// "INPUT, -i, --input" or "-q, --quality N".
std::string option_names(const CLI::Option* option) {
  std::string names;
  const auto add = [&names](const std::string& name) {
    names += (names.empty() ? "" : ", ") + name;
  };
  if (option->get_positional()) add(option->get_name(true, false));
  for (const std::string& name : option->get_snames()) add("-" + name);
  for (const std::string& name : option->get_lnames()) add("--" + name);
  if (!option->get_positional() && option->get_type_size() != 0)
    names += " " + option->get_type_name();
  return names;
}

/// Those without a group are hidden.
std::vector<const CLI::Option*> visible_options(const CLI::App* app) {
  return app->get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter(std::vector<std::string> common, std::string note)
      : common_(std::move(common)), note_(std::move(note)) {}

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    const bool is_program = app->get_parent() == nullptr;
    const bool is_short = !common_.empty() && mode != CLI::AppFormatMode::All;
    const std::string command = name.empty() ? app->get_name() : name;
    std::string out = app->get_description() + "\n\n" + make_usage(app, std::move(name));
    std::string footer = app->get_footer();
    if (!is_short) out += all_options(app);
    if (is_program) {
      out += "\nSubcommands:\n";
      for (const CLI::App* each : app->get_subcommands({}))
        if (!each->get_group().empty())
          out += two_columns(each->get_name(), each->get_description());
    }
    if (is_short) {
      out += "\nCommon options:\n";
      for (const std::string& option : common_) out += make_option(app->get_option(option), false);
      out += fmt::format("\n{}All {} options and the exit codes: {} --help-all\n",
                         note_.empty() ? "" : note_ + "\n", visible_options(app).size(), command);
      footer.erase(0, std::min(footer.find("Examples:"), footer.size()));
    }
    if (!footer.empty()) out += "\n" + footer + "\n";
    if (is_program || mode == CLI::AppFormatMode::All) out += "\n" + exit_codes_text();
    return out;
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = "Usage: " + (name.empty() ? app->get_name() : name);
    if (!app->get_subcommands({}).empty()) return usage + " COMMAND [OPTIONS]\n";
    for (const CLI::Option* option : app->get_options()) {
      if (!option->get_required()) continue;
      usage += " ";
      if (option->get_positional()) {
        usage += option->get_name(true, false);
      } else {
        usage += "-" + option->get_snames().front() + " " + option->get_type_name();
      }
    }
    return usage + " [OPTIONS]\n";
  }

  std::string make_option(const CLI::Option* option, bool) const override {
    std::string text = option->get_description();
    if (!option->get_default_str().empty()) text += " (default: " + option->get_default_str() + ")";
    return two_columns(option_names(option), text);
  }

 private:
  std::string all_options(const CLI::App* app) const {
    std::string out;
    for (const std::string& group : app->get_groups()) {
      std::string lines;
      for (const CLI::Option* option : visible_options(app))
        if (option->get_group() == group) lines += make_option(option, false);
      // CLI11 2.5 and later write the group of --help in capitals.
      if (!lines.empty()) out += "\n" + (group == "OPTIONS" ? "Options" : group) + ":\n" + lines;
    }
    return out;
  }

  std::vector<std::string> common_;
  std::string note_;
};

}  // namespace

void show_common_options(CLI::App& command, std::vector<std::string> common, std::string note) {
  for (const std::string& name : common)
    (void)command.get_option(name);  // throws if it is not there
  command.formatter(std::make_shared<HelpFormatter>(std::move(common), std::move(note)));
}

}  // namespace zerorun::app
