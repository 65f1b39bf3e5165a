// The command line of `zerorun concat`.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "apps/common/options.hpp"

namespace zerorun::app {

struct ConcatOptions {
  std::vector<std::string> inputs;
  OutputOptions output;
  io::Rational fps;
  std::string audio, manifest;
  bool allow_missing = false, delete_shards = false;
  bool quiet = false, verbose = false;
};

void add_concat_options(CLI::App& command, ConcatOptions& options);

}  // namespace zerorun::app
