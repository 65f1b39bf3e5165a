// The MD5 message-digest algorithm (RFC 1321).
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace zerorun::io {

/// For comparing frames, not for security.
class Md5 {
 public:
  void add(std::span<const std::byte> data) noexcept;
  /// 32 lower-case hexadecimal digits for all that was added. The last call.
  std::string finish();

 private:
  static constexpr std::size_t kBlockBytes = 64;
  void take_block(const std::byte* block) noexcept;

  std::array<std::uint32_t, 4> state_{0x67452301u, 0xEFCDAB89u, 0x98BADCFEu, 0x10325476u};
  std::array<std::byte, kBlockBytes> rest_{};  // the first bytes_ % kBlockBytes are in use
  std::uint64_t bytes_ = 0;
};

}  // namespace zerorun::io
