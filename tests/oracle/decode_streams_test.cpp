// Unusual streams: legal ones are decoded, others are refused with the right error.
// SPDX-License-Identifier: MIT
#include <string>

#include <gmock/gmock.h>

#include "tests/oracle/compare.hpp"
#include "tests/support/libjpeg_decode.hpp"
#include "tests/support/test_data.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

constexpr std::uint8_t kDht = 0xC4, kSof0 = 0xC0;

Bytes sample(Subsampling sampling = Subsampling::s420, LibjpegOptions options = {}) {
  return libjpeg_sample(53, 41, sampling, options);
}

Result<DecodeReport> decode(std::span<const std::byte> jpeg, bool strict = false) {
  std::vector<ComponentPlane> planes;
  return cpu_decoder({.strict = strict}).decode_planes(jpeg, planes);
}

void expect_refused(std::span<const std::byte> jpeg, Errc code) {
  EXPECT_EQ(decode(jpeg).status().code(), code) << decode(jpeg).status().message();
  const auto info = inspect(jpeg);
  EXPECT_EQ(info.status().code(), code) << info.status().message();
}

/// The samples are right and the report names the problem; with `strict` it is an error of the same
/// code.
void expect_tolerated(const Bytes& jpeg, Errc code) {
  compare_decode(jpeg, {.clean = false});
  const auto report = decode(jpeg);
  ASSERT_TRUE(report.is_ok()) << report.status().message();
  EXPECT_EQ(report->first_problem.code(), code) << report->first_problem.message();
  EXPECT_EQ(decode(jpeg, true).status().code(), code);
}

Bytes with_byte(Bytes jpeg, std::size_t offset, int value) {
  jpeg.at(offset) = static_cast<std::byte>(value);
  return jpeg;
}

/// Offset of a byte of the frame header's payload: 0 precision, 1 height, 3 width, 5 components.
std::size_t in_sof(const Bytes& jpeg, std::size_t payload_byte) {
  return parse_headers(jpeg).find(kSof0)->offset + 4 + payload_byte;
}

/// Offsets of the restart markers.
std::vector<std::size_t> restart_markers(const Bytes& jpeg) {
  std::vector<std::size_t> markers;
  for (std::size_t i = parse_headers(jpeg).data_offset; i + 1 < jpeg.size(); ++i)
    if (jpeg[i] == std::byte{0xFF} && (std::to_integer<int>(jpeg[i + 1]) & 0xF8) == 0xD0)
      markers.push_back(i);
  return markers;
}

TEST(DecodeStreams, NoHuffmanTables) {
  for (const Subsampling sampling : kAllSubsamplings) {
    const Bytes jpeg = without_segments(sample(sampling), kDht);
    ASSERT_EQ(parse_headers(jpeg).count(kDht), 0u);
    compare_decode(jpeg);
    EXPECT_TRUE(inspect(jpeg)->standard_huffman_tables);
  }
}

TEST(DecodeStreams, FillBytesBeforeMarkers) {
  const Bytes plain = sample();
  Bytes jpeg = plain;
  const std::vector<std::uint8_t> fill(5, 0xFF);
  std::vector<Segment> segments = parse_headers(plain).segments;
  for (auto s = segments.rbegin(); s != segments.rend(); ++s)
    jpeg = with_inserted(jpeg, s->offset, fill);
  jpeg = with_inserted(jpeg, jpeg.size() - 2, fill);  // and before EOI
  compare_decode(jpeg);
  LibjpegOptions options;
  options.restart_mcus = 2;
  jpeg = sample(Subsampling::s420, options);
  for (std::size_t added = 0; const std::size_t marker : restart_markers(jpeg)) {
    jpeg = with_inserted(jpeg, marker + added, std::vector<std::uint8_t>{0xFF, 0xFF});
    added += 2;
  }
  compare_decode(jpeg);
}

TEST(DecodeStreams, JunkBetweenSegmentsIsTolerated) {
  const Bytes plain = sample();
  const Headers headers = parse_headers(plain);
  for (std::size_t s = 1; s < headers.segments.size(); ++s) {
    SCOPED_TRACE("before segment " + std::to_string(s));
    expect_tolerated(
        with_inserted(plain, headers.segments[s].offset, std::vector<std::uint8_t>{1, 2, 0x33}),
        Errc::extraneous_data);
  }
  // And before EOI.
  expect_tolerated(
      with_inserted(plain, plain.size() - 2, std::vector<std::uint8_t>{0x11, 0x22, 0x33, 0x44}),
      Errc::extraneous_data);
}

TEST(DecodeStreams, MissingEoiIsTolerated) {
  Bytes jpeg = sample();
  jpeg.resize(jpeg.size() - 2);
  expect_tolerated(jpeg, Errc::truncated);
  jpeg = sample();
  jpeg.resize(jpeg.size() - 1);
  expect_tolerated(jpeg, Errc::truncated);
}

