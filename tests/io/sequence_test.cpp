// Image sequences: order, ranges, gaps, globs, directories, lists.
// SPDX-License-Identifier: MIT
#include "tests/io/support.hpp"

namespace zerorun::test {
namespace {

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

TEST(Sequence, GapsAreSkippedOrHeld) {
  const ScratchFolder scratch;
  write_numbers(scratch, {1, 2, 5, 6});
  Outcome outcome = read(scratch.path("f%d.pgm"), missing(MissingFrames::skip));
  EXPECT_THAT(outcome.values, testing::ElementsAre(1, 2, 5, 6));
  EXPECT_EQ(outcome.count, 4);
  outcome = read(scratch.path("f%d.pgm"), missing(MissingFrames::hold));
  EXPECT_THAT(outcome.values, testing::ElementsAre(1, 2, 2, 2, 5, 6));
  EXPECT_EQ(outcome.count, 6);
  EXPECT_TRUE(outcome.errors.empty());
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

}  // namespace
}  // namespace zerorun::test
