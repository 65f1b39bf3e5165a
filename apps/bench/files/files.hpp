// `zerorun bench --files`: what a user gets, from file to file, as child processes.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/bench/files/child.hpp"
#include "apps/bench/files/floors.hpp"
#include "apps/bench/options.hpp"
#include "apps/bench/result.hpp"

namespace zerorun::app::bench {

/// The files of an input, as far as bench and FFmpeg can name them.
struct InputFiles {
  std::vector<std::string> files;
  std::vector<std::string> ffmpeg;  ///< FFmpeg's options for the input; empty: it has none
  std::int64_t bytes = 0;
};
InputFiles input_files(const std::string& input);

/// An input that is measured, and where results go.
struct FilesSetting {
  std::string input;  ///< of the program: the user's, or generated frames
  std::string kind;   ///< "png", "y4m", "mov"
  InputFiles files;
  std::int64_t frames = 0;
  int width = 0, height = 0;
  const TemporaryFolder& folder;
  const Selection& selection;
  int repetitions = 5;
};

/// Fills in a setting; generated frames become a file of the folder. Ends the command with exit 3
/// if the input cannot be read.
FilesSetting prepare_files(const Options& options, const Selection& selection, const Case& what,
                           const TemporaryFolder& folder);

/// One way from an input to an output.
struct Way {
  std::string coder = "zerorun", device = "cpu";
  std::string path;  ///< "png>mov"
  int threads = 1;
  Layout layout = Layout::none;    ///< of the output
  std::vector<std::string> words;  ///< the command; the last one is the output
  std::string output;              ///< name in the folder, removed before each run; empty: none
  bool makes_folder = false;       ///< the output is a file for each frame
};

/// Runs the way `repetitions` times, after once to warm up and to
/// make its output. Errors: the child's, with its last
/// line.
Status run_way(const FilesSetting& setting, const Way& way, Row& row);

/// Floors of one case by name, and their rows.
class Floors {
 public:
  Floors(const FilesSetting& setting, CaseResult& result) : setting_(setting), result_(result) {}

  /// Each raises the floor of a way to this, if it is slower.
  void of_reading(const ReadWork& work, const std::string& device, WholeWay& way);
  void of_writing(Layout layout, std::int64_t bytes, const std::string& kind, WholeWay& way);
  void of_download(std::int64_t bytes, const std::string& device, WholeWay& way);

 private:
  double measure(const std::string& name, const std::string& device, std::int64_t bytes,
                 const std::function<Result<double>()>& time);

  const FilesSetting& setting_;
  CaseResult& result_;
};

/// FFmpeg's mjpeg coder on the same ways, with its own number of threads; a note says why not.
/// `bytes` of all frames of zerorun's stream: FFmpeg gets the -q:v that comes closest to it.
std::vector<Way> ffmpeg_ways(const Case& what, const FilesSetting& setting, double bytes,
                             CaseResult& result);

/// Measures a case from file to file.
CaseResult run_files(const Case& what, const FilesSetting& setting, const std::string& command);

/// The table of such a case.
std::string files_table_text(const CaseResult& result);

}  // namespace zerorun::app::bench
