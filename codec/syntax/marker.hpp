// Marker codes (T.81 Table B.1), without the leading FF.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace zerorun::marker {

inline constexpr std::uint8_t kTem = 0x01;
inline constexpr std::uint8_t kSof0 = 0xC0, kSof1 = 0xC1, kSof2 = 0xC2;
inline constexpr std::uint8_t kDht = 0xC4, kJpg = 0xC8, kDac = 0xCC;
inline constexpr std::uint8_t kSof15 = 0xCF;
inline constexpr std::uint8_t kRst0 = 0xD0, kRst7 = 0xD7;
inline constexpr std::uint8_t kSoi = 0xD8, kEoi = 0xD9, kSos = 0xDA, kDqt = 0xDB;
inline constexpr std::uint8_t kDri = 0xDD, kDhp = 0xDE, kExp = 0xDF;
inline constexpr std::uint8_t kApp0 = 0xE0, kApp1 = 0xE1;
inline constexpr std::uint8_t kApp14 = 0xEE, kApp15 = 0xEF;
inline constexpr std::uint8_t kSof55 = 0xF7;  ///< JPEG-LS (T.87)
inline constexpr std::uint8_t kCom = 0xFE;

constexpr bool is_rst(std::uint8_t code) { return code >= kRst0 && code <= kRst7; }
constexpr bool is_app(std::uint8_t code) { return code >= kApp0 && code <= kApp15; }

}  // namespace zerorun::marker
