// The CPU stage makes the same chroma whether luma is wanted or not.
// SPDX-License-Identifier: MIT
#include "codec/encode/color_subsample.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "codec/pipeline/encode_setup.hpp"
#include "codec/pipeline/stage_table.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

using Planes = std::vector<std::vector<std::uint8_t>>;

/// The planes from component `first` on.
Planes by_stage(const EncodeSetup& setup, const TestFrame& frame, int first) {
  ColorSubsampleArgs args{frame.view(), setup.layout.components, setup.h_max, setup.v_max, {}, 0,
                          setup.height};
  Planes planes;
  planes.reserve(kMaxComponents);
  for (int c = first; c < args.components; ++c) {
    const ScanLayout::Component& component = setup.layout.component[c];
    const std::int32_t stride = plane_stride(component);
    planes.emplace_back(static_cast<std::size_t>(std::int64_t{stride} * component.height));
    args.plane[c] = {planes.back().data(), stride, stride, component.height};
  }
  Exec exec;
  EXPECT_TRUE(cpu_stages().color_subsample(args, exec));
  return planes;
}

TEST(ColorSubsample, ChromaAloneIsTheSame) {
  for (const PixelFormat format : kAllFormats)
    for (const Subsampling sampling : kAllSubsamplings)
      for (const int width : {1, 15, 33}) {
        SCOPED_TRACE(testing::Message()
                     << name(format) << " to " << name(sampling) << ", " << width << " wide");
        EncodeParams params;
        params.subsampling = sampling;
        const auto setup = make_encode_setup(params, format, width, 19);
        ASSERT_TRUE(setup);
        const TestFrame frame = make_frame(Content::noise, format, width, 19, 5);
        Planes expected = by_stage(*setup, frame, 0);
        expected.erase(expected.begin());
        EXPECT_EQ(by_stage(*setup, frame, 1), expected);
      }
}

}  // namespace
}  // namespace zerorun::test
