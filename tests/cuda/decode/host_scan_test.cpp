// The GPU decoder's algorithm on whole scans: it gives the levels of the CPU's stages, finds a
// fault wherever they do, and synchronises from any state. The staged decoder's algorithm gives the
// stages' pairs and finds the same faults in the same places.
// SPDX-License-Identifier: MIT
#include "tests/cuda/decode/host_scan.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "cuda/stages/huffman_sync.cuh"
#include "tests/cuda/decode/staged_scan.hpp"
#include "tests/cuda/decode/random_scan.hpp"
#include "tests/support/encode_params.hpp"
#include "tests/support/test_data.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

std::optional<CleanScan> scan_of(Content content, int width, int height,
                                 const EncodeParams& params) {
  const TestFrame frame = make_frame(content, PixelFormat::rgb24, width, height, 7);
  return encoded_scan(frame.view(), params);
}

/// Whether each found a fault in a scan.
struct Faults {
  bool stage_fault = false, fast_fault = false;
};

Faults compare(const CleanScan& scan) {
  const StageScan stages = decode_by_stages(scan);
  const FastScan fast = decode_fast(scan);
  const char* const wrong = contradiction(stages, fast);
  EXPECT_EQ(wrong, nullptr) << wrong << ", faults " << std::hex << fast.faults;
  for (const std::int32_t bits : {32, kSyncSubsequenceBits}) {
    const char* const staged = staged_contradiction(scan, stages, bits);
    EXPECT_EQ(staged, nullptr) << "the staged decoder: " << staged;
  }
  return {stages.fault, fast.faults != 0};
}

void expect_sound(const std::optional<CleanScan>& scan) {
  ASSERT_TRUE(scan);
  const Faults found = compare(*scan);
  EXPECT_FALSE(found.stage_fault);
  EXPECT_FALSE(found.fast_fault);
}

TEST(FastScan, EverySamplingTableRestartAndQuality) {
  for_all_params({1, 50, 90, 100}, [](const EncodeParams& params) {
    expect_sound(scan_of(Content::photo, 203, 117, params));
  });
}

TEST(FastScan, EveryContentAndSize) {
  for (const Content content : kContents)
    for (const int size : {1, 8, 9, 17, 64, 300})
      for (const auto huffman : {HuffmanTables::standard, HuffmanTables::optimal}) {
        SCOPED_TRACE(testing::Message() << name(content) << " " << size);
        expect_sound(
            scan_of(content, size, size + 5, params_of(100, RestartPolicy::none(), huffman)));
        if (testing::Test::HasFailure()) return;
      }
}

TEST(FastScan, RandomTablesAndSymbols) {
  Random random(21);
  for (int turn = 0; turn < 400; ++turn) {
    SCOPED_TRACE(testing::Message() << "turn " << turn);
    const Faults found = compare(random_scan(random));
    ASSERT_FALSE(found.stage_fault);
    ASSERT_FALSE(found.fast_fault);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(FastScan, DamageIsAFaultWhereTheStagesHaveOne) {
  Random random(22);
  int faults = 0, sound = 0;
  for (int turn = 0; turn < 6000; ++turn) {
    SCOPED_TRACE(testing::Message() << "turn " << turn);
    CleanScan scan = random_scan(random);
    const auto bytes = static_cast<int>(scan.bytes.size());
    const auto at = [&] { return static_cast<std::size_t>(random.below(bytes)); };
    for (int n = random.between(1, 3); n > 0; --n) {
      switch (random.below(4)) {
        case 0:
          scan.bytes[at()] = random.byte();
          break;
        case 1:
          scan.bytes[at()] ^= static_cast<std::uint8_t>(1 << random.below(8));
          break;
        case 2:  // a restart marker elsewhere, perhaps with nothing between it and the next one
          if (scan.interval_first.size() > 2) {
            const auto i = static_cast<std::size_t>(
                random.between(1, static_cast<int>(scan.interval_first.size()) - 2));
            const int low = static_cast<int>(scan.interval_first[i - 1]);
            const int high = static_cast<int>(scan.interval_first[i + 1]);
            scan.interval_first[i] = static_cast<std::uint32_t>(
                random.below(2) == 0 ? random.between(low, high)
                                     : (random.below(2) == 0 ? low : high));
          }
          break;
        default:  // the scan ends early
          if (random.below(8) == 0) {
            const auto end = static_cast<std::uint32_t>(at());
            for (auto& first : scan.interval_first) first = std::min(first, end);
            scan.bytes.resize(end);
            n = 0;
          }
      }
    }
    const Faults found = compare(scan);
    (found.fast_fault ? faults : sound) += 1;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(faults, 1000);
  EXPECT_GT(sound, 1000);
}

TEST(FastScan, Corpus) {
  const auto data = test_data();
  if (!data) GTEST_SKIP() << kNoTestData;
  int sound = 0, faults = 0;
  for (const Row& row : read_tsv(*data / "MANIFEST.tsv")) {
    const std::string& kind = row.at("class");
    if (kind == "container" || kind.starts_with("source")) continue;
    SCOPED_TRACE(row.at("path"));
    const auto scan = read_scan(read_file(*data / row.at("path")));
    if (!scan) continue;
    const Faults found = compare(*scan);
    if (kind == "valid") {  // the GPU decodes every good scan of any encoder
      EXPECT_EQ(found.fast_fault, found.stage_fault);
    }
    (found.fast_fault ? faults : sound) += 1;
  }
  RecordProperty("sound", sound);
  RecordProperty("faults", faults);
  EXPECT_GT(sound, 200);
}

/// From every bit of some subsequences, in any state, a walk comes to an end of a subsequence in
/// the true state.
TEST(FastScan, WrongStatesMeetTheTrueOne) {
  Random random(23);
  for (const Subsampling sampling : kAllSubsamplings)
    for (const auto huffman : {HuffmanTables::standard, HuffmanTables::optimal}) {
      SCOPED_TRACE(testing::Message() << name(sampling));
      const auto scan = scan_of(Content::photo, 640, 480,
                                params_of(90, RestartPolicy::none(), huffman, sampling));
      ASSERT_TRUE(scan);
      const PairCycle cycle = make_pair_cycle(scan->header.layout);
      const auto tables = make_host_tables(tables_of(scan->header, cycle));
      const HostTables on_host{tables.get(), cycle};
      const auto words = words_of(scan->bytes);
      const auto subs = subsequences_of(*scan, on_host, words);
      const std::uint32_t end = scan->interval_first[1] * 8;
      for (int turn = 0; turn < 4; ++turn) {
        const auto sub =
            static_cast<std::uint32_t>(random.below(static_cast<int>(subs.size() / 4)));
        for (std::uint32_t offset = 0; offset < kSubsequenceBits; ++offset) {
          Walk walk{sub * kSubsequenceBits + offset,
                    static_cast<std::uint32_t>(random.below(cycle.period)),
                    static_cast<std::uint32_t>(random.below(kBlockSize))};
          std::size_t at = sub;
          do {
            const auto stop = static_cast<std::uint32_t>(at + 1) * kSubsequenceBits;
            (void)test::skip(words, on_host, {std::min(stop, end), end}, walk);
            ++at;
          } while (at < subs.size() && walk != subs[at].entry);
          ASSERT_LT(at, subs.size()) << "subsequence " << sub << ", bit " << offset;
        }
      }
    }
}

}  // namespace
}  // namespace zerorun::test
