// CPU and CUDA make the same frame of component planes: every format, sampling and filter.
// SPDX-License-Identifier: MIT
#include "codec/decode/color_upsample.hpp"

#include <algorithm>
#include <memory>

#include "tests/cuda/device_memory.hpp"
#include "tests/cuda/stages/stage_runner.hpp"
#include "tests/cuda/test_kernels.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

struct Source {
  int components;
  ColorModel model;
  int h[3], v[3];
};
const Source kSources[] = {
    {1, ColorModel::gray, {1, 1, 1}, {1, 1, 1}},  {3, ColorModel::ycbcr, {1, 1, 1}, {1, 1, 1}},
    {3, ColorModel::ycbcr, {2, 1, 1}, {1, 1, 1}}, {3, ColorModel::ycbcr, {2, 1, 1}, {2, 1, 1}},
    {3, ColorModel::ycbcr, {1, 1, 1}, {2, 1, 1}}, {3, ColorModel::ycbcr, {4, 1, 1}, {1, 1, 1}},
    {3, ColorModel::ycbcr, {3, 1, 1}, {1, 1, 1}}, {3, ColorModel::ycbcr, {4, 2, 1}, {2, 1, 1}},
    {3, ColorModel::ycbcr, {1, 2, 1}, {1, 2, 1}}, {3, ColorModel::ycbcr, {1, 1, 2}, {4, 2, 1}},
    {3, ColorModel::rgb, {1, 1, 1}, {1, 1, 1}},   {3, ColorModel::rgb, {2, 1, 1}, {2, 1, 1}}};

using Planes = std::vector<std::vector<std::uint8_t>>;

/// What a conversion finds when it asks whether there is something to do: the kernel before has not
/// told it yet.
enum class Asks { never, and_converts, and_skips };

/// `args` has everything but planes and frame; `planes` are dense.
void expect_same(ColorUpsampleArgs args, const Planes& planes, PixelFormat format, int width,
                 int height, Asks asks = Asks::never) {
  TestFrame frame(format, width, height), found = frame;
  const TestFrame untouched = frame;
  DeviceTwin twin(found);
  ColorUpsampleArgs cuda = args;
  args.frame = frame.view();
  cuda.frame = twin.view();
  std::vector<std::unique_ptr<DeviceArray<std::uint8_t>>> d_planes;
  for (int c = 0; c < args.components; ++c) {
    const auto& plane = planes[static_cast<std::size_t>(c)];
    const int w = component_extent(width, args.h[c], args.h_max);
    const int h = component_extent(height, args.v[c], args.v_max);
    d_planes.push_back(std::make_unique<DeviceArray<std::uint8_t>>(plane));
    args.plane[c] = {plane.data(), w, w, h};
    cuda.plane[c] = {d_planes.back()->data(), w, w, h};
  }
  run_cpu(cpu_stages().color_upsample, args);
  CudaRunner run;
  if (asks == Asks::never) {
    run(cuda_stages().color_upsample, cuda);
  } else {
    const std::uint32_t skip = asks == Asks::and_skips ? 0x80000000 : 0;
    DeviceArray<std::uint32_t> word(std::vector<std::uint32_t>{skip == 0 ? 1u : 0u});
    ASSERT_EQ(write_late(word.data(), skip, stream_of(run.exec())), cudaSuccess);
    cuda.skip = word.data();
    run(cuda_stages().color_upsample, cuda);
  }
  twin.download();
  ASSERT_TRUE(found == (asks == Asks::and_skips ? untouched : frame));
}

ColorUpsampleArgs make_args(const Source& source, ChromaUpsampling upsampling) {
  ColorUpsampleArgs args{};
  args.components = source.components;
  args.model = source.model;
  args.upsampling = upsampling;
  args.row_count = 65536;
  args.h_max = args.v_max = 1;
  for (int c = 0; c < source.components; ++c) {
    args.h[c] = source.h[c];
    args.v[c] = source.v[c];
    args.h_max = std::max(args.h_max, source.h[c]);
    args.v_max = std::max(args.v_max, source.v[c]);
  }
  return args;
}

