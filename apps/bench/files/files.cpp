// SPDX-License-Identifier: MIT
#include "apps/bench/files/files.hpp"

#include <fmt/core.h>
#include <fnmatch.h>
#include <glob.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <system_error>

#include "apps/bench/report/report.hpp"
#include "apps/common/process.hpp"
#include "codec/base/try.hpp"
#include "zerorun/backend.hpp"
#include "zerorun/io.hpp"

namespace zerorun::app::bench {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> matches(const std::string& pattern) {
  std::vector<std::string> names;
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) names.emplace_back(found.gl_pathv[i]);
  globfree(&found);
  return names;
}

std::vector<std::string> listed(const std::string& list) {
  std::vector<std::string> names;
  std::ifstream file(list);
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#')
      names.push_back((fs::path(list).parent_path() / line).string());
  return names;
}

/// The last line that is not empty and begins with `start`.
std::string last_line(const std::string& path, const std::string& start) {
  std::ifstream file(path);
  std::string last;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line.starts_with(start)) last = line;
  return last;
}

std::int64_t bytes_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const auto size = fs::file_size(path, error);
    return error ? 0 : static_cast<std::int64_t>(size);
  }
  std::int64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(path, error))
    bytes += static_cast<std::int64_t>(entry.file_size(error));
  return bytes;
}

/// The summary that `--progress json` ends with; an empty object if there is none.
nlohmann::json summary_in(const std::string& line) {
  const auto end = nlohmann::json::parse(line, nullptr, false);
  if (!end.is_object() || !end.contains("summary")) return nlohmann::json::object();
  return end.at("summary");
}

/// What the run with the median time said.
void take_summary(const nlohmann::json& summary, WholeWay& whole) {
  if (!summary.contains("steps")) return;
  whole.start_seconds = summary.value("start_seconds", 0.0);
  const nlohmann::json& steps = summary.at("steps");
  whole.wall = steps.value("sentence", "");
  whole.wall_step = steps.value("wall", "");
  for (const auto& step : steps.at("steps"))
    whole.steps.emplace_back(step.at("step").get<std::string>(), step.at("percent").get<double>());
}

struct Sample {
  double seconds, cpu_seconds;
  nlohmann::json summary;
};

Result<Sample> run_once(const FilesSetting& setting, const Way& way) {
  if (!way.output.empty()) setting.folder.clear(way.output, way.makes_folder);
  const std::string log = setting.folder.path("log");
  auto run = run_child(way.words, "", log);
  if (!run) return run.status();
  // The folder is removed on the way out, and main() ends with the code of the signal.
  if (signals::received() != 0) fail_interrupted();
  if (run->exit_code != 0)
    return Status(Errc::bad_input,
                  fmt::format("exit code {}: {}", run->exit_code, last_line(log, "")));
  return Sample{run->seconds, run->cpu_seconds, summary_in(last_line(log, "{"))};
}

/// Runs the way `repetitions` times, after once to warm up and to make its output. Errors: the
/// child's, with its last line.
Status run_way(const FilesSetting& setting, const Way& way, Row& row) {
  const auto frames = static_cast<double>(setting.frames);
  std::vector<Sample> samples;
  for (int i = 0; i <= setting.repetitions; ++i) {
    auto sample = run_once(setting, way);
    if (!sample) return sample.status();
    if (i > 0) samples.push_back(*std::move(sample));  // the first one warms up
  }
  if (samples.empty()) return Status::ok();
  for (const Sample& sample : samples) row.microseconds.push_back(sample.seconds * 1e6 / frames);
  std::sort(samples.begin(), samples.end(),
            [](const Sample& a, const Sample& b) { return a.seconds < b.seconds; });
  const Sample& median = samples[(samples.size() - 1) / 2];
  row.frames_per_sample = static_cast<std::size_t>(setting.frames);
  row.whole.emplace();
  row.whole->cpu_seconds = median.cpu_seconds;
  take_summary(median.summary, *row.whole);
  if (!way.output.empty())
    row.stream_bytes = static_cast<double>(bytes_of(setting.folder.path(way.output))) / frames;
  return Status::ok();
}

