// Each coder is checked first, then timed alone: latency, then each degree of overlap.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/run_case.hpp"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "apps/bench/measure/side_by_side.hpp"
#include "apps/bench/measure/stages.hpp"
#include "apps/common/console.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app::bench {
namespace {

class CaseRun {
 public:
  CaseRun(const Setting& setting, const Limits& limits, std::string command, CaseResult& result)
      : setting_(setting), limits_(limits), command_(std::move(command)), result_(result) {}

  void measure(const Contender& contender) {
    std::vector<std::unique_ptr<Lane>> lanes;
    Verdict verdict;
    for (Row& row : wanted_rows(contender)) {
      result_.has_wanted_rows = true;
      if (Status status = measure(contender, row, lanes, verdict); !status)
        return result_.notes.push_back(fmt::format("{} {} {}, {} {}: {}", contender.coder,
                                                   contender.device, contender.path, name(row.mode),
                                                   row.parallel, status.message()));
      result_.rows.push_back(std::move(row));
    }
  }

  void measure(const StagedContender& contender) {
    Contender like;
    like.coder = contender.coder;
    like.device = contender.device;
    like.path = contender.path;
    Row row = row_of(like, Mode::stages, 1);
    if (!is_wanted(row)) return;
    result_.has_wanted_rows = true;
    tell(row.id());
    StageClock clock;
    if (Status status = measure_stages(contender, setting_.frames.size(), limits_, clock); !status)
      return result_.notes.push_back(row.id() + ": " + status.message());
    row.stages = clock.medians();
    row.stream_bytes = setting_.reference.stream_bytes;
    row.microseconds = clock.sums();
    result_.rows.push_back(std::move(row));
  }

 private:
  Row row_of(const Contender& contender, Mode mode, int parallel) const {
    Row row;
    row.coder = contender.coder;
    row.device = contender.device;
    row.path = contender.path;
    row.mode = mode;
    row.parallel = parallel;
    row.parallel_unit = contender.drive == Drive::one_thread ? "frames" : "threads";
    row.input_bytes = setting_.what.operation == Operation::encode
                          ? setting_.frames.raw_bytes()
                          : setting_.reference.stream_bytes;
    if (contender.copied_bytes > 0) row.input_bytes = static_cast<double>(contender.copied_bytes);
    row.command =
        fmt::format("{} --only '{}'", command_.substr(0, command_.find(" --only ")), row.id());
    return row;
  }

