// What an INPUT or OUTPUT word means: number patterns, which never reach printf; sequences of
// images with their order, ranges, gaps, globs, directories and lists; how many pixels an input
// seems to have.
// SPDX-License-Identifier: MIT
#include "io/base/location.hpp"

#include <algorithm>
#include <string>

#include "io/base/sequence.hpp"
#include "tests/io/support.hpp"
#include "zerorun/io.hpp"

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

using io::MissingFrames;

/// Images of one grey pixel with the number as its value.
void write_numbers(const ScratchFolder& scratch, std::initializer_list<int> numbers) {
  for (const int n : numbers)
    scratch.write("f" + std::to_string(n) + ".pgm",
                  std::string("P5 1 1 255\n") + static_cast<char>(n));
}

struct Outcome {
  std::vector<int> values;
  std::vector<Errc> errors;
  std::int64_t count = -1;
};

/// Reads to the end, past errors.
Outcome read(const std::string& name, const io::SourceOptions& options = {},
             std::optional<std::int64_t> start = {}) {
  Outcome outcome;
  auto source = io::open_frames({name, "", start}, options);
  if (!source) {
    outcome.errors.push_back(source.status().code());
    return outcome;
  }
  outcome.count = (*source)->info().frame_count;
  Frame frame;
  io::FrameTime time;
  for (;;) {
    auto more = (*source)->read(frame, time);
    if (!more)
      outcome.errors.push_back(more.status().code());
    else if (*more)
      outcome.values.push_back(frame.view().data[0][0]);
    else
      return outcome;
  }
}

io::SourceOptions missing(MissingFrames what) {
  io::SourceOptions options;
  options.missing = what;
  return options;
}

TEST(Sequence, StartsAtTheSmallestNumber) {
  const ScratchFolder scratch;
  write_numbers(scratch, {3, 4, 5});
  scratch.write("f04.pgm", "not of the pattern");
  const Outcome outcome = read(scratch.path("f%d.pgm"));
  EXPECT_THAT(outcome.values, testing::ElementsAre(3, 4, 5));
  EXPECT_EQ(outcome.count, 3);
  EXPECT_TRUE(outcome.errors.empty());
}

TEST(Sequence, GapsAreErrorsByDefault) {
  const ScratchFolder scratch;
  write_numbers(scratch, {1, 2, 5, 6});
  const Outcome outcome = read(scratch.path("f%d.pgm"));
  EXPECT_THAT(outcome.values, testing::ElementsAre(1, 2, 5, 6));
  EXPECT_THAT(outcome.errors, testing::ElementsAre(Errc::missing_frame));
  auto source = io::open_frames({scratch.path("f%d.pgm"), "", {}}, {});
  Frame frame;
  io::FrameTime time;
  ASSERT_TRUE((*source)->read(frame, time) && (*source)->read(frame, time));
  EXPECT_THAT((*source)->read(frame, time).status().detail(),
              testing::AllOf(testing::HasSubstr("f3.pgm"), testing::HasSubstr("f5.pgm")));
}

TEST(Sequence, AStartNumberThatIsNotThere) {
  const ScratchFolder scratch;
  write_numbers(scratch, {1, 4, 5});
  EXPECT_THAT(read(scratch.path("f%d.pgm"), {}, 3).errors,
              testing::ElementsAre(Errc::missing_frame));
  EXPECT_THAT(read(scratch.path("f%d.pgm"), missing(MissingFrames::hold), 3).errors,
              testing::ElementsAre(Errc::missing_frame));
  EXPECT_THAT(read(scratch.path("f%d.pgm"), missing(MissingFrames::skip), 3).values,
              testing::ElementsAre(4, 5));
  EXPECT_THAT(read(scratch.path("f%d.pgm"), {}, 4).values, testing::ElementsAre(4, 5));
  EXPECT_THAT(read(scratch.path("f%d.pgm"), {}, 6).errors, testing::ElementsAre(Errc::open_failed));
}

TEST(Sequence, GlobsAndDirectoriesInNaturalOrder) {
  const ScratchFolder scratch;
  write_numbers(scratch, {1, 2, 9, 10, 100});
  scratch.write("notes.txt", "not an image");
  scratch.write(".hidden.pgm", "P5 1 1 255\nx");
  std::filesystem::create_directory(scratch.path("f3.pgm"));
  for (const char* name : {"f*.pgm", ""}) {
    const Outcome outcome = read(scratch.path(name));
    EXPECT_THAT(outcome.values, testing::ElementsAre(1, 2, 9, 10, 100)) << name;
    EXPECT_EQ(outcome.count, 5);
  }
  EXPECT_THAT(read(scratch.path("g*.pgm")).errors, testing::ElementsAre(Errc::open_failed));
  EXPECT_THAT(read(scratch.path("f3.pgm")).errors, testing::ElementsAre(Errc::open_failed));
}

