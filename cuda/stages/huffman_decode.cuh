// The work of one thread of huffman_decode: its bits, and the codewords from one sync point to the
// next. Host code too, so that a test can run the algorithm without a device.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "codec/decode/block_decoder.hpp"
#include "codec/decode/huffman_decode.hpp"

namespace zerorun {

/// Reads codewords from clean bytes in device memory, 64 bits ahead; the twin of the CPU's
/// BitReader. Bits beyond the end of the bytes read as 0; the caller compares position() with its
/// limit. `bytes` is 4-byte aligned.
class BitWindow {
 public:
  ZR_HD BitWindow(const std::uint8_t* bytes, std::uint64_t byte_count, std::uint64_t bit)
      : bytes_(bytes), byte_count_(byte_count), next_(bit / 32 * 4), position_(bit) {
    window_ = std::uint64_t{load()} << 32;
    available_ = 32;
    const int skip = static_cast<int>(bit % 32);
    window_ <<= skip;
    available_ -= skip;
    refill();
  }

  ZR_HD std::uint64_t position() const { return position_; }

  /// Afterwards at least 32 bits are available.
  ZR_HD void refill() {
    if (available_ > 32) return;
    window_ |= std::uint64_t{load()} << (32 - available_);
    available_ += 32;
  }

  ZR_HD std::uint32_t peek16() const { return static_cast<std::uint32_t>(window_ >> 48); }

  /// The next `bits` bits (0..16), which are consumed.
  ZR_HD std::uint32_t take(int bits) {
    const auto value = static_cast<std::uint32_t>((window_ >> 1) >> (63 - bits));
    drop(bits);
    return value;
  }

  ZR_HD void drop(int bits) {
    window_ <<= bits;
    available_ -= bits;
    position_ += static_cast<std::uint64_t>(bits);
  }

 private:
  /// The next four bytes, the first one highest.
  ZR_HD std::uint32_t load() {
    std::uint32_t word = 0;
    if (next_ + 4 <= byte_count_) {
      word = *reinterpret_cast<const std::uint32_t*>(bytes_ + next_);
#ifdef __CUDA_ARCH__
      word = __byte_perm(word, 0, 0x0123);
#else
      word = __builtin_bswap32(word);
#endif
    } else {
      for (std::uint64_t i = 0; i < 4 && next_ + i < byte_count_; ++i)
        word |= std::uint32_t{bytes_[next_ + i]} << (24 - 8 * i);
    }
    next_ += 4;
    return word;
  }

  const std::uint8_t* bytes_;
  std::uint64_t byte_count_;
  std::uint64_t next_;        // byte of the next word
  std::uint64_t window_ = 0;  // next bit is the highest
  int available_ = 0;
  std::uint64_t position_;
};

/// The last cursor whose subsequences start at `sub` or before: a cursor without any shares its
/// start with the next one. `first_sub` is [cursors + 1] and ascending.
ZR_HD std::int64_t cursor_of_subsequence(const std::int64_t* first_sub, std::int64_t cursors,
                                         std::int64_t sub) {
  std::int64_t low = 0, high = cursors;  // first_sub[low] <= sub < first_sub[high]
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (first_sub[middle] <= sub)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// Where a thread starts, and where another thread takes over.
struct Stretch {
  SyncPoint from;
  std::uint64_t stop_bit;  ///< the other thread decodes codewords from there on
  bool last;               ///< no thread takes over: the cursor's blocks or a fault end it
};
/// From a cursor's start to its end.
ZR_HD Stretch whole_cursor(const BitCursor& cursor) { return {{cursor.bit, 0, 0, 0, 1}, 0, true}; }
/// From sync point `sub`; those of the cursor end before `end_sub`.
ZR_HD Stretch stretch_from(const SyncPoint* sync, std::int64_t sub, std::int64_t end_sub) {
  const bool last = sub + 1 == end_sub || sync[sub + 1].reached == 0;
  return {sync[sub], last ? 0 : sync[sub + 1].bit, last};
}

/// Decodes the stretch. If the cursor's blocks or a fault end it, completes the cursor: its `bit`
/// is right if there is no fault.
ZR_HD void decode_stretch(const HuffmanDecodeArgs& a, BitCursor& cursor, const Stretch& stretch) {
  BitWindow window(a.bytes, a.byte_count, stretch.from.bit);
  std::int64_t block = stretch.from.block;
  int k = stretch.from.k, pairs = stretch.from.pairs;
  auto in_mcu = static_cast<std::int32_t>(block % a.layout.blocks_per_mcu);
  RunLevel* block_pairs = a.pairs + (cursor.first_block + block) * kBlockSize;
  const std::int64_t blocks = cursor.blocks;
  const std::uint64_t end_bit = cursor.end_bit;
  Errc fault = Errc::ok;
  while (block < blocks) {
    if (!stretch.last && window.position() >= stretch.stop_bit) return;
    const auto& component = a.layout.component[a.layout.block_component[in_mcu]];
    DecodedPair next;
    if (k == 0) {
      next = decode_dc(window, a.tables->dc[component.dc_table], end_bit);
      k = 1;
    } else {
      next = decode_ac(window, a.tables->ac[component.ac_table], end_bit, k);
    }
    fault = next.fault;
    if (fault != Errc::ok) break;
    if (!next.end_of_block) {
      block_pairs[pairs++] = next.pair;
      if (k < kBlockSize) continue;
    }
    a.pair_count[cursor.first_block + block] = static_cast<std::uint8_t>(pairs);
    ++block;
    block_pairs += kBlockSize;
    k = pairs = 0;
    if (++in_mcu == a.layout.blocks_per_mcu) in_mcu = 0;
  }
  cursor.bit = window.position();
  cursor.good_blocks = block;
  cursor.fault = fault;
}

}  // namespace zerorun
