// The command line of `zerorun decode`.
// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "apps/common/options.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::app {

struct DecodeOptions {
  InputOptions input;
  OutputOptions output;
  DeviceOptions device;
  ReportOptions report;
  std::string format;
  ChromaUpsampling upsampling = ChromaUpsampling::fancy;
  bool strict = false;
};

void add_decode_options(CLI::App& command, DecodeOptions& options);

}  // namespace zerorun::app
