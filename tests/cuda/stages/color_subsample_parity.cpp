// CPU and CUDA make the same component planes of every pixel format and sampling.
// SPDX-License-Identifier: MIT
#include "cuda/stages/stages_cuda.hpp"

#include <memory>

#include "tests/cuda/stages/stage_runner.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

/// A frame's planes in device memory, as far as they reach: nothing in front or behind.
class GappedFrame {
 public:
  explicit GappedFrame(const TestFrame& frame, std::size_t gap = 3) {
    const ConstFrameView host = frame.view();
    view_ = {host.format, host.width, host.height, {}, {}};
    for (int p = 0; p < plane_count(host.format); ++p) {
      const auto plane = static_cast<std::size_t>(p);
      // A gap of 3: an odd pitch, so that no alignment is relied upon.
      const std::size_t pitch = frame.row_bytes(p) + gap;
      const auto rows = static_cast<std::size_t>(frame.rows(p));
      std::vector<std::uint8_t> bytes(pitch * (rows - 1) + frame.row_bytes(p), 0x5A);
      for (std::size_t y = 0; y < rows; ++y)
        std::copy_n(frame.row(p, static_cast<int>(y)), frame.row_bytes(p),
                    bytes.begin() + static_cast<std::ptrdiff_t>(y * pitch));
      planes_[plane] = std::make_unique<DeviceArray<std::uint8_t>>(bytes);
      view_.data[plane] = planes_[plane]->data();
      view_.stride_bytes[plane] = static_cast<std::ptrdiff_t>(pitch);
    }
  }
  const ConstFrameView& view() const { return view_; }

 private:
  std::unique_ptr<DeviceArray<std::uint8_t>> planes_[3];
  ConstFrameView view_;
};

using Planes = std::vector<std::vector<std::uint8_t>>;

ColorSubsampleArgs make_args(const EncodeSetup& setup, const ConstFrameView& frame) {
  ColorSubsampleArgs args{frame,        setup.layout.components, setup.h_max, setup.v_max, {}, 0,
                          frame.height, setup.shapes_noise};
  for (int c = 0; c < args.components; ++c) {
    const auto& component = setup.layout.component[c];
    args.plane[c] = {nullptr, component.blocks_wide * 8, component.blocks_wide * 8,
                     component.height};
  }
  return args;
}

std::size_t plane_bytes(const PlaneView& plane) {
  return static_cast<std::size_t>(plane.stride_bytes * plane.height);
}

Planes by_cpu(const EncodeSetup& setup, const TestFrame& frame) {
  ColorSubsampleArgs args = make_args(setup, frame.view());
  Planes planes;
  for (int c = 0; c < args.components; ++c) {
    planes.emplace_back(plane_bytes(args.plane[c]), kPoison);
    args.plane[c].data = planes.back().data();
  }
  run_cpu(cpu_stages().color_subsample, args);
  return planes;
}

/// In one call, or in bands of MCU rows, from the component `first` on.
Planes by_cuda(const EncodeSetup& setup, const TestFrame& frame, int band_rows, int first = 0) {
  const GappedFrame on_device(frame);
  ColorSubsampleArgs args = make_args(setup, on_device.view());
  std::vector<std::unique_ptr<DeviceArray<std::uint8_t>>> buffers;
  if (first > 0) args.plane[0] = {};
  for (int c = first; c < args.components; ++c) {
    buffers.push_back(std::make_unique<DeviceArray<std::uint8_t>>(plane_bytes(args.plane[c])));
    args.plane[c].data = buffers.back()->data();
  }
  CudaRunner run;
  args.row_count = band_rows;
  for (args.first_row = 0; args.first_row < args.frame.height; args.first_row += band_rows)
    run(cuda_stages().color_subsample, args);
  Planes planes;
  for (auto& buffer : buffers) planes.push_back(buffer->to_host());
  return planes;
}

class ColorSubsampleParity : public GpuTest {};

TEST_F(ColorSubsampleParity, EveryFormatAndSampling) {
  constexpr int kSizes[][2] = {{1, 1},   {2, 2},    {7, 5},   {8, 16},  {31, 33},
                               {67, 41}, {130, 19}, {547, 9}, {1040, 4}};
  for (const PixelFormat format : kAllFormats) {
    for (const Subsampling sampling : kAllSubsamplings) {
      for (const auto& [width, height] : kSizes) {
        SCOPED_TRACE(testing::Message()
                     << name(format) << " to " << name(sampling) << ", " << width << "x" << height);
        for (const Tune tune : {Tune::exact, Tune::photo}) {
          EncodeParams params;
          params.subsampling = sampling;
          params.tune = tune;
          const EncodeSetup setup = setup_for(params, format, width, height);
          const TestFrame frame = make_frame(Content::noise, format, width, height, 11);
          const Planes expected = by_cpu(setup, frame);
          ASSERT_EQ(by_cuda(setup, frame, height), expected);
          ASSERT_EQ(by_cuda(setup, frame, 8 * setup.v_max), expected);
        }
      }
    }
  }
}

