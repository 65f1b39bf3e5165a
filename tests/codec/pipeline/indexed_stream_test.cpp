// Streams with a scan index: the same stream otherwise, and entries that are what the stream has.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codec/pipeline/encode_setup.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::test {
namespace {

constexpr std::uint8_t kApp9 = 0xE9;
using Entry = std::pair<int, int>;  // bits, pairs

Bytes encoded(EncodeParams params, const ConstFrameView& frame) {
  params.backend = Backend::cpu;
  auto encoder = Encoder::create(params);
  EXPECT_TRUE(encoder.is_ok()) << encoder.status().message();
  Bytes out;
  const auto report = encoder->encode(frame, out);
  EXPECT_TRUE(report.is_ok()) << report.status().message();
  EXPECT_EQ(report->bytes, out.size());
  return out;
}

/// The entries of all APP9 segments, with what stands in front of them checked.
std::vector<Entry> written_entries(const Headers& headers, int group_mcus) {
  std::vector<Entry> entries;
  for (const Segment& segment : headers.segments) {
    if (segment.marker != kApp9) continue;
    const auto& p = segment.payload;
    EXPECT_EQ(std::memcmp(p.data(), "zerorun\0\1", 9), 0);
    EXPECT_EQ(1 << p[9], group_mcus);
    EXPECT_EQ(static_cast<std::size_t>(p[10] << 24 | p[11] << 16 | p[12] << 8 | p[13]),
              entries.size());
    for (std::size_t at = 14; at + 4 <= p.size(); at += 4)
      entries.push_back({p[at] << 8 | p[at + 1], p[at + 2] << 8 | p[at + 3]});
  }
  return entries;
}

/// Symbols of one stream bit by bit, as T.81 F.2.2 has it and nothing of the codec does.
class SlowScan {
 public:
  SlowScan(const Bytes& jpeg, const Headers& headers) : jpeg_(jpeg), at_(headers.data_offset) {
    for (const auto& [place, spec] : parse_tables(headers).huffman) {
      int code = 0;
      std::size_t value = 0;
      for (int length = 1; length <= 16; ++length, code <<= 1)
        for (int i = 0; i < spec.bits[static_cast<std::size_t>(length) - 1]; ++i)
          codes_[place][{length, code++}] = spec.values[value++];
    }
  }

  /// Counts a block.
  void block(int destination, Entry& entry) {
    take(symbol(0, destination));
    ++entry.second;
    for (int k = 1; k < 64; ++k) {
      const int rs = symbol(1, destination);
      if (rs == 0) break;
      k += rs >> 4;
      take(rs & 15);
      entry.second += (rs & 15) != 0;
    }
    entry.first += std::exchange(bits_, 0);
  }
  /// To the next RSTm or EOI, over padding; returns it.
  int end_interval() {
    while (left_ > 0) EXPECT_EQ(bit(), 1);
    bits_ = 0;
    EXPECT_EQ(byte(), 0xFF);
    return byte();
  }

 private:
  int byte() { return std::to_integer<int>(jpeg_.at(at_++)); }
  int bit() {
    if (left_ == 0) {
      current_ = byte();
      left_ = 8;
      if (current_ == 0xFF) {
        EXPECT_EQ(byte(), 0);
      }
    }
    ++bits_;
    return current_ >> --left_ & 1;
  }
  int symbol(int table_class, int destination) {
    const auto& codes = codes_.at({table_class, destination});
    int code = 0;
    for (int length = 1; length <= 16; ++length) {
      code = code << 1 | bit();
      if (const auto found = codes.find({length, code}); found != codes.end()) return found->second;
    }
    ADD_FAILURE() << "no codeword at byte " << at_;
    return 0;
  }
  void take(int count) {
    for (int i = 0; i < count; ++i) bit();
  }

