// Headers of Matroska and AVI files: how long they say the file is.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/container_bytes.hpp"

#include <gtest/gtest.h>

#include <string>

namespace zerorun::io {
namespace {

using namespace std::string_literals;

std::optional<std::int64_t> announced(const std::string& head) {
  return announced_bytes(std::as_bytes(std::span(head)));
}

const std::string kEbml =
    "\x1A\x45\xDF\xA3\x84"
    "abcd"s;  // four bytes of content
const std::string kSegment = "\x18\x53\x80\x67"s;

TEST(AnnouncedSize, OfMatroska) {
  const auto front = static_cast<std::int64_t>(kEbml.size() + kSegment.size());
  EXPECT_EQ(announced(kEbml + kSegment + "\x85"), front + 1 + 5);
  EXPECT_EQ(announced(kEbml + kSegment + "\x41\x02"), front + 2 + 0x102);
  EXPECT_EQ(announced(kEbml + kSegment + "\x01\0\0\0\x01\x02\x03\x04"s), front + 8 + 0x1020304);
}

TEST(AnnouncedSize, LiveStreamsDoNotKnowIt) {
  EXPECT_EQ(announced(kEbml + kSegment + "\xFF"), std::nullopt);
  EXPECT_EQ(announced(kEbml + kSegment + "\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), std::nullopt);
  EXPECT_EQ(announced("RIFF\0\0\0\0AVI LIST"s), std::nullopt);
  EXPECT_EQ(announced("RIFF\xFF\xFF\xFF\xFF"
                      "AVI LIST"s),
            std::nullopt);
}

TEST(AnnouncedSize, OfAvi) {
  EXPECT_EQ(announced("RIFF\x10\x20\0\0AVI LIST"s), 0x2010 + 8);
  EXPECT_EQ(announced("RIFF\x10\x20\0\0WAVEfmt "s), std::nullopt);
}

TEST(AnnouncedSize, HeadsThatEndTooEarly) {
  for (const std::string& whole :
       {kEbml + kSegment + "\x01\0\0\0\x01\x02\x03\x04"s, "RIFF\x10\x20\0\0AVI "s}) {
    ASSERT_TRUE(announced(whole));
    for (std::size_t length = 0; length < whole.size(); ++length)
      EXPECT_EQ(announced(whole.substr(0, length)), std::nullopt) << length;
  }
  // A header that is longer than the data, and a size without a length.
  EXPECT_EQ(announced("\x1A\x45\xDF\xA3\x01\x7F\xFF\xFF\xFF\xFF\xFF\xFF" + kSegment + "\x85"),
            std::nullopt);
  EXPECT_EQ(announced("\x1A\x45\xDF\xA3\0\0\0\0\0\0\0\0"s), std::nullopt);
}

}  // namespace
}  // namespace zerorun::io
