// The scan index in a stream's header: what is written is found, and what is damaged is not.
// SPDX-License-Identifier: MIT
#include "codec/syntax/scan_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "codec/pipeline/encode_setup.hpp"
#include "codec/syntax/header_parser.hpp"
#include "codec/syntax/header_writer.hpp"
#include "codec/syntax/marker.hpp"

namespace zerorun::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Shape {
  int width = 200, height = 100;
  Subsampling sampling = Subsampling::s420;
  int restart_interval = 0;
};

EncodeSetup setup_of(const Shape& shape) {
  EncodeParams params;
  params.subsampling = shape.sampling;
  params.restart = shape.restart_interval == 0 ? RestartPolicy::none()
                                               : RestartPolicy::mcus(shape.restart_interval);
  auto setup = make_encode_setup(params, PixelFormat::yuv444p, shape.width, shape.height);
  EXPECT_TRUE(setup.is_ok()) << setup.status().message();
  return *setup;
}

/// SOI, `segments`, and all that stands before the entropy-coded data of such an image.
Bytes header_with(const Shape& shape, const Bytes& segments) {
  const EncodeSetup setup = setup_of(shape);
  EncodeParams params;
  params.jfif_header = false;
  std::array<HuffmanSpec, 4> specs;
  for (int t = 0; t < 4; ++t) specs[static_cast<std::size_t>(t)] = standard_huffman_spec(t);
  Bytes header;
  write_header(make_stream_header(params, setup, specs), header);
  header.insert(header.begin() + 2, segments.begin(), segments.end());
  return header;
}

std::optional<ScanIndexPlace> parsed(const Bytes& stream) {
  HeaderParser parser(std::as_bytes(std::span(stream)), StreamLimits{});
  EXPECT_TRUE(parser.start().is_ok());
  const auto scan = parser.next_scan();
  EXPECT_TRUE(scan.is_ok()) << scan.status().message();
  EXPECT_TRUE(parser.problem().is_ok()) << parser.problem().message();
  return parser.scan().index;
}

/// Segments for `groups` groups of `group_mcus` MCUs.
Bytes segments_of(int group_mcus, std::int64_t groups) {
  Bytes out;
  append_index_segments(group_mcus, static_cast<std::uint32_t>(groups), out);
  return out;
}

/// The right segments of such an image, with groups of 4 MCUs.
Bytes good_segments(const Shape& shape) {
  return segments_of(4, index_groups(setup_of(shape).layout, 4));
}

constexpr std::size_t kFullSegment = 4 + kIndexLeadBytes + kIndexEntryBytes * kIndexSegmentEntries;
// With groups of one MCU two segments are full, and a third has the rest.
constexpr Shape kThreeSegments{8 * 180, 8 * 190, Subsampling::gray, 0};

Bytes three_segments() {
  const Bytes segments = segments_of(1, 180 * 190);
  EXPECT_GT(segments.size(), 2 * kFullSegment);
  EXPECT_LT(segments.size(), 3 * kFullSegment);
  return segments;
}

TEST(ScanIndex, GroupsAreCountedAnewInEveryInterval) {
  for (const int interval : {0, 1, 2, 3, 4, 5, 31, 32, 33, 90, 91, 92, 1000})
    for (const int group : {1, 2, 4, 8, 16, 32}) {
      ScanLayout layout{};
      layout.mcus_wide = 13;
      layout.mcus_high = 7;
      layout.restart_interval = interval;
      std::int64_t groups = 0, in_interval = 0, in_group = 0;
      for (int mcu = 0; mcu < 91; ++mcu) {
        if (interval != 0 && in_interval == interval) in_interval = in_group = 0;
        if (in_group == 0) ++groups;
        in_group = (in_group + 1) % group;
        ++in_interval;
      }
      EXPECT_EQ(index_groups(layout, group), groups) << interval << " " << group;
    }
}

TEST(ScanIndex, OurGroupsAreLegal) {
  for (int blocks = 1; blocks <= kMaxBlocksPerMcu; ++blocks) {
    ScanLayout layout{};
    layout.blocks_per_mcu = blocks;
    const int group = index_group_mcus(layout);
    EXPECT_GE(group, 1);
    EXPECT_LE(group, 1 << kMaxIndexGroupLog2);
    EXPECT_EQ(group & (group - 1), 0);
    EXPECT_LE(group * blocks, kMaxIndexGroupBlocks);
    EXPECT_TRUE(group * blocks <= 12 || group == 1);
    EXPECT_GT(2 * group * blocks, 12);
  }
}