  const Bytes& jpeg_;
  std::size_t at_;
  std::map<std::pair<int, int>, std::map<std::pair<int, int>, int>> codes_;
  int current_ = 0, left_ = 0, bits_ = 0;
};

std::vector<Entry> decoded_entries(const Bytes& jpeg, const Headers& headers,
                                   const ScanLayout& layout, int group_mcus) {
  SlowScan scan(jpeg, headers);
  std::vector<Entry> entries;
  for (std::int64_t mcu = 0, in_interval = 0; mcu < layout.mcus(); ++mcu, ++in_interval) {
    if (layout.restart_interval != 0 && in_interval == layout.restart_interval) {
      EXPECT_EQ(scan.end_interval() & 0xF8, 0xD0);
      in_interval = 0;
    }
    if (in_interval % group_mcus == 0) entries.push_back({0, 0});
    for (int b = 0; b < layout.blocks_per_mcu; ++b)
      scan.block(layout.block_component[b] == 0 ? 0 : 1, entries.back());
  }
  EXPECT_EQ(scan.end_interval(), 0xD9);
  return entries;
}

void expect_good_index(EncodeParams params, const ConstFrameView& frame) {
  params.index = false;
  const Bytes plain = encoded(params, frame);
  params.index = true;
  const Bytes indexed = encoded(params, frame);
  ASSERT_EQ(without_segments(indexed, kApp9), plain);
  for (const int threads : {1, 2, 5}) {
    params.threads = threads;
    ASSERT_EQ(encoded(params, frame), indexed) << threads << " threads";
  }
  const auto setup = make_encode_setup(params, frame.format, frame.width, frame.height);
  ASSERT_TRUE(setup.is_ok());
  const Headers headers = parse_headers(indexed);
  const int group = index_group_mcus(setup->layout);
  ASSERT_EQ(written_entries(headers, group),
            decoded_entries(indexed, headers, setup->layout, group));
  const auto bound = max_encoded_bytes(params, frame.format, frame.width, frame.height);
  params.index = false;
  const auto plain_bound = max_encoded_bytes(params, frame.format, frame.width, frame.height);
  ASSERT_TRUE(bound.is_ok() && plain_bound.is_ok());
  EXPECT_EQ(*bound - *plain_bound, indexed.size() - plain.size());
}

const RestartPolicy kRestarts[] = {
    RestartPolicy::none(),      RestartPolicy::mcus(1),   RestartPolicy::mcus(7),
    RestartPolicy::mcus(16),    RestartPolicy::mcus(300), RestartPolicy::mcu_rows(1),
    RestartPolicy::automatic(),
};

class IndexedStream : public testing::TestWithParam<Subsampling> {};

TEST_P(IndexedStream, HasWhatItsScanHas) {
  constexpr int kSizes[][2] = {{1, 1}, {40, 30}, {223, 161}};
  for (const RestartPolicy& restart : kRestarts)
    for (const HuffmanTables huffman : {HuffmanTables::standard, HuffmanTables::optimal})
      for (const Content content : {Content::photo, Content::flat, Content::extreme})
        for (const auto& [width, height] : kSizes) {
          EncodeParams params;
          params.subsampling = GetParam();
          params.restart = restart;
          params.huffman = huffman;
          const TestFrame frame = make_frame(content, PixelFormat::rgb24, width, height, 3);
          SCOPED_TRACE(testing::Message()
                       << width << "x" << height << " restart " << static_cast<int>(restart.kind)
                       << ":" << restart.count << " " << name(content));
          expect_good_index(params, frame.view());
          if (HasFatalFailure()) return;
        }
}

INSTANTIATE_TEST_SUITE_P(Samplings, IndexedStream, testing::ValuesIn(kAllSubsamplings));

/// Slices of 256 MCUs are parts of such intervals, and segments are full.
TEST(IndexedStreams, OfManyGroups) {
  for (const RestartPolicy& restart :
       {RestartPolicy::none(), RestartPolicy::mcus(257), RestartPolicy::mcus(1000)}) {
    EncodeParams params;
    params.restart = restart;
    params.quality = 100;
    const TestFrame frame = make_frame(Content::noise, PixelFormat::yuv444p, 1201, 901, 1);
    expect_good_index(params, frame.view());
  }
  EncodeParams params;
  params.restart = RestartPolicy::mcus(1);  // a group each
  const TestFrame frame = make_frame(Content::flat, PixelFormat::gray8, 1600, 1601, 1);
  expect_good_index(params, frame.view());
  params.index = true;
  EXPECT_EQ(parse_headers(encoded(params, frame.view())).count(kApp9), 3u);
}

TEST(IndexedStreams, DecodeAsTheOthersDo) {
  for (const Subsampling sampling : kAllSubsamplings)
    for (const RestartPolicy& restart : kRestarts) {
      EncodeParams params;
      params.subsampling = sampling;
      params.restart = restart;
      const TestFrame frame = make_frame(Content::photo, PixelFormat::rgb24, 223, 161, 3);
      DecodeParams decode;
      decode.backend = Backend::cpu;
      auto decoder = Decoder::create(decode);
      ASSERT_TRUE(decoder.is_ok());
      TestFrame plain(PixelFormat::rgb24, 223, 161), indexed = plain;
      ASSERT_TRUE(decoder->decode(encoded(params, frame.view()), plain.view()).is_ok());
      params.index = true;
      const auto report = decoder->decode(encoded(params, frame.view()), indexed.view());
      ASSERT_TRUE(report.is_ok());
      EXPECT_TRUE(report->first_problem.is_ok()) << report->first_problem.message();
      ASSERT_EQ(indexed.packed(), plain.packed());
    }
}

TEST(IndexedStreams, OneEncoderTakesFramesOfAllSizes) {
  EncodeParams params;
  params.backend = Backend::cpu;
  params.index = true;
  auto encoder = Encoder::create(params);
  ASSERT_TRUE(encoder.is_ok());
  for (const int size : {300, 20, 170, 300}) {
    const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, size, size, 3);
    Bytes out;
    ASSERT_TRUE(encoder->encode(frame.view(), out).is_ok());
    EXPECT_EQ(out, encoded(params, frame.view()));
  }
}

}  // namespace
}  // namespace zerorun::test
