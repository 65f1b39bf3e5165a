// The fused decoder: the bits of a scan -> the samples of its components, in four kernels, or three
// where the stream has an index of the scan, without the host in between. For scans without damage
// whose bits synchronise themselves or have restart markers; noise at quality 100 has hardly a
// block that ends in EOB, where walks could meet. Others are for the staged decoder.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "codec/syntax/header_parser.hpp"
#include "cuda/base/memory.hpp"
#include "cuda/base/step_probe.hpp"
#include "cuda/decode/walk_tables.hpp"
#include "cuda/decode/scan_states.hpp"
#include "cuda/decode/transform_blocks.hpp"

namespace zerorun {

/// Keeps its memory between scans; one stream at a time. Memory on the device: up to 18 bytes for
/// each of the largest scan (16 of them for pairs, of which most stay unused), 12 a block, 8 a
/// group of an index, and 160 KiB of tables.
class ScanDecoder {
 public:
  /// Once, on the device that is current.
  Status create();

  /// The most bytes that a scan may have; positions of bits are 32-bit numbers.
  static constexpr std::size_t kMostBytes = std::size_t{1} << 28;
  static bool takes(const ScanHeader& scan, std::size_t bytes);

  /// Device memory: entropy-coded bytes and perhaps more behind them; the index's first entry, or
  /// nothing where the scan is to be decoded without one.
  struct Input {
    const std::uint8_t* data;
    std::size_t bytes;
    const std::uint8_t* index;
  };
  /// Enqueues the scan. `planes`: device memory, one a scan component. Precondition: takes(); an
  /// index only where scan.index is set.
  Status enqueue(const ScanHeader& scan, const Input& in, const PlaneView* planes,
                 cudaStream_t stream, const StepProbe& probe);

  /// To be said after each enqueue() when the stream has got so far, without an error.
  void ended() { states_.ended(); }
  /// Of the last enqueue(), when it has ended: whether the samples are right. If not, they
  /// are undefined.
  bool succeeded() const { return report_.data()->faults == 0 && report_.data()->late_fault == 0; }
  /// Whether the scan was not as its index says. Without it, it may be decoded.
  bool index_was_wrong() const { return (report_.data()->faults & kFaultIndex) != 0; }
  std::uint64_t consumed_bytes() const { return report_.data()->consumed_bytes; }

 private:
  struct Sizes {
    std::uint32_t bytes, intervals, blocks, chunks, groups, pair_capacity, tiles, transform_ctas;
    std::uint32_t interval_blocks;
  };
  static Sizes sizes_of(const ScanHeader& scan, const Input& in);
  Status reserve(const Sizes& sizes);
  Status enqueue_subsequences(const Sizes& sizes, const ScanStates::Parts& states,
                              const PairCycle& cycle, cudaStream_t stream, const StepProbe& probe);
  Status enqueue_groups(const ScanHeader& scan, const Sizes& sizes, const ScanStates::Parts& states,
                        const PairCycle& cycle, cudaStream_t stream, const StepProbe& probe);
  Status update_tables(const ScanHeader& scan, const PairCycle& cycle, cudaStream_t stream);
  Status update_quant(const ScanHeader& scan, cudaStream_t stream);

  std::array<std::optional<HuffmanSpec>, 2 * kMaxTablePairs> specs_;  ///< that tables_ was made of
  std::optional<std::array<QuantTable, kMaxComponents>> quant_tables_;  ///< that steps_ was made of
  PinnedBuffer<ScanSteps> host_steps_;
  DeviceBuffer<ScanSteps> steps_;
  PinnedBuffer<HuffmanDecodeTable> host_tables_;
  DeviceBuffer<WalkTables> tables_;
  DeviceBuffer<std::uint8_t> clean_;
  DeviceBuffer<std::uint32_t> interval_first_, chunk_word_, pairs_, block_pair_;
  DeviceBuffer<SubsequenceStart> starts_;
  DeviceBuffer<std::uint64_t> chunk_first_;
  DeviceBuffer<std::uint64_t> group_sums_;
  ScanStates states_;
  PinnedBuffer<ScanReport> report_;
};

}  // namespace zerorun
