// Frames of every format and layout, in pageable and pinned memory, arrive on the device sample by
// sample, however many threads copy them and however small the pieces are.
// SPDX-License-Identifier: MIT
#include "cuda/encode/frame_upload.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <tuple>
#include <vector>

#include "tests/support/encode_params.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

using PinnedPlanes = std::array<PinnedBuffer<std::uint8_t>, 3>;

/// Moves the planes chosen by the bits of `which` to pinned memory.
ConstFrameView pin(const TestFrame& frame, unsigned which, PinnedPlanes& memory) {
  ConstFrameView view = frame.view();
  for (int p = 0; p < plane_count(view.format); ++p) {
    const auto plane = static_cast<std::size_t>(p);
    if ((which >> p & 1) == 0 || view.stride_bytes[plane] < 0) continue;
    const auto rows = static_cast<std::size_t>(frame.rows(p));
    const auto stride = static_cast<std::size_t>(view.stride_bytes[plane]);
    EXPECT_TRUE(memory[plane].reserve(static_cast<std::int64_t>(stride * rows)));
    for (std::size_t y = 0; y < rows; ++y)
      std::memcpy(memory[plane].data() + y * stride, frame.row(p, static_cast<int>(y)),
                  frame.row_bytes(p));
    view.data[plane] = memory[plane].data();
  }
  return view;
}

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

  void expect_arrival(FrameUpload& upload, const TestFrame& frame, int components,
                      unsigned pinned) {
    PinnedPlanes memory;
    ConstFrameView on_device;
    const Status sent =
        upload.enqueue(pin(frame, pinned, memory), components, stream_.get(), on_device);
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
        const TestFrame frame = make_frame(Content::noise, format, width, height, 7, layout);
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
      const TestFrame first = make_frame(Content::photo, format, 2001, 1501, 1, layout);
      const TestFrame second = make_frame(Content::noise, format, 2001, 1501, 2, layout);
      for (const auto& [threads, piece_bytes] :
           {std::tuple{1, std::size_t{0}}, {0, 0}, {3, 5000}}) {
        SCOPED_TRACE(testing::Message() << name(format) << ", " << threads << " threads, layout "
                                        << static_cast<int>(layout));
        FrameUpload upload(threads, piece_bytes);
        for (const TestFrame* frame : {&first, &second, &first}) {
          expect_arrival(upload, *frame, 3, 0);
          expect_arrival(upload, *frame, 3, 2);
        }
      }
    }
}

}  // namespace
}  // namespace zerorun::test
