// What --tune measures on a GPU: for each size the frames that it matters for.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "apps/bench/measure/measure.hpp"
#include "apps/bench/tune/tune.hpp"
#include "apps/common/timing.hpp"
#include "codec/base/try.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::app::bench {

Status add_cuda_coders(const Setting& setting, Coders& coders);

namespace {

/// Frames by which a size is judged, and the row of the benchmark that codes them.
struct WorkKind {
  Tunable tunable;
  Operation operation;
  const char* input;
  const char* restart;
  bool index;
  const char* coder;
  const char* path;
  int at_once;
  std::vector<std::int64_t> candidates;
};

/// Candidates stand on both sides of the size that an H200 likes best, which comes first.
const std::vector<WorkKind>& work_kinds() {
  constexpr auto kDecode = Operation::decode, kEncode = Operation::encode;
  static const std::vector<WorkKind> kKinds = {
      {Tunable::room_words,
       kDecode,
       "synthetic:3840x2160:photo",
       "none",
       true,
       "zerorun",
       "pinned>device",
       8,
       {10240, 5120, 6656, 8192}},
      {Tunable::usual_block_bits,
       kDecode,
       "synthetic:3840x2160:photo",
       "none",
       false,
       "zerorun",
       "pinned>device",
       8,
       {112, 0, 96, 160}},
      // Some 100 of the largest chunks, and too many for smaller ones: room for all ends or not.
      {Tunable::roomy_chunks,
       kDecode,
       "synthetic:2560x1440:photo",
       "none",
       false,
       "zerorun",
       "pinned>device",
       4,
       {32, 128}},
      {Tunable::followed_subsequences,
       kDecode,
       "synthetic:1920x1080:photo",
       "4",
       false,
       "zerorun",
       "pinned>device",
       4,
       {4, 2, 8, 16}},
      {Tunable::launch_blocks,
       kEncode,
       "synthetic:1920x1080:photo",
       "auto",
       false,
       "zerorun-batch",
       "device>device",
       16,
       {1 << 18, 3 << 16, 1 << 17, 1 << 16}},
      {Tunable::lanes,
       kEncode,
       "synthetic:3840x2160:photo",
       "auto",
       false,
       "zerorun",
       "pinned>host",
       0,
       {4, 2, 3, 6, 8}},
  };
  return kKinds;
}

const WorkKind& kind_of(Tunable tunable) {
  const auto& kinds = work_kinds();
  return *std::find_if(kinds.begin(), kinds.end(),
                       [&](const WorkKind& kind) { return kind.tunable == tunable; });
}

/// The frames of a kind, their reference and their coder.
class Work {
 public:
  Work(const WorkKind& kind, int device) : kind_(kind), what_(case_of(kind)) {
    FrameRequest request;
    request.input = kind.input;
    request.format = what_.pixels;
    frames_ = load_frames(request);
    describe(frames_, what_);
    reference_ = make_reference(what_, frames_);
    selection_.cuda = {device};
    selection_.batches = {kind.at_once};
    selection_.in_flight = {std::max(kind.at_once, 1)};
    setting_ = std::make_unique<Setting>(Setting{what_, frames_, reference_, selection_, notes_});
  }

  Status open() {
    Coders coders;
    ZR_TRY(add_cuda_coders(*setting_, coders));
    for (Coder& coder : coders)
      if (coder.name == kind_.coder && coder.path == kind_.path && !coder.at_once.empty() &&
          coder.copied_bytes == 0)
        coder_ = std::move(coder);
    if (coder_.open == nullptr)
      return Status(Errc::device_failure, notes_.empty() ? "there is no such coder" : notes_[0]);
    return Status::ok();
  }

  std::string text() const {
    return fmt::format("{} {}, {}{}, restart {}{}", name(what_.operation),
                       kind_.input + sizeof("synthetic:") - 1, kind_.path,
                       kind_.at_once > 0 ? fmt::format(", {} at once", kind_.at_once) : "",
                       kind_.restart, kind_.index ? ", scan index" : "");
  }

  /// The coders are made anew, because they take the policy when they are made.
  Result<double> measure(const TuningPolicy& policy) {
    const int at_once = kind_.at_once > 0 ? kind_.at_once : policy.get(Tunable::lanes, 4);
    std::vector<std::unique_ptr<Runner>> runners;
    const auto count = static_cast<std::size_t>(coder_.joint ? 1 : at_once);
    for (std::size_t i = 0; i < count; ++i)
      ZR_TRY(store(coder_.open(coder_.joint ? at_once : 1), runners.emplace_back()));
    const std::int64_t value = policy.find(kind_.tunable).value_or(0);
    if (checked_.insert(value).second) ZR_TRY(check(runners, coder_.joint ? at_once : 1));
    Limits limits;
    limits.seconds = 0.08;
    limits.warm_up_seconds = 0.02;
    limits.repetitions = 1;
    Row row;
    const std::size_t multiple = coder_.in_batches ? static_cast<std::size_t>(at_once) : 1;
    ZR_TRY(measure_throughput(runners, coder_.drive, frames_.size(), multiple, limits, row));
    return row.microseconds.at(0);
  }

 private:
  static Case case_of(const WorkKind& kind) {
    Case what;
    what.input = kind.input;
    what.operation = kind.operation;
    what.restart = kind.restart;
    what.index = kind.index;
    return what;
  }

  Status check(const std::vector<std::unique_ptr<Runner>>& runners, int together) const {
    if (what_.encodes())
      return check_encoder(*runners[0], coder_.ours, frames_, reference_).status();
    return check_decoder(runners, static_cast<std::size_t>(together), coder_.ours, frames_,
                         reference_)
        .status();
  }

  const WorkKind& kind_;
  Case what_;
  FrameSet frames_;
  Reference reference_;
  Selection selection_;
  std::vector<std::string> notes_;
  std::unique_ptr<Setting> setting_;
  Coder coder_;
  std::set<std::int64_t> checked_;
};

}  // namespace

TuneBench cuda_tune_bench(int device) {
  struct State {
    std::string kind;
    std::unique_ptr<Work> work;
  };
  const auto state = std::make_shared<State>();
  if (const auto info = cuda_device(device)) state->kind = device_kind(*info);
  TuneBench bench;
  for (const WorkKind& kind : work_kinds()) bench.steps.push_back({kind.tunable, kind.candidates});
  bench.prepare = [state, device](Tunable tunable) -> Result<std::string> {
    tell(fmt::format("tuning {}", range_of(tunable).name));
    state->work.reset();  // first, so that the memory of both never exists at once
    auto work = std::make_unique<Work>(kind_of(tunable), device);
    ZR_TRY(work->open());
    state->work = std::move(work);
    return state->work->text();
  };
  bench.measure = [state](Tunable, const TuningPolicy& policy) {
    use_policy(state->kind, policy);
    return state->work->measure(policy);
  };
  bench.seconds = [watch = Stopwatch()] { return watch.seconds(); };
  return bench;
}

}  // namespace zerorun::app::bench