void expect_same(const Source& source, PixelFormat format, int width, int height,
                 ChromaUpsampling upsampling, int first_row = 0, int row_count = 65536,
                 Asks asks = Asks::never) {
  SCOPED_TRACE(testing::Message() << name(format) << " " << width << "x" << height << " from "
                                  << source.h[0] << "x" << source.v[0] << ", rows " << first_row
                                  << " + " << row_count);
  ColorUpsampleArgs args = make_args(source, upsampling);
  args.first_row = first_row;
  args.row_count = row_count;
  Planes planes;
  for (int c = 0; c < source.components; ++c)
    planes.push_back(make_picture(Content::noise, component_extent(width, args.h[c], args.h_max),
                                  component_extent(height, args.v[c], args.v_max), 1,
                                  static_cast<std::uint64_t>(c + width)));
  expect_same(args, planes, format, width, height, asks);
}

class ColorUpsampleParity : public GpuTest {};

TEST_F(ColorUpsampleParity, EveryFormatSamplingAndFilter) {
  for (const Source& source : kSources)
    for (const PixelFormat format : kAllFormats)
      for (const auto upsampling : {ChromaUpsampling::fancy, ChromaUpsampling::nearest})
        for (const int size : {1, 2, 3, 5, 33}) {
          expect_same(source, format, size, 37, upsampling);
          if (HasFatalFailure()) return;
        }
}

/// Rows of whole and broken groups of sixteen pixels and of runs of a warp, in memory that is
/// aligned to 1, 4 and 16: RGB, NV12 and NV21.
TEST_F(ColorUpsampleParity, ManyWidths) {
  for (const Source& source : kSources)
    for (const PixelFormat format : kAllFormats)
      for (const auto upsampling : {ChromaUpsampling::fancy, ChromaUpsampling::nearest})
        for (const int width : {15, 16, 18, 24, 32, 44, 48, 65, 513, 1024, 1155}) {
          if (is_rgb(format) || format == PixelFormat::nv12 || format == PixelFormat::nv21)
            expect_same(source, format, width, 7, upsampling);
          if (HasFatalFailure()) return;
        }
}

/// All of Y x Cb x Cr, by the kernel that makes sixteen pixels at once.
TEST_F(ColorUpsampleParity, EveryColour) {
  constexpr std::size_t kSide = 256;
  Planes planes(3, std::vector<std::uint8_t>(kSide * kSide));
  for (std::size_t y = 0; y < kSide; ++y)
    for (std::size_t x = 0; x < kSide; ++x) {
      planes[0][y * kSide + x] = static_cast<std::uint8_t>(x);
      planes[1][y * kSide + x] = static_cast<std::uint8_t>(y);
    }
  const Source& source = kSources[1];  // 4:4:4
  for (int cr = 0; cr < 256; ++cr) {
    SCOPED_TRACE(cr);
    planes[2].assign(kSide * kSide, static_cast<std::uint8_t>(cr));
    expect_same(make_args(source, ChromaUpsampling::fancy), planes, PixelFormat::rgb24, kSide,
                kSide);
    if (HasFatalFailure()) return;
  }
}

TEST_F(ColorUpsampleParity, BandsOfRows) {
  for (const PixelFormat format : kAllFormats)
    for (const int first : {0, 2, 16, 32}) {
      expect_same(kSources[3], format, 45, 35, ChromaUpsampling::fancy, first, 16);
      if (HasFatalFailure()) return;
    }
}

TEST_F(ColorUpsampleParity, NothingIsConvertedIfTheKernelBeforeSaysSo) {
  for (const Source& source : kSources)
    for (const PixelFormat format : kAllFormats)
      for (const Asks asks : {Asks::and_converts, Asks::and_skips}) {
        SCOPED_TRACE(asks == Asks::and_skips ? "skips" : "converts");
        expect_same(source, format, 45, 35, ChromaUpsampling::fancy, 0, 35, asks);
        if (HasFatalFailure()) return;
      }
}

TEST_F(ColorUpsampleParity, WideAndHigh) {
  expect_same(kSources[3], PixelFormat::rgb24, 4099, 3, ChromaUpsampling::fancy);
  expect_same(kSources[3], PixelFormat::nv12, 3, 4099, ChromaUpsampling::fancy);
}

}  // namespace
}  // namespace zerorun::test
