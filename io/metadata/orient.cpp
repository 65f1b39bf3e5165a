// Turns pictures by EXIF's orientation.
// SPDX-License-Identifier: MIT
#include "zerorun/convert.hpp"

#include <cstring>
#include <string>

#include "codec/base/try.hpp"
#include "io/samples/frame_convert.hpp"
#include "io/samples/pixel_pack.hpp"

namespace zerorun::io {
namespace {

/// Rows of columns are copied in squares, so that both sides stay in the cache.
constexpr int kSquare = 32;

/// Where the first sample of row 0 of the shown picture lies in the stored one, and the steps to
/// the next sample of its row and to its next row.
struct Walk {
  bool swaps, from_right, from_bottom;
};

/// By orientation, from 1 on (Exif 2.32, 4.6.4: where row 0 and column 0 are shown).
constexpr Walk kWalks[] = {{false, false, false}, {false, true, false}, {false, true, true},
                           {false, false, true},  {true, false, false}, {true, false, true},
                           {true, true, true},    {true, true, false}};

template <int kBytes>
void turn(const ConstFrameView& in, const Walk& walk, const FrameView& out) {
  for (int top = 0; top < out.height; top += kSquare)
    for (int left = 0; left < out.width; left += kSquare)
      for (int y = top; y < std::min(top + kSquare, out.height); ++y) {
        std::uint8_t* to = row_of(out, 0, y) + kBytes * left;
        for (int x = left; x < std::min(left + kSquare, out.width); ++x, to += kBytes) {
          const int column = walk.swaps ? y : x, row = walk.swaps ? x : y;
          const std::uint8_t* from = row_of(in, 0, walk.from_bottom ? in.height - 1 - row : row) +
                                     kBytes * (walk.from_right ? in.width - 1 - column : column);
          std::memcpy(to, from, kBytes);
        }
      }
}

}  // namespace

Status orient(const ConstFrameView& in, int orientation, Frame& out) {
  if (orientation < 1 || orientation > 8)
    return Status(Errc::invalid_argument, "orientation " + std::to_string(orientation));
  if (plane_count(in.format) != 1 ||
      plane_row_bytes(in.format, 0, 2) != 2 * plane_row_bytes(in.format, 0, 1))
    return Status(Errc::invalid_argument, "only grey and RGB pictures are turned");
  const ConvertTimer timer;
  const Walk& walk = kWalks[orientation - 1];
  ZR_TRY(
      out.reshape(in.format, walk.swaps ? in.height : in.width, walk.swaps ? in.width : in.height));
  const std::size_t bytes = plane_row_bytes(in.format, 0, 1);
  if (bytes == 1) turn<1>(in, walk, out.view());
  if (bytes == 3) turn<3>(in, walk, out.view());
  if (bytes == 4) turn<4>(in, walk, out.view());
  return Status::ok();
}

int orientation_of(int rotation_degrees, bool mirrored) noexcept {
  if (rotation_degrees == 90) return mirrored ? 7 : 6;
  if (rotation_degrees == 180) return mirrored ? 4 : 3;
  if (rotation_degrees == 270) return mirrored ? 5 : 8;
  return mirrored ? 2 : 1;
}

bool is_mirrored(int orientation) noexcept {
  return orientation == 2 || orientation == 4 || orientation == 5 || orientation == 7;
}

int rotation_of(int orientation) noexcept {
  for (const int degrees : {90, 180, 270})
    if (orientation == orientation_of(degrees, is_mirrored(orientation))) return degrees;
  return 0;
}

}  // namespace zerorun::io
