// Parts of a restart interval that threads decode at the same time.
//
// The bytes do not say where a part begins, nor its DC predictions. Walks from guesses find a start
// of an MCU near each cut, because walks over the same bits soon meet; other walks count the MCUs
// from there to the next part and sum up the DC differences. Meanwhile the first part is decoded,
// and the last one needs no count. Decoding then shows whether each part ends where the next one
// begins, with its predictions, because the walks may have been wrong. In damaged data the parts up
// to the damage are right.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "codec/decode/interval_state.hpp"
#include "codec/fast/decode_kernels.hpp"

namespace zerorun::fast {

class IntervalParts {
 public:
  /// `cycle` and `bytes` outlive the decoding of the interval.
  void cut(const DecodeKernels& kernels, const CountCycle& cycle, const std::uint8_t* bytes,
           const IntervalState& interval, int threads);
  /// Parts to decode; fewer after join(), if not all begin as they should.
  int parts() const { return parts_; }
  /// Where a part ends at the earliest.
  std::uint64_t stop(int part) const { return cuts_[static_cast<std::size_t>(part) + 1].from; }

  /// Jobs for any threads, 0 .. count_jobs() - 1.
  int count_jobs() const { return (parts_ - 2) / kCountWalks; }
  void count(int job);

  /// `first_end` is the end of the first part; `goes_on`: nothing was wrong before it. Counts again
  /// what does not fit together. A part in which the count goes wrong becomes the last.
  void join(const McuStart& first_end, bool goes_on);

  /// After join(). The last part goes to the end of the interval.
  const McuStart& start(int part) const { return starts_[static_cast<std::size_t>(part)]; }
  /// Of the interval.
  std::int64_t end_mcu() const { return interval_.end_mcu; }
  std::uint64_t end_bit() const { return interval_.end_bit; }

 private:
  struct Cut {
    std::uint64_t from;   // about where the part begins
    std::uint64_t start;  // a start of an MCU, as it seems
    CountWalk walk{};
  };

  void run(CountWalk* walks, int count) const;
  /// Goes on from the start of a part to that of the next one. False: the count went wrong.
  bool pass_part(std::size_t part, McuStart& at);

  const DecodeKernels* kernels_ = nullptr;
  const CountCycle* cycle_ = nullptr;
  const std::uint8_t* bytes_ = nullptr;
  IntervalState interval_;
  std::uint64_t warm_bits_ = 0;
  std::vector<Cut> cuts_;
  int parts_ = 0;
  std::vector<McuStart> starts_;
};

}  // namespace zerorun::fast
