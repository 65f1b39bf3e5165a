// What an INPUT or OUTPUT word means; number patterns never reach printf.
// SPDX-License-Identifier: MIT
#include "io/base/location.hpp"

#include <algorithm>

#include "io/base/sequence.hpp"
#include "tests/io/support.hpp"

namespace zerorun::test {
namespace {

using io::LocationKind;
using io::NumberPattern;

TEST(NumberPattern, MakesAndReadsNames) {
  auto parsed = NumberPattern::parse("shots/a%%b_%05d.png");
  ASSERT_TRUE(parsed) << why(parsed);
  ASSERT_TRUE(parsed->has_value());
  const NumberPattern& pattern = **parsed;
  EXPECT_EQ(pattern.directory(), "shots/");
  EXPECT_EQ(pattern.path(7), "shots/a%b_00007.png");
  EXPECT_EQ(pattern.path(1234567), "shots/a%b_1234567.png");
  EXPECT_EQ(pattern.match("a%b_00042.png"), 42);
  EXPECT_EQ(pattern.match("a%b_1234567.png"), 1234567);
  EXPECT_EQ(pattern.match("a%b_-0042.png"), -42);  // as printf writes it
  EXPECT_EQ(pattern.path(-42), "shots/a%b_-0042.png");
  for (const char* other :
       {"a%b_42.png", "a%b_000042.png", "a%b_.png", "a%b_-042.png", "a%b_0004x.png", "b_00042.png",
        "a%b_00042.pngx", "a%b_99999999999999999999999.png"})
    EXPECT_FALSE(pattern.match(other)) << other;
}

TEST(NumberPattern, WithoutADirectoryLooksHere) {
  auto parsed = NumberPattern::parse("%d.jpg");
  ASSERT_TRUE(parsed && parsed->has_value());
  EXPECT_EQ((*parsed)->directory(), ".");
  EXPECT_EQ((*parsed)->path(10), "10.jpg");
  EXPECT_FALSE((*parsed)->match("010.jpg"));
}

TEST(NumberPattern, HashesAreDigits) {
  const auto parsed = NumberPattern::parse("in/shot.####.png");
  ASSERT_TRUE(parsed && *parsed);
  EXPECT_EQ((*parsed)->path(42), "in/shot.0042.png");
  EXPECT_EQ((*parsed)->match("shot.0042.png"), 42);
  EXPECT_FALSE((*parsed)->match("shot.42.png"));
  EXPECT_EQ((*parsed)->other_digits("shot.42.png"), "42");
}

TEST(NumberPattern, NamesWithoutOne) {
  for (const char* plain :
       {"video.mov", "100%%.png", "100%.png", "50% off.png", "a%", "#1.png", ""}) {
    auto parsed = NumberPattern::parse(plain);
    ASSERT_TRUE(parsed) << plain;
    EXPECT_FALSE(parsed->has_value()) << plain;
  }
}

TEST(NumberPattern, RefusesEverythingElse) {
  for (const char* bad : {"%s.png", "%n", "%05d_%d.png", "%5d.png", "%x.png", "%.3d.png", "%ld.png",
                          "%-5d.png", "%05.png", "%d/a.png", "##_##.png", "##/a.png", "%*d.png",
                          "%099d.png", "%0999999999999999999999d.png", "%1$d.png"}) {
    auto parsed = NumberPattern::parse(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.status().code(), Errc::invalid_argument) << bad;
  }
}

TEST(NumberPattern, NumberedPathIsWhatSinksWrite) {
  for (const auto& [name, path] :
       std::vector<std::pair<const char*, const char*>>{{"a%%/%05d.png", "a%/00042.png"},
                                                        {"x.####.jpg", "x.0042.jpg"},
                                                        {"%d", "42"},
                                                        {"50%_%04i.jpg", "50%_0042.jpg"},
                                                        {"%03u.png", "042.png"}})
    EXPECT_EQ(io::numbered_path({name, "", {}}, 42), path);
  for (const char* const none :
       {"a.png", "100%.png", "a#.png", "%d%d", "%s", "%", "%4d.jpg", "%d/a.png", ""})
    EXPECT_FALSE(io::numbered_path({none, "", {}}, 42)) << none;
}

LocationKind kind_of(const std::string& name) {
  auto parsed = io::parse_input({name, "", {}});
  EXPECT_TRUE(parsed) << name << ": " << why(parsed);
  return parsed ? parsed->kind : LocationKind::file;
}

TEST(Location, KindsOfInput) {
  const ScratchFolder scratch;
  EXPECT_EQ(kind_of("-"), LocationKind::stream);
  EXPECT_EQ(kind_of("a/b.png"), LocationKind::file);
  EXPECT_EQ(kind_of("a/shot.####.png"), LocationKind::pattern);
  EXPECT_EQ(kind_of("a/%05d.png"), LocationKind::pattern);
  EXPECT_EQ(kind_of("a/*.png"), LocationKind::glob);
  EXPECT_EQ(kind_of("a/[0-9]%.png"), LocationKind::glob);
  EXPECT_EQ(kind_of("@list.txt"), LocationKind::list);
  EXPECT_EQ(kind_of(scratch.path("")), LocationKind::directory);
  EXPECT_FALSE(io::parse_input({"", "", {}}));
  EXPECT_FALSE(io::parse_input({"%s", "", {}}));
  EXPECT_FALSE(io::parse_input({std::string("a\0b", 3), "", {}}));
}

TEST(Location, AFileThatExistsIsAFile) {
  const ScratchFolder scratch;
  for (const char* odd : {"100%.png", "%s", "a*b[1].png", "%05d.png", "@here"}) {
    scratch.write(odd, "x");
    EXPECT_EQ(kind_of(scratch.path(odd)), LocationKind::file) << odd;
  }
}

TEST(Location, KindsOfOutput) {
  const ScratchFolder scratch;
  EXPECT_EQ(io::parse_output({"-", "", {}})->kind, LocationKind::stream);
  EXPECT_EQ(io::parse_output({"a*.mov", "", {}})->kind, LocationKind::file);
  EXPECT_EQ(io::parse_output({"%04d.jpg", "", {}})->kind, LocationKind::pattern);
  for (const std::string& bad : {std::string("dir/"), scratch.path(""), std::string("%s.jpg")}) {
    auto parsed = io::parse_output({bad, "", {}});
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.status().code(), Errc::invalid_argument);
  }
}

TEST(Location, Extensions) {
  EXPECT_EQ(io::extension_of("a/b.MoV"), "mov");
  EXPECT_EQ(io::extension_of("a.b/c"), "");
  EXPECT_EQ(io::extension_of("a/.hidden"), "");
  EXPECT_EQ(io::extension_of("x.tar.gz"), "gz");
  EXPECT_EQ(io::format_of({"a.png", "Y4M", {}}), "y4m");
}

TEST(Location, PacketOutputs) {
  for (const char* yes :
       {"a.mov", "a.MKV", "a.avi", "a.mp4", "a.mjpeg", "a.mjpg", "a.jpg", "%05d.jpeg", "-"})
    EXPECT_TRUE(io::is_packet_output({yes, "", {}})) << yes;
  for (const char* no : {"a.png", "a.y4m", "a", "a.webm"})
    EXPECT_FALSE(io::is_packet_output({no, "", {}})) << no;
  EXPECT_FALSE(io::is_packet_output({"-", "y4m", {}}));
  EXPECT_TRUE(io::is_packet_output({"-", "mjpeg", {}}));
  EXPECT_TRUE(io::is_packet_output({"noextension", "mov", {}}));
}

TEST(NaturalOrder, NumbersByValue) {
  std::vector<std::string> names{"f10",
                                 "f9",
                                 "f09",
                                 "f1",
                                 "f",
                                 "g1",
                                 "f100000000000000000000000",
                                 "f99999999999999999999999",
                                 "f1a",
                                 "f1.png"};
  std::sort(names.begin(), names.end(), io::natural_less);
  EXPECT_THAT(names,
              testing::ElementsAre("f", "f1", "f1.png", "f1a", "f9", "f09", "f10",
                                   "f99999999999999999999999", "f100000000000000000000000", "g1"));
}

}  // namespace
}  // namespace zerorun::test
