// Frames of every format and layout, in pageable and pinned memory, arrive on the device sample by
// sample, however many threads copy them and however small the pieces are.
// SPDX-License-Identifier: MIT
#include "cuda/encode/frame_upload.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/cuda/device_memory.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

class FrameUploadParity : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_TRUE(stream_.create());
  }

  /// The rows of plane `p` on the device, without what lies between them.
  static std::vector<std::uint8_t> read_back(const ConstFrameView& on_device, const TestFrame& like,
                                             int p) {
    const auto plane = static_cast<std::size_t>(p);
    const std::size_t row_bytes = like.row_bytes(p), rows = static_cast<std::size_t>(like.rows(p));
    std::vector<std::uint8_t> found(row_bytes * rows);
    EXPECT_EQ(cudaMemcpy2D(found.data(), row_bytes, on_device.data[plane],
                           static_cast<std::size_t>(on_device.stride_bytes[plane]), row_bytes, rows,
                           cudaMemcpyDeviceToHost),
              cudaSuccess);
    return found;
  }

  /// The planes chosen by the bits of `pinned` are in pinned memory.
  void expect_arrival(FrameUpload& upload, TestFrame& frame, int components, unsigned pinned) {
    std::optional<DeviceTwin> twin;
    ConstFrameView view = std::as_const(frame).view(), on_device;
    if (pinned != 0) twin.emplace(frame, Memory::pinned);
    for (std::size_t p = 0; p < view.data.size(); ++p)
      if ((pinned >> p & 1) != 0 && view.stride_bytes[p] > 0) view.data[p] = twin->view().data[p];
    const Status sent = upload.enqueue(view, components, stream_.get(), on_device);
    ASSERT_TRUE(sent) << sent.message();
    ASSERT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
    std::vector<std::uint8_t> found;
    for (int p = 0; p < (components == 1 ? 1 : plane_count(frame.view().format)); ++p) {
      const std::vector<std::uint8_t> rows = read_back(on_device, frame, p);
      found.insert(found.end(), rows.begin(), rows.end());
    }
    std::vector<std::uint8_t> expected = frame.packed();
    if (components == 1) expected.resize(found.size());
    EXPECT_TRUE(found == expected);
  }

  Stream stream_;
};

TEST_F(FrameUploadParity, EveryFormatAndLayout) {
  FrameUpload alone(1), small_pieces(0, 100);
  for (const PixelFormat format : kAllFormats)
    for (const Layout layout : {Layout::tight, Layout::padded, Layout::bottom_up})
      for (const auto& [width, height] :
           {std::array{131, 77}, {1, 1}, {64, 1}, {128, 5}, {3, 200}}) {
        SCOPED_TRACE(testing::Message() << name(format) << ' ' << width << 'x' << height
                                        << ", layout " << static_cast<int>(layout));
        TestFrame frame = make_frame(Content::noise, format, width, height, 7, layout);
        for (const unsigned pinned : {0u, 1u, 2u, 5u, 7u}) {
          expect_arrival(alone, frame, 3, pinned);
          expect_arrival(small_pieces, frame, 3, pinned);
        }
        if (plane_count(format) == 3) expect_arrival(alone, frame, 1, 0);
      }
}

/// Frames that helpers copy too; one object takes one after another.
TEST_F(FrameUploadParity, LargeFramesByAnyNumberOfThreads) {
  for (const PixelFormat format : {PixelFormat::yuv420p, PixelFormat::nv12, PixelFormat::bgr24})
    for (const Layout layout : {Layout::tight, Layout::padded, Layout::bottom_up}) {
      TestFrame first = make_frame(Content::photo, format, 2001, 1501, 1, layout);
      TestFrame second = make_frame(Content::noise, format, 2001, 1501, 2, layout);
      for (const auto& [threads, piece_bytes] :
           {std::tuple{1, std::size_t{0}}, {0, 0}, {3, 5000}}) {
        SCOPED_TRACE(testing::Message() << name(format) << ", " << threads << " threads, layout "
                                        << static_cast<int>(layout));
        FrameUpload upload(threads, piece_bytes);
        for (TestFrame* frame : {&first, &second, &first}) {
          expect_arrival(upload, *frame, 3, 0);
          expect_arrival(upload, *frame, 3, 2);
        }
      }
    }
}

}  // namespace
}  // namespace zerorun::test
