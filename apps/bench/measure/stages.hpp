// Time stage by stage: CPU stages by a clock around each call, CUDA stages by events between them.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "apps/bench/measure/contenders.hpp"
#include "apps/bench/measure/measure.hpp"

namespace zerorun::app::bench {

/// Adds up what each stage took, frame by frame.
class StageClock {
 public:
  void add(const std::string& stage, double microseconds);
  /// Ends the frame; its stages are forgotten unless `keep`.
  void next_frame(bool keep);

  /// In the order in which stages came first. A stage that a frame did not have took 0.
  std::vector<StageTime> medians() const;
  const std::vector<double>& sums() const noexcept { return sums_; }

 private:
  std::vector<std::string> order_;
  std::map<std::string, double> now_;
  std::map<std::string, std::vector<double>> times_;
  std::vector<double> sums_;
};

/// A pipeline whose stages can be told apart.
struct StagedContender {
  std::string coder, device, path;
  /// Codes frame `index` and adds the time of its stages.
  using Run = std::function<Status(std::size_t index, StageClock& clock)>;
  std::function<Result<Run>()> open;
};

void add_cpu_stages(const Setting& setting, std::vector<StagedContender>& out);
/// The staged pipelines, a kernel or more a stage.
void add_staged_cuda(const Setting& setting, std::vector<StagedContender>& out);
/// The fused encoder and decoder, those that are used.
void add_fused_cuda(const Setting& setting, std::vector<StagedContender>& out);

/// Frame after frame; the first ones do not count.
Status measure_stages(const StagedContender& contender, std::size_t frame_count,
                      const Limits& limits, StageClock& clock);

}  // namespace zerorun::app::bench
