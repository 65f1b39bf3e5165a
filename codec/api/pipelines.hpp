// The pipelines of one coder, and what takes a frame with which the device of one of them fails;
// and the common part of AsyncEncoder and AsyncDecoder: a FlightRing whose lanes have a coder each,
// on one device or on several (device_set.hpp).
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "codec/api/device_set.hpp"
#include "codec/base/flight_ring.hpp"
#include "codec/base/cuda_device.hpp"
#include "codec/base/try.hpp"
#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "zerorun/backend.hpp"

namespace zerorun {

/// Returns make(resolved). If the choice was left to the library (`wanted` is automatic) and CUDA
/// fails, because the device has no memory left or broke, it returns make(Backend::cpu).
template <typename Make>
auto make_with_backend(Backend wanted, Backend resolved, const Make& make)
    -> decltype(make(resolved)) {
  auto made = make(resolved);
  if (made || wanted != Backend::automatic || resolved == Backend::cpu) return made;
  return make(Backend::cpu);
}

/// A coder's pipeline, and the CPU's for frames with which CUDA fails where the choice was
/// automatic. Each frame is tried on the device first: it may be the reason of the failure.
template <typename Pipeline>
class PipelineAndSpare {
 public:
  using Made = Result<std::unique_ptr<Pipeline>>;

  /// `device` is that of the pipeline or kCpuDevice. `make_spare` is empty where the pipeline is
  /// the only one.
  PipelineAndSpare(std::unique_ptr<Pipeline> first, int device, std::function<Made()> make_spare)
      : first_(std::move(first)),
        make_spare_(std::move(make_spare)),
        device_(device),
        active_(first_.get()) {}

  /// The pipeline of the last run.
  Pipeline& active() const { return *active_; }

  /// Returns run(), a Status or a Result. `run` uses active() and may be called twice.
  template <typename Run>
  auto run(const Run& run) -> decltype(run()) {
    auto result = run_first(run);
    if (result || !make_spare_ || !is_of_device(status_of(result))) return result;
    if (spare_ == nullptr) {
      auto made = make_spare_();
      if (!made) return result;
      spare_ = *std::move(made);
    }
    active_ = spare_.get();
    return run();
  }

  /// As run(), without the spare pipeline, for a frame that only the first one can code.
  template <typename Run>
  auto run_first(const Run& run) -> decltype(run()) {
    active_ = first_.get();
    auto result = run();
    if (Status failure = failure_for_test(device_); !failure) return failure;
    return result;
  }

 private:
  static const Status& status_of(const Status& status) { return status; }
  template <typename T>
  static const Status& status_of(const Result<T>& result) {
    return result.status();
  }

  std::unique_ptr<Pipeline> first_, spare_;
  std::function<Made()> make_spare_;
  int device_;
  Pipeline* active_;
};

/// The pipeline of `backend`, which resolve_backend() gave: cpu or cuda. `params` are valid.
Result<std::unique_ptr<EncodePipeline>> make_pipeline(Backend backend, const EncodeParams& params);
Result<std::unique_ptr<DecodePipeline>> make_pipeline(Backend backend, const DecodeParams& params);

/// The same. Where CUDA was an automatic choice, one of the CPU is to spare.
template <typename Pipeline, typename Params>
Result<PipelineAndSpare<Pipeline>> make_pipelines(Backend backend, const Params& params) {
  ZR_LET(first, make_pipeline(backend, params));
  const bool is_cuda = backend == Backend::cuda;
  std::function<Result<std::unique_ptr<Pipeline>>()> spare;
  if (is_cuda && params.backend == Backend::automatic)
    spare = [params] { return make_pipeline(Backend::cpu, params); };
  return PipelineAndSpare<Pipeline>(std::move(first), is_cuda ? params.device : kCpuDevice,
                                    std::move(spare));
}

struct FlightSizes {
  int lanes, depth;
};

/// The caller's numbers, with a value for 0, which means automatic. Errors: invalid_argument.
Result<FlightSizes> choose_flight_sizes(int lanes, int depth, const DevicePlan& plan);

/// `Output` has the members number, tag, status and device. Its member `kInput` is the caller's
/// frame or stream, if the caller moved one in.
template <typename Coder, typename Job, typename Output, auto kInput>
class AsyncLanes {
 public:
  using Make = typename DeviceLanes<Coder>::Make;
  using Work = std::function<Status(Coder& coder, const Job& job, Output& output)>;

  /// All coders are made before it returns, those of several devices side by side. After an error
  /// it may be called again, with another plan.
  Status start(const DevicePlan& plan, Make make, int lanes, int depth, Work work);

