// Synthetic pictures, made from a seed by integer arithmetic: the same samples on every platform.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>
#include <vector>

namespace zerorun::test {

enum class Content : std::uint8_t {
  flat,      ///< one value
  gradient,  ///< slanted ramps
  checker,   ///< 0 and 255 alternate in squares of 1, 2, 3, ... samples: the largest coefficients
  noise,     ///< every sample at random, 0..255
  extreme,   ///< every sample at random, 0 or 255: the longest streams
  photo,     ///< smooth shapes, edges, texture and a little sensor noise
};
inline constexpr Content kContents[] = {Content::flat,  Content::gradient, Content::checker,
                                        Content::noise, Content::extreme,  Content::photo};

std::string_view name(Content content) noexcept;
std::optional<Content> content_from_name(std::string_view name) noexcept;
void PrintTo(Content content, std::ostream* out);

/// `channels` interleaved samples a pixel, [height][width][channels]. Channels differ.
std::vector<std::uint8_t> make_picture(Content content, int width, int height, int channels,
                                       std::uint64_t seed);

}  // namespace zerorun::test