  bool is_wanted(const Row& row) const {
    const auto& only = setting_.selection.only;
    return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& glob) {
             return fnmatch(glob.c_str(), row.id().c_str(), 0) == 0;
           });
  }

  std::vector<Row> wanted_rows(const Contender& contender) const {
    std::vector<Row> rows;
    if (contender.measure_latency)
      rows.push_back(row_of(contender, Mode::latency, contender.latency_threads));
    for (const int lanes : contender.parallel)
      rows.push_back(row_of(contender, Mode::throughput, lanes));
    std::erase_if(rows, [this](const Row& row) { return !is_wanted(row); });
    return rows;
  }

  /// With the lanes of the row before, as far as they fit.
  Status measure(const Contender& contender, Row& row, std::vector<std::unique_ptr<Lane>>& lanes,
                 Verdict& verdict) const {
    tell(row.id() + ": checking");
    ZR_TRY(open_lanes(contender, row, lanes));
    // Streams are checked once for all rows, pictures with as many lanes as are timed.
    const bool is_checked = setting_.what.operation == Operation::encode && !verdict.text.empty();
    if (!is_checked) ZR_TRY(check(contender, row, lanes, verdict));
    row.check = verdict.text;
    row.psnr = verdict.psnr;
    row.stream_bytes = verdict.stream_bytes;
    tell(row.id());
    return time_row(contender, row, lanes);
  }

  static Status add_lane(const Contender& contender, int at_once,
                         std::vector<std::unique_ptr<Lane>>& lanes) {
    auto lane = contender.open(at_once);
    if (!lane) return lane.status();
    lanes.push_back(*std::move(lane));
    return Status::ok();
  }

  Status open_lanes(const Contender& contender, const Row& row,
                    std::vector<std::unique_ptr<Lane>>& lanes) const {
    const bool one = row.mode == Mode::latency || contender.joint;
    const auto wanted = static_cast<std::size_t>(one ? 1 : row.parallel);
    if (contender.joint) lanes.clear();  // made for another number of frames
    while (lanes.size() < wanted)
      ZR_TRY(add_lane(contender, frames_of_lane(contender, row), lanes));
    while (lanes.size() > wanted) lanes.pop_back();
    if (!setting_.frames.mixed) return Status::ok();
    return side_by_side(lanes.size(), [&](std::size_t i) {
      return reserve_memory(*lanes[i], frames_of_lane(contender, row));
    });
  }

  /// That a lane keeps under way by itself.
  static int frames_of_lane(const Contender& contender, const Row& row) noexcept {
    return contender.joint ? row.parallel : 1;
  }

  Status check(const Contender& contender, const Row& row,
               const std::vector<std::unique_ptr<Lane>>& lanes, Verdict& verdict) const {
    if (contender.copied_bytes > 0) return Status::ok();
    const auto together = static_cast<std::size_t>(frames_of_lane(contender, row));
    auto found =
        setting_.what.operation == Operation::encode
            ? check_encoder(dynamic_cast<EncodeLane&>(*lanes[0]), contender.ours, setting_.frames,
                            setting_.reference)
            : check_decoder(lanes, together, contender.ours, setting_.frames, setting_.reference);
    if (!found) return found.status();
    verdict = *std::move(found);
    return Status::ok();
  }

  Status time_row(const Contender& contender, Row& row,
                  const std::vector<std::unique_ptr<Lane>>& lanes) const {
    auto series = row.mode == Mode::latency
                      ? measure_latency(*lanes[0], setting_.frames.size(), limits_)
                      : measure_throughput(lanes, contender.drive, setting_.frames.size(),
                                           frames_together(contender, row), limits_);
    if (!series) return series.status();
    row.microseconds = std::move(series->microseconds);
    row.frames_per_sample = series->frames_per_sample;
    return Status::ok();
  }

  /// A sample of a mixed batch is the whole batch, and a batch of a coder's is never part empty.
  std::size_t frames_together(const Contender& contender, const Row& row) const {
    const std::size_t batch =
        contender.in_batches ? static_cast<std::size_t>(row.parallel) : std::size_t{1};
    return std::lcm(batch, setting_.frames.mixed ? setting_.frames.size() : std::size_t{1});
  }

  /// Chance decides which lane gets the largest image when; memory grows before the clock runs.
  Status reserve_memory(Lane& lane, int at_once) const {
    const auto& streams = setting_.reference.streams;
    const auto longest =
        std::max_element(streams.begin(), streams.end(),
                         [](const auto& a, const auto& b) { return a.size() < b.size(); });
    ZR_TRY(lane.attach());
    for (const std::size_t index :
         std::set{setting_.frames.largest(), static_cast<std::size_t>(longest - streams.begin())}) {
      for (int i = 0; i < at_once; ++i) ZR_TRY(lane.start(index));
      ZR_TRY(lane.finish());
    }
    return Status::ok();
  }

  const Setting& setting_;
  const Limits& limits_;
  std::string command_;
  CaseResult& result_;
};

}  // namespace

void tell(const std::string& what) {
  if (console::stderr_is_terminal() && !console::is_quiet()) console::progress(what);
}

CaseResult run_case(const Case& what, const FrameSet& frames, const Selection& selection,
                    const Limits& limits, const std::string& command) {
  CaseResult result{what, {}, {}, command, false};
  const Reference reference = make_reference(what, frames);
  const Setting setting{what, frames, reference, selection, result.notes};
  Contenders contenders;
  add_cuda_coders(setting, contenders);
  add_nvjpeg(setting, contenders);
  add_cpu_coders(setting, contenders);
  add_libjpeg(setting, contenders);
  add_ffmpeg(setting, contenders);
  add_opencv(setting, contenders);
  CaseRun run(setting, limits, command, result);
  for (Contender& contender : contenders) {
    if (frames.mixed) contender.measure_latency = false;  // of which image would it be?
    run.measure(contender);
  }
  std::vector<StagedContender> staged;
  if (!frames.mixed) {
    add_fused_cuda(setting, staged);
    add_staged_cuda(setting, staged);
    add_cpu_stages(setting, staged);
  }
  for (const StagedContender& contender : staged) run.measure(contender);
  console::clear_progress();
  return result;
}

}  // namespace zerorun::app::bench