  /// `fill(job, output)` makes the job, with the ring locked.
  template <typename Fill>
  Status submit(std::uint64_t tag, bool wait, const Fill& fill) {
    return guarded([&] {
      return ring_->submit(wait, [&](Entry& entry, std::int64_t number) {
        fill(entry.job, entry.output);
        entry.output.number = number;
        entry.output.tag = tag;
      });
    });
  }

  Received receive(Output& out, bool wait) {
    std::remove_reference_t<decltype(out.*kInput)> left;
    // `left` is released without the lock, because releasing pinned memory takes long.
    return ring_->receive(wait, [&](Entry& entry) {
      left = std::exchange(out.*kInput, {});
      std::swap(out, entry.output);
    });
  }

  void finish() { ring_->finish(); }
  void discard() { ring_->discard(true); }
  int in_flight() const { return ring_->flight().jobs; }
  int depth() const noexcept { return ring_->depth(); }
  int lanes() const noexcept { return ring_->lanes(); }
  Backend backend() const noexcept { return backend_; }
  std::vector<LostDevice> lost_devices() const { return device_set_->lost(); }

 private:
  struct Entry {
    Job job;
    Output output;
  };

  Status open_coders(int lanes);

  Backend backend_ = Backend::cpu;
  std::optional<DeviceSet> device_set_;
  std::optional<DeviceLanes<Coder>> coders_;
  std::optional<FlightRing<Entry>> ring_;
};

template <typename Coder, typename Job, typename Output, auto kInput>
Status AsyncLanes<Coder, Job, Output, kInput>::open_coders(int lanes) {
  // Starting a device takes about 0.3 s, so all start at the same time.
  std::vector<Status> found(static_cast<std::size_t>(device_set_->count()));
  const auto open = [&](int which) {  // the lanes of device number `which` of the set
    found[static_cast<std::size_t>(which)] = guarded([&]() -> Status {
      for (int lane = which; lane < lanes; lane += device_set_->count())
        ZR_TRY(coders_->open(lane));
      return Status::ok();
    });
  };
  std::vector<std::future<void>> started;  // their destructors wait, too
  for (int which = 1; which < device_set_->count(); ++which)
    started.push_back(std::async(std::launch::async, open, which));
  open(0);
  for (const std::future<void>& one : started) one.wait();
  for (const Status& status : found) ZR_TRY(status);
  return Status::ok();
}

template <typename Coder, typename Job, typename Output, auto kInput>
Status AsyncLanes<Coder, Job, Output, kInput>::start(const DevicePlan& plan, Make make, int lanes,
                                                     int depth, Work work) {
  ZR_LET(sizes, choose_flight_sizes(lanes, depth, plan));
  backend_ = plan.backend;
  device_set_.emplace(plan.devices, plan.spare_cpu);
  coders_.emplace(*device_set_, sizes.lanes, std::move(make));
  try {
    ZR_TRY(open_coders(sizes.lanes));
    const auto work_on = [this, work = std::move(work)](Entry& entry, int lane) {
      entry.output.status = guarded([&] {
        return coders_->run(lane, [&](Coder& coder, int device) {
          entry.output.device = device;
          return work(coder, entry.job, entry.output);
        });
      });
      return true;
    };
    const auto drop = [](Entry& entry) { entry.output.*kInput = {}; };
    ring_.emplace(sizes.depth, typename FlightRing<Entry>::Steps{.work = work_on, .drop = drop});
    ring_->start(sizes.lanes);
  } catch (const std::system_error& error) {
    return Status(Errc::out_of_memory, std::string("threads: ") + error.what());
  }
  return Status::ok();
}

/// Starts the lanes of a caller's choice. `Async` is AsyncEncodeParams or AsyncDecodeParams, whose
/// member `coding` are the parameters of one coder. On the CPU `threads` 0 becomes 1, because the
/// lanes run in parallel; on CUDA all lanes share the threads that copy their frames.
template <typename Coder, typename Lanes, typename Async, typename Params>
Status start_lanes(Lanes& lanes, const Async& async, const Params& coding,
                   typename Lanes::Work work) {
  ZR_LET(plan, plan_devices(coding.backend, coding.device, async.devices));
  const auto make = [coding](int device) {
    Params params = coding;
    params.backend = device == kCpuDevice ? Backend::cpu : Backend::cuda;
    if (device != kCpuDevice) params.device = device;
    if (device == kCpuDevice && params.threads == 0) params.threads = 1;
    return Coder::create(params);
  };
  return make_with_backend(coding.backend, plan.backend, [&](Backend backend) {
    return lanes.start(backend == plan.backend ? plan : DevicePlan{}, make, async.lanes,
                       async.depth, work);
  });
}

}  // namespace zerorun