int cuda_index(const std::string& device) {
  return device.starts_with("cuda:") ? std::stoi(device.substr(5)) : -1;
}

void raise(double microseconds, const std::string& name, WholeWay& way) {
  if (microseconds <= way.floor_us) return;
  way.floor_us = microseconds;
  way.floor = name;
}

/// Floors of one case by name, and their rows.
class Floors {
 public:
  Floors(const FilesSetting& setting, CaseResult& result) : setting_(setting), result_(result) {}

  /// Each raises the floor of a way to this, if it is slower.
  void of_reading(const ReadWork& work, const std::string& device, WholeWay& way) {
    std::int64_t bytes = 0;
    for (const std::string& file : work.files) bytes += input_files(file).bytes;
    const int cuda = cuda_index(device);
    if (cuda >= 0 && time_reading_to_device != nullptr) {
      raise(measure("page-cache>device", device, bytes,
                    [&] { return time_reading_to_device(work, cuda); }),
            "page-cache>device", way);
      return;
    }
    raise(measure("page-cache>memory", "cpu", bytes, [&] { return time_reading(work); }),
          "page-cache>memory", way);
  }

  void of_writing(Layout layout, std::int64_t bytes, const std::string& kind, WholeWay& way) {
    if (layout == Layout::none || bytes <= 0) return;
    const std::string name = "memory>" + kind;
    const auto each = static_cast<std::size_t>(bytes / setting_.frames);
    raise(measure(name, "cpu", bytes,
                  [&] {
                    return time_writing(setting_.folder.path("floor"), layout, setting_.frames,
                                        each);
                  }),
          name, way);
  }

  void of_download(std::int64_t bytes, const std::string& device, WholeWay& way) {
    const int cuda = cuda_index(device);
    if (cuda < 0 || time_download == nullptr) return;
    const auto each = static_cast<std::size_t>(bytes / setting_.frames);
    raise(measure("device>pinned", device, bytes,
                  [&] { return time_download(cuda, setting_.frames, each); }),
          "device>pinned", way);
  }

 private:
  /// Microseconds a frame, the median; 0 if it cannot be measured. Measured once for each name.
  double measure(const std::string& name, const std::string& device, std::int64_t bytes,
                 const std::function<Result<double>()>& time) {
    Row row;
    row.coder = "floor";
    row.device = device;
    row.path = name;
    row.mode = Mode::whole;
    row.at_once = floor_threads();
    row.unit = "threads";
    for (const Row& other : result_.rows)
      if (other.id() == row.id()) return summarise(other.microseconds).median;
    const auto frames = static_cast<double>(setting_.frames);
    row.input_bytes = static_cast<double>(bytes) / frames;
    row.frames_per_sample = static_cast<std::size_t>(setting_.frames);
    for (int i = 0; i <= setting_.repetitions; ++i) {
      setting_.folder.clear("floor", true);
      const auto seconds = time();
      if (!seconds) {
        result_.notes.push_back(row.id() + ": " + seconds.status().message());
        return 0.0;
      }
      if (i > 0) row.microseconds.push_back(*seconds * 1e6 / frames);  // the first one warms up
    }
    setting_.folder.clear("floor");
    row.command = result_.command;
    result_.rows.push_back(std::move(row));
    return summarise(result_.rows.back().microseconds).median;
  }

  const FilesSetting& setting_;
  CaseResult& result_;
};

constexpr const char* kStream = "stream.mjpeg";

std::string this_program() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "zerorun" : path.string();
}

/// An output of the program, and how it lies on the disk.
struct Target {
  const char* kind;
  const char* name;  ///< in the folder; empty: nothing is written
  Layout layout;
};

std::vector<Target> targets(bool encodes) {
  std::vector<Target> all = {{"null", "", Layout::none}};
  if (encodes) {
    all.push_back({"mjpeg", "out.mjpeg", Layout::appended});
    if (io::features().ffmpeg) all.push_back({"mov", "out.mov", Layout::appended});
    return all;
  }
  all.push_back({"y4m", "out.y4m", Layout::placed});
  if (io::features().opencv)
    all.push_back({"png", "out/%05d.png", Layout::file_for_each});
  else
    all.push_back({"ppm", "out/%05d.ppm", Layout::file_for_each});
  return all;
}

