// Coding again without loss: the coefficients stay, and those of turned, mirrored, cut and grey
// pictures are the ones of libjpeg-turbo's jpegtran.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "codec/base/choices.hpp"
#include "tests/oracle/compare.hpp"
#include "tests/support/libjpeg_decode.hpp"
#include "tests/support/random.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/test_data.hpp"
#include "zerorun/transcoder.hpp"

namespace zerorun::test {
namespace {

TranscodeParams verified(const LosslessTransform& transform = {}) {
  TranscodeParams params;
  params.transform = transform;
  params.threads = 1;
  params.verify = true;
  return params;
}

Result<Bytes> transcode(const Bytes& jpeg, const TranscodeParams& params) {
  auto transcoder = Transcoder::create(params);
  if (!transcoder) return transcoder.status();
  Bytes out;
  const auto report = transcoder->transcode(jpeg, out);
  if (!report) return report.status();
  return out;
}

/// jpegtran's result; empty if it refuses the picture.
Bytes jpegtran(const Bytes& jpeg, const std::string& options) {
  std::string folder = (std::filesystem::temp_directory_path() / "zerorun_XXXXXX").string();
  EXPECT_NE(mkdtemp(folder.data()), nullptr);
  const std::string in = folder + "/in.jpg", out = folder + "/out.jpg";
  std::ofstream(in, std::ios::binary)
      .write(reinterpret_cast<const char*>(jpeg.data()), static_cast<std::streamsize>(jpeg.size()));
  const std::string line = std::string(ZERORUN_JPEGTRAN) + " -copy all " + options + " -outfile " +
                           out + " " + in + " 2> /dev/null";
  const bool is_done = std::system(line.c_str()) == 0;  // NOLINT: names are those of this test
  const Bytes made = is_done ? read_file(out) : Bytes();
  std::filesystem::remove_all(folder);
  return made;
}

struct Turn {
  Rotation rotate;
  Flip flip;
  const char* option;
};
constexpr Turn kTurns[] = {{Rotation::none, Flip::none, ""},
                           {Rotation::by_90, Flip::none, "-rotate 90"},
                           {Rotation::by_180, Flip::none, "-rotate 180"},
                           {Rotation::by_270, Flip::none, "-rotate 270"},
                           {Rotation::none, Flip::horizontal, "-flip horizontal"},
                           {Rotation::none, Flip::vertical, "-flip vertical"},
                           {Rotation::by_90, Flip::horizontal, "-transpose"},
                           {Rotation::by_270, Flip::horizontal, "-transverse"}};

/// Samples tell of the tables of quantisation, too.
bool same_planes(const Bytes& a, const Bytes& b) {
  std::vector<ComponentPlane> first, second;
  if (!libjpeg_planes(a, first).delivered || !libjpeg_planes(b, second).delivered) return false;
  for (std::size_t c = 0; c < first.size(); ++c)
    if (first[c].samples != second[c].samples) return false;
  return first.size() == second.size();
}

void expect_same(const Bytes& jpeg, const LosslessTransform& transform,
                 const std::string& options) {
  SCOPED_TRACE(options);
  const Bytes theirs = jpegtran(jpeg, options);
  const auto ours = transcode(jpeg, verified(transform));
  ASSERT_EQ(ours.is_ok(), !theirs.empty()) << ours.status().message();
  if (theirs.empty()) return;
  EXPECT_TRUE(same_coefficients(*ours, theirs));
  EXPECT_TRUE(same_planes(*ours, theirs));
}

class Transform : public testing::Test {
  void SetUp() override {
    if (std::string(ZERORUN_JPEGTRAN).empty()) GTEST_SKIP() << "jpegtran is not installed";
  }
};

std::vector<Bytes> pictures() {
  std::vector<Bytes> all;
  std::uint64_t seed = 1;
  for (const Size size : {Size{7, 5}, Size{32, 32}, Size{53, 41}, Size{97, 64}}) {
    LibjpegOptions options;
    for (const Factors& factors : all_factors()) {
      if ((++seed + static_cast<std::uint64_t>(size.width)) % 3 == 0) continue;
      options.factors = factors;
      all.push_back(odd_stream(size.width, size.height, options, seed));
    }
    all.push_back(libjpeg_sample(size.width, size.height, Subsampling::gray));
    options = {};
    options.cmyk_stream = options.ycck_stream = true;
    options.factors = factors_of(Subsampling::s420);
    options.black = {2, 2};
    all.push_back(libjpeg_sample(size.width, size.height, Subsampling::s420, options));
    options = {};  // tables of 16 bits
    options.quality = 3;
    options.force_baseline = false;
    all.push_back(libjpeg_sample(size.width, size.height, Subsampling::s420, options));
  }
  std::erase_if(all, [](const Bytes& jpeg) { return jpeg.empty(); });
  return all;
}

TEST_F(Transform, EqualsJpegtranInAllSamplings) {
  std::size_t number = 0, pairs = 0;
  for (const Bytes& jpeg : pictures()) {
    SCOPED_TRACE("picture " + std::to_string(number++));
    for (const Turn& turn : kTurns) {
      if (kSanitized && ++pairs % 3 != 0) continue;
      LosslessTransform transform{.rotate = turn.rotate, .flip = turn.flip};
      expect_same(jpeg, transform, turn.option);
      transform.edges = Edges::trim;
      expect_same(jpeg, transform, std::string(turn.option) + " -trim");
      transform.edges = Edges::refuse;
      expect_same(jpeg, transform, std::string(turn.option) + " -perfect");
    }
  }
}

TEST_F(Transform, CropAndGrayEqualJpegtrans) {
  Random random(61);
  for (const Bytes& jpeg : pictures()) {
    const auto info = inspect(jpeg);
    ASSERT_TRUE(info);
    for (const Turn& turn : kTurns) {
      LosslessTransform transform{.rotate = turn.rotate, .flip = turn.flip};
      const bool is_turned = std::string(turn.option).find("90") != std::string::npos ||
                             std::string(turn.option).find("270") != std::string::npos ||
                             std::string(turn.option).find("trans") != std::string::npos;
      const int width = is_turned ? info->height : info->width;
      const int height = is_turned ? info->width : info->height;
      transform.crop.x = random.below(width);
      transform.crop.y = random.below(height);
      transform.crop.width = 1 + random.below(width - transform.crop.x);
      transform.crop.height = 1 + random.below(height - transform.crop.y);
      transform.edges = random.below(2) == 0 ? Edges::keep : Edges::trim;
      const Region& crop = transform.crop;
      std::string options = std::string(turn.option) + " -crop " + std::to_string(crop.width) +
                            "x" + std::to_string(crop.height) + "+" + std::to_string(crop.x) + "+" +
                            std::to_string(crop.y);
      if (transform.edges == Edges::trim) options += " -trim";
      expect_same(jpeg, transform, options);
      transform.gray = true;
      expect_same(jpeg, transform, options + " -grayscale");
    }
  }
}

TEST_F(Transform, FilesBesideTheRepository) {
  const auto data = test_data();
  if (!data) GTEST_SKIP() << kNoTestData;
  std::size_t number = 0, compared = 0;
  for (const Row& row : read_tsv(*data / "MANIFEST.tsv")) {
    for (const auto& [column, text] : row) {
      const auto file = *data / text;
      std::error_code ignored;
      if (text.empty() || !(text.ends_with(".jpg") || text.ends_with(".jpeg")) ||
          !std::filesystem::is_regular_file(file, ignored))
        continue;
      SCOPED_TRACE(file.string());
      const Bytes jpeg = read_file(file);
      // A small file may have a large picture, for which jpegtran takes gigabytes.
      const auto info = inspect(jpeg);
      if (!info || std::int64_t{info->width} * info->height > 1 << 20) continue;
      const Turn& turn = kTurns[number++ % std::size(kTurns)];
      const auto ours = transcode(jpeg, verified({.rotate = turn.rotate, .flip = turn.flip}));
      std::vector<ComponentCoefficients> unused;
      // Damaged, or of another kind.
      if (!ours || !libjpeg_coefficients(jpeg, unused).clean()) continue;
      // It takes seconds for the comments of a file of comments.
      const Bytes theirs = jpegtran(jpeg, std::string(turn.option) + " -copy none");
      if (theirs.empty()) continue;
      // Annex K has no codes for the largest values, and jpegtran writes none.
      if (!libjpeg_coefficients(theirs, unused).clean()) continue;
      EXPECT_TRUE(same_coefficients(*ours, theirs));
      ++compared;
      break;
    }
  }
  EXPECT_GT(compared, 0U);
}

TEST(Recode, KeepsCoefficientsInEveryForm) {
  std::size_t number = 0;
  for (const Bytes& jpeg : pictures()) {
    SCOPED_TRACE("picture " + std::to_string(number++));
    for (const ScanChoice scans : {ScanChoice::keep, ScanChoice::progressive, ScanChoice::baseline})
      for (const int interval : {0, 3}) {
        if (kSanitized && number % 2 != static_cast<std::size_t>(interval) % 2) continue;
        TranscodeParams params = verified();
        params.scans = scans;
        params.optimize = true;
        params.restart_interval = interval;
        const auto made = transcode(jpeg, params);
        ASSERT_TRUE(made) << made.status().message();
        EXPECT_TRUE(same_coefficients(*made, jpeg));
        EXPECT_EQ(inspect(*made)->progressive, scans == ScanChoice::progressive);
        EXPECT_EQ(inspect(*made)->restart_interval_mcus, interval);
        params.scans = ScanChoice::baseline;  // and back
        params.restart_interval = 0;
        const auto back = transcode(*made, params);
        ASSERT_TRUE(back) << back.status().message();
        EXPECT_TRUE(same_coefficients(*back, jpeg));
        EXPECT_FALSE(inspect(*back)->progressive);
        EXPECT_EQ(inspect(*back)->color, inspect(jpeg)->color);
        params.scans = scans;
        params.restart_interval = interval;
        for (const int threads : {2, 5}) {
          params.threads = threads;
          EXPECT_EQ(*transcode(jpeg, params), *made);
        }
      }
  }
}

TEST(Recode, NeverMakesAStreamLarger) {
  LibjpegOptions options;
  options.optimal = true;
  const Bytes best = libjpeg_sample(64, 48, Subsampling::s420, options);
  TranscodeParams params = verified();
  params.optimize = true;
  const auto once = transcode(best, params);
  ASSERT_TRUE(once);
  EXPECT_LE(once->size(), best.size());
  EXPECT_EQ(*transcode(*once, params), *once);
  // Tables of its own would cost more than they save here.
  const Bytes bare = without_segments(libjpeg_sample(8, 8, Subsampling::gray), 0xC4);
  EXPECT_EQ(*transcode(bare, params), bare);
  const Bytes usual = libjpeg_sample(64, 48, Subsampling::s420);
  EXPECT_LT(transcode(usual, params)->size(), usual.size());
}

/// Sizes of parts and fields (QuickTime's Motion JPEG A, OpenDML AVI) are not those of the new
/// stream.
TEST(Recode, SegmentsWithSizesDoNotStay) {
  const std::string zeros(8, '\0'), length("\0\x10", 2), bottom_first("\1\0", 2);
  const std::string part = "\xFF\xE0" + length + "AVI1" + bottom_first + "12345678" + "\xFF\xE1" +
                           length + zeros.substr(4) + "mjpg" + "sizes.";
  Bytes jpeg = libjpeg_sample(64, 48, Subsampling::s420);
  const auto bytes = std::as_bytes(std::span(part));
  jpeg.insert(jpeg.begin() + 2, bytes.begin(), bytes.end());
  TranscodeParams params = verified();
  params.optimize = true;
  const auto made = transcode(jpeg, params);
  ASSERT_TRUE(made) << made.status().message();
  const std::string text(reinterpret_cast<const char*>(made->data()), made->size());
  EXPECT_NE(text.find("AVI1" + bottom_first + zeros), std::string::npos);
  EXPECT_EQ(text.find("mjpg"), std::string::npos);
}

TEST(Recode, AGreyPictureHasNoProfileOfColours) {
  Bytes jpeg = libjpeg_sample(64, 48, Subsampling::s420);
  const std::string profile =
      "\xFF\xE2" + std::string("\0\x10", 2) + "ICC_PROFILE" + std::string("\0\1\1", 3);
  const auto bytes = std::as_bytes(std::span(profile));
  jpeg.insert(jpeg.begin() + 2, bytes.begin(), bytes.end());
  for (const bool gray : {false, true}) {
    TranscodeParams params = verified({.gray = gray});
    params.scans = ScanChoice::progressive;
    const auto made = transcode(jpeg, params);
    ASSERT_TRUE(made) << made.status().message();
    const auto found = std::search(made->begin(), made->end(), bytes.begin(), bytes.end());
    EXPECT_EQ(found == made->end(), gray);
  }
}

TEST(Recode, ThePixelAspectTurnsWithThePicture) {
  Bytes jpeg = libjpeg_sample(64, 48, Subsampling::s420);
  constexpr std::size_t kDensities = 6 + 8;  // behind SOI, and in JFIF's segment
  jpeg[kDensities + 1] = std::byte{4};
  jpeg[kDensities + 3] = std::byte{3};
  const auto before = inspect(jpeg);
  ASSERT_NE(before->pixel_aspect_x, before->pixel_aspect_y);
  const auto turned = transcode(jpeg, verified({.rotate = Rotation::by_90}));
  ASSERT_TRUE(turned) << turned.status().message();
  EXPECT_EQ(inspect(*turned)->pixel_aspect_x, before->pixel_aspect_y);
  EXPECT_EQ(inspect(*turned)->pixel_aspect_y, before->pixel_aspect_x);
}

TEST(Recode, RefusesDamageAndWhatDoesNotFit) {
  Bytes jpeg = libjpeg_sample(64, 48, Subsampling::s420);
  const auto scan = static_cast<std::ptrdiff_t>(parse_headers(jpeg).data_offset);
  jpeg.erase(jpeg.begin() + scan + 100, jpeg.begin() + scan + 200);
  TranscodeParams params = verified();
  params.optimize = true;
  const auto damaged = transcode(jpeg, params);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(group(damaged.status().code()), ErrorGroup::corrupt) << damaged.status().message();
  EXPECT_NE(damaged.status().message().find("could not be the same"), std::string::npos);
  const Bytes good = libjpeg_sample(64, 48, Subsampling::s420);
  EXPECT_EQ(transcode(good, verified({.crop = {60, 0, 10, 10}})).status().code(),
            Errc::invalid_argument);
  LibjpegOptions options;
  options.rgb_stream = true;
  EXPECT_EQ(transcode(libjpeg_sample(64, 48, Subsampling::s444, options), verified({.gray = true}))
                .status()
                .code(),
            Errc::pixel_format);
}

}  // namespace
}  // namespace zerorun::test
