// Who can encode a case: every source file of coders adds its own.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "apps/bench/lane.hpp"
#include "apps/bench/verify.hpp"

namespace zerorun::app::bench {

/// What the command line allows.
struct Selection {
  bool cpu = true;
  std::vector<int> cuda;  ///< device numbers
  bool peers = true;
  std::vector<int> in_flight;     ///< frames at once on a GPU
  std::vector<int> threads;       ///< of the CPU
  std::vector<int> peer_threads;  ///< of peers on a GPU, a stream each
  std::vector<std::string> only;  ///< globs over Row::id(); empty: all
};

/// One case with all that its coders need; outlives the contenders.
struct Setting {
  const Case& what;
  const FrameSet& frames;
  const Reference& reference;
  const Selection& selection;
  std::vector<std::string>& notes;  ///< who was left out, and why
};

using Contenders = std::vector<Contender>;

void add_cpu_encoders(const Setting& setting, Contenders& out);
void add_libjpeg_encoders(const Setting& setting, Contenders& out);
void add_cuda_encoders(const Setting& setting, Contenders& out);  ///< and the copies under them
void add_nvjpeg_encoders(const Setting& setting, Contenders& out);

}  // namespace zerorun::app::bench
