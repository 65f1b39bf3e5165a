// Every file of MANIFEST.tsv behaves as its class says (see the README of the data).
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "tests/hostile/survival.hpp"
#include "tests/oracle/compare.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/page_end_buffer.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/sha256.hpp"
#include "tests/support/test_data.hpp"

namespace zerorun::test {
namespace {

class Manifest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test_data()) GTEST_SKIP() << kNoTestData;
  }

  /// Calls `check(row, bytes)` for every file of the class.
  static void for_each(const std::string& wanted,
                       const std::function<void(const Row&, const Bytes&)>& check) {
    int files = 0;
    for (const Row& row : read_tsv(*test_data() / "MANIFEST.tsv")) {
      if (row.at("class") != wanted) continue;
      ++files;
      check(row, read_file(*test_data() / row.at("path")));
    }
    EXPECT_GT(files, 0) << "no file of class " << wanted;
  }

  static void expect_exact(const Row& row, const Outcome& outcome) {
    const std::string& path = row.at("path");
    ASSERT_TRUE(outcome.delivered()) << path << ": " << outcome.status.message();
    EXPECT_FALSE(outcome.concealed()) << path << ": " << outcome.report.first_problem.message();
    EXPECT_EQ(sha256(outcome.coefficients), row.at("coef_sha256")) << path;
    if (row.at("plane_stable") == "y") {
      EXPECT_EQ(sha256(outcome.planes), row.at("plane_sha256")) << path;
    }
  }
};

TEST_F(Manifest, ValidFilesAreExact) {
  for_each("valid", [](const Row& row, const Bytes& jpeg) {
    const Outcome outcome = survive(jpeg, row.at("path"));
    expect_exact(row, outcome);
    // One file has a restart marker behind its last interval, which libjpeg ignores.
    const Errc remark = outcome.report.first_problem.code();
    EXPECT_TRUE(remark == Errc::ok || remark == Errc::extraneous_data)
        << row.at("path") << ": " << outcome.report.first_problem.message();
  });
}

/// RGB with both up-samplings, grey, coefficients and planes equal libjpeg's.
TEST_F(Manifest, ValidFilesHaveLibjpegsPixels) {
  for_each("valid", [](const Row& row, const Bytes& jpeg) {
    if (row.at("plane_stable") != "y") return;  // libjpeg's own IDCTs differ there
    SCOPED_TRACE(row.at("path"));
    const bool trailing_restart = row.at("path").find("trailingrst") != std::string::npos;
    compare_decode(jpeg, {.clean = !trailing_restart, .threads = {2}});
  });
}

/// survive() checks that they are errors with `strict`.
TEST_F(Manifest, ToleratedFilesAreExactAndReported) {
  for_each("tolerated", [](const Row& row, const Bytes& jpeg) {
    const Outcome outcome = survive(jpeg, row.at("path"));
    expect_exact(row, outcome);
    EXPECT_FALSE(outcome.report.first_problem.is_ok())
        << row.at("path") << ": " << row.at("libjpeg_message");
  });
}

TEST_F(Manifest, RareFilesAreExactOrRefused) {
  for_each("valid-ljt", [](const Row& row, const Bytes& jpeg) {
    const Outcome outcome = survive(jpeg, row.at("path"));
    if (group(outcome.status.code()) == ErrorGroup::unsupported) return;
    expect_exact(row, outcome);
  });
}

/// Kinds of the class `refuse` that the decoder has learned since the class was named.
TEST_F(Manifest, ProgressiveAndCmykFilesAreExact) {
  for_each("refuse", [](const Row& row, const Bytes& jpeg) {
    if (row.at("kind") != "progressive" && row.at("kind") != "cmyk") return;
    const Outcome outcome = survive(jpeg, row.at("path"));
    if (row.at("verdict") == "valid") {
      expect_exact(row, outcome);
      if (row.at("plane_stable") == "y") compare_decode(jpeg, {.threads = {2}});
    } else if (outcome.delivered() && !outcome.concealed()) {
      EXPECT_EQ(sha256(outcome.coefficients), row.at("coef_sha256")) << row.at("path");
    }
  });
}

TEST_F(Manifest, UnsupportedFilesAreRefusedByNameAtOnce) {
  const std::map<std::string, Errc> names = {{"arithmetic", Errc::arithmetic},
                                             {"lossless", Errc::lossless},
                                             {"hierarchical", Errc::hierarchical},
                                             {"12bit", Errc::sample_precision}};
  for_each("refuse", [&](const Row& row, const Bytes& jpeg) {
    if (row.at("kind") == "progressive" || row.at("kind") == "cmyk") return;
    ASSERT_TRUE(names.contains(row.at("kind"))) << row.at("kind");
    const Errc expected = names.at(row.at("kind"));
    const PageEndBuffer input(jpeg);
    DecodeParams params;
    params.backend = Backend::cpu;
    auto decoder = Decoder::create(params);
    ASSERT_TRUE(decoder.is_ok());
    double best = time_limit(1);
    for (int attempt = 0; attempt < 3; ++attempt) {
      std::vector<ComponentPlane> planes;
      const double start = process_seconds();
      const auto report = decoder->decode_planes(input.bytes(), planes);
      best = std::min(best, process_seconds() - start);
      EXPECT_EQ(report.status().code(), expected)
          << row.at("path") << ": " << report.status().message();
    }
    EXPECT_LT(best, time_limit(0.010)) << row.at("path");
    EXPECT_EQ(inspect(input.bytes()).status().code(), expected) << row.at("path");
    survive(jpeg, row.at("path"));
  });
}

TEST_F(Manifest, CorruptFilesAreErrorsOrReported) {
  for_each("corrupt", [](const Row& row, const Bytes& jpeg) {
    const Outcome outcome = survive(jpeg, row.at("path"));
    EXPECT_FALSE(outcome.clean()) << row.at("path") << ": " << row.at("libjpeg_message");
    // The damage may lie where no sample is, behind the last block for example: then it is
    // reported, nothing is concealed, and the picture is the one that libjpeg gives.
    if (outcome.delivered() && !outcome.concealed() && row.at("coef_sha256") != "-") {
      EXPECT_EQ(sha256(outcome.coefficients), row.at("coef_sha256"))
          << row.at("path") << ": " << row.at("libjpeg_message")
          << "; we: " << outcome.report.first_problem.message();
    }
  });
}

TEST_F(Manifest, HostileFilesAreExactOrReported) {
  for_each("hostile", [](const Row& row, const Bytes& jpeg) {
    const Outcome outcome = survive(jpeg, row.at("path"));
    if (row.at("djpeg") == "ok" && row.at("coef_sha256") != "-" && outcome.delivered() &&
        !outcome.concealed()) {
      EXPECT_EQ(sha256(outcome.coefficients), row.at("coef_sha256")) << row.at("path");
    }
    if (row.at("verdict") != "valid" && row.at("djpeg") != "ok") {
      EXPECT_FALSE(outcome.clean()) << row.at("path") << ": " << row.at("libjpeg_message");
    }
  });
}

}  // namespace
}  // namespace zerorun::test