TEST(Sequence, ListsAreRelativeToTheirFolder) {
  const ScratchFolder scratch;
  write_numbers(scratch, {1, 2, 3});
  scratch.write("list.txt",
                "# comment\r\nf3.pgm\r\n\nf1.pgm\nabsent.pgm\n" + scratch.path("f2.pgm"));
  const std::string list = "@" + scratch.path("list.txt");
  Outcome outcome = read(list);
  EXPECT_THAT(outcome.values, testing::ElementsAre(3, 1, 2));
  EXPECT_THAT(outcome.errors, testing::ElementsAre(Errc::missing_frame));
  outcome = read(list, missing(MissingFrames::hold));
  EXPECT_THAT(outcome.values, testing::ElementsAre(3, 1, 1, 2));
  EXPECT_EQ(outcome.count, 4);
  outcome = read(list, missing(MissingFrames::skip));
  EXPECT_THAT(outcome.values, testing::ElementsAre(3, 1, 2));
  EXPECT_EQ(outcome.count, 3);
  EXPECT_THAT(read("@" + scratch.path("none.txt")).errors, testing::ElementsAre(Errc::open_failed));
  scratch.write("empty.txt", "# nothing\n");
  EXPECT_THAT(read("@" + scratch.path("empty.txt")).errors,
              testing::ElementsAre(Errc::open_failed));
  scratch.write("binary.txt", std::string("a\0b", 3));
  EXPECT_THAT(read("@" + scratch.path("binary.txt")).errors, testing::ElementsAre(Errc::bad_input));
}

std::optional<double> pixels(const std::string& name, io::SourceOptions options = {}) {
  return io::estimate_pixels({name, "", {}}, options);
}

io::SourceOptions range(std::int64_t first, std::int64_t last) {
  io::SourceOptions options;
  options.first_frame = first;
  options.last_frame = last;
  return options;
}

std::string png_head(int width, int height) {
  std::string bytes("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
  for (const int number : {width, height})
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xFF);
  return bytes + std::string(100, 'x');
}

TEST(InputSize, y4m_is_exact_up_to_the_frame_headers) {
  const ScratchFolder folder;
  std::string y4m = "YUV4MPEG2 W64 H48 F25:1 C420jpeg\n";
  for (int i = 0; i < 10; ++i) y4m += "FRAME\n" + std::string(64 * 48 * 3 / 2, 'x');
  const std::string name = folder.write("in.y4m", y4m);
  EXPECT_NEAR(pixels(name).value_or(0), 10 * 64 * 48, 64 * 48 * 0.1);
  EXPECT_DOUBLE_EQ(pixels(name, range(2, 5)).value_or(0), 3 * 64 * 48);
  EXPECT_NEAR(pixels(name, range(8, -1)).value_or(0), 2 * 64 * 48, 64 * 48 * 0.1);
  EXPECT_DOUBLE_EQ(pixels(name, range(20, -1)).value_or(-1), 0.0);
}

TEST(InputSize, pnm_holds_one_or_several_images) {
  const ScratchFolder folder;
  const std::string image = "P6\n40 30\n255\n" + std::string(40 * 30 * 3, 'x');
  EXPECT_NEAR(pixels(folder.write("one.ppm", image)).value_or(0), 40 * 30, 10);
  EXPECT_NEAR(pixels(folder.write("two.ppm", image + image)).value_or(0), 2 * 40 * 30, 20);
  const std::string grey = "P5\n# a comment\n40 30\n255\n" + std::string(40 * 30, 'x');
  EXPECT_GT(pixels(folder.write("commented.pgm", grey)).value_or(0), 0);
}

TEST(InputSize, sequences_count_their_files) {
  const ScratchFolder folder;
  for (int i = 1; i <= 7; ++i) folder.write("f" + std::to_string(i) + ".png", png_head(1920, 1080));
  const double one = 1920.0 * 1080;
  EXPECT_DOUBLE_EQ(pixels(folder.path("f3.png")).value_or(0), one);
  for (const char* name : {"f%d.png", "*.png", ""})
    EXPECT_DOUBLE_EQ(pixels(folder.path(name)).value_or(0), 7 * one) << name;
  EXPECT_DOUBLE_EQ(pixels(folder.path("f%d.png"), range(1, 4)).value_or(0), 3 * one);
}

TEST(InputSize, other_files_are_guessed_by_their_length) {
  const ScratchFolder folder;
  const std::string jpeg = folder.write("a.jpg", "\xFF\xD8\xFF" + std::string(997, 'x'));
  EXPECT_DOUBLE_EQ(pixels(jpeg).value_or(0), 4000);
  EXPECT_GT(pixels(folder.write("a.mp4", std::string(1000, 'x'))).value_or(0), 4000);
}

TEST(InputSize, nothing_is_known_of_pipes_and_of_what_is_not_there) {
  const ScratchFolder folder;
  EXPECT_FALSE(pixels("-"));
  EXPECT_FALSE(pixels("/dev/null"));
  EXPECT_FALSE(pixels(folder.path("absent.y4m")));
  EXPECT_FALSE(pixels(folder.path("%d.png")));
  for (const std::string& broken :
       {std::string("YUV4MPEG2 W-1 H99999999999999\n"), std::string("YUV4MPEG2"),
        std::string("P6\n-4 7\n"), std::string("P6\n"), png_head(1, 1).substr(0, 20)})
    EXPECT_GE(pixels(folder.write("broken", broken)).value_or(0), 0) << broken;
}

}  // namespace
}  // namespace zerorun::test
