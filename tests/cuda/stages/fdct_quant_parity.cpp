// CPU and CUDA give the same quantised blocks.
// SPDX-License-Identifier: MIT
#include "codec/encode/fdct_quant.hpp"

#include <memory>

#include "tests/cuda/stages/stage_runner.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

/// Planes of the components' own sizes, so that edges have to be repeated; strides as given.
struct ComponentPlanes {
  std::vector<std::uint8_t> samples[kMaxComponents];
  std::int64_t stride[kMaxComponents] = {};
};

ComponentPlanes make_planes(const ScanLayout& layout, Content content, int extra_stride) {
  ComponentPlanes planes;
  for (int c = 0; c < layout.components; ++c) {
    const auto& component = layout.component[c];
    const auto picture = make_picture(content, component.width, component.height, 1,
                                      100 + static_cast<std::uint64_t>(c));
    planes.stride[c] = component.width + extra_stride;
    const auto rows = static_cast<std::size_t>(component.height);
    const auto stride = static_cast<std::size_t>(planes.stride[c]);
    const auto width = static_cast<std::size_t>(component.width);
    planes.samples[c].assign(stride * (rows - 1) + width, 0x77);
    for (std::size_t y = 0; y < rows; ++y)
      std::copy_n(picture.begin() + static_cast<std::ptrdiff_t>(y * width), width,
                  planes.samples[c].begin() + static_cast<std::ptrdiff_t>(y * stride));
  }
  return planes;
}

void expect_same_blocks(const EncodeSetup& setup, const ComponentPlanes& planes,
                        std::int64_t first_mcu, std::int64_t mcu_count) {
  const ScanLayout& layout = setup.layout;
  const auto values =
      static_cast<std::size_t>(mcu_count * layout.blocks_per_mcu) * std::size_t{kBlockSize};
  std::vector<std::int16_t> expected(values, 0x1234);
  FdctQuantArgs args{layout,
                     {},
                     &setup.divisors,
                     first_mcu,
                     mcu_count,
                     expected.data(),
                     setup.tune.active() ? &setup.tune : nullptr};
  for (int c = 0; c < layout.components; ++c)
    args.plane[c] = {planes.samples[c].data(), planes.stride[c], layout.component[c].width,
                     layout.component[c].height};
  run_cpu(cpu_stages().fdct_quant, args);

  std::vector<std::unique_ptr<DeviceArray<std::uint8_t>>> buffers;
  for (int c = 0; c < layout.components; ++c) {
    buffers.push_back(std::make_unique<DeviceArray<std::uint8_t>>(planes.samples[c]));
    args.plane[c].data = buffers.back()->data();
  }
  DeviceArray<DivisorTables> divisors(std::vector<DivisorTables>{setup.divisors});
  DeviceArray<std::int16_t> zz(values);
  args.divisors = divisors.data();
  args.zz = zz.data();
  DeviceArray<TuneRules> tune(std::vector<TuneRules>{setup.tune});
  if (setup.tune.active()) args.tune = tune.data();
  CudaRunner run;
  run(cuda_stages().fdct_quant, args);
  ASSERT_EQ(zz.to_host(), expected);
}

class FdctQuantParity : public GpuTest {};

TEST_F(FdctQuantParity, EverySamplingSizeAndContent) {
  // Around the 32 blocks of a CTA, and MCU padding of every kind.
  constexpr int kSizes[][2] = {{1, 1}, {8, 8}, {9, 17}, {16, 16}, {40, 56}, {95, 47}, {257, 33}};
  for (const Subsampling sampling : kAllSubsamplings)
    for (const auto& [width, height] : kSizes)
      for (const Content content : kContents)
        for (const int extra : {0, 5}) {
          SCOPED_TRACE(testing::Message() << name(sampling) << ", " << width << "x" << height
                                          << ", " << name(content) << ", stride + " << extra);
          EncodeParams params;
          params.subsampling = sampling;
          const EncodeSetup setup = setup_for(params, PixelFormat::rgb24, width, height);
          expect_same_blocks(setup, make_planes(setup.layout, content, extra), 0,
                             setup.layout.mcus());
        }
}

TEST_F(FdctQuantParity, EveryQuality) {
  for (int quality = 1; quality <= 100; ++quality) {
    SCOPED_TRACE(quality);
    EncodeParams params;
    params.quality = quality;
    params.subsampling = Subsampling::s444;
    const EncodeSetup setup = setup_for(params, PixelFormat::rgb24, 64, 48);
    expect_same_blocks(setup, make_planes(setup.layout, Content::extreme, 0), 0,
                       setup.layout.mcus());
  }
}

TEST_F(FdctQuantParity, PartsOfAScan) {
  EncodeParams params;
  params.subsampling = Subsampling::s420;
  const EncodeSetup setup = setup_for(params, PixelFormat::rgb24, 150, 90);
  const ComponentPlanes planes = make_planes(setup.layout, Content::photo, 0);
  expect_same_blocks(setup, planes, 0, 0);
  expect_same_blocks(setup, planes, 7, 13);
  expect_same_blocks(setup, planes, setup.layout.mcus() - 1, 1);
}

}  // namespace
}  // namespace zerorun::test
