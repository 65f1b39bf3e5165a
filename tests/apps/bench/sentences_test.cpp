// The sentences about a case, and the tables of the terminal, with made-up times.
// SPDX-License-Identifier: MIT
#include "apps/bench/report/report.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace zerorun::app::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Row row(std::string coder, Mode mode, int at_once, double us, std::string device = "cpu",
        std::string path = "host>host") {
  Row row;
  row.coder = std::move(coder);
  row.device = std::move(device);
  row.path = std::move(path);
  row.mode = mode;
  row.at_once = at_once;
  row.unit = "threads";
  row.microseconds.assign(20, us);
  return row;
}

TEST(Sentences, ComparesTheSameNumberOfThreadsAndTheFastestThroughput) {
  CaseResult result;
  result.rows = {row("zerorun", Mode::latency, 1, 80),
                 row("zerorun", Mode::latency, 4, 20),
                 row("zerorun-avx2", Mode::latency, 1, 79),
                 row("libjpeg-turbo 2.1.5", Mode::latency, 1, 100),
                 row("zerorun", Mode::throughput, 2, 10),
                 row("zerorun", Mode::throughput, 4, 5),
                 row("libjpeg-turbo 2.1.5", Mode::throughput, 4, 31),
                 row("copy", Mode::throughput, 1, 1)};
  EXPECT_THAT(sentences(result),
              ElementsAre("One frame at a time, zerorun takes 0.80 of libjpeg-turbo's time (cpu, "
                          "host>host; 1 thread).",
                          "Several frames at once, zerorun has 6.2 times libjpeg-turbo's "
                          "throughput (cpu, host>host; 4 threads)."));
}

TEST(Sentences, SaysWhereZerorunIsSlower) {
  CaseResult result;
  result.rows = {row("zerorun", Mode::latency, 1, 150), row("Other 1", Mode::latency, 1, 100),
                 row("zerorun", Mode::throughput, 1, 40), row("Other 1", Mode::throughput, 8, 10)};
  EXPECT_THAT(sentences(result),
              ElementsAre("One frame at a time, zerorun takes 1.5 times Other's time (cpu, "
                          "host>host; 1 thread).",
                          "Several frames at once, zerorun has 0.25 of Other's throughput (cpu, "
                          "host>host; zerorun 1 thread, Other 8 threads)."));
}

TEST(Sentences, NamesNoRatioWithinTheNoise) {
  CaseResult result;
  result.rows = {row("zerorun", Mode::latency, 1, 99), row("Other 1", Mode::latency, 1, 100)};
  for (std::size_t i = 0; i < 20; i += 2) result.rows[0].microseconds[i] += 4;
  EXPECT_THAT(sentences(result), ElementsAre(HasSubstr("equally fast within the noise")));
}

TEST(Sentences, ComparesNoOtherDeviceOrPath) {
  CaseResult result;
  result.rows = {row("zerorun", Mode::latency, 1, 9, "cuda:0", "device>device"),
                 row("Other 1", Mode::latency, 1, 100),
                 row("nvJPEG 13", Mode::latency, 1, 50, "cuda:0", "pinned>device")};
  EXPECT_THAT(sentences(result), IsEmpty());
}

/// As on a GPU: every backend of nvJPEG has rows for single images, and one for batches.
std::vector<Row> rows_of_nvjpeg(const std::string& backend, double alone_us, double many_us,
                                double batch_us) {
  std::vector<Row> rows = {
      row("nvJPEG-" + backend + " 13.0.1", Mode::latency, 1, alone_us),
      row("nvJPEG-" + backend + " 13.0.1", Mode::throughput, 8, many_us),
      row("nvJPEG-" + backend + "-batched 13.0.1", Mode::throughput, 64, batch_us)};
  for (Row& each : rows) each.codec = "nvJPEG";
  rows.back().unit = "frames";
  return rows;
}

TEST(Sentences, CompareALibraryByTheBestOfItsBackends) {
  CaseResult result;
  result.rows = {row("zerorun", Mode::latency, 1, 80), row("zerorun", Mode::throughput, 8, 20)};
  for (const auto& rows :
       {rows_of_nvjpeg("default", 1300, 178, 7200), rows_of_nvjpeg("hybrid", 1250, 182, 7300),
        rows_of_nvjpeg("hardware", 1270, 176, 170)})
    result.rows.insert(result.rows.end(), rows.begin(), rows.end());
  EXPECT_THAT(sentences(result),
              ElementsAre("One frame at a time, zerorun takes 0.06 of nvJPEG's time (cpu, "
                          "host>host; nvJPEG-hybrid, 1 thread).",
                          "Several frames at once, zerorun has 8.5 times nvJPEG's throughput (cpu, "
                          "host>host; zerorun 8 threads, nvJPEG-hardware-batched 64 frames)."));
}

TEST(Warnings, NameRowsWhoseTimesAreFarApart) {
  CaseResult result;
  result.rows = {row("zerorun", Mode::latency, 1, 10), row("Other 1", Mode::latency, 1, 10)};
  EXPECT_THAT(warnings(result), IsEmpty());
  for (int i = 0; i < 3; ++i) result.rows[1].microseconds[static_cast<std::size_t>(i)] = 20;
  EXPECT_THAT(warnings(result), IsEmpty()) << "twice is not more than twice";
  for (int i = 0; i < 3; ++i) result.rows[1].microseconds[static_cast<std::size_t>(i)] = 21;
  EXPECT_THAT(warnings(result), ElementsAre(HasSubstr("1 of 2 rows (Other/cpu/")));
}

TEST(Warnings, OfTheLoadBefore) {
  EXPECT_FALSE(load_warning(-1, 2));
  EXPECT_FALSE(load_warning(4, 16));
  EXPECT_THAT(load_warning(4.1, 16).value_or(""), HasSubstr("load was 4.1, with 16 processors"));
  EXPECT_TRUE(load_warning(0.5, 1));
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out{""};
  for (const char c : text) c == '\n' ? void(out.emplace_back()) : void(out.back() += c);
  return out;
}

TEST(TextTable, LeavesOutTheLastColumnsThatDoNotFit) {
  TextTable table({{"name", 0, true}, {"first", 2}, {"second"}, {"third", 1}});
  table.add({std::string(60, 'n'), std::string(20, '1'), std::string(20, '2'), "3"});
  const auto rows = lines(table.text());
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_LE(rows[1].size(), kTextColumns);
  EXPECT_EQ(rows[1], std::string(60, 'n') + "  " + std::string(20, '2') + "      3");
}

TEST(Wrapped, BreaksAtSpacesOnly) {
  const std::string word(30, 'w');
  const std::string text = word + " " + word + " " + word + " " + word + " end";
  const auto broken = lines(wrapped(text, 4, " \\"));
  EXPECT_THAT(broken, ElementsAre(word + " " + word + " " + word + " \\", "    " + word + " end"));
  EXPECT_EQ(wrapped(std::string(150, 'x'), 4), std::string(150, 'x'));
  EXPECT_EQ(wrapped("", 4), "");
}

TEST(Wrapped, NoLineIsLonger) {
  for (std::size_t size = 1; size < 60; ++size) {
    std::string text;
    for (int i = 0; i < 40; ++i) text += std::string(size, 'a') + " ";
    for (const std::string& line : lines(wrapped(text, 4, " \\")))
      EXPECT_LE(line.size(), kTextColumns) << size;
  }
}

}  // namespace
}  // namespace zerorun::app::bench
