// Coders that can be measured, and where they come from.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/measure/check.hpp"
#include "codec/api/step_times.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app::bench {

/// What the command line allows.
struct Selection {
  bool cpu = true;
  std::vector<int> cuda;                ///< device numbers
  std::vector<std::vector<int>> teams;  ///< lists of devices that work on the same frames
  bool no_peers = false;
  std::vector<int> in_flight;        ///< frames at once on a GPU
  std::vector<int> batches;          ///< frames of one call
  std::vector<int> threads;          ///< of the CPU
  std::vector<InstructionSet> cpus;  ///< of the CPU, beside the one that coders choose
  std::vector<int> peer_threads;     ///< of peers on a GPU, a stream each
  std::vector<int> peer_batches;     ///< images of nvJPEG's batches
  std::vector<std::string> only;     ///< globs over Row::id(); empty: all
};

/// One case with all that its coders need; outlives the coders.
struct Setting {
  const Case& what;
  const FrameSet& frames;
  const Reference& reference;
  const Selection& selection;
  std::vector<std::string>& notes;  ///< coders that were left out, and why
};

/// How several runners are kept busy.
enum class Drive {
  one_thread,  ///< the runners take frames in turn, and nothing waits in between
  threads,     ///< a thread for each runner, which does one frame after another
};

using OpenRunner = std::function<Result<std::unique_ptr<Runner>>(int at_once)>;
/// Codes frame `index` of the set and appends the time of each step.
using RunSteps = std::function<Status(std::size_t index, std::vector<StepTime>& steps)>;

/// A coder on a path that can be measured.
struct Coder {
  std::string name = "zerorun", device = "cpu", path = "host>host";
  std::string codec = {};  ///< as Row::codec
  Drive drive = Drive::threads;
  bool measure_latency = true;
  int latency_threads = 1;       ///< shown with the latency: threads that work on one frame
  std::vector<int> at_once;      ///< one throughput row for each; empty: none
  bool ours = false;             ///< its output must equal the reference
  std::size_t copied_bytes = 0;  ///< of a plain copy, which has no output to check
  bool joint = false;            ///< one runner keeps `at_once` frames in flight by itself
  bool in_batches = false;       ///< joint, and `at_once` frames begin and end together
  OpenRunner open = nullptr;     ///< called with 1 unless joint
  std::function<Result<RunSteps>()> open_steps = nullptr;  ///< set: one stages row and no other
};
using Coders = std::vector<Coder>;

/// A coder of zerorun, without runners.
inline Coder our_coder(std::string device, const char* path) {
  Coder coder;
  coder.device = std::move(device);
  coder.path = path;
  coder.ours = true;
  return coder;
}

/// An OpenRunner that makes a `Type` from copies of the arguments.
template <typename Type, typename... Args>
OpenRunner runner_of(Args... args) {
  return [=](int) -> Result<std::unique_ptr<Runner>> {
    auto runner = std::make_unique<Type>(args...);
    ZR_TRY(runner->open());
    return std::unique_ptr<Runner>(std::move(runner));
  };
}

/// The same with the number of frames in flight as last argument.
template <typename Type, typename... Args>
OpenRunner joint_runner_of(Args... args) {
  return [=](int at_once) { return runner_of<Type>(args..., at_once)(1); };
}

/// Adds a note that says why a coder is left out.
inline Status leave_out(const Setting& setting, std::string note) {
  setting.notes.push_back(std::move(note));
  return Status::ok();
}

/// Moves a result's value to `to`, or returns its error.
template <typename T, typename Target>
Status store(Result<T> from, Target& to) {
  if (!from) return from.status();
  to = *std::move(from);
  return Status::ok();
}

/// A library, or a backend of zerorun, whose coders can be measured.
struct CoderSource {
  const char* name;  ///< begins its notes
  bool is_peer;      ///< left out with --no-peers
  bool has_sizes;    ///< codes to Case::target_size
  bool (*applies)(const Setting& setting);
  /// Adds the coders of a case; an error becomes a note. Null in a build without the library.
  Status (*add)(const Setting& setting, Coders& coders);
};

/// In the order of the rows.
std::span<const CoderSource> coder_sources();

}  // namespace zerorun::app::bench
