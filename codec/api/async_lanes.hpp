// What AsyncEncoder and AsyncDecoder have in common: a FlightRing whose lanes have a coder each.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "codec/api/flight_ring.hpp"
#include "codec/base/try.hpp"
#include "codec/pipeline/backend_choice.hpp"
#include "zerorun/backend.hpp"

namespace zerorun {

struct FlightSizes {
  int lanes, depth;
};

/// The caller's numbers, with a value for 0, which means automatic. Errors: invalid_argument.
Result<FlightSizes> choose_flight_sizes(int lanes, int depth, Backend backend);

/// `Output` has the members number, tag and status. Its member `kInput` is the caller's frame or
/// stream, if the caller moved one in.
template <typename Coder, typename Job, typename Output, auto kInput>
class AsyncLanes {
 public:
  using Work = Status (*)(Coder& coder, const Job& job, Output& output);

  /// Call it once. `params` are the coder's; on the CPU `threads` 0 becomes 1, because the lanes
  /// run in parallel. On CUDA all lanes share the threads that copy their frames.
  template <typename Params>
  Status start(Params params, int lanes, int depth, Work work);

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
  Backend backend() const noexcept { return coders_.front().backend(); }

 private:
  struct Entry {
    Job job;
    Output output;
  };

  /// Fills coders_ with coders of one backend.
  template <typename Params>
  Result<FlightSizes> make_coders(Params params, Backend backend, int lanes, int depth);

  std::vector<Coder> coders_;  // one a lane
  std::optional<FlightRing<Entry>> ring_;
};

template <typename Coder, typename Job, typename Output, auto kInput>
template <typename Params>
Result<FlightSizes> AsyncLanes<Coder, Job, Output, kInput>::make_coders(Params params,
                                                                        Backend backend, int lanes,
                                                                        int depth) {
  // An automatic choice stays one, so that a lane may take the CPU for a frame.
  if (backend == Backend::cpu) params.backend = backend;
  if (params.threads == 0 && backend == Backend::cpu) params.threads = 1;
  ZR_LET(sizes, choose_flight_sizes(lanes, depth, backend));
  coders_.clear();
  coders_.reserve(static_cast<std::size_t>(sizes.lanes));
  for (int lane = 0; lane < sizes.lanes; ++lane) {
    ZR_LET(coder, Coder::create(params));
    if (coder.backend() != backend)
      return Status(Errc::device_failure, "not all lanes found room on the device");
    coders_.push_back(std::move(coder));
  }
  return sizes;
}

template <typename Coder, typename Job, typename Output, auto kInput>
template <typename Params>
Status AsyncLanes<Coder, Job, Output, kInput>::start(Params params, int lanes, int depth,
                                                     Work work) {
  ZR_LET(resolved, resolve_backend(params.backend, params.device));
  ZR_LET(sizes, make_with_backend(params.backend, resolved, [&](Backend backend) {
           return make_coders(params, backend, lanes, depth);
         }));
  ring_.emplace(sizes.depth, typename FlightRing<Entry>::Steps{
                                 .work =
                                     [this, work](Entry& entry, int lane) {
                                       Coder& coder = coders_[static_cast<std::size_t>(lane)];
                                       entry.output.status = guarded(
                                           [&] { return work(coder, entry.job, entry.output); });
                                       return true;
                                     },
                                 .drop = [](Entry& entry) { entry.output.*kInput = {}; }});
  try {
    ring_->start(sizes.lanes);
  } catch (const std::system_error& error) {
    return Status(Errc::out_of_memory, std::string("threads: ") + error.what());
  }
  return Status::ok();
}

}  // namespace zerorun