class FilesRun {
 public:
  FilesRun(const Case& what, const FilesSetting& setting, CaseResult& result)
      : what_(what), setting_(setting), result_(result), floors_(setting, result) {}

  void run() {
    make_stream();
    for (const int index : setting_.selection.cuda) measure_start(index);
    for (const Way& way : our_ways()) measure(way);
    if (setting_.selection.no_peers) return;
    const double bytes = static_cast<double>(input_files(setting_.folder.path(kStream)).bytes);
    for (const Way& way : ffmpeg_ways(what_, setting_, bytes, result_)) measure(way);
  }

 private:
  /// What decode reads, and what tells the size of a stream.
  void make_stream() const {
    Way way;
    way.words = command("encode", setting_.input, setting_.folder.path(kStream), "cpu", 0);
    way.output = kStream;
    FilesSetting once = setting_;
    once.repetitions = 0;
    Row ignored;
    if (Status status = run_way(once, way, ignored); !status)
      fail(Exit::input, setting_.input + ": " + status.message());
  }

  std::vector<std::string> command(const std::string& verb, const std::string& input,
                                   const std::string& output, const std::string& device,
                                   int threads) const {
    std::vector<std::string> words = {this_program(), verb, input, "-o", output, "-y"};
    const auto add = [&words](std::initializer_list<std::string> more) {
      words.insert(words.end(), more);
    };
    // As many as there are cores is what the program chooses itself, and on a GPU it knows better.
    const bool is_usual = threads == usable_processors();
    add({"--device", device, "--threads", std::to_string(is_usual ? 0 : threads)});
    add({"--progress", "json"});
    if (verb == "decode") return words;
    add({"-q", std::to_string(what_.quality), "--subsampling",
         std::string(zerorun::name(what_.sampling)), "--huffman", name(what_.huffman), "--restart",
         what_.restart, "--audio", "none"});
    if (what_.tune != Tune::exact)
      add({"--tune", std::string(zerorun::name(what_.tune)), "--effort",
           std::string(zerorun::name(what_.effort))});
    return words;
  }

  std::vector<Way> our_ways() const {
    std::vector<Way> ways;
    std::vector<std::string> devices;
    if (setting_.selection.cpu) devices.emplace_back("cpu");
    for (const int index : setting_.selection.cuda)
      devices.push_back(fmt::format("cuda:{}", index));
    const bool encodes = what_.encodes();
    for (const std::string& device : devices)
      for (const int threads : setting_.selection.threads)
        for (const Target& target : targets(encodes)) {
          const std::string name = target.name;
          Way way;
          way.device = device;
          way.path = (encodes ? setting_.kind : "mjpeg") + ">" + target.kind;
          way.threads = threads;
          way.layout = target.layout;
          way.makes_folder = target.layout == Layout::file_for_each;
          way.output = name.substr(0, name.find('/'));
          way.words = command(encodes ? "encode" : "decode",
                              encodes ? setting_.input : setting_.folder.path(kStream),
                              name.empty() ? "null:" : setting_.folder.path(name), device, threads);
          ways.push_back(std::move(way));
        }
    return ways;
  }

  /// A process that codes one frame, and one that starts CUDA and does nothing else.
  void measure_start(int index) {
    FilesSetting one = setting_;
    one.frames = 1;
    const std::string device = fmt::format("cuda:{}", index);
    Way way, alone;
    way.device = alone.device = device;
    way.path = alone.path = "start";
    alone.coder = "floor";
    way.words = what_.encodes()
                    ? command("encode", setting_.input, "null:", device, 1)
                    : command("decode", setting_.folder.path(kStream), "null:", device, 1);
    way.words.insert(way.words.end(), {"--frames", "1"});
    alone.words = {this_program(), "bench", "--start-alone", "--device", device};
    Row row = row_of(way), floor = row_of(alone);
    if (!is_wanted(row.id()) || !time(one, alone, floor) || !time(one, way, row)) return;
    raise(summarise(floor.microseconds).median, floor.path, *row.whole);
    result_.rows.push_back(std::move(floor));
    result_.rows.push_back(std::move(row));
  }

