// The campaigns of campaign_device. Each prints its findings and last a line with what was reached.
// They return 0: all is done and nothing differs; 1: something differs; 3: more is to do.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/campaign/both_decoders.hpp"
#include "tests/campaign/numbered_work.hpp"

namespace zerorun::test {

/// A changed size must not take long.
inline constexpr std::int64_t kMaxCampaignPixels = std::int64_t{1} << 18;

struct DeviceRun {
  std::string state;
  double minutes;

  WorkPlan plan(std::int64_t steps, int group = 1, int threads = 0) const {
    return {steps, state, state.empty() ? "" : state + ".finding", minutes, threads, group};
  }
};

using Folders = std::vector<std::filesystem::path>;

/// R6: `count` damaged streams by number, from `first` on.
int mutated_streams(const DeviceRun& run, std::int64_t count, std::int64_t first);
/// R7: every byte of twelve streams with every other value; a step for each byte.
int changed_bytes(const DeviceRun& run);
/// R8: every prefix of forty streams.
int cut_streams(const DeviceRun& run);
/// R1, R3, R4: the files of folders, in all three outputs.
int files_of(const DeviceRun& run, const Folders& folders);
/// R14: `count` of the every_shape_count() pairs of a size and a format, from `first` on, in every
/// way that has kernels of its own.
int every_shape(const DeviceRun& run, std::int64_t count, std::int64_t first);
std::int64_t every_shape_count();
/// R17: all sizes up to 64x64 in five samplings, with and without restart intervals.
int every_size(const DeviceRun& run);

}  // namespace zerorun::test
