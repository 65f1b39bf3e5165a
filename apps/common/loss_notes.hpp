// One line for what JPEG cannot hold or the input does not tell, with the option that decides.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

#include "apps/common/cli_names.hpp"
#include "zerorun/source.hpp"

namespace zerorun::app {

/// Unset = as by default, with a note where it matters.
struct SampleOptions {
  std::optional<io::Alpha> alpha;
  std::optional<bool> dither;
  std::string matrix, range;

  io::SampleRules rules() const;
};

void add_sample_options(CLI::App& app, SampleOptions& options);

/// What decides the samples, as JSON.
nlohmann::ordered_json sample_parameters(const SampleOptions& options);

/// Prints a line if readers would take the samples of written raw video for those of another range.
/// A name with j says full range; `raw_format` is empty if `format` names the samples.
void note_raw_range(const std::string& output, const std::string& raw_format, PixelFormat format);

/// Prints at most one line each for alpha, bits, and a matrix or range that is guessed.
void note_losses(const std::string& name, const io::SourceInfo& info, const SampleOptions& options);

}  // namespace zerorun::app
