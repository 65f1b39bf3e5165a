// Options of `zerorun encode` that say how large the result shall be.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "apps/common/cli_names.hpp"
#include "zerorun/async.hpp"
#include "zerorun/content.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::app {

struct SizeOptions {
  std::int64_t target = 0, max_frame = 0;  ///< bytes a frame; 0: none
  std::int64_t bitrate = 0;                ///< bits a second; 0: none
  std::int64_t bucket = 0;                 ///< bytes; 0: of a second
  double psnr = 0, ssim = 0;               ///< of each frame; 0: none
  bool note_setting = false;

  bool is_of_quality() const noexcept { return psnr != 0 || ssim != 0; }
  bool any() const noexcept {
    return target != 0 || max_frame != 0 || bitrate != 0 || is_of_quality();
  }
  /// Whether --quality counts.
  bool has_own_quality() const noexcept { return target != 0 || bitrate != 0 || is_of_quality(); }
};

void add_size_options(CLI::App& command, SizeOptions& options);

/// An option for "200000", "200k", "1.5M" or "2G" (thousands), from 1 to 2^50.
CLI::Option* add_amount(CLI::App& command, const std::string& option, std::int64_t& target,
                        const std::string& type, const std::string& help);

/// Frames with --bitrate get their targets one after another.
SizeGoal size_goal(const SizeOptions& options);

/// Ends the command if the frame rate is not known.
RateControl make_rate_control(const SizeOptions& options, const std::string& input,
                              io::Rational rate);

/// "quality 90", "200,000 bytes a frame", ...: what decides the size, for the report.
std::string size_text(const SizeOptions& options, int quality);

/// The sizes that coded bytes follow from.
std::string size_parameters(const SizeOptions& options);

}  // namespace zerorun::app
