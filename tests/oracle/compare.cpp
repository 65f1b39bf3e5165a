// Assertions that compare our encoder and decoder with libjpeg-turbo.
// SPDX-License-Identifier: MIT
#include "tests/oracle/compare.hpp"

#include <algorithm>
#include <cmath>

#include "tests/support/libjpeg_decode.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

constexpr std::uint8_t kSof0 = 0xC0;

testing::AssertionResult same_coefficients(const std::vector<ComponentCoefficients>& ours,
                                           const std::vector<ComponentCoefficients>& theirs) {
  if (ours.size() != theirs.size())
    return testing::AssertionFailure() << ours.size() << " components, not " << theirs.size();
  for (std::size_t c = 0; c < ours.size(); ++c) {
    if (ours[c].blocks_wide != theirs[c].blocks_wide ||
        ours[c].blocks_high != theirs[c].blocks_high)
      return testing::AssertionFailure()
             << "component " << c << " has " << ours[c].blocks_wide << "x" << ours[c].blocks_high
             << " blocks, not " << theirs[c].blocks_wide << "x" << theirs[c].blocks_high;
    if (ours[c].values.size() != theirs[c].values.size())
      return testing::AssertionFailure() << "component " << c << " has " << ours[c].values.size()
                                         << " values, not " << theirs[c].values.size();
    const auto [a, b] =
        std::mismatch(ours[c].values.begin(), ours[c].values.end(), theirs[c].values.begin());
    if (a != ours[c].values.end()) {
      const auto at = a - ours[c].values.begin();
      return testing::AssertionFailure()
             << "component " << c << ", block " << at / 64 << " of " << ours[c].values.size() / 64
             << ", coefficient " << at % 64 << " is " << *a << ", not " << *b;
    }
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult same_planes(const std::vector<ComponentPlane>& ours,
                                     const std::vector<ComponentPlane>& theirs) {
  if (ours.size() != theirs.size())
    return testing::AssertionFailure() << ours.size() << " components, not " << theirs.size();
  for (std::size_t c = 0; c < ours.size(); ++c) {
    const ComponentPlane &a = ours[c], &b = theirs[c];
    if (a.width != b.width || a.height != b.height || a.samples.size() != b.samples.size())
      return testing::AssertionFailure() << "plane " << c << " is " << a.width << "x" << a.height
                                         << ", not " << b.width << "x" << b.height;
    const auto [x, y] = std::mismatch(a.samples.begin(), a.samples.end(), b.samples.begin());
    if (x != a.samples.end()) {
      const auto at = x - a.samples.begin();
      return testing::AssertionFailure()
             << "plane " << c << ", row " << at / a.width << ", column " << at % a.width << " is "
             << int{*x} << ", not " << int{*y};
    }
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult same_pixels(const TestFrame& ours, const Pixels& theirs, int channels) {
  const std::vector<std::uint8_t> packed = ours.packed();
  if (packed.size() != theirs.samples.size())
    return testing::AssertionFailure() << packed.size() << " bytes, not " << theirs.samples.size();
  const auto [a, b] = std::mismatch(packed.begin(), packed.end(), theirs.samples.begin());
  if (a == packed.end()) return testing::AssertionSuccess();
  const auto pixel = (a - packed.begin()) / channels;
  return testing::AssertionFailure()
         << "row " << pixel / theirs.width << ", column " << pixel % theirs.width << ", channel "
         << (a - packed.begin()) % channels << " is " << int{*a} << ", not " << int{*b};
}

/// RGB is within one of JFIF's equations in real numbers, applied to repeated samples.
void expect_nearest_rgb(const TestFrame& frame, const std::vector<ComponentPlane>& planes,
                        const StreamInfo& info) {
  int h_max = 1, v_max = 1;
  for (const ComponentInfo& component : info.components) {
    h_max = std::max(h_max, component.h);
    v_max = std::max(v_max, component.v);
  }
  for (int y = 0; y < info.height; ++y) {
    for (int x = 0; x < info.width; ++x) {
      double ycc[3];
      for (std::size_t c = 0; c < 3; ++c) {
        const int cx = x * info.components[c].h / h_max, cy = y * info.components[c].v / v_max;
        ycc[c] = planes[c].samples[static_cast<std::size_t>(cy * planes[c].width + cx)];
      }
      const double cb = ycc[1] - 128, cr = ycc[2] - 128;
      const double rgb[3] = {ycc[0] + 1.402 * cr, ycc[0] - 0.344136 * cb - 0.714136 * cr,
                             ycc[0] + 1.772 * cb};
      for (int k = 0; k < 3; ++k)
        ASSERT_NEAR(frame.row(0, y)[3 * x + k], std::clamp(rgb[k], 0.0, 255.0), 1.0)
            << "row " << y << ", column " << x;
    }
  }
}

void expect_report(const Result<DecodeReport>& report, const DecodeExpectation& expectation) {
  ASSERT_TRUE(report.is_ok()) << report.status().message();
  EXPECT_FALSE(report->is_concealed()) << report->first_problem.message();
  if (expectation.clean)
    EXPECT_TRUE(report->first_problem.is_ok()) << report->first_problem.message();
  else
    EXPECT_FALSE(report->first_problem.is_ok());
}

void compare_pixels(std::span<const std::byte> jpeg, PixelFormat format, bool fancy, int threads,
                    const DecodeExpectation& expectation) {
  SCOPED_TRACE(std::string(name(format)) + (fancy ? ", fancy" : ", nearest"));
  const bool gray = format == PixelFormat::gray8;
  Pixels theirs;
  const LibjpegVerdict verdict =
      libjpeg_pixels(jpeg, gray ? PixelOutput::gray : PixelOutput::rgb, fancy, theirs);
  Decoder decoder =
      cpu_decoder({.upsampling = fancy ? ChromaUpsampling::fancy : ChromaUpsampling::nearest,
                   .threads = threads});
  if (!verdict.delivered) {
    const auto info = inspect(jpeg);
    ASSERT_TRUE(info.is_ok()) << info.status().message();
    ASSERT_EQ(format, PixelFormat::rgb24) << verdict.text;
    TestFrame frame(format, info->width, info->height, Layout::padded);
    expect_report(decoder.decode(jpeg, frame.view()), expectation);
    std::vector<ComponentPlane> planes;
    ASSERT_TRUE(libjpeg_planes(jpeg, planes).delivered);
    expect_nearest_rgb(frame, planes, *info);
    return;
  }
  TestFrame frame(format, theirs.width, theirs.height, Layout::padded);
  const auto report = decoder.decode(jpeg, frame.view());
  expect_report(report, expectation);
  EXPECT_TRUE(same_pixels(frame, theirs, gray ? 1 : 3));
}

/// RGB and grey are what the inks let through, in real numbers.
void expect_light(Decoder& decoder, std::span<const std::byte> jpeg, const Pixels& inks,
                  ColorModel model) {
  TestFrame rgb(PixelFormat::rgb24, inks.width, inks.height, Layout::padded);
  TestFrame gray(PixelFormat::gray8, inks.width, inks.height, Layout::bottom_up);
  ASSERT_TRUE(decoder.decode(jpeg, rgb.view()).is_ok());
  ASSERT_TRUE(decoder.decode(jpeg, gray.view()).is_ok());
  const auto light = [&](std::uint8_t ink) {
    return model == ColorModel::cmyk ? 255.0 - ink : ink;
  };
  const std::uint8_t* ink = inks.samples.data();
  for (int y = 0; y < inks.height; ++y)
    for (int x = 0; x < inks.width; ++x, ink += 4) {
      double exact[3];
      for (int c = 0; c < 3; ++c) {
        exact[c] = std::round(light(ink[c]) * light(ink[3]) / 255);
        ASSERT_EQ(rgb.row(0, y)[3 * x + c], exact[c]) << "row " << y << ", column " << x;
      }
      ASSERT_NEAR(gray.row(0, y)[x], 0.299 * exact[0] + 0.587 * exact[1] + 0.114 * exact[2], 0.51)
          << "row " << y << ", column " << x;
    }
}

/// By each kind of code that the machine has.
void compare_inks(std::span<const std::byte> jpeg, bool fancy, int threads,
                  const DecodeExpectation& expectation) {
  Pixels theirs;
  if (!libjpeg_pixels(jpeg, PixelOutput::cmyk, fancy, theirs).delivered) return;  // no such filter
  for (const InstructionSet set : instruction_sets()) {
    SCOPED_TRACE(std::string(name(set)) + (fancy ? ", fancy" : ", nearest"));
    Decoder decoder =
        cpu_decoder({.upsampling = fancy ? ChromaUpsampling::fancy : ChromaUpsampling::nearest,
                     .threads = threads,
                     .instruction_set = set});
    TestFrame inks(PixelFormat::cmyk32, theirs.width, theirs.height, Layout::padded);
    expect_report(decoder.decode(jpeg, inks.view()), expectation);
    ASSERT_TRUE(same_pixels(inks, theirs, 4));
    ASSERT_NO_FATAL_FAILURE(expect_light(decoder, jpeg, theirs, inspect(jpeg)->color));
  }
}

}  // namespace

std::string to_string(Size size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

LibjpegOptions libjpeg_options(const EncodeParams& params) {
  LibjpegOptions options;
  options.quality = params.quality;
  options.optimal = params.huffman == HuffmanTables::optimal;
  options.luma_table = params.luma_table;
  options.chroma_table = params.chroma_table;
  switch (params.restart.kind) {
    case RestartPolicy::Kind::none:
      break;
    case RestartPolicy::Kind::mcus:
      options.restart_mcus = params.restart.count;
      break;
    case RestartPolicy::Kind::mcu_rows:
      options.restart_rows = params.restart.count;
      break;
    case RestartPolicy::Kind::automatic:
      ADD_FAILURE() << "libjpeg has no such policy";
      break;
  }
  return options;
}

testing::AssertionResult same_stream(std::span<const std::byte> ours,
                                     std::span<const std::byte> libjpegs) {
  if (ours.empty() || libjpegs.empty()) return testing::AssertionFailure() << "no stream";
  const Headers a = parse_headers(ours), b = parse_headers(libjpegs);
  const Tables ta = parse_tables(a), tb = parse_tables(b);
  if (ta.quant != tb.quant) return testing::AssertionFailure() << "quantisation tables differ";
  if (ta.huffman != tb.huffman) return testing::AssertionFailure() << "Huffman tables differ";
  if (ta.restart_interval != tb.restart_interval)
    return testing::AssertionFailure()
           << "restart interval " << ta.restart_interval << ", not " << tb.restart_interval;
  const Segment *sof_a = a.find(kSof0), *sof_b = b.find(kSof0);
  if (sof_a == nullptr || sof_b == nullptr || sof_a->payload != sof_b->payload)
    return testing::AssertionFailure() << "frame headers differ";
  const auto tail_a = ours.subspan(a.sos_offset), tail_b = libjpegs.subspan(b.sos_offset);
  const auto [x, y] = std::mismatch(tail_a.begin(), tail_a.end(), tail_b.begin(), tail_b.end());
  if (x == tail_a.end() && y == tail_b.end()) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "byte " << x - tail_a.begin() << " from SOS differs (" << tail_a.size() << " bytes, "
         << tail_b.size() << " by libjpeg)";
}

void compare_decode(std::span<const std::byte> jpeg, const DecodeExpectation& expectation) {
  std::vector<ComponentCoefficients> their_coefficients, coefficients;
  std::vector<ComponentPlane> their_planes, planes;
  const LibjpegVerdict verdict = libjpeg_coefficients(jpeg, their_coefficients);
  ASSERT_TRUE(verdict.delivered) << verdict.text;
  ASSERT_TRUE(libjpeg_planes(jpeg, their_planes).delivered);
  for (const int threads : expectation.threads) {
    SCOPED_TRACE("threads " + std::to_string(threads));
    Decoder decoder = cpu_decoder({.threads = threads});
    expect_report(decoder.decode_coefficients(jpeg, coefficients), expectation);
    EXPECT_TRUE(same_coefficients(coefficients, their_coefficients));
    expect_report(decoder.decode_planes(jpeg, planes), expectation);
    EXPECT_TRUE(same_planes(planes, their_planes));
    if (planes.size() == 4) {
      for (const bool fancy : {true, false}) compare_inks(jpeg, fancy, threads, expectation);
      if (testing::Test::HasFailure()) return;
      continue;
    }
    compare_pixels(jpeg, PixelFormat::rgb24, true, threads, expectation);
    compare_pixels(jpeg, PixelFormat::rgb24, false, threads, expectation);
    compare_pixels(jpeg, PixelFormat::gray8, true, threads, expectation);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace zerorun::test
