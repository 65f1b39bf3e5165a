// Streams with an index of their scan: the index is used, a wrong one is noticed, and samples and
// reports are the CPU's either way.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "codec/pipeline/decode_walk.hpp"
#include "cuda/decode/cuda_decode_pipeline.hpp"
#include "tests/cuda/decode/decoder_pair.hpp"
#include "tests/cuda/device_array.hpp"
#include "tests/cuda/device_twin.hpp"
#include "tests/support/encode_params.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/index_stream.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/random.hpp"
#include "tests/support/test_data.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::test {
namespace {

/// How a scan was decoded.
enum class Path { index, subsequences, subsequences_after_index, careful_after_index, other };

std::ostream& operator<<(std::ostream& out, Path path) {
  const char* const names[] = {"by the index", "by subsequences", "by subsequences after the index",
                               "carefully after the index", "otherwise"};
  return out << names[static_cast<int>(path)];
}

class IndexPathParity : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    pair_ = std::make_unique<DecoderPair>();
    ASSERT_TRUE(pair_->ready());
    auto device = DeviceDecoder::create();
    ASSERT_TRUE(device) << device.status().message();
    device_ = std::make_unique<DeviceDecoder>(*std::move(device));
    ASSERT_TRUE(stream_.create());
    ASSERT_TRUE(pipeline_.create());
    pipeline_.observe([this](const char* step) {
      steps_.push_back(step);
      return Status::ok();
    });
  }

  /// Checks samples and reports of every interface; returns the path of the last scan.
  Path decode(const Jpeg& jpeg) {
    const Compared planes = pair_->planes(jpeg);
    EXPECT_EQ(planes.difference, "");
    if (!planes.report) return Path::other;
    decode_from_device(jpeg);
    const Path path = decode_steps(jpeg);
    const bool careful = path == Path::careful_after_index || path == Path::other;
    EXPECT_EQ(planes.report->slow_scans, careful ? 1 : 0);
    return path;
  }

  std::unique_ptr<DecoderPair> pair_;

 private:
  bool has(const char* step) const { return std::ranges::find(steps_, step) != steps_.end(); }

  Path decode_steps(const Jpeg& jpeg) {
    steps_.clear();
    std::vector<ComponentPlane> expected, found;
    const auto cpu = pair_->cpu().decode_planes(jpeg, expected);
    const auto report = walk_image(
        pipeline_, {}, jpeg,
        [&](const HeaderParser& parser) {
          return pipeline_.begin_planes(parser.frame(), nullptr, false);
        },
        [&](const HeaderParser&) { return pipeline_.finish_planes(found); });
    EXPECT_EQ(difference(cpu, report), "");
    EXPECT_EQ(expected.size(), found.size());
    for (std::size_t c = 0; c < std::min(expected.size(), found.size()); ++c)
      EXPECT_EQ(expected[c].samples, found[c].samples) << "component " << c;
    const bool groups = has("decode_groups"), subsequences = has("sync_subsequences"),
               careful = has("huffman_decode");
    if (groups && careful) return Path::careful_after_index;
    if (careful) return Path::other;
    return groups && subsequences ? Path::subsequences_after_index
           : groups               ? Path::index
                                  : Path::subsequences;
  }

  void decode_from_device(const Jpeg& jpeg) {
    const auto info = inspect(jpeg);
    ASSERT_TRUE(info);
    TestFrame expected(PixelFormat::rgb24, info->width, info->height, Layout::padded);
    TestFrame found(PixelFormat::rgb24, info->width, info->height, Layout::padded);
    const auto report = pair_->cpu().decode(jpeg, expected.view());
    ASSERT_TRUE(report);
    const DeviceArray<std::byte> on_device(jpeg);
    DeviceTwin twin(found);
    const auto result =
        device_->decode_device(on_device.data(), jpeg.size(), twin.view(), stream_.get());
    ASSERT_EQ(difference(report, result), "");
    twin.download();
    EXPECT_TRUE(found == expected) << "other samples";
  }

  std::unique_ptr<DeviceDecoder> device_;
  zerorun::Stream stream_;
  CudaDecodePipeline pipeline_{0};
  std::vector<std::string> steps_;
};

TEST_F(IndexPathParity, OurStreamsAreDecodedByTheirIndex) {
  for_all_params({1, 90, 100}, [this](EncodeParams params) {
    params.index = true;
    EXPECT_EQ(decode(encode(Content::photo, 203, 117, params)), Path::index);
    params.index = false;
    const Path path = decode(encode(Content::photo, 203, 117, params));
    const bool no_room = has_little_shared_memory() && path == Path::other;
    EXPECT_EQ(path, no_room ? Path::other : Path::subsequences);
  });
}

/// Also noise at quality 100, whose subsequences hardly synchronise, and which leaves no room for
/// the bits in shared memory.
TEST_F(IndexPathParity, EveryContentSizeAndGroup) {
  for (const Content content : kContents)
    for (const int size : {1, 8, 9, 17, 64, 500}) {
      EncodeParams params;
      params.restart = RestartPolicy::none();
      params.quality = 100;
      const Jpeg jpeg = encode(content, size, size + 5, params);
      for (const int mcus : {1, 2, 4}) {
        SCOPED_TRACE(testing::Message() << name(content) << " " << size << ", groups of " << mcus);
        const auto indexed = with_index(jpeg, mcus);
        ASSERT_TRUE(indexed);
        EXPECT_EQ(decode(indexed->jpeg), Path::index);
        if (HasFailure()) return;
      }
    }
}

