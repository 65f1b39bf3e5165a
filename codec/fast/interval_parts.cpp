// Parts of a restart interval that threads decode at the same time.
// SPDX-License-Identifier: MIT
#include "codec/fast/interval_parts.hpp"

#include <algorithm>

namespace zerorun::fast {
namespace {

/// Bits before a cut in which walks from guesses should meet.
constexpr std::uint64_t kWarmBits = 8192;

}  // namespace

void IntervalParts::cut(const DecodeKernels& kernels, const CountCycle& cycle,
                        const std::uint8_t* bytes, const Range& range, int threads) {
  kernels_ = &kernels;
  cycle_ = &cycle;
  bytes_ = bytes;
  range_ = range;
  // Counting is four times as fast as decoding (see kCountWalks). So while one thread decodes a
  // unit, each of the others counts four; then every thread decodes four units.
  const int units = 1 + kCountWalks * threads, counted = kCountWalks * (threads - 1);
  const std::uint64_t bits = range.end_bit - range.start.bit;
  cuts_.clear();
  for (int unit = 0; unit <= counted + 1; ++unit) {
    cuts_.emplace_back();
    cuts_.back().from = range.start.bit +
                        bits * static_cast<std::uint64_t>(unit) / static_cast<std::uint64_t>(units);
  }
  starts_.assign(cuts_.size(), McuStart());
  starts_[0] = range.start;
}

void IntervalParts::run(CountWalk* walks, int count) const {
  kernels_->count_mcus({cycle_, bytes_, range_.end_bit, walks, count});
}

void IntervalParts::count(int job) {
  const auto first = static_cast<std::size_t>(1 + job * kCountWalks);
  CountWalk walks[kCountWalks];
  for (std::size_t w = 0; w < kCountWalks; ++w) {
    Cut& cut = cuts_[first + w];
    const std::uint64_t from = std::max(cut.from, range_.start.bit + kWarmBits) - kWarmBits;
    cut.start = kernels_->find_mcu(*cycle_, bytes_, range_.end_bit, from, cut.from);
    // What begins behind the next cut is found not to fit when the parts are joined.
    walks[w] = {std::min(cut.start, range_.end_bit), cuts_[first + w + 1].from};
  }
  run(walks, kCountWalks);
  for (std::size_t w = 0; w < kCountWalks; ++w) cuts_[first + w].walk = walks[w];
}

bool IntervalParts::join(const McuStart& first_end) {
  McuStart now = first_end;
  for (std::size_t p = 1; p + 1 < cuts_.size(); ++p) {
    starts_[p] = now;
    CountWalk& walk = cuts_[p].walk;
    if (!walk.sound || cuts_[p].start != now.bit) {
      walk = {now.bit, cuts_[p + 1].from};
      run(&walk, 1);
      if (!walk.sound) return false;
    }
    now.bit = walk.bit;
    now.mcu += walk.mcus;
    if (now.mcu > range_.end_mcu) return false;
    for (int c = 0; c < kMaxComponents; ++c) {
      // The sums of the components stand in one number: a negative one borrows from the next.
      const auto sum = static_cast<std::int16_t>(walk.diffs);
      walk.diffs = (walk.diffs - static_cast<std::uint64_t>(std::int64_t{sum})) >> 16;
      now.dc[c] = static_cast<std::int16_t>(now.dc[c] + sum);
    }
  }
  starts_.back() = now;
  return true;
}

}  // namespace zerorun::fast