TEST(ScanIndex, IsFoundInEveryShapeOfImage) {
  for (const Subsampling sampling :
       {Subsampling::gray, Subsampling::s420, Subsampling::s422, Subsampling::s444})
    for (const int interval : {0, 1, 3, 4, 7, 60})
      for (const int size : {1, 8, 65, 333}) {
        const Shape shape{size, size / 2 + 1, sampling, interval};
        const ScanLayout layout = setup_of(shape).layout;
        const int group = index_group_mcus(layout);
        const Bytes header = header_with(shape, segments_of(group, index_groups(layout, group)));
        const auto place = parsed(header);
        ASSERT_TRUE(place.has_value()) << size << " " << interval;
        EXPECT_EQ(place->offset, 2 + 4 + kIndexLeadBytes);
        EXPECT_EQ(place->group_mcus, group);
        EXPECT_EQ(place->groups, index_groups(layout, group));
      }
}

TEST(ScanIndex, EntriesAreReadWhereTheyWereWritten) {
  std::mt19937 random(1);
  std::vector<IndexEntry> entries(180 * 190);
  for (IndexEntry& entry : entries)
    entry = {static_cast<std::uint16_t>(random()), static_cast<std::uint16_t>(random())};
  Bytes segments;
  const auto written = append_index_segments(1, 180 * 190, segments);
  fill_index(written, entries, segments);
  EXPECT_EQ(segments.size(), index_segment_bytes(entries.size()));
  const Bytes header = header_with(kThreeSegments, segments);
  const auto place = parsed(header);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->offset, 2 + written.offset);
  // By the lengths of the segments, not by the function that says where an entry lies.
  std::size_t at = 2, entry = 0;
  while (header[at + 1] == 0xE9) {
    const std::size_t end = at + 2 + static_cast<std::size_t>(header[at + 2] << 8 | header[at + 3]);
    for (at += 4 + kIndexLeadBytes; at < end; at += 4, ++entry) {
      ASSERT_EQ(index_entry_offset(*place, entry), at);
      ASSERT_EQ(header[at] << 8 | header[at + 1], entries[entry].bits);
      ASSERT_EQ(header[at + 2] << 8 | header[at + 3], entries[entry].pairs);
    }
  }
  EXPECT_EQ(entry, entries.size());
}

TEST(ScanIndex, FullSegmentsMayEndTheIndex) {
  Bytes segments;
  append_index_segments(1, 2 * kIndexSegmentEntries, segments);
  EXPECT_EQ(segments.size(), 2 * kFullSegment);
  static_assert(kIndexSegmentEntries == 11 * 1489);
  const Shape shape{8 * 22, 8 * 1489, Subsampling::gray, 0};
  EXPECT_TRUE(parsed(header_with(shape, segments)).has_value());
  Bytes empty = segments_of(1, 1);  // and nothing may come behind, not even without an entry
  empty.resize(4 + kIndexLeadBytes);
  empty[3] = 2 + kIndexLeadBytes;
  empty[4 + 12] = static_cast<std::uint8_t>(2 * kIndexSegmentEntries >> 8);
  empty[4 + 13] = static_cast<std::uint8_t>(2 * kIndexSegmentEntries);
  segments.insert(segments.end(), empty.begin(), empty.end());
  EXPECT_FALSE(parsed(header_with(shape, segments)).has_value());
}

TEST(ScanIndex, OfALargeImageIsWithinTheLimitOfHeaders) {
  const Shape shape{16384, 16384 / 2, Subsampling::s444, 1};  // 2^27 pixels: the default's most
  const ScanLayout layout = setup_of(shape).layout;
  const Bytes header = header_with(shape, segments_of(8, index_groups(layout, 8)));
  EXPECT_GT(header.size(), std::size_t{8} << 20);
  const auto place = parsed(header);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->groups, 2048u * 1024u);
  EXPECT_LE(index_entry_offset(*place, place->groups), header.size());
}

TEST(ScanIndex, OtherSegmentsAroundItDoNotMatter) {
  const Bytes foreign = {0xFF, 0xE9, 0, 6, 'z', 'e', 'r', 'o'};
  Bytes segments = foreign;
  const Bytes good = good_segments({});
  segments.insert(segments.end(), good.begin(), good.end());
  segments.insert(segments.end(), foreign.begin(), foreign.end());
  const auto place = parsed(header_with({}, segments));
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->offset, 2 + foreign.size() + 4 + kIndexLeadBytes);
}

