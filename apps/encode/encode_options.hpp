// The command line of `zerorun encode`.
// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

#include "apps/common/content_options.hpp"
#include "apps/common/frame_command.hpp"
#include "apps/common/loss_notes.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::app {

struct EncodeOptions : FrameOptions {
  int quality = 90;
  std::optional<Subsampling> subsampling;
  HuffmanTables huffman = HuffmanTables::standard;
  RestartPolicy restart;
  bool index = false;
  std::string qtables, comment, exif;
  ContentOptions content;
  SampleOptions samples;
  bool deinterlace = false;
  bool copy_audio = true;
  bool psnr = false;
  bool verify = false;
};

void add_encode_options(CLI::App& command, EncodeOptions& options);

/// "auto", "none", "N" MCUs, "Nrows" rows of MCUs.
std::optional<RestartPolicy> parse_restart(const std::string& text);

/// Reads the files that the options name.
EncodeParams encode_params(const EncodeOptions& options);

}  // namespace zerorun::app
