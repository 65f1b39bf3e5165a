// What the two CPU decode pipelines share: the stages of the reference from any MCU on, the scans
// of a progressive frame, and planes, scans in order and output of an image.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "codec/base/buffer.hpp"
#include "codec/base/thread_pool.hpp"
#include "codec/decode/color_upsample.hpp"
#include "codec/decode/dequant_idct.hpp"
#include "codec/decode/huffman_decode.hpp"
#include "codec/decode/progressive_scan.hpp"
#include "codec/decode/restart_plan.hpp"
#include "codec/pipeline/coefficient_coder.hpp"
#include "codec/pipeline/decode_pipeline.hpp"
#include "codec/pipeline/scan_intervals.hpp"
#include "codec/syntax/header_parser.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun {

/// Keeps its memory from scan to scan.
class McuDecoder {
 public:
  /// What it reads and writes; all of it outlives the decoding.
  struct Scan {
    const ScanHeader* header;
    const std::uint8_t* clean;  ///< bytes of all segments
    std::uint64_t clean_bytes;
    const PlaneView* planes;  ///< one a component of the frame
    /// Null: the output are samples.
    StoredFrame* coefficients;
  };

  McuDecoder(const StageTable& stages, int workers)
      : stages_(stages), scratch_(static_cast<std::size_t>(workers)) {}

  void begin_scan(const Scan& scan);

  /// Decodes up to MCU `last`, or up to the first fault: its MCU is the last that is decoded.
  /// Workers (0..workers-1) are independent. Precondition: the interval has data.
  void decode(IntervalState& interval, std::int64_t last, int worker);

 private:
  struct Scratch {
    Buffer<RunLevel> pairs;
    Buffer<std::uint8_t> pair_count;
    Buffer<std::int16_t> coefficients, diff;
  };

  void decode_slice(IntervalState& interval, std::int64_t mcus, Scratch& scratch);
  void output(std::int64_t first_mcu, std::int64_t mcus, const std::int16_t* coefficients);

  const StageTable& stages_;
  std::vector<Scratch> scratch_;  // one a worker
  Scan scan_{};
  HuffmanDecodeTables huffman_;
  DequantTables dequant_;
};

class CpuDecodePipeline : public DecodePipeline {
 public:
  /// Pictures of fewer than `least_blocks` are decoded by one thread.
  CpuDecodePipeline(int threads, std::int64_t least_blocks)
      : pool_(threads), least_blocks_(least_blocks) {}

  Status begin_planes(const FrameHeader& frame, const FrameView* direct, bool luma_only) final;
  Status begin_coefficients(StoredFrame& out) final;
  Status decode_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                     ScanOutcome& outcome) final;
  Status decode_progressive(const FrameHeader& frame, std::span<const FrameScan> scans,
                            std::span<ScanOutcome> outcomes) final;
  bool read_symbols(const FrameHeader& frame, std::span<const FrameScan> scans, ColorModel color,
                    ScanSymbols& out) final;
  Status finish_frame(ColorModel model, ChromaUpsampling upsampling, const FrameView& out) final;
  Status finish_planes(std::vector<ComponentPlane>& out) final;
  Status finish_coefficients() final;

 protected:
  struct CleanScan {
    const std::uint8_t* bytes;                 ///< with kProgressiveReadAhead bytes behind them
    std::span<const EntropySegment> segments;  ///< with the closing entry
  };

  /// Removes the stuffed bytes of a scan, and prepares its decoding.
  virtual CleanScan begin_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                               std::uint64_t& consumed_bytes);
  /// Decodes what `intervals_` say, of which a worker takes `per_task` at a time.
  virtual void decode_intervals(const ScanHeader& scan, const CleanScan& clean,
                                std::int64_t per_task) = 0;
  /// For scan number `scan` of a progressive frame; called on several threads, once a scan.
  virtual CleanScan unstuff(std::size_t scan, std::span<const std::uint8_t> data,
                            std::uint64_t& consumed_bytes) = 0;
  virtual void begin_progressive(std::size_t scans) = 0;
  /// Transforms the blocks of a component that all scans of a progressive frame have left.
  virtual void transform_stored(std::size_t component) = 0;
  virtual void convert(const ColorUpsampleArgs& rows, int worker) = 0;

  template <typename Job>
  void run_jobs(std::int64_t jobs, const Job& job) {
    run_on(small_ ? nullptr : &pool_, jobs, job);
  }

  ThreadPool pool_;

  // of the image
  FrameHeader frame_;
  bool small_ = false;  ///< one thread decodes it
  /// The planes are those of the caller's frame. Others have rows of whole 64 bytes, and whole
  /// blocks of rows.
  bool is_direct_ = false;
  PlaneView planes_[kMaxDecodedComponents];
  StoredFrame* coefficients_ = nullptr;  ///< null: planes are wanted
  StoredFrame stored_;                   ///< of a progressive image whose planes are wanted

  ScanIntervals intervals_;  ///< of the scan

 private:
  static constexpr std::int32_t kAllRows = std::numeric_limits<std::int32_t>::max();

  /// How many rows of the MCUs of a progressive frame a scan has decoded.
  class Progress {
   public:
    void reach(std::int32_t rows) {
      rows_.store(rows, std::memory_order_release);
      rows_.notify_all();
    }
    void wait_for(std::int32_t row) const {
      for (std::int32_t rows; (rows = rows_.load(std::memory_order_acquire)) <= row;)
        rows_.wait(rows, std::memory_order_acquire);
    }

   private:
    std::atomic<std::int32_t> rows_{0};
  };
  /// Of a thread that decodes scans of a progressive frame.
  struct Worker {
    ProgressiveScanDecoder decoder;
    ScanIntervals intervals;
  };

  /// Scan number `scan`. Blocks outside the planes, and AC where a plane has a sample a block, are
  /// not wanted.
  void decode_one(const FrameHeader& frame, std::span<const FrameScan> scans, std::size_t scan,
                  Worker& worker, ScanOutcome& outcome, const StoredBlocks* blocks);
  void fill_gaps();

  const std::int64_t least_blocks_;
  bool scanned_[kMaxDecodedComponents] = {};
  Buffer<std::uint8_t> plane_memory_[kMaxDecodedComponents];
  FlatComponents flat_components_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<Progress[]> progress_;  // one a scan
};

}  // namespace zerorun
