// XXH3 with 64 bits: finds torn and mixed-up data, not forgeries.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "zerorun/frame.hpp"

struct XXH3_state_s;  // of libxxhash

namespace zerorun::app {

std::uint64_t xxh3(std::span<const std::byte> data) noexcept;
std::uint64_t xxh3(std::string_view text) noexcept;

/// Of data that comes in parts.
class Xxh3 {
 public:
  Xxh3();
  void add(std::span<const std::byte> data) noexcept;
  void add(std::string_view text) noexcept;
  /// Eight bytes, the lowest first.
  void add(std::uint64_t number) noexcept;
  std::uint64_t value() const noexcept;

 private:
  struct Release {
    void operator()(XXH3_state_s* state) const noexcept;
  };
  std::unique_ptr<XXH3_state_s, Release> state_;
};

/// Of the parts, one after another.
std::uint64_t xxh3(std::span<const std::span<const std::byte>> parts);

/// The samples of a frame, row by row, without what lies between rows. They point into the frame.
std::vector<std::span<const std::byte>> rows_of(const ConstFrameView& frame);

/// 16 digits in lower case, as xxhsum prints them.
std::string hash_text(std::uint64_t hash);
/// nullopt unless it is 16 such digits.
std::optional<std::uint64_t> parse_hash(std::string_view text);

}  // namespace zerorun::app
