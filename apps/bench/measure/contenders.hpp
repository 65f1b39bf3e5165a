// Who can code a case: every source file of coders adds its own.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "apps/bench/measure/lane.hpp"
#include "apps/bench/measure/verify.hpp"

namespace zerorun::app::bench {

/// What the command line allows.
struct Selection {
  bool cpu = true;
  std::vector<int> cuda;  ///< device numbers
  bool peers = true;
  std::vector<int> in_flight;     ///< frames at once on a GPU
  std::vector<int> batches;       ///< frames of one call
  std::vector<int> threads;       ///< of the CPU
  std::vector<int> peer_threads;  ///< of peers on a GPU, a stream each
  std::vector<int> peer_batches;  ///< images of nvJPEG's batches
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

/// Each looks at the case's operation.
void add_cpu_coders(const Setting& setting, Contenders& out);
void add_libjpeg(const Setting& setting, Contenders& out);
void add_ffmpeg(const Setting& setting, Contenders& out);
void add_opencv(const Setting& setting, Contenders& out);
void add_cuda_coders(const Setting& setting, Contenders& out);  ///< and the copies under them
void add_nvjpeg(const Setting& setting, Contenders& out);

/// What rows of AsyncDecoder are called, beside those of a Decoder a thread.
constexpr const char* kAsyncCoder = "zerorun-async";

/// What rows of DeviceEncoder::encode_batch() are called.
constexpr const char* kBatchCoder = "zerorun-batch";

/// A contender of ours, without lanes.
Contender our_contender(std::string device, const char* path);

}  // namespace zerorun::app::bench
