// Options of `zerorun bench`, the cases that they ask for, and the commands that ask again.
// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "apps/bench/measure/measure.hpp"
#include "apps/bench/result.hpp"
#include "apps/common/options.hpp"
#include "apps/common/process.hpp"

namespace zerorun::app::bench {

using Words = std::vector<std::string>;

struct Options {
  Words inputs;
  Words operations = {"encode", "decode"};
  Words pixels = {"planar"};
  std::vector<int> qualities = {90};
  Words samplings = {"420"};
  Words tables = {"standard"};
  Words scans = {"baseline"};
  Words tunes = {"exact"}, efforts = {"fast"};
  Words restarts = {"auto"};
  Words streams = {"zerorun"};
  std::optional<int> rotate;
  std::optional<std::int64_t> max_pixels;
  bool mixed = false;
  std::string megapixels;  ///< "A-B"; makes the case mixed
  bool primitives = false, quick = false;
  std::int64_t target_size = 0;       ///< bytes of each stream; 0: --quality counts
  bool is_decoding_left_out = false;  ///< for target_size
  bool files = false;
  bool start_alone = false;  ///< of the children of --files: nothing but the start of CUDA
  bool energy = false;
  std::string folder;  ///< for the results of --files
  Words devices;
  Words cpus;
  Selection selection;  ///< as given: without devices, and empty where there are defaults
  Limits limits;
  bool every_row = false;
  std::string json, csv, html;
  Words compare;         ///< two reports instead of a measurement
  double threshold = 5;  ///< percent
  bool overwrite = false;
  bool quiet = false;
};

void add_options(CLI::App& command, Options& options);

/// --target-size: only encoding is measured. Ends the command where it does not go with the rest.
void choose_target_size(const CLI::App& command, Options& options);

/// Ends the command if `command` has one of `options`, which do not go with `option`.
void refuse_beside(const char* option, const CLI::App& command,
                   std::initializer_list<const char*> options);

/// The selection with devices and defaults; exit 2 or 5 if something is wrong.
Selection selection(const Options& options);

/// Everything that is measured on one input, without its frames.
std::vector<Case> cases_of(const Options& options, const std::string& input);

/// The frames that a case of cases_of() is measured on.
FrameRequest frame_request(const Options& options, const Case& what);

/// The options that decide how a case is measured, for the command of a row.
std::string limits_text(const Options& options);

/// The value that has the name `word`, or the end of the command.
template <typename T>
T value_of(const char* option, const std::string& word, const std::vector<T>& values) {
  for (const T value : values)
    if (name(value) == word) return value;
  std::string names;
  for (const T value : values) names += (names.empty() ? "" : ", ") + std::string(name(value));
  fail(Exit::usage, fmt::format("{}: '{}' is not one of {}", option, word, names));
}

/// The commands that measure the same again, with every default spelled out.
std::string command_text(const Options& options, const Selection& selection);
/// The command that measures one case again.
std::string command_of(const Options& all, const Selection& selection, const Case& what);

}  // namespace zerorun::app::bench
