// The ways of one case from file to file: zerorun's on each device, FFmpeg's, and their floors.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "apps/bench/files/files.hpp"
#include "apps/bench/measure/statistics.hpp"
#include "apps/bench/report/report.hpp"
#include "apps/bench/report/text_table.hpp"
#include "apps/common/console.hpp"
#include "apps/common/failure.hpp"
#include "zerorun/backend.hpp"
#include "zerorun/io.hpp"

namespace zerorun::app::bench {
namespace {

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

  void measure(const Way& way) {
    Row row;
    row.coder = way.coder;
    row.device = way.device;
    row.path = way.path;
    row.mode = Mode::whole;
    row.at_once = way.threads;
    row.unit = "threads";
    if (!is_wanted(row.id())) return;
    result_.has_wanted_rows = true;
    tell(row.id());
    if (Status status = run_way(setting_, way, row); !status)
      return result_.notes.push_back(row.id() + ": " + status.message());
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

}  // namespace

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

}  // namespace zerorun::app::bench
