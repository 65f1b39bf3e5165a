// How long a file says it is, by which one that was cut is told: Matroska and AVI can be read up to
// the cut without a sign of it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace zerorun::io {

/// So many first bytes are enough to look at.
inline constexpr std::size_t kAnnouncingBytes = 256;

/// The least size of a whole file that begins with `head`, by its own header: the Segment of
/// Matroska and WebM (RFC 8794, RFC 9559), the first RIFF chunk of AVI. Nothing for other files,
/// and where the writer did not know (a live stream).
std::optional<std::int64_t> announced_bytes(std::span<const std::byte> head);

}  // namespace zerorun::io
