// The pieces in which a plane comes to pageable memory: whole rows, each of them once.
// SPDX-License-Identifier: MIT
#include "cuda/decode/frame_download.hpp"

#include <gtest/gtest.h>

namespace zerorun {
namespace {

TEST(FrameDownload, PiecesCoverThePlane) {
  std::vector<std::uint8_t> device(1), host(1);  // addresses only
  for (const std::ptrdiff_t stride : {40, 57, -40, -57})
    for (const std::size_t rows : {1u, 2u, 7u, 100u})
      for (const std::size_t piece_bytes : {1u, 40u, 79u, 80u, 200u, 100000u}) {
        const PlaneCopy plane{device.data(), 128, host.data(), stride, 40, rows};
        std::vector<DownloadPiece> pieces;
        const std::size_t end = cut_into_pieces(plane, piece_bytes, 1000, pieces);
        EXPECT_EQ(end, 1000 + 40 * rows);
        std::size_t y = 0;
        for (const DownloadPiece& piece : pieces) {
          ASSERT_GT(piece.rows.rows, 0u);
          EXPECT_EQ(piece.staged, 1000 + 40 * y);
          EXPECT_EQ(piece.rows.from, plane.from + 128 * y);
          EXPECT_EQ(piece.rows.to, plane.to + stride * static_cast<std::ptrdiff_t>(y));
          EXPECT_EQ(piece.rows.stride, stride);
          EXPECT_TRUE(piece.rows.rows == 1 || piece.rows.rows * 40 <= piece_bytes);
          y += piece.rows.rows;
        }
        EXPECT_EQ(y, rows);
      }
}

}  // namespace
}  // namespace zerorun
