// The undamaged streams that the campaign damages, and the sizes and samplings of R17.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
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

using Check = std::function<void(const std::string& name, const Bytes& jpeg)>;
/// Streams by number: `each` gives those of a step to `check`, on any thread.
struct Damage {
  std::int64_t steps = 0;
  std::function<void(std::int64_t step, const Check& check)> each;
};
/// Every byte of tiny_streams() with every other value; a step for each byte.
Damage changed_bytes();
/// Every prefix of forty_streams(), none of them whole; a step for each.
Damage prefixes();
/// A step for each file of the folders.
Damage files_in(const std::vector<std::filesystem::path>& folders);

}  // namespace zerorun::test
