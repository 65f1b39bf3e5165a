// What libavformat does not open, and what it opens though there is no video in it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "io/ffmpeg/av.hpp"

namespace zerorun::io::av {

/// Why an input that begins with `head` was not recognised.
Status unknown_input(const std::string& name, std::span<const std::byte> head);

/// True where libavformat would have made a picture of anything.
bool is_guess(const AVFormatContext& context) noexcept;

}  // namespace zerorun::io::av
