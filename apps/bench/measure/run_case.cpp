// Each coder is checked first, then timed alone: latency, then each number of frames at once.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "apps/bench/measure/measure.hpp"
#include "apps/common/console.hpp"

namespace zerorun::app::bench {
namespace {

using Runners = std::vector<std::unique_ptr<Runner>>;

/// Frames that one runner keeps in flight by itself.
int frames_of_runner(const Coder& coder, const Row& row) noexcept {
  return coder.joint ? row.at_once : 1;
}

class CaseRun {
 public:
  CaseRun(const Setting& setting, const Limits& limits, EnergyBench* energy, CaseResult& result)
      : setting_(setting), limits_(limits), energy_(energy), result_(result) {}

  void measure(const CoderSource& source) {
    if ((source.is_peer && setting_.selection.no_peers) || !source.applies(setting_)) return;
    if (setting_.what.target_size != 0 && !source.has_sizes)
      return result_.notes.push_back(fmt::format("{}: no coding to a size", source.name));
    Coders coders;
    if (source.add == nullptr) {
      result_.notes.push_back(fmt::format("{}: this build was made without it", source.name));
    } else if (Status status = source.add(setting_, coders); !status) {
      result_.notes.push_back(fmt::format("{}: {}", source.name, status.message()));
    }
    for (const Coder& coder : coders) measure(coder);
  }

 private:
  void measure(const Coder& coder) {
    Runners runners;
    CheckResult checked;
    for (Row& row : wanted_rows(coder)) {
      result_.has_wanted_rows = true;
      const Status status = row.mode == Mode::stages ? time_steps(coder, row)
                                                     : check_and_time(coder, row, runners, checked);
      if (!status)
        return result_.notes.push_back(fmt::format("{} {} {}, {} {}: {}", coder.name, coder.device,
                                                   coder.path, name(row.mode), row.at_once,
                                                   status.message()));
      result_.rows.push_back(std::move(row));
    }
  }

  Row row_of(const Coder& coder, Mode mode, int at_once) const {
    Row row;
    row.coder = coder.name;
    row.codec = coder.codec;
    row.device = coder.device;
    row.path = coder.path;
    row.mode = mode;
    row.at_once = at_once;
    row.unit = coder.drive == Drive::one_thread ? "frames" : "threads";
    row.input_bytes = coder.copied_bytes > 0    ? static_cast<double>(coder.copied_bytes)
                      : setting_.what.encodes() ? setting_.frames.raw_bytes()
                                                : setting_.reference.stream_bytes;
    row.command = fmt::format(
        "{} --only '{}'", result_.command.substr(0, result_.command.find(" --only ")), row.id());
    return row;
  }

  std::vector<Row> wanted_rows(const Coder& coder) const {
    std::vector<Row> rows;
    if (coder.open_steps) {
      rows.push_back(row_of(coder, Mode::stages, 1));
    } else {
      // A mixed batch has no latency: its images differ in size.
      if (coder.measure_latency && !setting_.frames.mixed)
        rows.push_back(row_of(coder, Mode::latency, coder.latency_threads));
      for (const int n : coder.at_once) rows.push_back(row_of(coder, Mode::throughput, n));
    }
    const auto& only = setting_.selection.only;
    std::erase_if(rows, [&](const Row& row) {
      return !only.empty() && std::none_of(only.begin(), only.end(), [&](const std::string& glob) {
        return fnmatch(glob.c_str(), row.id().c_str(), 0) == 0;
      });
    });
    return rows;
  }

  Status time_steps(const Coder& coder, Row& row) const {
    tell(row.id());
    row.stream_bytes = setting_.reference.stream_bytes;
    const auto run = coder.open_steps();
    return run ? measure_steps(*run, setting_.frames.size(), limits_, row) : run.status();
  }

