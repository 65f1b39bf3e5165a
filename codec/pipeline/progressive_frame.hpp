// All scans of a progressive frame on the CPU, several at a time: a scan follows the one before it
// of the same component from row to row.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "codec/base/buffer.hpp"
#include "codec/base/thread_pool.hpp"
#include "codec/decode/progressive_scan.hpp"
#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/pipeline/scan_intervals.hpp"

namespace zerorun {

/// Keeps its memory from frame to frame: 138 bytes a block.
class ProgressiveFrame {
 public:
  struct CleanScan {
    const std::uint8_t* bytes;                 ///< with kProgressiveReadAhead bytes behind them
    std::span<const EntropySegment> segments;  ///< with the closing entry
  };
  /// Removes the stuffed bytes of a scan; called on several threads, once a scan.
  using Unstuff = std::function<CleanScan(std::size_t scan, std::span<const std::uint8_t> data)>;

  /// `planes`, one a component: blocks outside them, and AC where a plane has a sample a block, are
  /// not wanted; null: everything is. `pool`: null for the caller's thread alone.
  void decode(const FrameHeader& frame, std::span<const FrameScan> scans, const PlaneView* planes,
              ThreadPool* pool, const Unstuff& unstuff, std::span<ScanOutcome> outcomes);

  const StoredBlocks& blocks(std::size_t component) const { return blocks_[component]; }
  /// The table at the component's first scan; later ones do not count, as in libjpeg.
  const QuantTable& quant(std::size_t component) const { return quant_[component]; }

  /// Copies the blocks to `out`, which has the frame's shape.
  void copy(std::vector<ComponentCoefficients>& out) const;

 private:
  static constexpr std::int32_t kAllRows = std::numeric_limits<std::int32_t>::max();

  /// How many rows of the frame's MCUs a scan has decoded.
  class Progress {
   public:
    void reach(std::int32_t rows) {
      rows_.store(rows, std::memory_order_release);
      rows_.notify_all();
    }
    void finish() { reach(kAllRows); }
    void wait_for(std::int32_t row) const {
      for (std::int32_t rows; (rows = rows_.load(std::memory_order_acquire)) <= row;)
        rows_.wait(rows, std::memory_order_acquire);
    }

   private:
    std::atomic<std::int32_t> rows_{0};
  };
  struct Worker {
    ProgressiveScanDecoder decoder;
    ScanIntervals intervals;
  };

  void clear(const FrameHeader& frame);
  void decode_scan(const FrameHeader& frame, std::span<const FrameScan> scans, std::size_t scan,
                   const PlaneView* planes, const CleanScan& clean, Worker& worker,
                   ScanOutcome& outcome);

  StoredBlocks blocks_[kMaxDecodedComponents];
  QuantTable quant_[kMaxDecodedComponents];
  struct Memory {
    Buffer<std::int16_t> dc, ac;
    Buffer<std::uint64_t> nonzero;
  };
  Memory memory_[kMaxDecodedComponents];
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<Progress[]> progress_;  // one a scan
};

}  // namespace zerorun
