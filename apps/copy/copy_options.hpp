// The command line of `zerorun copy`.
// SPDX-License-Identifier: MIT
#pragma once

#include "apps/common/options.hpp"

namespace zerorun::app {

struct CopyOptions {
  InputOptions input;
  OutputOptions output;
  ReportOptions report;
  std::string format;  ///< of "-"
  bool copy_audio = true;
  bool copy_metadata = true;
  bool copy_streams = true;
  bool stops_at_losses = false;
};

void add_copy_options(CLI::App& command, CopyOptions& options);

}  // namespace zerorun::app
