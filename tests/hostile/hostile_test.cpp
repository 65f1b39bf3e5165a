// The crafted streams of hostile.tsv, one for each known class of decoder bug.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <initializer_list>
#include <string>

#include <gtest/gtest.h>

#include "tests/hostile/survival.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/libjpeg_encode.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/sha256.hpp"
#include "tests/support/test_data.hpp"

namespace zerorun::test {
namespace {

const std::vector<Row>& table() {
  static const std::vector<Row> rows = read_tsv(project_tests() / "hostile/hostile.tsv");
  return rows;
}

TEST(Hostile, EveryStreamIsSurvived) {
  ASSERT_GT(table().size(), 100u);
  for (const Row& row : table()) {
    const std::string file = row.at("file");
    const Bytes jpeg = read_file(project_tests() / "hostile" / file);
    const Outcome outcome = survive(jpeg, file);
    const bool known = row.at("coef_sha256") != "-";
    if (known && outcome.delivered() && !outcome.concealed() && row.at("libjpeg") == "ok") {
      EXPECT_EQ(sha256(outcome.coefficients), row.at("coef_sha256"))
          << file << ": " << row.at("reason");
    }
    // A stream that libjpeg refuses or warns of is not clean for us either.
    if (row.at("libjpeg") != "ok") {
      EXPECT_FALSE(outcome.clean()) << file << ": " << row.at("reason");
    }
  }
}

/// The header is enough to refuse bombs: nothing is allocated for them.
TEST(Hostile, BombsAreRefusedFromTheHeader) {
  for (const char* file : {"bomb_65535x65535.jpg", "bomb_65500x65500.jpg", "bomb_46341x46341.jpg",
                           "bomb_32768x32768.jpg", "bomb3_65535x65535.jpg"}) {
    const Bytes jpeg = read_file(project_tests() / "hostile" / file);
    DecodeParams params;
    params.backend = Backend::cpu;
    auto decoder = Decoder::create(params);
    ASSERT_TRUE(decoder.is_ok());
    std::vector<ComponentPlane> planes;
    double best = time_limit(1);
    std::size_t memory_bytes = 0;
    for (int attempt = 0; attempt < 3; ++attempt) {
      const PeakMemory memory;
      const double start = process_seconds();
      EXPECT_EQ(decoder->decode_planes(jpeg, planes).status().code(), Errc::too_many_pixels)
          << file;
      best = std::min(best, process_seconds() - start);
      memory_bytes = std::max(memory_bytes, memory.growth_bytes());
    }
    EXPECT_LT(best, time_limit(0.010)) << file;
    EXPECT_LT(memory_bytes, std::size_t{32} << 20) << file;
  }
}

/// What a decoder says of a stream: an error, or a problem in its report.
struct Named {
  const char* file;
  Errc error, problem;
};

void expect_named(std::initializer_list<Named> cases) {
  for (const Named& c : cases) {
    const Bytes jpeg = read_file(project_tests() / ("hostile/" + std::string(c.file) + ".jpg"));
    const Outcome outcome = survive(jpeg, c.file);
    EXPECT_EQ(outcome.status.code(), c.error) << c.file << ": " << outcome.status.message();
    EXPECT_EQ(outcome.report.first_problem.code(), c.problem)
        << c.file << ": " << outcome.report.first_problem.message();
  }
}

/// What is wrong with a scan of a progressive frame is an error before all components have a scan
/// of DC, and a problem of the report behind that.
TEST(Hostile, ScansAreNamed) {
  expect_named({{"scan_flood", Errc::too_many_scans, Errc::ok},
                {"prog_ss_gt_se", Errc::bad_scan_header, Errc::ok},
                {"prog_ss64", Errc::bad_scan_header, Errc::ok},
                {"prog_se64", Errc::bad_scan_header, Errc::ok},
                {"prog_se255", Errc::bad_scan_header, Errc::ok},
                {"prog_al14", Errc::bad_scan_header, Errc::ok},
                {"prog_ah_jumps", Errc::bad_scan_header, Errc::ok},
                {"prog_ah_rises", Errc::bad_scan_header, Errc::ok},
                {"prog_dc_and_ac", Errc::bad_scan_header, Errc::ok},
                {"prog_ac_interleaved", Errc::bad_scan_header, Errc::ok},
                {"prog_dht_missing", Errc::missing_table, Errc::ok},
                {"prog_ac_before_dc", Errc::ok, Errc::bad_scan_header},
                {"prog_refine_first", Errc::ok, Errc::bad_scan_header},
                {"prog_first_twice", Errc::ok, Errc::bad_scan_header},
                {"prog_dc_twice", Errc::ok, Errc::bad_scan_header},
                {"prog_al_skips", Errc::ok, Errc::bad_scan_header},
                {"prog_only_ac", Errc::ok, Errc::bad_scan_header},
                {"prog_one_dc_of_three", Errc::ok, Errc::truncated},
                {"prog_run_past_band", Errc::ok, Errc::run_past_block_end},
                {"prog_zrl_past_block", Errc::ok, Errc::run_past_block_end},
                {"prog_zrl_past_block_refine", Errc::ok, Errc::run_past_block_end},
                {"prog_refine_size3", Errc::ok, Errc::bad_huffman_code},
                {"prog_dc_cut", Errc::ok, Errc::truncated},
                {"prog_ac_cut", Errc::ok, Errc::truncated},
                {"prog_refine_cut", Errc::ok, Errc::truncated},
                {"prog_eoi_missing", Errc::ok, Errc::truncated},
                {"prog_scans_1000", Errc::ok, Errc::too_many_scans},
                {"prog_eobrun_past_end", Errc::ok, Errc::ok},
                {"prog_ok", Errc::ok, Errc::ok}});
}

TEST(Hostile, FourComponentsAreNamed) {
  expect_named({{"cmyk_ok", Errc::ok, Errc::ok},
                {"cmyk_adobe_ycck", Errc::ok, Errc::ok},
                {"cmyk_adobe_missing", Errc::ok, Errc::ok},
                {"cmyk_adobe_transform1", Errc::ok, Errc::bad_marker},
                {"adobe_transform2_of_three", Errc::ok, Errc::bad_marker},
                {"cmyk_black_4x4", Errc::bad_frame_header, Errc::ok},
                {"cmyk_mcu_gt10", Errc::bad_frame_header, Errc::ok},
                {"cmyk_black_dht_missing", Errc::missing_table, Errc::ok},
                {"cmyk_black_dqt_missing", Errc::missing_table, Errc::ok},
                {"cmyk_sos_has_four_of_three", Errc::bad_scan_header, Errc::ok},
                {"cmyk_prog_ok", Errc::ok, Errc::ok}});
  for (const char* file : {"sof_nf2.jpg", "sof_nf5.jpg", "sof_nf255.jpg"})
    EXPECT_FALSE(survive(read_file(project_tests() / "hostile" / file), file).delivered());
}

/// Not scans alone count, but the blocks in them: 10 scans with 112 blocks of 32x16 pixels.
TEST(Hostile, BlocksOfProgressiveScansAreLimited) {
  LibjpegOptions options;
  options.progressive = true;
  const Bytes jpeg = libjpeg_sample(32, 16, Subsampling::s444, options);
  DecodeParams params;
  params.backend = Backend::cpu;
  params.limits.max_scans = 10;
  for (const int pixels : {512, 1024}) {
    params.limits.max_pixels = pixels;
    auto decoder = Decoder::create(params);
    ASSERT_TRUE(decoder.is_ok());
    std::vector<ComponentPlane> planes;
    const auto report = decoder->decode_planes(jpeg, planes);
    ASSERT_TRUE(report.is_ok()) << report.status().message();
    EXPECT_EQ(report->first_problem.code(), pixels == 512 ? Errc::too_many_scans : Errc::ok);
  }
}

/// A flood of markers, fill bytes, tables or restart markers that is eight times as long takes
/// about eight times the time in linear code, and 64 times in quadratic code. The limit of 24 is as
/// far from the one as from the other, so a busy machine does not decide the test. Under a
/// sanitizer the floods only have to be survived, since the time of its allocator is not linear.
TEST(Hostile, FloodsTakeLinearTime) {
  const Bytes base = read_file(project_tests() / "hostile/ok_min_gray.jpg");
  const std::size_t sos = parse_headers(base).sos_offset;
  const std::size_t data = parse_headers(base).data_offset;
  const auto flood = [](std::vector<std::uint8_t> unit, int count) {
    std::vector<std::uint8_t> out;
    for (int i = 0; i < count; ++i) out.insert(out.end(), unit.begin(), unit.end());
    return out;
  };
  const auto cost = [&](std::size_t offset, const std::vector<std::uint8_t>& what) {
    const Bytes jpeg = with_inserted(base, offset, what);
    DecodeParams params;
    params.backend = Backend::cpu;
    params.threads = 1;
    auto decoder = Decoder::create(params);
    double best = 100;
    for (int attempt = 0; attempt < (kSanitized ? 1 : 5); ++attempt) {
      std::vector<ComponentPlane> planes;
      const double start = process_seconds();
      const auto report = decoder->decode_planes(jpeg, planes);
      best = std::min(best, process_seconds() - start);
      EXPECT_TRUE(report.is_ok() || group(report.status().code()) != ErrorGroup::device);
    }
    return best;
  };
  struct Case {
    const char* name;
    std::size_t offset;
    std::vector<std::uint8_t> unit;
    int count;
  };
  const Case cases[] = {{"COM", sos, make_segment(0xFE, {}), 50'000},
                        {"fill bytes", sos, {0xFF}, 500'000},
                        {"APP1", sos, make_segment(0xE1, {'E', 'x', 'i', 'f', 0, 0}), 50'000},
                        {"DRI", sos, make_segment(0xDD, {0, 0}), 50'000},
                        {"stuffed FF", data, {0xFF, 0x00}, 250'000},
                        {"RST", data, {0xFF, 0xD0}, 125'000},
                        {"fill bytes in the scan", data, {0xFF}, 500'000}};
  for (const Case& c : cases) {
    double one = 0, eight = 0;
    // What is linear is so at one of a few attempts, what is quadratic at none.
    for (int attempt = 0; attempt == 0 || (attempt < 10 && eight >= 24 * one); ++attempt) {
      one = cost(c.offset, flood(c.unit, c.count));
      if (kSanitized) break;
      eight = cost(c.offset, flood(c.unit, 8 * c.count));
    }
    if (kSanitized) continue;
    EXPECT_LT(eight, 24 * one) << c.name << ": " << one << " s, then " << eight << " s";
  }
}

}  // namespace
}  // namespace zerorun::test
