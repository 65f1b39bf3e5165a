// SPDX-License-Identifier: MIT
#include "apps/bench/measure/measure.hpp"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <system_error>
#include <thread>

#include "apps/bench/result.hpp"
#include "apps/common/process.hpp"
#include "codec/arith/host_device.hpp"

namespace zerorun::app::bench {
// Functions of libraries that CMake did not find are null: their files are not linked.
[[gnu::weak]] Status add_cuda_coders(const Setting& setting, Coders& coders);
[[gnu::weak]] Status add_cuda_teams(const Setting& setting, Coders& coders);
[[gnu::weak]] Status add_nvjpeg(const Setting& setting, Coders& coders);
Status add_cpu_coders(const Setting& setting, Coders& coders);
[[gnu::weak]] Status add_libjpeg(const Setting& setting, Coders& coders);
[[gnu::weak]] Status add_ffmpeg(const Setting& setting, Coders& coders);
[[gnu::weak]] Status add_opencv(const Setting& setting, Coders& coders);
[[gnu::weak]] Status add_fused_steps(const Setting& setting, Coders& coders);
Status add_steps(const Setting& setting, Coders& coders);

namespace {

using Runners = std::vector<std::unique_ptr<Runner>>;

constexpr std::size_t kLeastFrames = 20, kMostFrames = 5000;

Status too_many_threads() { return Status(Errc::out_of_memory, "for so many threads"); }

class TimedRuns {
 public:
  TimedRuns(const Runners& runners, Drive drive, std::size_t frame_count)
      : runners_(runners), drive_(drive), frame_count_(frame_count) {}

  /// The time of `frames` frames on all runners.
  Result<double> run(std::size_t frames) {
    return drive_ == Drive::one_thread ? run_here(frames) : run_in_threads(frames);
  }

 private:
  Result<double> run_here(std::size_t frames) {
    const Stopwatch watch;
    for (std::size_t i = 0; i < frames; ++i)
      ZR_TRY(runners_[i % runners_.size()]->start(i % frame_count_));
    for (const auto& runner : runners_) ZR_TRY(runner->finish());
    return watch.microseconds();
  }

  Result<double> run_in_threads(std::size_t frames) {
    std::atomic<std::size_t> next{0};
    std::optional<Stopwatch> watch;
    std::barrier ready(static_cast<std::ptrdiff_t>(runners_.size()),
                       [&watch]() noexcept { watch.emplace(); });
    std::vector<Status> found(runners_.size());
    const auto drive = [&](std::size_t number) {
      Runner& runner = *runners_[number];
      Status status = runner.attach();
      ready.arrive_and_wait();
      while (status) {
        const std::size_t i = next.fetch_add(1);
        if (i >= frames) break;
        status = runner.start(i % frame_count_);
      }
      found[number] = status ? runner.finish() : std::move(status);
    };
    std::vector<std::thread> threads;
    try {
      for (std::size_t i = 0; i < runners_.size(); ++i) threads.emplace_back(drive, i);
    } catch (const std::system_error&) {
      next = frames;  // the threads that started wait for the others, and have nothing to do
      for (std::size_t i = threads.size(); i < runners_.size(); ++i) {
        ready.arrive_and_drop();
        found[i] = too_many_threads();
      }
    }
    for (std::thread& thread : threads) thread.join();
    for (const Status& status : found) ZR_TRY(status);
    return watch->microseconds();
  }