  static Row row_of(const Way& way) {
    Row row;
    row.coder = way.coder;
    row.device = way.device;
    row.path = way.path;
    row.mode = Mode::whole;
    row.at_once = way.threads;
    row.unit = "threads";
    return row;
  }

  /// False if it did not work: a note says why.
  bool time(const FilesSetting& setting, const Way& way, Row& row) {
    result_.has_wanted_rows = true;
    tell(row.id());
    const Status status = run_way(setting, way, row);
    if (!status) result_.notes.push_back(row.id() + ": " + status.message());
    return status.is_ok();
  }

  void measure(const Way& way) {
    Row row = row_of(way);
    if (!is_wanted(row.id()) || !time(setting_, way, row)) return;
    row.input_bytes = static_cast<double>(read_work().bytes) / static_cast<double>(setting_.frames);
    row.command =
        result_.command.substr(0, result_.command.find(" --only ")) + " --only '" + row.id() + "'";
    find_floor(way, row);
    result_.rows.push_back(std::move(row));
  }

  bool is_wanted(const std::string& id) const {
    const auto& only = setting_.selection.only;
    return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& glob) {
             return fnmatch(glob.c_str(), id.c_str(), 0) == 0;
           });
  }

  InputFiles read_work() const {
    return what_.encodes() ? setting_.files : input_files(setting_.folder.path(kStream));
  }

  void find_floor(const Way& way, Row& row) {
    tell(row.id() + ": its floor");
    const InputFiles files = read_work();
    const auto written = static_cast<std::int64_t>(row.stream_bytes) * setting_.frames;
    const auto raw = static_cast<std::int64_t>(
        frame_bytes(planar_format(what_.sampling), setting_.width, setting_.height));
    // What is not raw is decoded in host memory first.
    const bool is_raw = setting_.kind == "y4m" || setting_.kind == "pnm";
    const bool goes_up = !what_.encodes() || is_raw;
    floors_.of_reading({files.files, static_cast<std::size_t>(raw)}, goes_up ? way.device : "cpu",
                       *row.whole);
    if (!what_.encodes()) floors_.of_download(raw * setting_.frames, way.device, *row.whole);
    floors_.of_writing(way.layout, written, way.path.substr(way.path.find('>') + 1), *row.whole);
  }

  const Case& what_;
  const FilesSetting& setting_;
  CaseResult& result_;
  Floors floors_;
};

constexpr int kSyntheticFrames = 48;
constexpr const char* kFrames = "frames.y4m";

/// Writes the frames in turn, until there are `count`.
Status write_y4m(const FrameSet& frames, const std::string& path, int count) {
  const ConstFrameView first = frames.view(0);
  io::SinkOptions options;
  options.width = first.width;
  options.height = first.height;
  options.frame_rate = {25, 1};
  ZR_LET(sink, io::open_frame_sink({path, "y4m", {}}, options));
  for (int i = 0; i < count; ++i)
    ZR_TRY(sink->write(frames.view(static_cast<std::size_t>(i) % frames.size()), {i, 1}));
  return sink->finish();
}

/// "png" of a sequence of PNG files, "y4m", "mov", ...
std::string kind_of(const io::SourceInfo& info) {
  std::string kind =
      info.container.find("image") != std::string::npos ? info.codec : info.container;
  kind = kind.substr(0, kind.find(','));  // FFmpeg has "mov,mp4,m4a,..."
  std::replace(kind.begin(), kind.end(), ' ', '-');
  return kind.empty() ? "input" : kind;
}

