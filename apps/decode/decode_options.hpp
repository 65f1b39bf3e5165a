// The command line of `zerorun decode`.
// SPDX-License-Identifier: MIT
#pragma once

#include "apps/common/cli_names.hpp"
#include "apps/common/content_options.hpp"
#include "apps/common/frame_command.hpp"
#include "apps/common/content.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::app {

struct DecodeOptions : FrameOptions {
  ChromaUpsampling upsampling = ChromaUpsampling::fancy;
  bool strict = false;
  std::string raw_format;  ///< --pix-fmt
  ContentOptions content;
  SampleOptions samples;
};

void add_decode_options(CLI::App& command, DecodeOptions& options);

}  // namespace zerorun::app
