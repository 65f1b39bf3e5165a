// How many pixels an input seems to have, from names, sizes and first bytes.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>

#include "support.hpp"
#include "zerorun/io.hpp"

namespace zerorun::test {
namespace {

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
