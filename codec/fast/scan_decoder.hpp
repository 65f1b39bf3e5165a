// One scan through the fast decoder's kernels, as far as it is sound; and the blocks that the scans
// of a progressive frame have left in memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "codec/base/buffer.hpp"
#include "codec/decode/byte_unstuff.hpp"
#include "codec/decode/restart_plan.hpp"
#include "codec/fast/decode_kernels.hpp"
#include "codec/syntax/header_parser.hpp"
#include "codec/syntax/scan_layout.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::fast {

/// byte_unstuff in pieces of the data, for several threads. It equals byte_unstuff_cpu(); test:
/// FastParts and FastDamage, with pieces of one byte.
///
/// cut(), unstuff() for each job, join(), and move() for each job but the first, whose bytes lie
/// where they belong. Keeps its memory from scan to scan.
class Unstuffer {
 public:
  explicit Unstuffer(const DecodeKernels& kernels) : kernels_(kernels) {}

  /// `data` may go on behind the scan.
  void cut(std::span<const std::uint8_t> data, int jobs);
  void unstuff(int job);
  void join();
  void move(int job);

  /// After the last step: clean bytes, and kReadAhead zeros behind them.
  const std::uint8_t* bytes() const { return clean_.data(); }
  /// With the closing entry.
  std::span<const EntropySegment> segments() const { return segments_; }
  /// Up to the marker that ends the scan.
  std::uint64_t consumed_bytes() const { return consumed_bytes_; }

 private:
  struct Marker {
    std::uint64_t clean;   // bytes of the piece before it
    std::uint64_t source;  // offset in the data of the byte behind it
    std::uint8_t code;
  };
  struct Piece {
    const std::uint8_t *begin, *end;
    std::uint8_t* out;
    std::uint64_t clean = 0, place = 0;  // clean bytes, and where they belong
    std::vector<Marker> markers;         // RSTm
    const std::uint8_t* scan_end = nullptr;
  };

  const DecodeKernels& kernels_;
  std::span<const std::uint8_t> data_;
  std::vector<Piece> pieces_;
  std::size_t count_ = 0;
  std::atomic<int> last_{0};  // no piece behind this one belongs to the scan
  Buffer<std::uint8_t> apart_, clean_;
  std::vector<EntropySegment> segments_;
  std::uint64_t consumed_bytes_ = 0;
};

/// Parts of a restart interval that threads decode at the same time.
///
/// The bytes do not say where a part begins, nor its DC predictions. Walks from guesses find a
/// start of an MCU near each cut, because walks over the same bits soon meet; other walks count the
/// MCUs from there to the next part and sum up the DC differences. Meanwhile the first part is
/// decoded, and the last one needs no count. Decoding then shows whether each part ends where the
/// next one begins, with its predictions, because the walks may have been wrong. In damaged data
/// the parts up to the damage are right.
class IntervalParts {
 public:
  /// `cycle` and `bytes` outlive the decoding of the interval.
  void cut(const DecodeKernels& kernels, const CountCycle& cycle, const std::uint8_t* bytes,
           const IntervalState& interval, int threads);
  /// Parts to decode; fewer after join(), if not all begin as they should.
  int parts() const { return parts_; }
  /// Where a part ends at the earliest.
  std::uint64_t stop(int part) const { return walks_[static_cast<std::size_t>(part)].stop; }

  /// Jobs for any threads, 0 .. count_jobs() - 1.
  int count_jobs() const { return (parts_ - 2) / kCountWalks; }
  void count(int job);

  /// `first_end` is the end of the first part; `goes_on`: nothing was wrong before it. Counts again
  /// what does not fit together. A part in which the count goes wrong becomes the last.
  void join(const McuStart& first_end, bool goes_on);

  /// After join(). The last part goes to the end of the interval.
  const McuStart& start(int part) const { return starts_[static_cast<std::size_t>(part)]; }
  /// The end of the interval.
  std::int64_t end_mcu() const { return interval_.end_mcu; }
  std::uint64_t end_bit() const { return interval_.end_bit; }

 private:
  void run(CountWalk* walks, int count) const;
  /// Goes on from the start of a part to that of the next one. False: the count went wrong.
  bool pass_part(std::size_t part, McuStart& at);

  const DecodeKernels* kernels_ = nullptr;
  const CountCycle* cycle_ = nullptr;
  const std::uint8_t* bytes_ = nullptr;
  IntervalState interval_;
  std::uint64_t warm_bits_ = 0;
  std::vector<CountWalk> walks_;  // one a part; the first and the last are not made
  int parts_ = 0;
  std::vector<McuStart> starts_;
};

/// A component's samples.
struct SamplePlane {
  PlaneView view;
  std::int32_t columns = 0, rows = 0;  ///< room; at least the view's
};

/// Keeps its tables and memory from scan to scan.
class ScanDecoder {
 public:
  ScanDecoder(InstructionSet target, int workers);

