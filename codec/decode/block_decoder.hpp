// Decodes one codeword with its appended bits, for huffman_decode and huffman_sync of both
// backends.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>

#include "codec/arith/host_device.hpp"
#include "codec/arith/symbol.hpp"
#include "codec/arith/zigzag.hpp"
#include "codec/syntax/huffman_code.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// One codeword with its appended bits.
struct DecodedPair {
  RunLevel pair;
  Errc fault;
  bool end_of_block;  ///< EOB; a block also ends when k reaches 64
};

/// The codeword at the start of the next `width` bits with its appended bits. length 0: they are
/// more bits, or there is none.
struct ShortCode {
  int symbol, length;
  std::uint32_t appended;
  bool ends_block() const { return symbol % 16 == 0 && symbol < kZrl; }  ///< as libjpeg has it
};
inline ShortCode short_code(const HuffmanDecodeTable& table, std::uint32_t bits, int width) {
  const DecodedSymbol symbol = decode_symbol(table, bits << (kMaxCodeBits - width));
  const int ssss = symbol.value & 15, length = symbol.bits + ssss;
  if (symbol.bits == 0 || length > width) return {};
  return {symbol.value, length, bits >> (width - length) & ((1u << ssss) - 1)};
}

/// A codeword that needs more bits than the segment has is `truncated`, valid or not.
ZR_HD Errc check_code(int code_bits, int appended_bits, std::uint64_t position,
                      std::uint64_t end_bit) {
  if (code_bits == 0) return end_bit - position < 16 ? Errc::truncated : Errc::bad_huffman_code;
  return position + static_cast<std::uint64_t>(code_bits + appended_bits) > end_bit
             ? Errc::truncated
             : Errc::ok;
}

/// `Reader` is the backend's: BitReader of codec/decode, or the one of cuda/stages.
template <typename Reader>
ZR_HD DecodedPair decode_dc(Reader& reader, const HuffmanDecodeTable& table,
                            std::uint64_t end_bit) {
  reader.refill();
  const DecodedSymbol symbol = decode_symbol(table, reader.peek16());
  const int ssss = symbol.value & 15;
  if (const Errc fault = check_code(symbol.bits, ssss, reader.position(), end_bit);
      fault != Errc::ok)
    return {{}, fault, false};
  reader.drop(symbol.bits);
  const auto diff = static_cast<std::int16_t>(extend(reader.take(ssss), ssss));
  return {{diff, 0, 0}, Errc::ok, false};
}

/// `k` is the zig-zag index of the next coefficient, 1..63; it is advanced.
template <typename Reader>
ZR_HD DecodedPair decode_ac(Reader& reader, const HuffmanDecodeTable& table, std::uint64_t end_bit,
                            int& k) {
  reader.refill();
  const DecodedSymbol symbol = decode_symbol(table, reader.peek16());
  const int run = symbol.value >> 4, ssss = symbol.value & 15;
  if (const Errc fault = check_code(symbol.bits, ssss, reader.position(), end_bit);
      fault != Errc::ok)
    return {{}, fault, false};
  // Size 0 with a run below 15 ends the block, as in libjpeg (T.81 reserves all of them but EOB).
  if (ssss == 0 && run != 15) {
    reader.drop(symbol.bits);
    return {{}, Errc::ok, true};
  }
  if (k + run >= kBlockSize) return {{}, Errc::run_past_block_end, false};
  reader.drop(symbol.bits);
  const auto level = static_cast<std::int16_t>(extend(reader.take(ssss), ssss));
  k += run + 1;
  return {{level, static_cast<std::uint8_t>(run), 0}, Errc::ok, false};
}

/// A 64-bit window on clean bytes, which loads eight of them at a time and may read behind their
/// end; CPU only.
struct ByteWindow {
  const std::uint8_t* next;  ///< the first byte that has bits outside `window`
  std::uint64_t window = 0;  ///< the next bit is the highest
  int available = 0;         ///< bits of `window` that count

  [[gnu::always_inline]] static ByteWindow at(const std::uint8_t* bytes, std::uint64_t bit) {
    ByteWindow window{bytes + bit / 8};
    window.refill();
    window.drop(static_cast<int>(bit % 8));
    return window;
  }
  /// Afterwards at least 56 bits are available.
  [[gnu::always_inline]] void refill() {
    std::uint64_t word;
    std::memcpy(&word, next, sizeof word);
    window |= __builtin_bswap64(word) >> available;
    next += (63 - available) >> 3;
    available |= 56;
  }
  [[gnu::always_inline]] std::uint32_t peek16() const {
    return static_cast<std::uint32_t>(window >> 48);
  }
  [[gnu::always_inline]] void drop(int bits) {
    window <<= bits;
    available -= bits;
  }
  /// 0..32 bits, which are consumed.
  [[gnu::always_inline]] std::uint32_t take(int bits) {
    const auto value = static_cast<std::uint32_t>((window >> 1) >> (63 - bits));
    drop(bits);
    return value;
  }
  /// Position of the next bit, counted from `bytes` on.
  [[gnu::always_inline]] std::uint64_t position(const std::uint8_t* bytes) const {
    return static_cast<std::uint64_t>((next - bytes) * 8 - available);
  }
};

/// Reads codewords from clean bytes through a 64-bit window; CPU only. Bits after the end read as
/// 0; the caller compares position() with its limit.
class BitReader {
 public:
  BitReader(const std::uint8_t* bytes, std::uint64_t byte_count, std::uint64_t bit)
      : bytes_(bytes), byte_count_(byte_count), next_(bit / 8) {
    refill();
    drop(static_cast<int>(bit % 8));
  }

  std::uint64_t position() const { return next_ * 8 - static_cast<std::uint64_t>(available_); }

  /// Afterwards at least 57 bits are available.
  void refill() {
    for (; available_ <= 56; available_ += 8, ++next_) {
      const std::uint64_t byte = next_ < byte_count_ ? bytes_[next_] : 0;
      window_ |= byte << (56 - available_);
    }
  }

  std::uint32_t peek16() const { return static_cast<std::uint32_t>(window_ >> 48); }

  /// Consumes the next `bits` bits (0..16).
  std::uint32_t take(int bits) {
    const auto value = static_cast<std::uint32_t>((window_ >> 1) >> (63 - bits));
    drop(bits);
    return value;
  }

  void drop(int bits) {
    window_ <<= bits;
    available_ -= bits;
  }

 private:
  const std::uint8_t* bytes_;
  std::uint64_t byte_count_;
  std::uint64_t next_;        // the first byte that is not in window_
  std::uint64_t window_ = 0;  // next bit is the highest
  int available_ = 0;
};

}  // namespace zerorun
