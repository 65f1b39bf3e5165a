// SPDX-License-Identifier: MIT
#include "apps/shards/hash.hpp"

#include <fmt/core.h>
#include <xxhash.h>
#ifdef ZERORUN_XXHASH_DISPATCH
#include <xxh_x86dispatch.h>  // the same functions under the same names
#endif

#include <array>
#include <charconv>
#include <new>

namespace zerorun::app {

Xxh3::Xxh3() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  XXH3_64bits_reset(state_.get());
}

void Xxh3::Release::operator()(XXH3_state_s* state) const noexcept { XXH3_freeState(state); }

void Xxh3::add(std::span<const std::byte> data) noexcept {
  XXH3_64bits_update(state_.get(), data.data(), data.size());
}

void Xxh3::add(std::string_view text) noexcept { add(std::as_bytes(std::span(text))); }

void Xxh3::add(std::uint64_t number) noexcept {
  std::array<std::byte, 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(number >> (8 * i));
  add(bytes);
}

std::uint64_t Xxh3::value() const noexcept { return XXH3_64bits_digest(state_.get()); }

std::uint64_t xxh3(std::span<const std::byte> data) noexcept {
  return XXH3_64bits(data.data(), data.size());
}

std::uint64_t xxh3(std::string_view text) noexcept { return xxh3(std::as_bytes(std::span(text))); }

std::vector<std::span<const std::byte>> rows_of(const ConstFrameView& frame) {
  std::vector<std::span<const std::byte>> rows;
  for (int plane = 0; plane < plane_count(frame.format); ++plane) {
    const auto p = static_cast<std::size_t>(plane);
    const std::size_t bytes = plane_row_bytes(frame.format, plane, frame.width);
    const int count = plane_rows(frame.format, plane, frame.height);
    const auto* const first = reinterpret_cast<const std::byte*>(frame.data[p]);
    if (frame.stride_bytes[p] == static_cast<std::ptrdiff_t>(bytes)) {
      rows.emplace_back(first, bytes * static_cast<std::size_t>(count));
      continue;
    }
    for (int row = 0; row < count; ++row)
      rows.emplace_back(first + row * frame.stride_bytes[p], bytes);
  }
  return rows;
}

std::uint64_t xxh3(std::span<const std::span<const std::byte>> parts) {
  if (parts.size() == 1) return xxh3(parts[0]);
  Xxh3 hash;
  for (const std::span<const std::byte> part : parts) hash.add(part);
  return hash.value();
}

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

std::optional<std::uint64_t> parse_hash(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (text.size() != 16 || text.find_first_not_of(kDigits) != std::string_view::npos)
    return std::nullopt;
  std::uint64_t hash = 0;
  std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  return hash;
}

}  // namespace zerorun::app
