// Makes whole pictures of interlaced ones.
// SPDX-License-Identifier: MIT
#include "zerorun/convert.hpp"

#include <algorithm>

#include "io/convert_timer.hpp"
#include "io/pixel_pack.hpp"

namespace zerorun::io {

void deinterlace(const FrameView& frame, bool top_first) noexcept {
  const ConvertTimer timer;
  for (int plane = 0; plane < plane_count(frame.format); ++plane) {
    const std::size_t bytes = plane_row_bytes(frame.format, plane, frame.width);
    const int rows = plane_rows(frame.format, plane, frame.height);
    const int kept = top_first ? 0 : 1;
    if (rows < 2) continue;
    // The nearest kept line inside the picture.
    const int last = kept + (rows - 1 - kept) / 2 * 2;
    const auto line = [&](int row) { return row_of(frame, plane, std::clamp(row, kept, last)); };
    for (int row = 1 - kept; row < rows; row += 2) {
      const std::uint8_t* const from[4] = {line(row - 3), line(row - 1), line(row + 1),
                                           line(row + 3)};
      std::uint8_t* const to = row_of(frame, plane, row);
      for (std::size_t i = 0; i < bytes; ++i) {
        const int sum = 9 * (from[1][i] + from[2][i]) - from[0][i] - from[3][i];
        to[i] = static_cast<std::uint8_t>(std::clamp((sum + 8) >> 4, 0, 255));
      }
    }
  }
}

}  // namespace zerorun::io
