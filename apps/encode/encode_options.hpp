// The command line of `zerorun encode`.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "apps/common/cli_names.hpp"
#include "apps/common/content_options.hpp"
#include "apps/common/frame_command.hpp"
#include "apps/common/content.hpp"
#include "apps/encode/size_options.hpp"
#include "apps/encode/tune_options.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::app {

struct EncodeOptions : FrameOptions {
  int quality = 90;
  std::optional<Subsampling> subsampling;
  TuneOptions tuning;
  SizeOptions size;
  RestartPolicy restart;
  std::string qtables, comment, exif;
  ContentOptions content;
  SampleOptions samples;
  bool deinterlace = false;
  bool copy_audio = true;
  bool copy_streams = true;
  bool stops_at_losses = false;
  bool for_rtp = false;  ///< --compat rtp
  bool psnr = false;
  bool verify = false;
};

void add_encode_options(CLI::App& command, EncodeOptions& options);

/// "auto", "none", "N" MCUs, "Nrows" rows of MCUs.
std::optional<RestartPolicy> parse_restart(const std::string& text);

/// All that coded bytes follow from beside the input, for the manifest of a shard.
nlohmann::ordered_json coding_parameters(const EncodeOptions& options);

/// Reads the files that the options name.
EncodeParams encode_params(const EncodeOptions& options);

/// --compat rtp: what RFC 2435 cannot carry ends the command, or is changed where nobody asked for
/// it. `native` is the sampling of the frames.
void fit_to_rtp(EncodeParams& params, const std::string& input, int width, int height,
                Subsampling native);

}  // namespace zerorun::app