TEST_F(IndexPathParity, LargeFramesWithManySegments) {
  for (const Content content : {Content::photo, Content::noise, Content::flat}) {
    SCOPED_TRACE(name(content));
    EncodeParams params;
    params.index = true;
    const Jpeg jpeg = encode(content, 3840, 2160, params);
    EXPECT_EQ(decode(jpeg), Path::index);
    const auto single = with_index(encode(content, 3840, 2160, {}), 1);
    ASSERT_TRUE(single);
    ASSERT_GT(single->entries.size(), 2 * kIndexSegmentEntries - 500);
    EXPECT_EQ(decode(single->jpeg), Path::index);
  }
}

/// A stream in which no group is like another, and its groups.
IndexedStream make_indexed(const RestartPolicy& restart) {
  EncodeParams params;
  params.restart = restart;
  auto indexed = with_index(encode(Content::photo, 333, 222, params), 2);
  EXPECT_TRUE(indexed);
  return *std::move(indexed);
}

TEST_F(IndexPathParity, AWrongIndexIsNoticed) {
  for (const auto& restart : {RestartPolicy::none(), RestartPolicy::mcus(7)}) {
    const IndexedStream sound = make_indexed(restart);
    ASSERT_EQ(decode(sound.jpeg), Path::index);
    const auto expect_subsequences = [&](const char* what, const std::vector<IndexEntry>& entries) {
      SCOPED_TRACE(what);
      IndexedStream wrong = sound;
      wrong.set(entries);
      EXPECT_EQ(decode(wrong.jpeg), Path::subsequences_after_index);
      EXPECT_EQ(decode(sound.jpeg), Path::index);
    };
    const auto change = [&](const char* what, auto&& changed) {
      std::vector<IndexEntry> entries = sound.entries;
      changed(entries);
      expect_subsequences(what, entries);
    };
    const std::size_t last = sound.entries.size() - 1;
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}, last / 2, last}) {
      SCOPED_TRACE(testing::Message() << "entry " << i);
      change("a bit more", [&](auto& e) { ++e[i].bits; });
      change("a bit less", [&](auto& e) { --e[i].bits; });
      change("a pair more", [&](auto& e) { ++e[i].pairs; });
      change("a pair less", [&](auto& e) { --e[i].pairs; });
      change("nothing", [&](auto& e) { e[i] = {0, 0}; });
      change("the most", [&](auto& e) { e[i] = {65535, 65535}; });
    }
    change("two exchanged", [](auto& e) { std::swap(e[2], e[3]); });
    change("one pair handed on", [](auto& e) { ++e[2].pairs, --e[3].pairs; });
    change("one bit handed on", [](auto& e) { ++e[2].bits, --e[3].bits; });
    expect_subsequences("zeros", std::vector<IndexEntry>(last + 1));
    expect_subsequences("ones", std::vector<IndexEntry>(last + 1, {65535, 65535}));
    Random random(51);
    change("anything", [&](auto& e) {
      for (auto& entry : e)
        entry = {static_cast<std::uint16_t>(random.next()),
                 static_cast<std::uint16_t>(random.next())};
    });
    change("that of another picture", [&](auto& e) { std::ranges::reverse(e); });
  }
}

/// Sums of many entries of 65,535 overflow their fields.
TEST_F(IndexPathParity, SumsThatOverflowAreNoticed) {
  auto indexed = with_index(encode(Content::flat, 4096, 4096, {}), 1);
  ASSERT_TRUE(indexed);
  indexed->set(std::vector<IndexEntry>(indexed->entries.size(), {65535, 65535}));
  EXPECT_EQ(decode(indexed->jpeg), Path::subsequences_after_index);
}

/// Damaged data with the index of the data before the damage.
TEST_F(IndexPathParity, DamagedDataAreTheStages) {
  for (const auto& restart : {RestartPolicy::none(), RestartPolicy::mcus(7)}) {
    const IndexedStream sound = make_indexed(restart);
    const std::size_t scan = parse_headers(sound.jpeg).data_offset;
    Random random(52);
    int careful = 0;
    for (int turn = 0; turn < 60; ++turn) {
      SCOPED_TRACE(turn);
      Jpeg jpeg = sound.jpeg;
      const auto at =
          scan + static_cast<std::size_t>(random.below(static_cast<int>(jpeg.size() - scan - 2)));
      if (turn % 3 == 0)
        jpeg.resize(at);
      else if (turn % 3 == 1)
        jpeg[at] ^= std::byte{1} << random.below(8);
      else
        jpeg.erase(jpeg.begin() + static_cast<std::ptrdiff_t>(at));
      const Path path = decode(jpeg);
      if (path == Path::careful_after_index) ++careful;
      if (HasFailure()) return;
    }
    EXPECT_GT(careful, 20);
  }
}

TEST_F(IndexPathParity, SoundStreamsOfTheCorpusWithAnIndex) {
  const auto data = test_data();
  if (!data) GTEST_SKIP() << kNoTestData;
  int indexed_streams = 0;
  for (const Row& row : read_tsv(*data / "MANIFEST.tsv")) {
    if (row.at("class") != "valid") continue;
    SCOPED_TRACE(row.at("path"));
    const Jpeg jpeg = read_file(*data / row.at("path"));
    const Compared plain = pair_->planes(jpeg);
    if (!plain.report || !plain.report->first_problem.is_ok() || plain.report->slow_scans > 0)
      continue;
    const auto indexed = with_index(jpeg, 2);
    if (!indexed) continue;
    EXPECT_EQ(decode(indexed->jpeg), Path::index);
    ++indexed_streams;
  }
  EXPECT_GT(indexed_streams, 100);
}

}  // namespace
}  // namespace zerorun::test
