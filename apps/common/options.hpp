// The options that several commands share, and how they are read.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/cli_names.hpp"
#include "apps/common/device_options.hpp"
#include "apps/common/text.hpp"
#include "zerorun/io.hpp"

namespace zerorun::app {

enum class ProgressMode { automatic, none, plain, json };

struct InputOptions {
  std::string name;
  std::string format;
  std::vector<std::string> names = {};  ///< more than one INPUT, as a shell's unquoted *.png gives
  std::optional<io::FileNumbers> file_numbers = {};
  io::BrokenFrames broken = io::BrokenFrames::stop;
  io::RawVideo raw = {};
  io::Rational fps;
  FrameRange range;
  std::optional<std::int64_t> start_number;
  io::MissingFrames missing = io::MissingFrames::error;
  std::optional<std::int64_t> max_pixels;
  std::shared_ptr<io::OpenedFile> opened = {};  ///< of one command, which opens a picture once
};

struct OutputOptions {
  std::string name;
  std::string format;
  bool overwrite = false;
};

struct ReportOptions {
  ProgressMode progress = ProgressMode::automatic;
  std::string stats;
  bool quiet = false;
  bool verbose = false;
};

void add_input_options(CLI::App& app, InputOptions& input);
/// --size and --pix-fmt of raw video.
void add_raw_input_options(CLI::App& app, InputOptions& input);
void add_output_options(CLI::App& app, OutputOptions& output, const std::string& kinds);
void add_report_options(CLI::App& app, ReportOptions& report, const std::string& stats_columns);
/// --progress, in the group that was used last; and --quiet and --verbose.
void add_progress_option(CLI::App& app, ProgressMode& progress);
void add_console_options(CLI::App& app, bool& quiet, bool& verbose, const std::string& details);

io::SourceOptions source_options(const InputOptions& input, const DeviceOptions& device);

}  // namespace zerorun::app