  /// Jobs of one step are independent; a step begins when the one before is done. `planes` has one
  /// a frame component; so has `stored`, which, if it is not null, is the output in their place.
  /// `scan`, `data` and the output outlive the decoding.
  /// 1. `jobs` is the number of those of step 2.
  void begin_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                  const SamplePlane* planes, const StoredBlocks* stored, int jobs);
  /// 2. Removes stuffed bytes.
  void unstuff(int job) { unstuffer_.unstuff(job); }
  /// 3.
  void join_bytes();
  /// 4. If there were several jobs in step 2, as many.
  void move_bytes(int job) { unstuffer_.move(job); }

  /// Up to the marker that ends the scan.
  std::uint64_t consumed_bytes() const { return unstuffer_.consumed_bytes(); }

  /// Clean bytes of all segments.
  const std::uint8_t* bytes() const { return unstuffer_.bytes(); }
  /// With the closing entry.
  std::span<const EntropySegment> segments() const { return unstuffer_.segments(); }

  /// Decodes an interval from where it stands: to its end, or to a run of at most kDecodeRunMcus
  /// with a fault. Intervals are independent; `worker` is 0..workers-1.
  void decode_interval(IntervalState& interval, int worker) {
    decode_mcus(interval.at, interval.end_mcu, interval.end_bit + 1, interval.end_bit, worker);
  }

  /// Decodes one interval on several threads, in steps as above.
  /// 1. Returns the jobs of step 2.
  int cut_interval(const IntervalState& interval, int threads);
  /// 2. Decodes the first part, or searches and counts.
  void find_parts(int job, int worker);
  /// 3. Returns the jobs of step 4.
  int join_parts();
  /// 4. Decodes the other parts; job 0 takes longest.
  void decode_part(int job, int worker);
  /// 5. Where the interval stands then. Whatever parts behind it have decoded does not count.
  McuStart end_of_parts() const;

  /// Transforms one row of blocks of the plane. Rows are independent.
  void transform_row(const StoredBlocks& blocks, std::int32_t row, const DequantRows& dequant,
                     const SamplePlane& plane, int worker) const;

 private:
  template <typename Table>
  struct Cached {
    HuffmanSpec spec;  // empty: not filled yet
    Table table;
  };
  /// A row of blocks of one component in a run.
  struct Row {
    std::int32_t first;  // block of the run
    std::int32_t component, y;
  };

  void fill_tables();
  void fill_count_cycle();
  void place_rows();
  /// From `at`, which moves on, to MCU `last`, or near bit `stop`, where that is before it. False:
  /// the run of MCUs from `at` on has a fault.
  bool decode_mcus(McuStart& at, std::int64_t last, std::uint64_t stop, std::uint64_t end_bit,
                   int worker);
  /// Walks over MCUs from `at` on, and leaves in the worker's starts_ where their blocks begin.
  /// Returns how many they are: up to `last`, or fewer. 0: something is wrong there, or they end.
  std::int64_t pass_mcus(const McuStart& at, std::int64_t last, std::uint64_t end_bit, int worker);
  void output_run(std::int32_t mcu_x, std::int32_t mcu_y, std::int32_t mcus,
                  const CoefficientRun& run) const;
  void output_samples(const Row& row, std::int32_t x, std::int32_t y, std::int32_t blocks,
                      const CoefficientRun& run) const;
  std::int32_t output_first(TransformRowArgs args, std::int32_t x, std::int32_t end,
                            std::int32_t y0, const PlaneView& view) const;

  const DecodeKernels& kernels_;
  std::vector<std::unique_ptr<CoefficientRun>> runs_;  // one a worker
  std::vector<Buffer<std::uint64_t>> starts_;          // one a worker
  std::unique_ptr<Cached<DcTable>> dc_memory_[4];
  std::unique_ptr<Cached<AcTable>> ac_memory_[4];
  struct CountMemory {
    HuffmanSpec spec[8];  // empty: not filled yet
    CountTable table[8];  // of DC, then of AC
  };
  std::unique_ptr<CountMemory> count_memory_;
  const DcTable* dc_[4] = {};
  const AcTable* ac_[4] = {};
  QuantTable quant_[kMaxDecodedComponents] = {};
  DequantRows dequant_[kMaxDecodedComponents];

  const ScanHeader* scan_ = nullptr;
  const SamplePlane* planes_ = nullptr;
  const StoredBlocks* stored_ = nullptr;
  std::uint32_t dc_alone_ = 0;  ///< DecodeRunArgs
  Unstuffer unstuffer_;
  CoefficientRun::Place place_[kMaxBlocksPerMcu] = {};
  Row row_[kMaxBlocksPerMcu] = {};
  int rows_ = 0;

  // State of an interval that is decoded in parts.
  CountCycle cycle_;
  IntervalParts parts_;
  std::vector<McuStart> part_ends_;
  bool first_sound_ = false;
};

}  // namespace zerorun::fast
