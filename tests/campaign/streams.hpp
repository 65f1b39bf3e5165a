// The undamaged streams that the campaign damages.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "tests/hostile/small_streams.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::test {

/// Twelve streams of at most 700 bytes, one of each kind.
std::vector<NamedStream> tiny_streams();

/// Forty streams: those, and others of more sizes, samplings, qualities and intervals.
std::vector<NamedStream> forty_streams();

/// The JPEG files of a folder and of those in it, by their names, in order.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);

}  // namespace zerorun::test
