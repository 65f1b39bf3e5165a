// The null and MD5 outputs, and MD5 itself.
// SPDX-License-Identifier: MIT
#include "io/output/md5.hpp"
#include "tests/io/support.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string md5(std::string_view text) {
  io::Md5 sum;
  sum.add(bytes(text));
  return sum.finish();
}

TEST(Md5, IsThatOfTheRfc) {  // RFC 1321 A.5
  EXPECT_EQ(md5(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5("a"), "0cc175b9c0f1b6a831c399e269772661");
  EXPECT_EQ(md5("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(md5("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(md5("abcdefghijklmnopqrstuvwxyz"), "c3fcd3d76192e4007dfb496cca67e13b");
  EXPECT_EQ(md5("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
            "d174ab98d277d9f5a5611c2c9f419d9f");
  std::string digits;
  for (int i = 0; i < 8; ++i) digits += "1234567890";
  EXPECT_EQ(md5(digits), "57edf4a22be3c955ac49da2e2107b67a");
}

TEST(Md5, TakesPartsOfAnySize) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
  const std::string whole = md5(text);
  for (const std::size_t part : {1u, 3u, 63u, 64u, 65u, 130u}) {
    io::Md5 sum;
    for (std::size_t at = 0; at < text.size(); at += part)
      sum.add(bytes(std::string_view(text).substr(at, part)));
    EXPECT_EQ(sum.finish(), whole) << part;
  }
  // Every length of the last block.
  const int status = has_program("md5sum") ? 0 : 1;
  for (std::size_t length = 50; status == 0 && length < 70; ++length) {
    const ScratchFolder scratch;
    const std::string path = scratch.write("a", text.substr(0, length));
    EXPECT_EQ(md5(text.substr(0, length)), run("md5sum '" + path + "'").substr(0, 32)) << length;
  }
}

TEST(MeasuringOutputs, AreBothKinds) {
  for (const char* name : {"null:", "md5:", "md5:a.mov"}) {
    EXPECT_TRUE(io::is_measuring_output({name, "", {}})) << name;
    EXPECT_TRUE(io::is_packet_output({name, "", {}})) << name;
  }
  EXPECT_FALSE(io::is_measuring_output({"null", "", {}}));
}

TEST(MeasuringOutputs, NullCountsBytes) {
  auto packets = io::open_packet_sink({"null:", "", {}}, sink_options());
  auto frames = io::open_frame_sink({"null:", "", {}}, sink_options());
  ASSERT_TRUE(packets && frames);
  const Packet packet = make_packets(1)[0];
  ASSERT_TRUE((*packets)->write(packet, {}));
  ASSERT_TRUE((*frames)->write(TestFrame(PixelFormat::yuv420p, 4, 4).view(), {}));
  EXPECT_EQ((*packets)->bytes_written(), static_cast<std::int64_t>(packet.size()));
  EXPECT_EQ((*frames)->bytes_written(), 24);
  EXPECT_TRUE((*packets)->finish());
  EXPECT_TRUE((*frames)->finish());
}

TEST(MeasuringOutputs, Md5WritesALineAFrame) {
  const ScratchFolder scratch;
  auto sink = io::open_frame_sink({"md5:" + scratch.path("a.txt"), "", {}}, sink_options(4, 2));
  ASSERT_TRUE(sink) << why(sink);
  for (int i = 0; i < 2; ++i) {
    const TestFrame frame(PixelFormat::gray8, 4, 2, Layout::padded,
                          static_cast<std::uint8_t>('a' + i));
    ASSERT_TRUE((*sink)->write(frame.view(), {i, 1}));
  }
  EXPECT_TRUE(scratch.has("a.txt.part"));
  ASSERT_TRUE((*sink)->finish());
  EXPECT_EQ(text_of(scratch.path("a.txt")),
            "#format: frame checksums\n#version: 2\n#hash: MD5\n#tb 0: 1001/30000\n"
            "#media_type 0: video\n#codec_id 0: rawvideo\n#dimensions 0: 4x2\n#sar 0: 1/1\n"
            "#stream#, dts,        pts, duration,     size, hash\n"
            "0,          0,          0,        1,        8, " +
                md5("aaaaaaaa") + "\n0,          1,          1,        1,        8, " +
                md5("bbbbbbbb") + "\n");
}

}  // namespace
}  // namespace zerorun::test
