// The command line of `zerorun encode`: what decides the samples, the size and the content.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/common/content.hpp"
#include "apps/common/frame_command.hpp"
#include "zerorun/async.hpp"
#include "zerorun/content.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::app {

struct TuneOptions {
  Tune tune = Tune::exact;
  Effort effort = Effort::fast;
  std::string tables = "auto";  ///< a name, or a file
  std::optional<HuffmanTables> huffman;
};

void add_tune_options(CLI::App& command, TuneOptions& options);

/// Reads the tables if they are a file.
void set_tuning(const TuneOptions& options, EncodeParams& params);

/// ", tune photo, effort best": what is not the default, for the report.
std::string tuning_text(const TuneOptions& options);

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

struct EncodeOptions : FrameOptions {
  int quality = 90;
  std::optional<Subsampling> subsampling;
  TuneOptions tuning;
  SizeOptions size;
  RestartPolicy restart;
  bool progressive = false;
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

/// All that coded bytes follow from beside the input, for the manifest of a shard.
nlohmann::ordered_json coding_parameters(const EncodeOptions& options);

/// Reads the files that the options name.
EncodeParams encode_params(const EncodeOptions& options);

/// --compat rtp: what RFC 2435 cannot carry ends the command, or is changed where no option asks
/// for it. `native` is the sampling of the frames.
void fit_to_rtp(EncodeParams& params, const std::string& input, int width, int height,
                Subsampling native);

}  // namespace zerorun::app
