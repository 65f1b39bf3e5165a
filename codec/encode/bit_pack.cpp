// CPU reference of bit packing. CUDA twin: cuda/stages/bit_pack.cu.
// SPDX-License-Identifier: MIT
#include "codec/encode/bit_pack.hpp"

#include <algorithm>

namespace zerorun {
namespace {

/// Collects codewords and stores whole bytes.
class BitWriter {
 public:
  explicit BitWriter(std::uint8_t* out) : out_(out) {}

  void put(std::uint32_t code, int bits) {
    pending_ = pending_ << bits | code;
    written_bits_ += static_cast<std::uint64_t>(bits);
    for (count_ += bits; count_ >= 8; count_ -= 8)
      *out_++ = static_cast<std::uint8_t>(pending_ >> (count_ - 8));
  }

  std::uint64_t bits() const { return written_bits_; }

  /// Fills the last byte with 1-bits; returns the position after it.
  std::uint8_t* finish() {
    if (count_ > 0) *out_++ = static_cast<std::uint8_t>(pending_ << (8 - count_) | 0xFFu >> count_);
    return out_;
  }

 private:
  std::uint8_t* out_;
  std::uint64_t pending_ = 0;
  int count_ = 0;  // bits of pending_ not yet stored, < 8 between calls
  std::uint64_t written_bits_ = 0;
};

}  // namespace

Status bit_pack_cpu(const BitPackArgs& a, Exec&) {
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
  return Status::ok();
}

}  // namespace zerorun
