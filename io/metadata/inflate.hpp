// zlib streams, as PNG has them around profiles and texts.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "io/metadata/bytes.hpp"

namespace zerorun::io {

/// Empty if the stream is damaged, longer than 16 MiB unpacked, or this build has no zlib.
std::vector<std::uint8_t> inflate(ByteSpan packed);
/// Empty if this build has no zlib.
std::vector<std::uint8_t> deflate(ByteSpan bytes);
std::uint32_t png_crc(ByteSpan bytes) noexcept;

}  // namespace zerorun::io