TEST(ScanIndex, AnotherAPP9IsNone) {
  EXPECT_FALSE(parsed(header_with({}, {})).has_value());
  Bytes segments = good_segments({});
  segments[4] = 'Z';
  EXPECT_FALSE(parsed(header_with({}, segments)).has_value());
  segments = good_segments({});
  segments[1] = 0xE8;
  EXPECT_FALSE(parsed(header_with({}, segments)).has_value());
}

TEST(ScanIndex, DamagedLeadsAreNone) {
  constexpr std::size_t kVersionAt = 4 + 8, kLog2At = 4 + 9, kFirstAt = 4 + 10;
  const auto with = [](std::size_t at, std::uint8_t value) {
    Bytes segments = good_segments({});
    segments[at] = value;
    return parsed(header_with({}, segments));
  };
  EXPECT_TRUE(with(kVersionAt, 1).has_value());
  EXPECT_FALSE(with(kVersionAt, 0).has_value());
  EXPECT_FALSE(with(kVersionAt, 2).has_value());
  EXPECT_TRUE(with(kLog2At, 2).has_value());
  for (const int log2 : {0, 1, 3, 5, 6, 31, 32, 64, 255})
    EXPECT_FALSE(with(kLog2At, static_cast<std::uint8_t>(log2)).has_value()) << log2;
  for (std::size_t b = 0; b < 4; ++b) EXPECT_FALSE(with(kFirstAt + b, 1).has_value()) << b;
}

TEST(ScanIndex, GroupsOfTooManyBlocksAreNone) {
  // Six blocks an MCU: 8 MCUs would overflow a group's 16 bits.
  const ScanLayout layout = setup_of({}).layout;
  EXPECT_TRUE(parsed(header_with({}, segments_of(4, index_groups(layout, 4)))).has_value());
  EXPECT_FALSE(parsed(header_with({}, segments_of(8, index_groups(layout, 8)))).has_value());
  const Shape gray{200, 100, Subsampling::gray, 0};
  const ScanLayout gray_layout = setup_of(gray).layout;
  for (const int group : {1, 2, 4, 8, 16, 32})
    EXPECT_TRUE(parsed(header_with(gray, segments_of(group, index_groups(gray_layout, group)))));
  EXPECT_FALSE(parsed(header_with(gray, segments_of(64, index_groups(gray_layout, 64)))));
}

TEST(ScanIndex, AWrongNumberOfGroupsIsNone) {
  const std::int64_t groups = index_groups(setup_of({}).layout, 4);
  EXPECT_FALSE(parsed(header_with({}, segments_of(4, groups - 1))).has_value());
  EXPECT_FALSE(parsed(header_with({}, segments_of(4, groups + 1))).has_value());
  EXPECT_FALSE(parsed(header_with({200, 100, Subsampling::s420, 5}, segments_of(4, groups))));
  Bytes segments = good_segments({});
  segments.resize(4 + kIndexLeadBytes);  // no entry at all
  segments[2] = 0;
  segments[3] = 2 + kIndexLeadBytes;
  EXPECT_FALSE(parsed(header_with({}, segments)).has_value());
}

