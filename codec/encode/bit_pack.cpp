// CPU reference of bit packing. CUDA twin: cuda/stages/bit_pack.cu.
// SPDX-License-Identifier: MIT
#include "codec/encode/bit_pack.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "codec/base/multiversion.hpp"

namespace zerorun {
namespace {

/// Collects codewords in 64 bits and stores 32 at a time.
class BitWriter {
 public:
  explicit BitWriter(std::uint8_t* out) : out_(out) {}

  void put(std::uint32_t code, int bits) {
    pending_ = pending_ << bits | code;
    count_ += bits;
    if (count_ < 32) return;
    count_ -= 32;
    store(static_cast<std::uint32_t>(pending_ >> count_));
    out_ += 4;
    written_bits_ += 32;
  }

  /// Fills the last byte with 1-bits; returns the position behind it. May store up to 3 more bytes.
  std::uint8_t* finish() {
    written_bits_ += static_cast<std::uint64_t>(count_);
    const int bytes = (count_ + 7) / 8;
    // 64 - count_ ones below the pending bits; only those of the last byte remain in use.
    const std::uint64_t filled = pending_ << (32 - count_) | (0xFFFFFFFFu >> count_);
    store(static_cast<std::uint32_t>(filled));
    return out_ + bytes;
  }

  std::uint64_t bits() const { return written_bits_; }

 private:
  void store(std::uint32_t word) {
    if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap32(word);
    std::memcpy(out_, &word, sizeof word);
  }

  std::uint8_t* out_;
  std::uint64_t pending_ = 0;
  int count_ = 0;  // bits of pending_ not yet stored, < 32 between calls
  std::uint64_t written_bits_ = 0;
};

ZR_MULTIVERSION void pack(const BitPackArgs& a) {
  std::uint8_t* out = a.bytes;
  std::int64_t interval = 0;
  for (std::int64_t b = 0; b < a.blocks; b += a.interval_blocks, ++interval) {
    a.interval_first_byte[interval] = static_cast<std::uint64_t>(out - a.bytes);
    const std::int64_t end = std::min(b + a.interval_blocks, a.blocks);
    BitWriter writer(out);
    for (std::uint32_t s = a.block_first_symbol[b]; s < a.block_first_symbol[end]; ++s)
      writer.put(a.code[s], a.code_bits[s]);
    out = writer.finish();
    a.interval_bits[interval] = writer.bits();
  }
  a.interval_first_byte[interval] = static_cast<std::uint64_t>(out - a.bytes);
}

}  // namespace

Status bit_pack_cpu(const BitPackArgs& args, Exec&) {
  pack(args);
  return Status::ok();
}

}  // namespace zerorun
