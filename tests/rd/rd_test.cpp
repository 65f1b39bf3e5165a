// Rate and distortion: the metrics against numbers of others, and golden curves of our modes.
// curves.tsv is renewed with ZERORUN_UPDATE_GOLDEN=1 where the test data is there.
// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "tests/rd/curves.hpp"
#include "tests/support/pictures.hpp"
#include "tests/support/test_data.hpp"

namespace zerorun::rd {
namespace {

using test::kNoTestData;
using test::Row;
using test::test_data;

const std::vector<std::string>& modes() {
  static const std::vector<std::string> kModes = {"turbo",
                                                  "zerorun:tables=tuned",
                                                  "zerorun:tune=photo",
                                                  "zerorun:tune=photo,huffman=trained",
                                                  "zerorun:tune=photo,effort=best,huffman=optimal",
                                                  "zerorun:tune=text,effort=best,huffman=optimal",
                                                  "zerorun:tune=psnr,effort=best,huffman=optimal"};
  return kModes;
}
constexpr int kQualities[] = {50, 75, 90, 95};

Mode mode_of(const std::string& text) {
  std::string error;
  auto mode = parse_mode(text, error);
  EXPECT_TRUE(mode) << error;
  return mode.value_or(Mode{});
}

double saved(const Curve& base, const Curve& other, Metric metric) {
  const auto percent = saved_percent(base, other, metric);
  EXPECT_TRUE(percent) << "no scores in common";
  return percent.value_or(-1e9);
}

/// The shortest side with all scales of SSIMULACRA2: on smaller pictures the weights of the
/// reference implementation belong to other features, and tables that are good look bad.
constexpr int kSide = 256;

/// A picture that needs no data, and parts of three of the data's: of the text an editor without
/// clipped samples, and a page of black on white.
std::map<std::string, Image> pictures() {
  std::map<std::string, Image> out;
  out["generated"] = {kSide, kSide, test::make_picture(test::Content::photo, kSide, kSide, 3, 1)};
  if (!test_data()) return out;
  struct Part {
    const char *name, *path;
    int x, y;
  };
  for (const Part& part : {Part{"k05", "kodak/kodim05.png", 128, 128},
                           {"k08", "kodak/kodim08.png", 128, 128},
                           {"text", "rd/text.png", 128, 128},
                           {"page", "rd/text.png", 1000, 40}})
    if (const auto image = read_image((*test_data() / part.path).string()))
      out[part.name] = crop(*image, part.x, part.y, kSide, kSide);
  return out;
}

using Curves = std::map<std::string, Curve>;  ///< by picture, sampling and mode

Curves measured() {
  Curves out;
  for (const auto& [name, image] : pictures()) {
    const Meter meter(image);
    for (const auto sampling : {Subsampling::s420, Subsampling::s444})
      for (const std::string& mode : modes())
        for (const int quality : kQualities) {
          const auto point = measure(mode_of(mode), sampling, quality, image, meter);
          EXPECT_TRUE(point) << mode;
          out[name + "\t" + std::string(zerorun::name(sampling)) + "\t" + mode].push_back(
              point.value_or(Point{}));
        }
  }
  return out;
}

/// Measured once.
const Curves& measure_all() {
  static const Curves kAll = measured();
  return kAll;
}

std::filesystem::path golden_path() { return test::project_tests() / "rd/curves.tsv"; }

Curves read_golden() {
  Curves out;
  for (const Row& row : test::read_tsv(golden_path())) {
    Point point{std::stod(row.at("scan_bytes")), 0, no_scores()};
    for (std::size_t m = 0; m < kOwnMetrics; ++m)
      point.scores[m] = std::stod(row.at(std::string(kMetricNames[m])));
    out[row.at("image") + "\t" + row.at("sampling") + "\t" + row.at("mode")].push_back(point);
  }
  return out;
}

void write_golden(const Curves& curves) {
  std::ofstream out(golden_path());
  out.precision(8);
  out << "image\tsampling\tmode\tq\tscan_bytes";
  for (std::size_t m = 0; m < kOwnMetrics; ++m) out << '\t' << kMetricNames[m];
  out << '\n';
  for (const auto& [key, curve] : curves)
    for (std::size_t i = 0; i < curve.size(); ++i) {
      out << key << '\t' << kQualities[i] << '\t' << curve[i].bytes;
      for (std::size_t m = 0; m < kOwnMetrics; ++m) out << '\t' << curve[i].scores[m];
      out << '\n';
    }
}

TEST(RateDistortion, NoModeLosesAgainstItsGoldenCurves) {
  const Curves& curves = measure_all();
  if (std::getenv("ZERORUN_UPDATE_GOLDEN") != nullptr && test_data()) write_golden(curves);
  const Curves golden = read_golden();
  std::map<std::string, std::pair<Scores, int>> sums;  // by mode
  for (const auto& [key, curve] : curves) {
    const auto before = golden.find(key);
    ASSERT_TRUE(before != golden.end()) << key << " is not in " << golden_path();
    auto& [sum, count] = sums[key.substr(key.rfind('\t') + 1)];
    for (std::size_t m = 0; m < kOwnMetrics; ++m)
      sum[m] += saved(before->second, curve, static_cast<Metric>(m));
    ++count;
  }
  ASSERT_EQ(sums.size(), modes().size());
  for (const auto& [mode, sum] : sums)
    for (std::size_t m = 0; m < kOwnMetrics; ++m)
      EXPECT_GT(sum.first[m] / sum.second, -0.3) << mode << " by " << kMetricNames[m];
}

/// The same coefficients as libjpeg's, in scans that are smaller: files are counted.
TEST(RateDistortion, ProgressiveModesCountFiles) {
  const Image image{kSide, kSide, test::make_picture(test::Content::photo, kSide, kSide, 3, 1)};
  const Meter meter(image);
  const auto point_of = [&](const std::string& mode) {
    return measure(mode_of(mode), Subsampling::s420, 85, image, meter).value_or(Point{});
  };
  const Point plain = point_of("turbo:huffman=optimal"), turbo = point_of("turbo:progressive"),
              own = point_of("zerorun:progressive");
  for (const Metric metric : {psnr, ssim, ms_ssim, psnr_hvs_m, ssimulacra2}) {
    EXPECT_EQ(turbo.scores[metric], plain.scores[metric]);
    EXPECT_EQ(own.scores[metric], plain.scores[metric]);
  }
  EXPECT_GT(turbo.file_bytes, 0.9 * plain.file_bytes);
  EXPECT_LT(own.file_bytes, turbo.file_bytes);
  EXPECT_GT(own.file_bytes, 0.9 * plain.file_bytes);
  std::string error;
  EXPECT_FALSE(parse_mode("zerorun:progressive=no", error));
}

/// Tuned modes on each of the photos, trained tables, which have the same coefficients with fewer
/// bits, on their mean.
TEST(RateDistortion, ModesForPhotosSaveBytes) {
  if (!test_data()) GTEST_SKIP() << kNoTestData;
  double sum = 0;
  int count = 0;
  for (const auto& [key, curve] :
       measure_all()) {  // small parts of photos; README.md has whole ones
    if (key[0] != 'k') continue;
    if (key.find("tune=photo,effort=best") != std::string::npos) {
      const Curve& base = measure_all().at(key.substr(0, key.rfind('\t') + 1) + "turbo");
      EXPECT_GT(saved(base, curve, ssimulacra2), 9) << key;
      EXPECT_GT(saved(base, curve, ms_ssim), 2) << key;
      EXPECT_GT(saved(base, curve, psnr), 2) << key;
    }
    const std::size_t at = key.find(",huffman=trained");
    if (at == std::string::npos) continue;
    sum += saved(measure_all().at(key.substr(0, at)), curve, psnr);
    ++count;
  }
  ASSERT_EQ(count, 4);
  EXPECT_GT(sum / count, 0.5);
}

/// By their overshoot: the other differences of the two modes are worth less than 1 %.
TEST(RateDistortion, ClippedBlocksOfTextSaveBytes) {
  if (!test_data()) GTEST_SKIP() << kNoTestData;
  const Curves& curves = measure_all();
  for (const std::string sampling : {"420", "444"}) {
    const std::string key = "page\t" + sampling + "\tzerorun:tune=";
    const std::string best = ",effort=best,huffman=optimal";
    for (const Metric metric : {psnr_hvs_m, ms_ssim, ssimulacra2})
      EXPECT_GT(saved(curves.at(key + "photo" + best), curves.at(key + "text" + best), metric), 5)
          << sampling << " by " << kMetricNames[metric];
  }
}

TEST(Metrics, AgreeWithTheReferenceImplementations) {
  if (!test_data()) GTEST_SKIP() << kNoTestData;
  const auto table = *test_data() / "rd/peers.tsv";
  const auto image = read_image((*test_data() / "kodak/kodim01.png").string());
  if (!image || !std::filesystem::exists(table)) GTEST_SKIP() << "no " << table;
  const bool butter = output_of("command -v butteraugli_main").has_value();
  if (!butter) std::puts("butteraugli_main is not installed: its scores are not compared");
  const Judge judge(*image, {butter ? "butteraugli_main" : "", ""});
  int compared = 0;
  for (const Row& row : test::read_tsv(table)) {
    const std::string q = row.at("q");
    if (row.at("image") != "k01" || row.at("encoder") != "turbo_std" || (q != "50" && q != "90"))
      continue;
    const auto sampling = row.at("sampling") == "420" ? Subsampling::s420 : Subsampling::s444;
    const auto point = measure(mode_of("turbo"), sampling, std::stoi(q), *image, judge);
    ASSERT_TRUE(point);
    EXPECT_EQ(point->bytes, std::stod(row.at("scan_bytes")));
    EXPECT_NEAR(point->scores[psnr], std::stod(row.at("psnr_y")), 0.001);
    EXPECT_NEAR(point->scores[psnr_hvs_m], std::stod(row.at("psnr_hvs_m")), 0.2);
    EXPECT_NEAR(point->scores[ssimulacra2], std::stod(row.at("ssimulacra2")), 0.3);
    if (butter && q == "90") {
      EXPECT_NEAR(point->scores[butteraugli], -std::stod(row.at("butteraugli_3norm")), 0.03);
    }
    ++compared;
  }
  EXPECT_GE(compared, 4);
}

/// A shell script that stands for another program.
std::string script(const ScratchFolder& folder, const std::string& name, const std::string& text) {
  const std::string path = folder.file(name);
  std::ofstream(path) << "#!/bin/sh\n" << text << '\n';
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(Programs, ScoresAreKeptByContent) {
  const ScratchFolder folder;
  const std::string calls = folder.file("calls");
  const std::string program =
      script(folder, "judge", "echo >>" + calls + "; echo 9.5; echo '3-norm: 1.25'");
  const Image image{32, 32, test::make_picture(test::Content::photo, 32, 32, 3, 1)};
  Image other = image;
  other.rgb[5] ^= 16;
  std::filesystem::create_directory(folder.file("kept"));
  for (int run = 0; run < 2; ++run) {
    const Judge judge(image, {program, folder.file("kept")});
    EXPECT_EQ(judge.measure(image)[butteraugli], -1.25);
    const Scores scores = judge.measure(other);
    EXPECT_EQ(scores[butteraugli], -1.25);
    EXPECT_NEAR(scores[psnr], Meter(image).measure(other)[psnr], 1e-6);
  }
  EXPECT_EQ(std::filesystem::file_size(calls), 2) << "one line for each picture";
  const Judge none(image, {"", folder.file("kept")});
  EXPECT_TRUE(std::isnan(none.measure(other)[butteraugli]));
  const Judge failing(image, {script(folder, "fails", "exit 1"), folder.file("kept") + "/none"});
  EXPECT_TRUE(std::isnan(failing.measure(other)[butteraugli]));
}

TEST(Programs, PeersAndRecodersMakeStreams) {
  const ScratchFolder folder;
  const Image image{48, 32, test::make_picture(test::Content::photo, 48, 32, 3, 1)};
  const Meter meter(image);
  const auto file_bytes = [&](const std::string& mode) {
    const auto point = measure(mode_of(mode), Subsampling::s420, 80, image, meter);
    return point ? point->file_bytes : 0;
  };
  const double whole = file_bytes("turbo");
  ASSERT_GT(whole, 0);
  const std::string kept = folder.file("kept.jpg");
  EXPECT_EQ(file_bytes("turbo:recode=tee " + kept), whole);
  const std::string last = "; for a; do last=$a; done; ";
  const auto peer = script(folder, "peer",
                           "echo $* >" + folder.file("args") + last + "cp " + kept + " \"$last\"");
  EXPECT_EQ(file_bytes("jpegli:args=-p 0,program=" + peer), whole);
  std::string words;
  std::getline(std::ifstream(folder.file("args")), words);
  EXPECT_EQ(words.rfind("-q 80 --chroma_subsampling=420 -p 0 /", 0), 0) << words;
  EXPECT_EQ(file_bytes("mozjpeg:program=false"), 0);
  EXPECT_EQ(file_bytes("turbo:recode=false"), 0);
}

TEST(SavedPercent, IsTheShareOfTheBytes) {
  Curve base, half;
  for (int i = 1; i <= 4; ++i) {
    Point point{1000.0 * i * i, 0, no_scores()};
    point.scores.fill(10.0 * i);
    base.push_back(point);
    point.bytes /= 2;
    half.push_back(point);
  }
  for (std::size_t m = 0; m < kOwnMetrics; ++m) {
    EXPECT_NEAR(saved(base, half, static_cast<Metric>(m)), 50, 1e-9);
    EXPECT_NEAR(saved(half, base, static_cast<Metric>(m)), -100, 1e-9);
  }
}

/// The base saves nothing below score 20 of SSIMULACRA2, and half above it.
TEST(SavedPercent, HasBands) {
  Curve base, other;
  for (int i = 1; i <= 4; ++i) {
    Point point{1000.0 * i, 0, no_scores()};
    point.scores.fill(10.0 * i);
    point.scores[butteraugli] = -5 + i;  // another scale
    base.push_back(point);
    if (i > 2) point.bytes /= 2;
    other.push_back(point);
  }
  for (const Metric metric : {ssimulacra2, butteraugli}) {
    EXPECT_NEAR(saved_percent(base, other, metric, {5, 20}).value_or(-1), 0, 1e-9);
    EXPECT_NEAR(saved_percent(base, other, metric, {30, 99}).value_or(-1), 50, 1e-9);
    EXPECT_FALSE(saved_percent(base, {}, metric, {30, 99}));
  }
}

TEST(Metrics, ScalesEndWhereAMetricHasNoMore) {
  EXPECT_EQ(ms_ssim_scales({1, 1}), (std::vector<Size>{{1, 1}}));
  EXPECT_EQ(ms_ssim_scales({23, 500}), (std::vector<Size>{{23, 500}}));
  EXPECT_EQ(ms_ssim_scales({49, 24}), (std::vector<Size>{{49, 24}, {24, 12}}));
  EXPECT_EQ(ms_ssim_scales({999, 777}).size(), kMsSsimScales);
  EXPECT_EQ(ssimulacra2_scales({7, 500}), std::vector<Size>{});
  EXPECT_EQ(ssimulacra2_scales({8, 31}), (std::vector<Size>{{8, 31}}));
  EXPECT_EQ(ssimulacra2_scales({15, 17}), (std::vector<Size>{{15, 17}, {8, 9}}));
  EXPECT_EQ(ssimulacra2_scales({999, 777}).size(), kSsimulacra2Scales);
}

}  // namespace
}  // namespace zerorun::rd
