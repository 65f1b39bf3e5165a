// Parts of a restart interval that threads decode at the same time.
// SPDX-License-Identifier: MIT
#include "codec/fast/interval_parts.hpp"

#include <algorithm>

namespace zerorun::fast {
namespace {

/// Walks from guesses begin this many MCUs before a cut, or this many bits if those are more, and
/// should meet at the cut. How many of 199 cuts of pictures of 3840x2160 had a wrong start:
///
///   bits before the cut | photos q75, q90; a ramp | text | noise | time of a search
///   8 Ki                |                       0 |   23 |    78 |            11 us
///   32 Ki (31, 14 MCUs) |                       0 |    0 |     2 |            39 us
constexpr std::uint64_t kWarmMcus = 32, kWarmBits = 8192;

/// In the time in which one thread decodes kDecodeUnits bits, another counts the MCUs of
/// kCountUnits bits. The walks of a 4K photo at q90 take 1.72 ms for bits whose decoding takes 6.44
/// (3.7 times as long).
constexpr std::uint64_t kDecodeUnits = 2, kCountUnits = 7;

}  // namespace

void IntervalParts::cut(const DecodeKernels& kernels, const CountCycle& cycle,
                        const std::uint8_t* bytes, const IntervalState& interval, int threads) {
  kernels_ = &kernels;
  cycle_ = &cycle;
  bytes_ = bytes;
  interval_ = interval;
  // While one thread decodes the first part, each of the others counts kCountWalks parts; then
  // every thread decodes as much as one has counted.
  constexpr std::uint64_t kFirst = kCountWalks * kDecodeUnits;
  const std::uint64_t counted = kCountWalks * static_cast<std::uint64_t>(threads - 1);
  const std::uint64_t units =
      kFirst + kCountWalks * kCountUnits * static_cast<std::uint64_t>(threads);
  const std::uint64_t bits = interval.end_bit - interval.at.bit;
  const auto mcus = static_cast<std::uint64_t>(interval.end_mcu - interval.at.mcu);
  // A search should not take longer than the decoding that it makes parallel.
  warm_bits_ = std::min(std::max(kWarmBits, bits / mcus * kWarmMcus), bits / 8);
  cuts_.clear();
  for (std::uint64_t cut = 0; cut <= counted + 1; ++cut) {
    const std::uint64_t unit = cut == 0 ? 0 : kFirst + kCountUnits * (cut - 1);
    cuts_.emplace_back();
    cuts_.back().from = interval.at.bit + bits / units * unit;
  }
  parts_ = static_cast<int>(cuts_.size());
  starts_.assign(cuts_.size(), McuStart());
  starts_[0] = interval.at;
}

void IntervalParts::run(CountWalk* walks, int count) const {
  kernels_->count_mcus({cycle_, bytes_, interval_.end_bit, walks, count});
}

void IntervalParts::count(int job) {
  const auto first = static_cast<std::size_t>(1 + job * kCountWalks);
  CountWalk walks[kCountWalks];
  for (std::size_t w = 0; w < kCountWalks; ++w) {
    Cut& cut = cuts_[first + w];
    const std::uint64_t from = std::max(cut.from, interval_.at.bit + warm_bits_) - warm_bits_;
    cut.start = kernels_->find_mcu(*cycle_, bytes_, interval_.end_bit, from, cut.from);
    // A start behind the next cut does not fit, which join() finds out.
    walks[w] = {std::min(cut.start, interval_.end_bit), cuts_[first + w + 1].from};
  }
  run(walks, kCountWalks);
  for (std::size_t w = 0; w < kCountWalks; ++w) cuts_[first + w].walk = walks[w];
}

bool IntervalParts::pass_part(std::size_t part, McuStart& at) {
  CountWalk& walk = cuts_[part].walk;
  if (!walk.sound || cuts_[part].start != at.bit) {
    walk = {at.bit, cuts_[part + 1].from};
    run(&walk, 1);
  }
  if (!walk.sound) return false;
  at.bit = walk.bit;
  at.mcu += walk.mcus;
  for (int c = 0; c < kMaxComponents; ++c) {
    // The sums of the components stand in one number: a negative one borrows from the next.
    const auto sum = static_cast<std::int16_t>(walk.diffs);
    walk.diffs = (walk.diffs - static_cast<std::uint64_t>(std::int64_t{sum})) >> 16;
    at.dc[c] = static_cast<std::int16_t>(at.dc[c] + sum);
  }
  return true;
}

void IntervalParts::join(const McuStart& first_end, bool goes_on) {
  parts_ = 1;
  McuStart at = first_end;
  while (goes_on && at.mcu < interval_.end_mcu) {
    const auto part = static_cast<std::size_t>(parts_++);
    starts_[part] = at;
    goes_on = part + 1 < cuts_.size() && pass_part(part, at);
  }
}

}  // namespace zerorun::fast
