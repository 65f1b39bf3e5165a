// What the first bytes of an input tell, and which inputs libavformat only guesses at.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "zerorun/status.hpp"

struct AVFormatContext;

namespace zerorun::io {

/// How many first bytes announced_bytes() needs.
inline constexpr std::size_t kAnnouncingBytes = 256;

/// The least size of a whole file that begins with `head`, by its own header: the Segment of
/// Matroska and WebM (RFC 8794, RFC 9559), or the first RIFF chunk of AVI. nullopt for other files
/// and if the writer did not know the size (a live stream). FFmpeg reads a cut file up to the cut
/// without an error.
std::optional<std::int64_t> announced_bytes(std::span<const std::byte> head);

/// Why libavformat did not recognise an input that begins with `head`.
Status unknown_input(const std::string& name, std::span<const std::byte> head);

/// True if the demuxer is one that finds a picture in any bytes.
bool is_guess(const AVFormatContext& context) noexcept;

}  // namespace zerorun::io
