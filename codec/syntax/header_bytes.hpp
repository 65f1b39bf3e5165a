// Parts of a header that the host and the device both write, byte for byte: DHT segments (T.81
// B.2.4.2) and the text of a setting.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "codec/base/marker.hpp"
#include "codec/syntax/tables.hpp"

namespace zerorun {

/// Marker, length, class and destination, BITS. HUFFVAL follows.
inline constexpr int kDhtLeadBytes = 2 + 2 + 1 + kMaxCodeBits;

/// One DHT segment of a header: class 0 is DC, 1 AC.
struct DhtSegment {
  int table_class, destination;

  /// Segments come by destination, DC before AC.
  ZR_HD static DhtSegment number(int n) { return {n % 2, n / 2}; }
  /// Index of the table in arrays of all four.
  ZR_HD int table() const { return table_class * 2 + destination; }

  /// Byte i, below kDhtLeadBytes + count, where `count` is the number of values of `spec`.
  ZR_HD std::uint8_t byte(const HuffmanSpec& spec, int count, int i) const {
    const int length = kDhtLeadBytes - 2 + count;  // counts itself
    switch (i) {
      case 0:
        return 0xFF;
      case 1:
        return marker::kDht;
      case 2:
        return static_cast<std::uint8_t>(length >> 8);
      case 3:
        return static_cast<std::uint8_t>(length);
      case 4:
        return static_cast<std::uint8_t>(table_class << 4 | destination);
      default:
        return i < kDhtLeadBytes ? spec.bits.data()[i - 4] : spec.values.data()[i - kDhtLeadBytes];
    }
  }
};

/// The COM segment that notes a setting, with zeros for its numbers.
inline constexpr char kSettingText[] = "zerorun: quality 000.0000 thrift 0000";

/// Writes the numbers into that text: quality in 16ths, up to 1600, and thrift up to 9999.
ZR_HD void put_setting(std::uint8_t* text, int quality_16ths, int thrift) {
  const auto put = [text](int last, int digits, int value) {
    for (int i = 0; i < digits; ++i, value /= 10)
      text[last - i] = static_cast<std::uint8_t>('0' + value % 10);
  };
  put(19, 3, quality_16ths / 16);
  put(24, 4, quality_16ths % 16 * 625);
  put(36, 4, thrift);
}

}  // namespace zerorun
