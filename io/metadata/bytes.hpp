// Reads numbers from file data that is not trusted: reads beyond the end give nothing.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace zerorun::io {

using ByteSpan = std::span<const std::uint8_t>;

inline ByteSpan as_u8(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

/// The part from `at` on with `count` bytes; empty if it is not there.
inline ByteSpan part(ByteSpan bytes, std::uint64_t at, std::uint64_t count) noexcept {
  if (at > bytes.size() || count > bytes.size() - at) return {};
  return bytes.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(count));
}

inline bool starts_with(ByteSpan bytes, std::string_view text) noexcept {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

inline std::optional<std::uint32_t> number(ByteSpan bytes, std::uint64_t at, int count,
                                           bool little) noexcept {
  const ByteSpan digits = part(bytes, at, static_cast<std::uint64_t>(count));
  if (digits.empty()) return std::nullopt;
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < digits.size(); ++i)
    value = value << 8 | digits[little ? digits.size() - 1 - i : i];
  return value;
}

inline void put_number(std::span<std::uint8_t> out, std::uint32_t value, bool little) noexcept {
  for (std::size_t i = 0; i < out.size(); ++i, value >>= 8)
    out[little ? i : out.size() - 1 - i] = static_cast<std::uint8_t>(value);
}

}  // namespace zerorun::io
