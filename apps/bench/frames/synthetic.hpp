// Frames made by name and size, for measurements without files: synthetic:3840x2160:photo.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "zerorun/frame.hpp"

namespace zerorun::app::bench {

enum class SyntheticKind {
  photo,  ///< light, edges and grain; about the bits per pixel of a photograph
  noise,  ///< every sample random
  ramp,   ///< smooth gradients
  text,   ///< dark glyphs on white
};

struct SyntheticSpec {
  int width = 0, height = 0;
  SyntheticKind kind = SyntheticKind::photo;
};

bool is_synthetic(const std::string& input) noexcept;

/// Ends the command (exit 2) if the text is not synthetic:WxH:photo|noise|ramp|text.
SyntheticSpec parse_synthetic(const std::string& input);

/// Frame `number` of the series; the same everywhere. Errors: out_of_memory.
Result<Frame> make_synthetic(const SyntheticSpec& spec, PixelFormat format, std::size_t number);

}  // namespace zerorun::app::bench
