// Parts of a restart interval that threads decode at the same time.
//
// The bytes do not say where a part begins, nor its DC predictions. Walks from guesses find a start
// of an MCU near each cut, because walks over the same bits soon meet; other walks count the MCUs
// from there to the next part and sum up the DC differences. Meanwhile the first part is decoded,
// and the last one needs no count. Decoding then shows whether each part ends where the next one
// begins, with its predictions, because the walks may have been wrong.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "codec/fast/decode_kernels.hpp"

namespace zerorun::fast {

/// The state before an MCU.
struct McuStart {
  std::uint64_t bit = 0;  ///< of the scan's clean bytes
  std::int64_t mcu = 0;
  std::int16_t dc[kMaxComponents] = {};

  friend bool operator==(const McuStart&, const McuStart&) = default;
};

class IntervalParts {
 public:
  /// Bits and MCUs of the interval; `end_mcu` is one past its last.
  struct Range {
    McuStart start;
    std::uint64_t end_bit;
    std::int64_t end_mcu;
  };

  /// `cycle` and `bytes` outlive the decoding of the interval.
  void cut(const DecodeKernels& kernels, const CountCycle& cycle, const std::uint8_t* bytes,
           const Range& range, int threads);
  int parts() const { return static_cast<int>(cuts_.size()); }
  /// Where a part ends at the earliest.
  std::uint64_t stop(int part) const { return cuts_[static_cast<std::size_t>(part) + 1].from; }

  /// Jobs for any threads, 0 .. count_jobs() - 1.
  int count_jobs() const { return (parts() - 2) / kCountWalks; }
  void count(int job);

  /// `first_end` is the end of the first part. Counts again what does not fit together. False: the
  /// bits are not as they should be.
  bool join(const McuStart& first_end);

  /// After join().
  const McuStart& start(int part) const { return starts_[static_cast<std::size_t>(part)]; }
  /// Of the interval.
  std::int64_t end_mcu() const { return range_.end_mcu; }
  std::uint64_t end_bit() const { return range_.end_bit; }

 private:
  struct Cut {
    std::uint64_t from;   // about where the part begins
    std::uint64_t start;  // a start of an MCU, as it seems
    CountWalk walk{};
  };

  void run(CountWalk* walks, int count) const;

  const DecodeKernels* kernels_ = nullptr;
  const CountCycle* cycle_ = nullptr;
  const std::uint8_t* bytes_ = nullptr;
  Range range_{};
  std::uint64_t warm_bits_ = 0;
  std::vector<Cut> cuts_;
  std::vector<McuStart> starts_;
};

}  // namespace zerorun::fast
