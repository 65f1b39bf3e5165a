// Rows of the pictures that `zerorun bench` makes: the same on every machine, fast enough for
// 16384x16384, because every sample comes from hashes and interpolation.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

namespace zerorun::app::bench {

enum class Kind {
  photo,    ///< light, edges and fine texture; about the bits per pixel of a photograph
  grain,    ///< a photo with the grain of film: strong, in lumps of two samples, without colour
  sensor,   ///< a photo with the noise of a sensor: strong, in every sample and colour by itself
  noise,    ///< every sample random
  ramp,     ///< smooth gradients
  flat,     ///< one colour
  text,     ///< dark glyphs on white
  screen,   ///< a window with coloured glyphs on a dark background, and empty space
  lineart,  ///< thin black lines on white
  pattern,  ///< checkerboards, stripes, dots, dither and tiles: the same blocks again and again
};

/// A row of a plane. One sample stands for `step_x` x `step_y` samples of the picture.
struct RowPlace {
  std::uint32_t seed;  ///< of the plane
  bool chroma;
  int step_x, step_y;
};

/// Makes row `y` of a plane of `width` samples. `scratch` may be used again for other rows.
void make_synthetic_row(Kind kind, std::uint8_t* out, int width, int y, const RowPlace& place,
                        std::vector<int>& scratch);

}  // namespace zerorun::app::bench
