// Goes on with the CPU where an automatic choice of CUDA fails.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <utility>

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
/// automatic.
template <typename Pipeline>
class PipelineAndSpare {
 public:
  using Made = Result<std::unique_ptr<Pipeline>>;

  /// `make_spare` is empty where the pipeline is the only one.
  PipelineAndSpare(std::unique_ptr<Pipeline> first, std::function<Made()> make_spare)
      : first_(std::move(first)), make_spare_(std::move(make_spare)), active_(first_.get()) {}

  /// For a frame that only the first can code; it is then the active one.
  Pipeline& first() {
    active_ = first_.get();
    return *active_;
  }
  /// The pipeline of the last run.
  Pipeline& active() const { return *active_; }

  /// What run() returns, a Status or a Result. It uses active(), and may be called twice.
  template <typename Run>
  auto run(const Run& run) -> decltype(run()) {
    active_ = first_.get();
    auto result = run();
    if (result || !make_spare_ || !is_of_device(status_of(result))) return result;
    if (spare_ == nullptr) {
      auto made = make_spare_();
      if (!made) return result;
      spare_ = *std::move(made);
    }
    active_ = spare_.get();
    return run();
  }

 private:
  static const Status& status_of(const Status& status) { return status; }
  template <typename T>
  static Status status_of(const Result<T>& result) {
    return result.status();
  }
  static bool is_of_device(const Status& status) {
    return status.code() == Errc::out_of_memory || group(status.code()) == ErrorGroup::device;
  }

  std::unique_ptr<Pipeline> first_, spare_;
  std::function<Made()> make_spare_;
  Pipeline* active_;
};

}  // namespace zerorun