  /// Keeps the runners of the row before, as far as they fit.
  Status check_and_time(const Coder& coder, Row& row, Runners& runners,
                        CheckResult& checked) const {
    tell(row.id() + ": checking");
    ZR_TRY(open_runners(coder, row, runners));
    // Streams are checked once for all rows, pictures with as many runners as are timed.
    if (coder.copied_bytes == 0 && (!setting_.what.encodes() || checked.text.empty()))
      ZR_TRY(check(coder, row, runners, checked));
    row.check = checked.text;
    row.psnr = checked.psnr;
    row.stream_bytes = checked.stream_bytes;
    tell(row.id());
    if (row.mode == Mode::latency)
      return measure_latency(*runners[0], setting_.frames.size(), limits_, row);
    ZR_TRY(measure_throughput(runners, coder.drive, setting_.frames.size(),
                              frames_together(coder, row), limits_, row));
    if (energy_ != nullptr) take_energy(coder, runners, row);
    return Status::ok();
  }

  /// A row without energy is as good as others; a note says once for each device why there is none.
  void take_energy(const Coder& coder, const Runners& runners, Row& row) const {
    tell(row.id() + ": energy");
    const auto counter = energy_->counters.find(row.device);
    const Status status = counter ? measure_energy(runners, coder.drive, setting_.frames.size(),
                                                   frames_together(coder, row), energy_->seconds,
                                                   energy_->meter, **counter, row)
                                  : counter.status();
    if (status) return;
    const std::string why = status.detail().empty() ? status.message() : status.detail();
    std::string note = fmt::format("energy of {}: {}", row.device, why);
    if (std::find(result_.notes.begin(), result_.notes.end(), note) == result_.notes.end())
      result_.notes.push_back(std::move(note));
  }

  Status open_runners(const Coder& coder, const Row& row, Runners& runners) const {
    const bool one = row.mode == Mode::latency || coder.joint;
    const auto wanted = static_cast<std::size_t>(one ? 1 : row.at_once);
    if (coder.joint) runners.clear();  // made for another number of frames
    while (runners.size() < wanted)
      ZR_TRY(store(coder.open(frames_of_runner(coder, row)), runners.emplace_back()));
    runners.resize(wanted);
    if (!setting_.frames.mixed) return Status::ok();
    return in_threads(runners.size(), [&](std::size_t i) {
      return grow_memory(*runners[i], frames_of_runner(coder, row));
    });
  }

  /// Codes the largest images, so that no memory grows while the clock runs.
  Status grow_memory(Runner& runner, int at_once) const {
    const auto& streams = setting_.reference.streams;
    const auto longest =
        std::max_element(streams.begin(), streams.end(),
                         [](const auto& a, const auto& b) { return a.size() < b.size(); });
    ZR_TRY(runner.attach());
    for (const std::size_t index :
         std::set{setting_.frames.largest(), static_cast<std::size_t>(longest - streams.begin())}) {
      for (int i = 0; i < at_once; ++i) ZR_TRY(runner.start(index));
      ZR_TRY(runner.finish());
    }
    return Status::ok();
  }

  Status check(const Coder& coder, const Row& row, const Runners& runners,
               CheckResult& checked) const {
    if (setting_.what.encodes())
      return store(check_encoder(*runners[0], coder.ours, setting_.frames, setting_.reference),
                   checked);
    const auto together = static_cast<std::size_t>(frames_of_runner(coder, row));
    return store(check_decoder(runners, together, coder.ours, setting_.frames, setting_.reference),
                 checked);
  }

  /// A sample of a mixed batch is the whole batch, and no batch of a coder is partly empty.
  std::size_t frames_together(const Coder& coder, const Row& row) const {
    const std::size_t batch = coder.in_batches ? static_cast<std::size_t>(row.at_once) : 1;
    return std::lcm(batch, setting_.frames.mixed ? setting_.frames.size() : 1);
  }

  const Setting& setting_;
  const Limits& limits_;
  EnergyBench* const energy_;
  CaseResult& result_;
};

}  // namespace

void tell(const std::string& what) {
  if (console::stderr_is_terminal() && !console::is_quiet()) console::progress(what);
}

CaseResult run_case(const Case& what, const FrameSet& frames, const Selection& selection,
                    const Limits& limits, const std::string& command, EnergyBench* energy) {
  CaseResult result{what, {}, {}, command, false};
  const Reference reference = make_reference(what, frames);
  const Setting setting{what, frames, reference, selection, result.notes};
  CaseRun run(setting, limits, energy, result);
  for (const CoderSource& source : coder_sources()) run.measure(source);
  console::clear_progress();
  return result;
}

}  // namespace zerorun::app::bench
