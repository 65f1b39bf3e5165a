// Frames that the CUDA backend decodes into pinned and pageable host memory of every layout: the
// CPU's samples, and no byte written beside them.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/base/memory.hpp"
#include "tests/cuda/decode/decoder_pair.hpp"
#include "tests/support/encode_params.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

constexpr std::uint8_t kGuard = 0x5A;
constexpr std::size_t kGuardBytes = 64;

/// A frame's twin in pinned memory with the same strides and padding, and guards around each plane.
class PinnedTwin {
 public:
  explicit PinnedTwin(TestFrame& like) : view_(like.view()) {
    for (int p = 0; p < plane_count(view_.format); ++p) {
      const auto plane = static_cast<std::size_t>(p);
      const std::span<std::uint8_t> memory = memory_of(like, p);
      const std::size_t bytes = memory.size() + 2 * kGuardBytes;
      EXPECT_TRUE(memory_[plane].reserve(static_cast<std::int64_t>(bytes)));
      std::uint8_t* const own = memory_[plane].data();
      std::memset(own, kGuard, bytes);
      std::ranges::copy(memory, own + kGuardBytes);
      view_.data[plane] = own + kGuardBytes + (like.view().data[plane] - memory.data());
    }
  }

  const FrameView& view() const { return view_; }

  /// Whether all bytes are those of the frame, padding included, and the guards are whole.
  bool equals(TestFrame& frame) const {
    for (int p = 0; p < plane_count(view_.format); ++p) {
      const std::span<std::uint8_t> memory = memory_of(frame, p);
      const std::uint8_t* const own = memory_[static_cast<std::size_t>(p)].data();
      const auto guard_holds = [](const std::uint8_t* guard) {
        return std::all_of(guard, guard + kGuardBytes, [](std::uint8_t b) { return b == kGuard; });
      };
      if (!std::ranges::equal(memory, std::span(own + kGuardBytes, memory.size())) ||
          !guard_holds(own) || !guard_holds(own + kGuardBytes + memory.size()))
        return false;
    }
    return true;
  }

 private:
  /// From the first byte of a plane to the last one, wherever its first row is.
  static std::span<std::uint8_t> memory_of(TestFrame& frame, int p) {
    const std::size_t last = static_cast<std::size_t>(frame.rows(p) - 1);
    std::uint8_t* const first_row = frame.row(p, 0);
    std::uint8_t* const last_row = frame.row(p, static_cast<int>(last));
    std::uint8_t* const low = std::min(first_row, last_row);
    return {low,
            static_cast<std::size_t>(std::max(first_row, last_row) - low) + frame.row_bytes(p)};
  }

  FrameView view_;
  std::array<PinnedBuffer<std::uint8_t>, 3> memory_;
};

class FrameDownloadParity : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    pair_.emplace();
    ASSERT_TRUE(pair_->ready());
  }

  void expect_same(const Jpeg& jpeg, PixelFormat format, int width, int height) {
    for (const Layout layout : {Layout::tight, Layout::padded, Layout::bottom_up}) {
      SCOPED_TRACE(testing::Message() << name(format) << ", layout " << static_cast<int>(layout));
      TestFrame expected(format, width, height, layout), found(format, width, height, layout);
      PinnedTwin pinned(found);
      ASSERT_TRUE(pair_->cpu().decode(jpeg, expected.view()));
      ASSERT_TRUE(pair_->cuda().decode(jpeg, found.view()));
      EXPECT_TRUE(found == expected) << "in pageable memory";
      ASSERT_TRUE(pair_->cuda().decode(jpeg, pinned.view()));
      EXPECT_TRUE(pinned.equals(expected)) << "in pinned memory";
    }
  }

  std::optional<DecoderPair> pair_;
};

TEST_F(FrameDownloadParity, EveryFormatAndLayout) {
  for (const Subsampling sampling : {Subsampling::s420, Subsampling::s444, Subsampling::gray}) {
    EncodeParams params;
    params.subsampling = sampling;
    for (const auto& [width, height] : {std::array{131, 77}, {1, 1}, {64, 1}}) {
      const Jpeg jpeg = encode(Content::photo, width, height, params);
      for (const PixelFormat format : kAllFormats) expect_same(jpeg, format, width, height);
    }
  }
}

/// Several pieces a plane, and pieces of several planes under way.
TEST_F(FrameDownloadParity, LargeFrames) {
  const Jpeg jpeg = encode(Content::photo, 2001, 1501, {});
  for (const PixelFormat format : {PixelFormat::yuv420p, PixelFormat::yuv444p, PixelFormat::bgr24})
    expect_same(jpeg, format, 2001, 1501);
}

}  // namespace
}  // namespace zerorun::test
