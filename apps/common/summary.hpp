// What a run did, for people and for programs.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/progress.hpp"
#include "apps/common/psnr.hpp"
#include "apps/common/step_meter.hpp"
#include "apps/common/timing.hpp"
#include "zerorun/backend.hpp"
#include "zerorun/content.hpp"

namespace zerorun::app {

struct RunSummary {
  std::string verb;  ///< "encode" or "decode"
  std::string output;
  std::string device;
  io::Rational rate;  ///< of the stream; unknown counts as 25
  int width = 0, height = 0;
  std::int64_t frames = 0;
  std::int64_t pixels = 0;
  std::int64_t coded_bytes = 0;   ///< of the JPEG streams
  std::int64_t output_bytes = 0;  ///< of the output
  std::int64_t concealed_frames = 0;
  std::int64_t cpu_frames = 0;  ///< with scans that the CPU decoded beside a GPU
  double start_seconds = 0.0;   ///< before the first frame was coded: opening, starting the device
  double seconds = 0.0;         ///< from then on
  FrameTimes times;             ///< coding alone, without input and output
  std::optional<SquaredError> error;
  StepReport steps;
  std::vector<LostDevice> lost_devices;  ///< that failed while others went on

  ProgressCounts counts() const { return {frames, coded_bytes, times.mean_ms()}; }
  double stream_seconds() const noexcept;
  std::string text() const;
  nlohmann::json json() const;
};

}  // namespace zerorun::app
