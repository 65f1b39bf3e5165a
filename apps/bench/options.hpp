// Options of `zerorun bench`.
// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/bench/measure/contenders.hpp"
#include "apps/bench/measure/measure.hpp"

namespace zerorun::app::bench {

struct Options {
  std::vector<std::string> inputs;
  std::vector<std::string> operations = {"encode", "decode"};
  std::vector<std::string> pixels = {"planar"};
  std::vector<int> qualities = {90};
  std::vector<std::string> samplings = {"420"};
  std::vector<std::string> tables = {"standard"};
  std::vector<std::string> restarts = {"auto"};
  std::vector<std::string> indexes = {"no"};
  std::vector<std::string> devices;
  std::vector<int> threads, in_flight, batches, peer_threads, peer_batches;
  bool no_peers = false;
  std::vector<std::string> only;
  std::vector<std::string> streams = {"zerorun"};
  bool mixed = false;
  std::string megapixels;  ///< "A-B"; makes the case mixed
  std::optional<int> rotate;
  std::optional<std::int64_t> max_pixels;
  Limits limits;
  bool every_row = false;
  std::string json, csv, html;
  bool primitives = false, quick = false;
  std::vector<std::string> compare;  ///< two reports instead of a measurement
  double threshold = 5;              ///< percent
  bool overwrite = false;
  bool quiet = false;
};

void add_options(CLI::App& command, Options& options);

/// Checks words and devices; exit 2 or 5 if something is wrong.
Selection selection(const Options& options);

/// Everything that is measured on one input, without its frames.
std::vector<Case> cases_of(const Options& options, const std::string& input);

/// The frames that a case of cases_of() is measured on.
FrameRequest frame_request(const Options& options, const Case& what);

/// The options that decide how a case is measured, as they were given: what a row's command adds.
std::string limits_text(const Options& options);

}  // namespace zerorun::app::bench