TEST(DecodeStreams, BytesAfterEoiBelongToTheNextImage) {
  const Bytes plain = sample();
  const Bytes jpeg = with_inserted(plain, plain.size(), std::vector<std::uint8_t>(77, 0x5A));
  for (const bool strict : {false, true}) {
    const auto report = decode(jpeg, strict);
    ASSERT_TRUE(report.is_ok()) << report.status().message();
    EXPECT_EQ(report->bytes_consumed, plain.size());
    EXPECT_TRUE(report->first_problem.is_ok()) << report->first_problem.message();
  }
}

TEST(DecodeStreams, AdobeRgb) {
  LibjpegOptions options;
  options.rgb_stream = true;
  for (const int interval : {0, 4}) {
    options.restart_mcus = interval;
    const Bytes jpeg = sample(Subsampling::s444, options);
    EXPECT_EQ(inspect(jpeg)->color, ColorModel::rgb);
    compare_decode(jpeg);
  }
}

/// As in libjpeg, whose colour model stands fast at the first scan.
TEST(DecodeStreams, SegmentsBehindTheScanSayNothingAboutColour) {
  const Bytes plain = without_segments(sample(Subsampling::s420), 0xE0);
  const Bytes adobe =
      with_inserted(plain, plain.size() - 2,
                    make_segment(0xEE, {'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0}));
  compare_decode(adobe);
  Decoder decoder = cpu_decoder();
  for (const PixelFormat format : kAllFormats) {
    TestFrame expected(format, 53, 41), found(format, 53, 41);
    ASSERT_TRUE(decoder.decode(plain, expected.view()).is_ok()) << name(format);
    ASSERT_TRUE(decoder.decode(adobe, found.view()).is_ok()) << name(format);
    EXPECT_TRUE(found.packed() == expected.packed()) << name(format);
  }
}

TEST(DecodeStreams, GrayWithSamplingFactors) {
  // T.81 A.2.2: one component is never interleaved, whatever its factors say.
  const Bytes plain = libjpeg_sample(37, 29, Subsampling::gray);
  for (const int factors : {0x12, 0x21, 0x22, 0x31, 0x44})
    compare_decode(with_byte(plain, in_sof(plain, 7), factors));
}

TEST(DecodeStreams, TablesRedefinedAndSegmentsRepeated) {
  const Bytes plain = sample();
  const Headers headers = parse_headers(plain);
  // The last definition of a table counts: here a wrong one comes first, then the right one.
  std::vector<std::uint8_t> wrong(65, 9);
  wrong[0] = 0;  // 8 bits, destination 0
  Bytes jpeg = with_inserted(plain, headers.find(0xDB)->offset, make_segment(0xDB, wrong));
  compare_decode(jpeg);
  jpeg = with_inserted(plain, headers.sos_offset, make_segment(0xFE, {'h', 'i'}));
  compare_decode(jpeg);
  jpeg = with_inserted(plain, headers.sos_offset, make_segment(0xDD, {0, 0}));  // DRI 0
  compare_decode(jpeg);
}

TEST(DecodeStreams, ExtendedSequentialWithFourTables) {
  // SOF1 allows destinations 0..3 (T.81 Table B.5): move the luma tables to 3 and 2.
  Bytes jpeg = sample(Subsampling::s444);
  const Headers headers = parse_headers(jpeg);
  jpeg = with_byte(jpeg, headers.find(kSof0)->offset + 1, 0xC1);
  for (const Segment& segment : headers.segments) {
    if (segment.marker != kDht || (segment.payload[0] & 15) != 0) continue;
    const bool dc = segment.payload[0] >> 4 == 0;
    jpeg = with_byte(jpeg, segment.offset + 4, dc ? 0x03 : 0x12);
  }
  jpeg = with_byte(jpeg, headers.sos_offset + 6, 0x32);
  compare_decode(jpeg);
  EXPECT_TRUE(inspect(jpeg)->extended);
}

TEST(DecodeStreams, UnsupportedProcessesAreNamed) {
  LibjpegOptions options;
  options.arithmetic = true;
  expect_refused(sample(Subsampling::s420, options), Errc::arithmetic);
  const Bytes plain = sample();
  const std::size_t marker = parse_headers(plain).find(kSof0)->offset + 1;
  for (const int lossless : {0xC3, 0xCB})
    expect_refused(with_byte(plain, marker, lossless), Errc::lossless);
  for (const int hierarchical : {0xC5, 0xC6, 0xC7})
    expect_refused(with_byte(plain, marker, hierarchical), Errc::hierarchical);
  for (const int arithmetic : {0xC9, 0xCA})
    expect_refused(with_byte(plain, marker, arithmetic), Errc::arithmetic);
  expect_refused(with_byte(plain, marker, 0xF7), Errc::jpeg_ls);
  expect_refused(with_byte(plain, in_sof(plain, 0), 12), Errc::sample_precision);
  expect_refused(with_byte(with_byte(plain, in_sof(plain, 1), 0), in_sof(plain, 2), 0),
                 Errc::deferred_height);
  // A frame header with two components of 8x8; no scan is needed.
  const Bytes soi = {std::byte{0xFF}, std::byte{0xD8}};
  const auto sof = make_segment(kSof0, {8, 0, 8, 0, 8, 2, 1, 0x11, 0, 2, 0x11, 0});
  expect_refused(with_inserted(soi, 2, sof), Errc::component_count);
}

/// One damaged restart interval is counted, and the others are exact.
TEST(DecodeStreams, DamageIsConcealedWithinItsInterval) {
  LibjpegOptions options;
  options.restart_rows = 1;
  const Bytes plain = libjpeg_sample(160, 96, Subsampling::s420, options);
  std::vector<ComponentPlane> expected;
  ASSERT_TRUE(libjpeg_planes(plain, expected).clean());
  // Cut the second half of the third interval (MCU rows of 16 lines) out of the stream.
  const std::vector<std::size_t> markers = restart_markers(plain);
  ASSERT_EQ(markers.size(), 5u);
  Bytes jpeg = plain;
  const std::size_t middle = (markers[1] + 2 + markers[2]) / 2;
  jpeg.erase(jpeg.begin() + static_cast<std::ptrdiff_t>(middle),
             jpeg.begin() + static_cast<std::ptrdiff_t>(markers[2]));
  for (const int threads : {1, 2, 5}) {
    std::vector<ComponentPlane> planes;
    const auto report = cpu_decoder({.threads = threads}).decode_planes(jpeg, planes);
    ASSERT_TRUE(report.is_ok()) << report.status().message();
    EXPECT_EQ(report->intervals, 6);
    EXPECT_EQ(report->concealed_intervals, 1);
    EXPECT_EQ(report->first_problem.restart_interval(), 2) << report->first_problem.message();
    for (std::size_t c = 0; c < 3; ++c) {
      const int lines = c == 0 ? 16 : 8;  // of an interval
      for (int y = 0; y < planes[c].height; ++y) {
        if (y / lines == 2) continue;
        const auto at = static_cast<std::ptrdiff_t>(y) * planes[c].width;
        ASSERT_TRUE(std::equal(planes[c].samples.begin() + at,
                               planes[c].samples.begin() + at + planes[c].width,
                               expected[c].samples.begin() + at))
            << "component " << c << ", row " << y;
      }
    }
  }
  EXPECT_FALSE(decode(jpeg, true).is_ok());
}

/// Restart markers behind the last interval lose nothing of the image, and are named so.
TEST(DecodeStreams, SurplusIntervalsAreStrayBytes) {
  const Bytes jpeg = read_file(project_tests() / "hostile/rst_extra.jpg");
  std::vector<ComponentPlane> expected, planes;
  libjpeg_planes(jpeg, expected);
  const auto report = cpu_decoder().decode_planes(jpeg, planes);
  ASSERT_TRUE(report.is_ok()) << report.status().message();
  EXPECT_FALSE(report->is_concealed());
  EXPECT_EQ(report->first_problem.code(), Errc::extraneous_data);
  ASSERT_EQ(planes.size(), 1u);
  EXPECT_EQ(planes[0].samples, expected[0].samples);
}

/// A component that no scan has counts as concealed; the others are exact, it is grey.
TEST(DecodeStreams, UnsentComponentsAreConcealed) {
  const Bytes jpeg = read_file(project_tests() / "hostile/sos_two_of_three.jpg");
  std::vector<ComponentPlane> expected, planes;
  libjpeg_planes(jpeg, expected);
  const auto report = cpu_decoder().decode_planes(jpeg, planes);
  ASSERT_TRUE(report.is_ok()) << report.status().message();
  EXPECT_EQ(report->concealed_intervals, 1);
  EXPECT_EQ(report->intervals, 2);
  ASSERT_EQ(planes.size(), 3u);
  for (std::size_t c = 0; c < 2; ++c) EXPECT_EQ(planes[c].samples, expected[c].samples) << c;
  for (const std::uint8_t sample : planes[2].samples) ASSERT_EQ(sample, 128);
}

/// A whole interval is lost with its marker: the marker numbers tell which, and the rest keeps its
/// place.
TEST(DecodeStreams, LostIntervalDoesNotShiftTheOthers) {
  LibjpegOptions options;
  options.restart_rows = 1;
  const Bytes plain = libjpeg_sample(160, 96, Subsampling::s420, options);
  std::vector<ComponentPlane> expected, planes;
  ASSERT_TRUE(libjpeg_planes(plain, expected).clean());
  const std::vector<std::size_t> markers = restart_markers(plain);
  Bytes jpeg = plain;
  jpeg.erase(jpeg.begin() + static_cast<std::ptrdiff_t>(markers[1]),
             jpeg.begin() + static_cast<std::ptrdiff_t>(markers[2]));
  const auto report = cpu_decoder().decode_planes(jpeg, planes);
  ASSERT_TRUE(report.is_ok()) << report.status().message();
  EXPECT_EQ(report->concealed_intervals, 1);
  EXPECT_EQ(report->first_problem.code(), Errc::restart_out_of_order);
  const auto lines_equal = [&](int first, int last) {
    return std::equal(planes[0].samples.begin() + first * 160,
                      planes[0].samples.begin() + last * 160,
                      expected[0].samples.begin() + first * 160);
  };
  EXPECT_TRUE(lines_equal(0, 32));
  EXPECT_TRUE(lines_equal(48, 96));
}

}  // namespace
}  // namespace zerorun::test
