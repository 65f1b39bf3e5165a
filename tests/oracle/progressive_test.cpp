// Progressive streams of libjpeg-turbo, by any script: coefficients and samples are libjpeg's.
// SPDX-License-Identifier: MIT
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/oracle/compare.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

constexpr std::array kSamplings{Subsampling::s420, Subsampling::s444, Subsampling::s422,
                                Subsampling::s440, Subsampling::s411, Subsampling::gray};

/// mozjpeg's script (jcparam.c, JCP_MAX_COMPRESSION without a search for scans).
std::vector<ProgressiveScan> mozjpeg_script() {
  return {{{0, 1, 2}, 0, 0, 0, 0}, {{0}, 1, 8, 0, 2},  {{1}, 1, 8, 0, 0},
          {{2}, 1, 8, 0, 0},       {{0}, 9, 63, 0, 2}, {{0}, 1, 63, 2, 1},
          {{0}, 1, 63, 1, 0},      {{1}, 9, 63, 0, 0}, {{2}, 9, 63, 0, 0}};
}

/// A legal script: for each component bands in any order, each from some bit on down to bit 0;
/// scans of different components are mixed.
std::vector<ProgressiveScan> random_script(int components, Random& random) {
  const auto below = [&](int limit) { return random.below(limit); };
  std::vector<std::vector<ProgressiveScan>> lines;  // scans whose order counts
  const auto add_line = [&](const std::vector<int>& scan_components, int ss, int se) {
    std::vector<ProgressiveScan> line;
    int al = below(4);
    line.push_back({scan_components, ss, se, 0, al});
    for (; al > 0; --al) line.push_back({scan_components, ss, se, al, al - 1});
    return line;
  };
  std::vector<ProgressiveScan> script;
  if (components == 1 || below(2) == 0) {
    std::vector<int> all;
    for (int c = 0; c < components; ++c) all.push_back(c);
    lines.push_back(add_line(all, 0, 0));
  } else {
    for (int c = 0; c < components; ++c) lines.push_back(add_line({c}, 0, 0));
  }
  // The first scans of DC come first (T.81 G.1.1.1.1).
  for (auto& line : lines) {
    script.push_back(line.front());
    line.erase(line.begin());
  }
  for (int c = 0; c < components; ++c)
    for (int ss = 1; ss < 64;) {
      const int se = below(3) == 0 ? 63 : std::min(63, ss + below(20));
      lines.push_back(add_line({c}, ss, se));
      ss = se + 1;
    }
  for (;;) {
    std::erase_if(lines, [](const auto& line) { return line.empty(); });
    if (lines.empty()) return script;
    auto& line = lines[static_cast<std::size_t>(below(static_cast<int>(lines.size())))];
    script.push_back(line.front());
    line.erase(line.begin());
  }
}

LibjpegOptions progressive(std::vector<ProgressiveScan> script = {}) {
  LibjpegOptions options;
  options.progressive = true;
  options.progressive_scans = std::move(script);
  return options;
}

TEST(Progressive, LibjpegsScriptInAllSamplingsAndSizes) {
  for (const Subsampling sampling : kSamplings)
    for (const Size size : {Size{1, 1}, Size{8, 8}, Size{17, 9}, Size{53, 41}, Size{200, 131}}) {
      SCOPED_TRACE(std::string(name(sampling)) + " " + to_string(size));
      compare_decode(libjpeg_sample(size.width, size.height, sampling, progressive()));
    }
}

TEST(Progressive, AnyScriptWithAnyRestartInterval) {
  Random random(59);
  for (int round = 0; round < 40; ++round) {
    const auto sampling =
        kSamplings[static_cast<std::size_t>(random.below(int{kSamplings.size()}))];
    LibjpegOptions options =
        progressive(random_script(sampling == Subsampling::gray ? 1 : 3, random));
    options.quality = random.between(30, 100);
    if (round % 2 == 1) options.restart_mcus = random.between(1, 9);
    const int width = random.between(1, 90);
    const int height = random.between(1, 90);
    SCOPED_TRACE("round " + std::to_string(round) + ", " + to_string(Size{width, height}));
    const Bytes jpeg =
        libjpeg_sample(width, height, sampling, options, static_cast<std::uint64_t>(round));
    ASSERT_FALSE(jpeg.empty());
    compare_decode(jpeg, {.threads = {1, 3}});
  }
}

/// Large enough for several threads, which follow each other from row to row.
TEST(Progressive, ThreadsChangeNothing) {
  for (const bool moz : {false, true}) {
    LibjpegOptions options = progressive(moz ? mozjpeg_script() : std::vector<ProgressiveScan>{});
    options.quality = 95;
    compare_decode(libjpeg_sample(1000, 700, Subsampling::s420, options), {.threads = {1, 2, 5}});
  }
}

/// The second scan is a few runs of EOBs, which are decoded long before the first one; the third
/// refines what the first has found.
TEST(Progressive, RunsOfEndsOfBlocksOvertakeNoScan) {
  LibjpegOptions options =
      progressive({{{0}, 0, 0, 0, 0}, {{0}, 1, 5, 0, 1}, {{0}, 6, 63, 0, 1}, {{0}, 1, 63, 1, 0}});
  options.quality = 100;
  options.luma_table.emplace();
  options.luma_table->fill(255);
  for (const int low : {0, 1, 2, 8, 9, 16})
    (*options.luma_table)[static_cast<std::size_t>(low)] = 1;
  const Bytes jpeg = libjpeg_sample(1000, 700, Subsampling::gray, options);
  ASSERT_FALSE(jpeg.empty());
  for (int round = 0; round < 10; ++round) compare_decode(jpeg, {.threads = {4}});
}

/// What is missing of the last scans is less detail: libjpeg without block smoothing shows the
/// same.
TEST(Progressive, LastScansMayBeMissing) {
  const Bytes whole = libjpeg_sample(120, 90, Subsampling::s420, progressive());
  std::vector<std::size_t> scans;
  for (std::size_t i = 0; i + 1 < whole.size(); ++i)
    if (whole[i] == std::byte{0xFF} && whole[i + 1] == std::byte{0xDA}) scans.push_back(i);
  ASSERT_EQ(scans.size(), 10u);
  for (std::size_t s = 1; s < scans.size(); ++s) {
    SCOPED_TRACE("before scan " + std::to_string(s));
    Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(scans[s]));
    for (const int byte : {0xFF, 0xD9}) cut.push_back(static_cast<std::byte>(byte));
    compare_decode(cut, {.threads = {1}});
  }
}

}  // namespace
}  // namespace zerorun::test
