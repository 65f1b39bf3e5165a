// One coder at work: what the measurement drives, whoever codes.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/bench/frames/frame_set.hpp"
#include "apps/bench/result.hpp"

namespace zerorun::app::bench {

/// Works on one frame after another. One thread at a time.
class Lane {
 public:
  virtual ~Lane() = default;

  /// Called by a thread before it drives the lane; others may have driven it before.
  virtual Status attach() { return Status::ok(); }
  /// Starts frame `index` of the set. It and earlier ones may still be under way on return.
  virtual Status start(std::size_t index) = 0;
  /// Returns when everything that was started is done.
  virtual Status finish() = 0;
};

class EncodeLane : public Lane {
 public:
  /// The stream made last, copied to the host; after finish().
  virtual Status stream(std::vector<std::byte>& out) = 0;
};

class DecodeLane : public Lane {
 public:
  /// After finish(): a frame copied to the host. `place` counts those that were started since the
  /// finish() before; a lane that is not joint has the last one alone, whatever its place.
  virtual Status picture(std::size_t place, const FrameView& out) = 0;
};

/// How several lanes are kept busy.
enum class Drive {
  one_thread,  ///< frames go round the lanes, nothing is waited for between
  threads,     ///< a thread a lane, each does one frame after another
};

/// A coder on a path that can be measured.
struct Contender {
  std::string coder, device, path;
  Drive drive = Drive::threads;
  bool measure_latency = true;
  int latency_threads = 1;       ///< shown with the latency: threads that work on one frame
  std::vector<int> parallel;     ///< lanes at once, one throughput row each; empty: none
  bool ours = false;             ///< its bytes must equal the reference
  std::size_t copied_bytes = 0;  ///< of a plain copy, which has no output to check
  bool in_batches = false;       ///< joint, and `at_once` frames are begun and ended together
  bool joint = false;            ///< one lane keeps `at_once` frames under way by itself
  std::function<Result<std::unique_ptr<Lane>>(int at_once)> open;  ///< 1 unless joint
};

}  // namespace zerorun::app::bench