  const Runners& runners_;
  Drive drive_;
  std::size_t frame_count_;
};

/// Warms up with more and more frames; returns the time of one frame in the last round.
Result<double> warm_up(TimedRuns& runs, std::size_t least, double seconds) {
  const Stopwatch watch;
  for (std::size_t frames = least;; frames *= 2) {
    auto took = runs.run(frames);
    if (!took) return took;
    if (watch.seconds() >= seconds) return *took / static_cast<double>(frames);
  }
}

/// Calls `one(index, counts)` for the frames in turn: first to warm up, then for the samples.
template <typename One>
Status repeat(std::size_t frame_count, const Limits& limits, const One& one) {
  const Stopwatch warming;
  for (std::size_t i = 0; i < frame_count || warming.seconds() < limits.warm_up_seconds; ++i)
    ZR_TRY(one(i % frame_count, false));
  const auto wanted = static_cast<std::size_t>(limits.frames);
  const Stopwatch whole;
  for (std::size_t i = 0;; ++i) {
    const bool enough = i >= kMostFrames || (i >= kLeastFrames && whole.seconds() > limits.seconds);
    if (wanted > 0 ? i >= wanted : enough) return Status::ok();
    ZR_TRY(one(i % frame_count, true));
  }
}

/// start() and finish() of one frame after another, a sample each.
Status measure_latency(Runner& runner, std::size_t frame_count, const Limits& limits, Row& row) {
  ZR_TRY(runner.attach());
  return repeat(frame_count, limits, [&](std::size_t index, bool counts) -> Status {
    const Stopwatch watch;
    ZR_TRY(runner.start(index));
    ZR_TRY(runner.finish());
    if (counts) row.microseconds.push_back(watch.microseconds());
    return Status::ok();
  });
}

/// One frame after another, step by step.
Status measure_steps(const RunSteps& run, std::size_t frame_count, const Limits& limits, Row& row) {
  std::vector<StepTime> steps;
  std::vector<std::string> order;
  std::map<std::string, std::vector<double>> times;
  ZR_TRY(repeat(frame_count, limits, [&](std::size_t index, bool counts) -> Status {
    steps.clear();
    if (Status status = run(index, steps); !status) return status;
    std::map<std::string, double> now;
    for (const StepTime& step : steps) {
      if (times.try_emplace(step.step).second) order.push_back(step.step);
      now[step.step] += step.microseconds;
    }
    if (!counts) return Status::ok();
    double sum = 0;
    for (const std::string& step : order) {  // a step that the frame did not have took 0
      times[step].push_back(now[step]);
      sum += now[step];
    }
    row.microseconds.push_back(sum);
    return Status::ok();
  }));
  for (const std::string& step : order)
    row.stages.push_back({step, summarise(times.at(step)).median});
  return Status::ok();
}

/// Repetitions of many frames on all runners. Unless the limits say how many frames, it is a
/// multiple of `multiple`: whole batches.
Status measure_throughput(const Runners& runners, Drive drive, std::size_t frame_count,
                          std::size_t multiple, const Limits& limits, Row& row) {
  TimedRuns runs(runners, drive, frame_count);
  const std::size_t least = round_up(std::max(2 * runners.size(), frame_count), multiple);
  const auto one = warm_up(runs, least, limits.warm_up_seconds);
  if (!one) return one.status();
  const double repetition = limits.seconds * 1e6 / limits.repetitions;
  const auto fitting = static_cast<std::size_t>(std::llround(repetition / *one));
  row.frames_per_sample = limits.frames > 0 ? static_cast<std::size_t>(limits.frames)
                                            : std::max(least, round_up(fitting, multiple));
  for (int r = 0; r < limits.repetitions; ++r) {
    const auto took = runs.run(row.frames_per_sample);
    if (!took) return took.status();
    row.microseconds.push_back(*took / static_cast<double>(row.frames_per_sample));
  }
  return Status::ok();
}

/// The same frames once more, as many as take `seconds`, for the energy: row.energy. `counter` is
/// that of the row's device.
Status measure_energy(const Runners& runners, Drive drive, std::size_t frame_count,
                      std::size_t multiple, double seconds, EnergyMeter& meter,
                      EnergyCounter& counter, Row& row) {
  const double one = summarise(row.microseconds).median;
  const auto frames =
      round_up(std::max<std::size_t>(static_cast<std::size_t>(seconds * 1e6 / one), runners.size()),
               multiple);
  TimedRuns runs(runners, drive, frame_count);
  auto energy = meter.measure(row.device, counter, static_cast<double>(frames),
                              [&] { return runs.run(frames).status(); });
  if (energy) row.energy = *std::move(energy);
  return energy.status();
}

/// A library, or a backend of zerorun, whose coders can be measured.
struct CoderSource {
  const char* name;  ///< begins its notes
  bool is_peer;      ///< left out with --no-peers
  bool has_sizes;    ///< codes to Case::target_size
  bool has_scans;    ///< codes progressive streams
  bool (*applies)(const Setting& setting);
  /// Adds the coders of a case; an error becomes a note. Null in a build without the library.
  Status (*add)(const Setting& setting, Coders& coders);
};

/// In the order of the rows.
std::span<const CoderSource> coder_sources() {
  using S = const Setting&;
  constexpr auto always = [](S) { return true; };
  constexpr auto on_cpu = [](S s) { return s.selection.cpu; };
  constexpr auto on_gpu = [](S s) { return !s.selection.cuda.empty(); };
  constexpr auto on_gpus = [](S s) { return !s.selection.teams.empty(); };
  constexpr auto for_bgr = [](S s) { return s.what.pixels == PixelFormat::bgr24; };
  constexpr auto fused = [](S s) { return !s.selection.cuda.empty() && !s.frames.mixed; };
  constexpr auto one_size = [](S s) { return !s.frames.mixed; };
  static const CoderSource kSources[] = {
      {"zerorun", false, true, true, on_gpu, add_cuda_coders},
      {"zerorun", false, true, true, on_gpus, add_cuda_teams},
      {"nvJPEG", true, false, false, on_gpu, add_nvjpeg},
      {"zerorun cpu", false, true, true, on_cpu, add_cpu_coders},
      {"libjpeg-turbo", true, false, true, always, add_libjpeg},
      {"FFmpeg", true, false, false, always, add_ffmpeg},
      {"OpenCV", true, false, false, for_bgr, add_opencv},
      {"zerorun-fused", false, false, false, fused, add_fused_steps},
      {"stages", false, false, false, one_size, add_steps},
  };
  return kSources;
}

/// Frames that one runner keeps in flight by itself.
int frames_of_runner(const Coder& coder, const Row& row) noexcept {
  return coder.joint ? row.at_once : 1;
}

/// Each coder is checked first, then timed alone: latency, then each number of frames at once.
class CaseRun {
 public:
  CaseRun(const Setting& setting, const Limits& limits, EnergyBench* energy, CaseResult& result)
      : setting_(setting), limits_(limits), energy_(energy), result_(result) {}

  void measure(const CoderSource& source) {
    if ((source.is_peer && setting_.selection.no_peers) || !source.applies(setting_)) return;
    if (setting_.what.target_size != 0 && !source.has_sizes)
      return result_.notes.push_back(fmt::format("{}: no coding to a size", source.name));
    if (setting_.what.progressive && !source.has_scans)
      return result_.notes.push_back(fmt::format("{}: no progressive streams here", source.name));
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

Status in_threads(std::size_t count, const std::function<Status(std::size_t)>& work) {
  std::vector<Status> found(count);
  std::vector<std::thread> threads;
  try {
    for (std::size_t i = 1; i < count; ++i)
      threads.emplace_back([&found, &work, i] { found[i] = work(i); });
  } catch (const std::system_error&) {
    found.back() = too_many_threads();
  }
  if (count > 0) found[0] = work(0);
  for (std::thread& thread : threads) thread.join();
  for (const Status& status : found) ZR_TRY(status);
  return Status::ok();
}

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