std::int64_t count_frames(const std::string& input, const io::SourceInfo& info) {
  if (info.frame_count > 0) return info.frame_count;
  io::SourceOptions options;
  options.backend = Backend::cpu;
  auto source = value_or_fail(io::open_frames({input, "", {}}, options), Exit::input, input);
  Frame frame;
  io::FrameTime time;
  std::int64_t count = 0;
  while (value_or_fail(source->read(frame, time), Exit::input, input)) ++count;
  return count;
}

}  // namespace

InputFiles input_files(const std::string& input) {
  InputFiles found;
  std::error_code ignored;
  if (fs::is_regular_file(input, ignored)) {
    found.files = {input};
    found.ffmpeg = {"-i", input};
  } else if (input.starts_with('@')) {
    found.files = listed(input.substr(1));
  } else {
    // A number pattern is close to a glob with a star in its place.
    std::string pattern = std::regex_replace(input, std::regex("%0?[0-9]*d"), "*");
    if (fs::is_directory(input, ignored)) pattern = (fs::path(input) / "*").string();
    found.files = matches(pattern);
    if (!found.files.empty())
      found.ffmpeg = {"-framerate", "25", "-pattern_type", "glob", "-i", pattern};
  }
  for (const std::string& name : found.files)
    found.bytes += static_cast<std::int64_t>(fs::file_size(name, ignored));
  return found;
}

CaseResult run_files(const Case& what, const FilesSetting& setting, const std::string& command) {
  CaseResult result{what, {}, {}, command, false};
  FilesRun(what, setting, result).run();
  console::clear_progress();
  return result;
}

std::string files_table_text(const CaseResult& result) {
  TextTable table({{"coder/device/path/whole/threads, ms a frame", 0, true},
                   {"min", 5},
                   {"median"},
                   {"max", 6},
                   {"frames/s", 1},
                   {"CPU s", 3},
                   {"start s", 4},
                   {"% floor", 2},
                   {"bytes", 1},
                   {"slowest step", 1, true}});
  for (const Row& row : result.rows) {
    const Summary s = summarise(row.microseconds);
    const WholeWay way = row.whole.value_or(WholeWay{});
    const auto ms = [](double us) { return fmt::format("{:.3f}", us * 1e-3); };
    table.add({row.id(), ms(s.min), ms(s.median), ms(s.max), fmt::format("{:.1f}", 1e6 / s.median),
               row.whole ? fmt::format("{:.2f}", way.cpu_seconds) : "",
               way.wall_step.empty() ? "" : fmt::format("{:.3f}", way.start_seconds),
               way.floor_us > 0 ? fmt::format("{:.1f}", 100 * way.floor_us / s.median) : "",
               fmt::format("{:.0f}", row.stream_bytes > 0 ? row.stream_bytes : row.input_bytes),
               way.wall_step});
  }
  std::string text = table.text();
  for (const Row& row : result.rows)
    if (row.whole && !row.whole->wall.empty())
      text += wrapped(fmt::format("{}: {}", row.id(), row.whole->wall), 2) + "\n";
  return text + notes_text(result);
}

FilesSetting prepare_files(const Options& options, const Selection& selection, const Case& what,
                           const TemporaryFolder& folder) {
  FilesSetting setting{what.input, "", {}, 0, 0, 0, folder, selection, options.limits.repetitions};
  if (what.input == "-")
    fail(Exit::usage, "--files: INPUT is read several times, so it cannot be '-'");
  if (is_synthetic(what.input)) {
    setting.input = folder.path(kFrames);
    const int count = options.limits.frames > 0 ? options.limits.frames : kSyntheticFrames;
    if (Status status = write_y4m(load_frames(frame_request(options, what)), setting.input, count);
        !status)
      fail(Exit::output, setting.input, status);
  }
  io::SourceOptions source;
  source.backend = Backend::cpu;
  const io::SourceInfo info =
      value_or_fail(io::probe({setting.input, "", {}}, source), Exit::input, what.input);
  setting.kind = kind_of(info);
  setting.files = input_files(setting.input);
  setting.frames = count_frames(setting.input, info);
  setting.width = info.width;
  setting.height = info.height;
  if (setting.frames < 1) fail(Exit::input, what.input + ": there are no frames");
  return setting;
}

}  // namespace zerorun::app::bench
