// Frames that the CUDA backend decodes into pinned and pageable host memory of every layout: the
// CPU's samples, and no byte written beside them.
// SPDX-License-Identifier: MIT
#include <array>
#include <optional>

#include <gtest/gtest.h>

#include "tests/cuda/decode/decoder_pair.hpp"
#include "tests/cuda/device_memory.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

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
      DeviceTwin pinned(found, Memory::pinned);
      ASSERT_TRUE(pair_->cpu().decode(jpeg, expected.view()));
      ASSERT_TRUE(pair_->cuda().decode(jpeg, found.view()));
      EXPECT_TRUE(found == expected) << "in pageable memory";
      ASSERT_TRUE(pair_->cuda().decode(jpeg, pinned.view()));
      pinned.download();
      EXPECT_TRUE(found == expected) << "in pinned memory";
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