TEST(ScanIndex, ASegmentCutAnywhereIsNone) {
  const Bytes good = good_segments({});
  for (std::size_t size = 4; size < good.size(); ++size) {
    Bytes segments(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    segments[2] = static_cast<std::uint8_t>((size - 2) >> 8);
    segments[3] = static_cast<std::uint8_t>(size - 2);
    ASSERT_FALSE(parsed(header_with({}, segments)).has_value()) << size;
  }
}

TEST(ScanIndex, BytesBehindTheLastEntryMakeItNone) {
  for (std::size_t more = 1; more < kIndexEntryBytes; ++more) {
    Bytes segments = good_segments({});
    segments.resize(segments.size() + more);
    segments[3] = static_cast<std::uint8_t>(segments[3] + more);
    EXPECT_FALSE(parsed(header_with({}, segments)).has_value()) << more;
  }
}

TEST(ScanIndex, SegmentsStandDirectlyBehindEachOtherInTheirOrder) {
  const Bytes good = three_segments();
  EXPECT_TRUE(parsed(header_with(kThreeSegments, good)).has_value());
  const auto cut = [&](std::size_t begin, std::size_t end) {
    return std::span(good).subspan(
        begin * kFullSegment, std::min(end * kFullSegment, good.size()) - begin * kFullSegment);
  };
  const auto joined = [](std::initializer_list<std::span<const std::uint8_t>> parts) {
    Bytes all;
    for (const auto part : parts) all.insert(all.end(), part.begin(), part.end());
    return parsed(header_with(kThreeSegments, all)).has_value();
  };
  const std::array<std::uint8_t, 4> comment = {0xFF, 0xFE, 0, 2};
  const std::array<std::uint8_t, 1> fill = {0xFF};
  EXPECT_TRUE(joined({comment, fill, cut(0, 3), fill, comment}));
  EXPECT_FALSE(joined({cut(0, 1), comment, cut(1, 3)}));
  EXPECT_FALSE(joined({cut(0, 1), fill, cut(1, 3)}));
  EXPECT_FALSE(joined({cut(1, 2), cut(0, 1), cut(2, 3)}));
  EXPECT_FALSE(joined({cut(0, 1), cut(2, 3)}));
  EXPECT_FALSE(joined({cut(0, 2)}));
  EXPECT_FALSE(joined({cut(1, 3)}));
  EXPECT_FALSE(joined({cut(0, 2), cut(1, 3)}));
  EXPECT_FALSE(joined({cut(0, 3), cut(0, 3)}));
  EXPECT_FALSE(joined({cut(0, 3), cut(0, 1)}));
}

TEST(ScanIndex, SegmentsThatAreNotFullMayNotBeFollowed) {
  // The same entries in segments of another size: their places could not be computed.
  const std::int64_t groups = index_groups(setup_of({}).layout, 4);
  Bytes segments = segments_of(4, groups - 1), last = segments_of(4, 1);
  last[4 + 13] = static_cast<std::uint8_t>(groups - 1);
  segments.insert(segments.end(), last.begin(), last.end());
  EXPECT_FALSE(parsed(header_with({}, segments)).has_value());
}

TEST(ScanIndex, SegmentsOfDifferentGroupsAreNone) {
  Bytes segments = three_segments();
  segments[kFullSegment + 4 + 9] = 1;
  EXPECT_FALSE(parsed(header_with(kThreeSegments, segments)).has_value());
}

/// SOS of `components`, put in the place of the one of a header.
Bytes with_scan_of(Bytes header, std::initializer_list<std::uint8_t> components) {
  header.resize(header.size() - (2 + 2 + 1 + 2 * 3 + 3));
  const auto count = static_cast<std::uint8_t>(components.size());
  header.insert(header.end(), {0xFF, 0xDA, 0, static_cast<std::uint8_t>(6 + 2 * count), count});
  for (const std::uint8_t id : components)
    header.insert(header.end(), {id, static_cast<std::uint8_t>(id == 1 ? 0x00 : 0x11)});
  header.insert(header.end(), {0, 63, 0});
  return header;
}

TEST(ScanIndex, ImagesOfSeveralScansHaveNone) {
  const Shape shape{16, 16, Subsampling::s444, 0};
  const Bytes header = header_with(shape, segments_of(4, 1));
  EXPECT_TRUE(parsed(with_scan_of(header, {1, 2, 3})).has_value());
  EXPECT_FALSE(parsed(with_scan_of(header, {1})).has_value());
  EXPECT_FALSE(parsed(with_scan_of(header, {1, 2})).has_value());
}

/// It has all components, so that no other one is read.
TEST(ScanIndex, OnlyTheFirstScanHasOne) {
  const Shape shape{16, 16, Subsampling::s444, 0};
  Bytes stream = header_with(shape, segments_of(4, 1));
  const std::size_t first_data = stream.size();
  const Bytes again = {0xFF, 0xDA, 0, 12, 3, 1, 0x00, 2, 0x11, 3, 0x11, 0, 63, 0};
  stream.insert(stream.end(), again.begin(), again.end());
  HeaderParser parser(std::as_bytes(std::span(stream)), StreamLimits{});
  ASSERT_TRUE(parser.start().is_ok());
  ASSERT_TRUE(parser.next_scan().is_ok());
  EXPECT_TRUE(parser.scan().index.has_value());
  parser.resume_at(first_data);
  const auto second = parser.next_scan();
  ASSERT_TRUE(second.is_ok()) << second.status().message();
  EXPECT_FALSE(*second);
  EXPECT_EQ(parser.problem().code(), Errc::extraneous_data);
}

}  // namespace
}  // namespace zerorun::test
