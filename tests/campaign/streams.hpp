// The undamaged streams that the campaign damages, and the sizes and samplings of R17.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "tests/hostile/small_streams.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::test {

/// Every size from 1x1 to kEdge x kEdge.
inline constexpr int kEdge = 64;
inline constexpr PixelFormat kSizeFormats[] = {PixelFormat::yuv444p, PixelFormat::yuv422p,
                                               PixelFormat::yuv420p, PixelFormat::yuv440p,
                                               PixelFormat::yuv411p};

/// Twelve streams of at most 700 bytes, one of each kind.
std::vector<NamedStream> tiny_streams();

/// Forty streams: those, and others of more sizes, samplings, qualities and intervals.
std::vector<NamedStream> forty_streams();

/// The JPEG files of a folder and of those in it, by their names, in order.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);

}  // namespace zerorun::test
