// The pipelines of one coder, and what takes a frame with which the device of one of them fails.
// For the devices of several coders see device_set.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "codec/api/device_set.hpp"
#include "codec/base/test_devices.hpp"
#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/pipeline/encode_pipeline.hpp"

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

/// The pipeline of `backend`, which resolve_backend() gave: cpu or cuda. Where CUDA was an
/// automatic choice, one of the CPU is to spare. `params` are valid.
Result<PipelineAndSpare<EncodePipeline>> make_encode_pipelines(Backend backend,
                                                               const EncodeParams& params);
Result<PipelineAndSpare<DecodePipeline>> make_decode_pipelines(Backend backend,
                                                               const DecodeParams& params);

}  // namespace zerorun
