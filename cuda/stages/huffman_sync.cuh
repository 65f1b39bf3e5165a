// A subsequence of Huffman-coded bits as a function from the decoder's state at its start to the
// state at its end. Host code too, so that a test can run the algorithm without a device.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "codec/decode/block_decoder.hpp"
#include "cuda/base/kernel_numbers.hpp"
#include "cuda/stages/huffman_decode.cuh"

namespace zerorun {

/// Bits of a subsequence: some hundred codewords, several times what synchronisation takes. All
/// stages of a 4K photo at q90 (2.4 MB) on an H200: 2.25 ms with 1024, 2.29 with 512, 2.64 with
/// 2048, 3.35 with 4096.
inline constexpr std::int32_t kSyncSubsequenceBits = 1024;

/// The decoder's state before a codeword, as far as it decides how the bits are read.
struct ChainState {
  std::uint64_t bit;
  std::int32_t phase;  ///< block of the MCU, modulo the period of its code tables
  std::int32_t k;      ///< next zig-zag index; 0: the DC
};

/// The state in one word: k 6 bits, phase 4, bit 54.
ZR_HD std::uint64_t pack(const ChainState& s) {
  return s.bit << 10 | static_cast<std::uint64_t>(s.phase) << 6 | static_cast<std::uint64_t>(s.k);
}
ZR_HD ChainState unpack_state(std::uint64_t packed) {
  return {packed >> 10, static_cast<std::int32_t>(packed >> 6 & 15),
          static_cast<std::int32_t>(packed & 63)};
}

/// Blocks and pairs that some subsequences add.
struct ChainSums {
  std::uint64_t packed;  ///< blocks 48 bits, pairs 8, faulty 1, head 1
};
inline constexpr std::uint64_t kChainHead = std::uint64_t{1} << 63;   ///< starts a cursor
inline constexpr std::uint64_t kChainFault = std::uint64_t{1} << 62;  ///< a codeword was wrong
inline constexpr int kPairsShift = 48;
inline constexpr std::uint64_t kBlocksMask = (std::uint64_t{1} << kPairsShift) - 1;
inline constexpr std::uint64_t kPairsMask = std::uint64_t{0xFF} << kPairsShift;

ZR_HD std::uint64_t blocks_of(ChainSums s) { return s.packed & kBlocksMask; }
ZR_HD std::uint8_t pairs_of(ChainSums s) {
  return static_cast<std::uint8_t>(s.packed >> kPairsShift);
}

/// Pairs count from the last end of a block on; at a cursor's head all counts start again.
struct JoinSums {
  ZR_HD ChainSums operator()(ChainSums a, ChainSums b) const {
    if ((b.packed & kChainHead) != 0) return b;
    // A block has at most 64 pairs, so the fields do not overflow.
    const std::uint64_t kept = blocks_of(b) != 0 ? a.packed & ~kPairsMask : a.packed;
    return {(kept + (b.packed & (kBlocksMask | kPairsMask))) | (b.packed & kChainFault)};
  }
};

/// Passes a codeword that does not fit: a decoder that started in the wrong state meets such
/// codewords on its way to the right state. A run past the block's end may be a right codeword at a
/// wrong index, so it is passed as a whole; bits that are no codeword are passed one by one.
ZR_HD void skip_faulty(BitWindow& window, const HuffmanDecodeTable& ac, Errc fault) {
  int bits = 1;
  if (fault == Errc::run_past_block_end) {
    const DecodedSymbol symbol = decode_symbol(ac, window.peek16());
    bits = symbol.bits + (symbol.value & 15);
  }
  window.drop(bits);
}

/// Decodes every codeword that starts before `boundary`, and counts into `sums`. After a
/// fault, the states of a chain that began right are not used.
ZR_HD ChainState run_subsequence(const std::uint8_t* bytes, std::uint64_t byte_count,
                                 const HuffmanDecodeTables& tables, const PairCycle& cycle,
                                 ChainState state, std::uint64_t boundary, std::uint64_t end_bit,
                                 ChainSums& sums) {
  const std::uint64_t stop = boundary < end_bit ? boundary : end_bit;
  sums.packed = 0;
  if (state.bit >= stop) return state;
  BitWindow window(bytes, byte_count, state.bit);
  std::uint64_t blocks = 0, fault_flag = 0;
  unsigned pairs = 0;
  while (window.position() < stop) {
    const std::uint8_t pair = cycle.pair[state.phase];
    const HuffmanDecodeTable& ac = tables.ac[cycle.ac_table[pair]];
    DecodedPair next;
    if (state.k == 0) {
      next = decode_dc(window, tables.dc[cycle.dc_table[pair]], end_bit);
      state.k = 1;
    } else {
      next = decode_ac(window, ac, end_bit, state.k);
    }
    if (next.fault == Errc::truncated) {
      sums.packed = blocks | kChainFault;
      return {end_bit, 0, 0};
    }
    if (next.fault != Errc::ok) {
      fault_flag = kChainFault;
      skip_faulty(window, ac, next.fault);
    } else if (!next.end_of_block) {
      ++pairs;
      if (state.k < kBlockSize) continue;
    }
    ++blocks;
    pairs = 0;
    state.k = 0;
    if (++state.phase == cycle.period) state.phase = 0;
  }
  state.bit = window.position();
  sums.packed = blocks | std::uint64_t{pairs} << kPairsShift | fault_flag;
  return state;
}

}  // namespace zerorun
