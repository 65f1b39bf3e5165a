// The bits of a thread's part of the input, by way of a ring of words, which hold what was asked
// for long before it is read. Host code too, so that a test can run it with words that come as late
// as they may.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"

namespace zerorun::cuda_entropy {

/// `Ring`: ask(n) begins to copy words n to n + 3 of the input, n is a multiple of 4, to their
/// places in the ring of kRingWords; commit() ends a group of them; wait() waits for all groups,
/// wait_but_last() for all but one; word(n) is word n, if it has come. Codewords of up to
/// kShortBits are short.
template <typename Ring, unsigned kShortBits>
class RingReader {
 public:
  static constexpr unsigned kRingWords = 16;

  /// Begins at bit `bit`, below 128, of word `first`, a multiple of 4.
  ZR_HD RingReader(const Ring& ring, unsigned first, unsigned bit)
      : ring_(ring), next_(first + bit / 32), loaded_(first) {
    ring_.wait();  // for what a reader before may have asked for
    fill();
    high_ = pop();
    low_ = pop();
    passed_ = bit % 32;
    refill();
  }

  /// Enough for 16 short codewords.
  ZR_HD void top_up() {
    ready_ = loaded_;
    // After long codewords too few words may have been asked for.
    if (ready_ - next_ <= kWordsAhead) [[unlikely]] {
      fill();
      return;
    }
    for (int i = 0; i < 2; ++i) {
      if (loaded_ > next_ + kRingWords - 4) break;
      ring_.ask(loaded_);
      loaded_ += 4;
    }
    ring_.commit();
    ring_.wait_but_last();
  }

  /// The window has 32 bits afterwards.
  ZR_HD void refill() {
    if (passed_ >= 32) {
      high_ = low_;
      low_ = pop();
      passed_ -= 32;
    }
#ifdef __CUDA_ARCH__
    window_ = __funnelshift_l(low_, high_, passed_);
#else
    window_ = static_cast<unsigned>((std::uint64_t{high_} << 32 | low_) << passed_ >> 32);
#endif
  }
  ZR_HD unsigned window() const { return window_; }
  /// Precondition: the window has as many bits. It is to be refilled next.
  ZR_HD void skip(unsigned bits) { passed_ += bits; }
  /// The same, of one codeword that may be long.
  ZR_HD void skip_long(unsigned bits) {
    if (ready_ - next_ <= kWordsAhead) fill();
    skip(bits);
  }
  /// In bits from word 0 on.
  ZR_HD std::uint64_t position() const { return std::uint64_t{next_} * 32 - 64 + passed_; }

  ZR_HD const Ring& ring() const { return ring_; }

 private:
  /// That 16 short codewords take.
  static constexpr unsigned kWordsAhead = (31 + 16 * kShortBits) / 32;
  static_assert(kWordsAhead < kRingWords - 4, "fill() makes as many ready");

  /// Waits until the ring is full.
  ZR_HD void fill() {
    for (; loaded_ <= next_ + kRingWords - 4; loaded_ += 4) ring_.ask(loaded_);
    ring_.commit();
    ring_.wait();
    ready_ = loaded_;
  }
  ZR_HD unsigned pop() { return ring_.word(next_++); }

  Ring ring_;
  unsigned next_;        // to be read
  unsigned ready_;       // words before it that were not read are in the ring
  unsigned loaded_;      // words before it were asked for
  unsigned high_, low_;  // the last two words that were read
  unsigned passed_;      // bits of the two
  unsigned window_;
};

}  // namespace zerorun::cuda_entropy