/// Rows of NV12 and NV21 at addresses that 16 divides, too, and widths of whole and broken vectors.
TEST_F(ColorSubsampleParity, ChromaAlone) {
  for (const PixelFormat format : kAllFormats)
    for (const Subsampling sampling : kAllSubsamplings)
      for (const int width : {1, 2, 13, 29, 45, 64, 130, 547})
        for (const int band_rows : {16, 64}) {
          SCOPED_TRACE(testing::Message() << name(format) << " to " << name(sampling) << ", "
                                          << width << " wide, bands of " << band_rows);
          EncodeParams params;
          params.subsampling = sampling;
          const EncodeSetup setup = setup_for(params, format, width, 37);
          if (setup.layout.components == 1) continue;
          const TestFrame frame = make_frame(Content::noise, format, width, 37, 12);
          Planes expected = by_cpu(setup, frame);
          expected.erase(expected.begin());
          ASSERT_EQ(by_cuda(setup, frame, band_rows, 1), expected);
        }
}

TEST_F(ColorSubsampleParity, EveryColour) {
  // All of R x G, 256 x 256 pixels a picture, with all of B.
  for (int b = 0; b < 256; ++b) {
    SCOPED_TRACE(b);
    TestFrame frame(PixelFormat::rgb24, 256, 256);
    for (int y = 0; y < 256; ++y)
      for (int x = 0; x < 256; ++x) {
        std::uint8_t* pixel = frame.row(0, y) + 3 * x;
        pixel[0] = static_cast<std::uint8_t>(x);
        pixel[1] = static_cast<std::uint8_t>(y);
        pixel[2] = static_cast<std::uint8_t>(b);
      }
    EncodeParams params;
    params.subsampling = Subsampling::s444;
    for (const Tune tune : {Tune::exact, Tune::photo}) {
      params.tune = tune;
      const EncodeSetup setup = setup_for(params, PixelFormat::rgb24, 256, 256);
      ASSERT_EQ(by_cuda(setup, frame, 256), by_cpu(setup, frame));
    }
  }
}

/// More frames than a launch takes, each with rows of its own length; RGB goes many at a time.
TEST_F(ColorSubsampleParity, ManyFrames) {
  constexpr std::size_t kFrames = 35;
  for (const PixelFormat format : {PixelFormat::rgb24, PixelFormat::xbgr32, PixelFormat::nv12})
    for (const Subsampling sampling : {Subsampling::s420, Subsampling::s444, Subsampling::gray}) {
      SCOPED_TRACE(testing::Message() << name(format) << " to " << name(sampling));
      EncodeParams params;
      params.subsampling = sampling;
      params.tune = Tune::photo;
      const EncodeSetup setup = setup_for(params, format, 547, 9);
      std::vector<TestFrame> frames;
      std::vector<GappedFrame> on_device;
      std::vector<ConstFrameView> views;
      for (std::size_t f = 0; f < kFrames; ++f) {
        frames.push_back(make_frame(Content::noise, format, 547, 9, f));
        views.push_back(on_device.emplace_back(frames[f], f).view());
      }
      ColorSubsampleArgs args = make_args(setup, views[0]);
      std::vector<std::unique_ptr<DeviceArray<std::uint8_t>>> buffers;
      PlaneOffsets step{};
      for (int c = 0; c < args.components; ++c) {
        const std::size_t bytes = plane_bytes(args.plane[c]);
        step.of[c] = static_cast<std::int64_t>(bytes);
        buffers.push_back(std::make_unique<DeviceArray<std::uint8_t>>(kFrames * bytes));
        args.plane[c].data = buffers.back()->data();
      }
      ASSERT_TRUE(color_subsample_frames(args, views, step, nullptr));
      for (std::size_t c = 0; c < buffers.size(); ++c) {
        std::vector<std::uint8_t> expected;
        for (const TestFrame& frame : frames) {
          const std::vector<std::uint8_t> plane = by_cpu(setup, frame)[c];
          expected.insert(expected.end(), plane.begin(), plane.end());
        }
        ASSERT_EQ(buffers[c]->to_host(), expected) << "component " << c;
      }
    }
}

TEST_F(ColorSubsampleParity, FittedChroma) {
  for (const auto& [width, height] : {std::pair{8, 1}, {8, 2}, {16, 37}, {1920, 9}, {72, 1000}})
    for (const std::uint32_t frames : {1u, 3u}) {
      SCOPED_TRACE(testing::Message() << width << 'x' << height << ", " << frames << " frames");
      const auto bytes = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
      FitChromaArgs args{{}, {}, width, height, static_cast<std::int64_t>(bytes), frames};
      std::vector<std::unique_ptr<DeviceArray<std::uint8_t>>> from, to;
      std::vector<std::uint8_t> samples[2], expected[2], rows;
      for (std::size_t c = 0; c < 2; ++c) {
        for (std::uint32_t f = 0; f < frames; ++f) {
          const auto plane =
              make_frame(Content::noise, PixelFormat::gray8, width, height, frames + 10 * f + c)
                  .packed();
          samples[c].insert(samples[c].end(), plane.begin(), plane.end());
          std::vector<std::uint8_t> fitted(bytes, kPoison);
          fit_chroma_rows({plane.data(), width, width, height},
                          {fitted.data(), width, width, height}, 0, height, rows);
          expected[c].insert(expected[c].end(), fitted.begin(), fitted.end());
        }
        from.push_back(std::make_unique<DeviceArray<std::uint8_t>>(samples[c]));
        to.push_back(std::make_unique<DeviceArray<std::uint8_t>>(samples[c].size()));
        args.from[c] = from.back()->data();
        args.to[c] = to.back()->data();
      }
      ASSERT_TRUE(fit_chroma(args, nullptr));
      for (std::size_t c = 0; c < 2; ++c) ASSERT_EQ(to[c]->to_host(), expected[c]);
    }
}

}  // namespace
}  // namespace zerorun::test
