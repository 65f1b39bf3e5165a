// The bits of a scan -> the samples of its components, in three or four kernels. It decodes scans
// that it proves sound, in at most two attempts, and detects every other scan.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "codec/syntax/header_parser.hpp"
#include "cuda/base/scratch.hpp"
#include "cuda/base/span_clock.hpp"
#include "cuda/decode/scan_kernels.hpp"

namespace zerorun {

/// Scans use two sets of states in turn: unstuff_scan() clears what the scan before left in the
/// other set. A memset between a scan's upload and its first kernel would take longer.
class ScanStates {
 public:
  /// Gives a scan its states, which are zero. All work of the scan before must have ended, or
  /// `stream` must wait for it.
  Status take(ScanArgs& scan, cudaStream_t stream);
  /// To be called when all kernels of the scan have run without an error.
  void ended() { clean_ = true; }

 private:
  DeviceBuffer<std::uint64_t> states_;  ///< both sets
  std::uint32_t capacity_ = 0;          ///< words of each
  std::uint32_t old_words_ = 0;         ///< that the scan before used
  std::uint32_t turn_ = 0;
  bool clean_ = false;
};

struct ScanResult {
  bool succeeded;                ///< the samples are right; otherwise they are undefined
  std::uint64_t consumed_bytes;  ///< up to the marker that ends the scan; if it succeeded
};

/// Keeps its memory between scans; one stream at a time. Device memory: up to 19 bytes for each
/// byte of the largest scan (16 of them for pairs, most of which stay unused), 5 for each block,
/// and 160 KiB of tables.
class ScanDecoder {
 public:
  /// Most bytes of a scan: positions of bits are 32-bit numbers.
  static constexpr std::size_t kMostBytes = std::size_t{1} << 28;

  /// Once, on the device that is current. `exhaustive_only`: as in DecodeChoices.
  Status create(bool exhaustive_only);

  /// Whether the scan has a size that the kernels can count, and the device the shared memory that
  /// they need for its tables.
  bool takes(const ScanHeader& scan, std::size_t bytes) const;
  /// Whether the scan may stay in pinned memory.
  bool can_follow_bus(const ScanHeader& scan, std::size_t bytes) const {
    return limits_.programmatic_launches &&
           (scan.layout.intervals() == 1 || bytes <= kMostFollowedRestartBytes);
  }

  /// Device memory: entropy-coded bytes, perhaps followed by more.
  struct Input {
    const std::uint8_t* data = nullptr;
    std::size_t bytes = 0;
    /// `data` is pinned memory instead. The bytes are decoded as they come over the bus.
    bool is_on_host = false;
    bool is_alone = false;  ///< no other scan is being decoded on the device
  };
  /// Has the device make its tables, unless they are those of the scan before. Call it after the
  /// scan's bytes are sent, so that the device changes from copies to kernels only once.
  Status prepare(const ScanHeader& scan, cudaStream_t stream);

  /// Enqueues what goes on with a scan's samples or pairs, behind its kernels. summary->outcome is
  /// not 0 then if some samples were not written. (With a DC value that no encoder makes they were
  /// written, but are wrong.)
  using Behind = std::function<Status(const ScanArgs&)>;

  /// Returns when the device has done the work. `planes`: device memory, one a scan component;
  /// without data: its samples are not wanted.
  /// `behind` may be null; it is called once for each attempt.
  /// Precondition: prepare() of the same scan and stream, takes(), can_follow_bus() where the scan
  /// is in pinned memory. After an error, work may be left on `stream`.
  Result<ScanResult> decode(const ScanHeader& scan, const Input& in, const PlaneView* planes,
                            cudaStream_t stream, const StepProbe& probe, const Behind& behind);

 private:
  /// One scan on its way.
  struct Job {
    const Input& in;
    cudaStream_t stream;
    const StepProbe& probe;
    ScanNeeds needs;
    ScanArgs args;
  };
  static Job make_job(const ScanHeader& scan, const Input& in, const PlaneView* planes,
                      cudaStream_t stream, const StepProbe& probe);
  Status run(Job& job, const ScanPlan& plan, const Behind& behind);
  Status reserve(ScanArgs& args, cudaStream_t stream);
  Status enqueue(const Job& job);

  DeviceLimits limits_{};
  bool exhaustive_only_ = false;
  StrategyMemory strategies_;
  std::optional<ScanTablesSource> source_;  ///< of tables_ and steps_
  DeviceBuffer<ScanSteps> steps_;
  DeviceBuffer<WalkTables> tables_;
  DeviceBuffer<std::byte> memory_;  ///< what the kernels of a scan pass on
  ScanStates states_;
  PinnedBuffer<ScanReport> report_;
};

}  // namespace zerorun
