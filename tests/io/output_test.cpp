// Outputs: renamed at the end, nothing overwritten unless asked for, write errors with reasons;
// MD5.
// SPDX-License-Identifier: MIT
#include "io/output/output_file.hpp"

#include <unistd.h>

#include "io/output/md5.hpp"
#include "tests/io/support.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

std::span<const std::byte> text_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(OutputFile, TakesItsNameAtTheEnd) {
  const ScratchFolder scratch;
  {
    auto file = opened(io::OutputFile::create(scratch.path("a"), false));
    ASSERT_TRUE(file->write(text_bytes("hello")));
    EXPECT_THAT(scratch.names(), testing::ElementsAre("a.part"));
    EXPECT_EQ(text_of(scratch.path("a.part")), "hello");  // unbuffered
    ASSERT_TRUE(file->seek(1));
    ASSERT_TRUE(file->write(text_bytes("E")));
    EXPECT_EQ(file->size(), 5);
    ASSERT_TRUE(file->commit());
  }
  EXPECT_THAT(scratch.names(), testing::ElementsAre("a"));
  EXPECT_EQ(text_of(scratch.path("a")), "hEllo");
}

TEST(OutputFile, WithoutTheEndItIsRemoved) {
  const ScratchFolder scratch;
  {
    auto file = opened(io::OutputFile::create(scratch.path("a"), false));
    ASSERT_TRUE(file->write(text_bytes("hello")));
  }
  EXPECT_TRUE(scratch.names().empty());
}

/// Somebody else's link in a shared folder must not lead the bytes to another file.
TEST(OutputFile, FollowsNoLinkThatHasThePartsName) {
  const ScratchFolder scratch;
  scratch.write("precious", std::string("old"));
  ASSERT_EQ(::symlink(scratch.path("precious").c_str(), scratch.path("a.part").c_str()), 0);
  EXPECT_EQ(io::OutputFile::create(scratch.path("a"), false).status().code(), Errc::output_exists);
  auto file = opened(io::OutputFile::create(scratch.path("a"), true));
  ASSERT_TRUE(file->write(text_bytes("new")));
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(text_of(scratch.path("precious")), "old");
  EXPECT_EQ(text_of(scratch.path("a")), "new");
  EXPECT_FALSE(std::filesystem::is_symlink(scratch.path("a")));
}

TEST(OutputFile, OverwritesOnlyWhenAsked) {
  const ScratchFolder scratch;
  scratch.write("a", std::string("old"));
  EXPECT_EQ(io::OutputFile::create(scratch.path("a"), false).status().code(), Errc::output_exists);
  {
    auto file = opened(io::OutputFile::create(scratch.path("a"), true));
    ASSERT_TRUE(file->write(text_bytes("new")));
    EXPECT_EQ(text_of(scratch.path("a")), "old");
    ASSERT_TRUE(file->commit());
  }
  EXPECT_EQ(text_of(scratch.path("a")), "new");
}

TEST(OutputFile, AnotherRunsPartIsNotTouched) {
  const ScratchFolder scratch;
  scratch.write("a.part", std::string("rescue me"));
  EXPECT_EQ(io::OutputFile::create(scratch.path("a"), false).status().code(), Errc::output_exists);
  EXPECT_EQ(text_of(scratch.path("a.part")), "rescue me");
  EXPECT_TRUE(io::OutputFile::create(scratch.path("a"), true));
}

TEST(OutputFile, AFileThatAppearsMeanwhileIsKept) {
  const ScratchFolder scratch;
  {
    auto file = opened(io::OutputFile::create(scratch.path("a"), false));
    ASSERT_TRUE(file->write(text_bytes("mine")));
    scratch.write("a", std::string("theirs"));
    EXPECT_EQ(file->commit().code(), Errc::output_exists);
  }
  EXPECT_EQ(text_of(scratch.path("a")), "theirs");
  EXPECT_EQ(text_of(scratch.path("a.part")), "mine");  // the work is not lost
}

TEST(OutputFile, SaysWhyItCannotBeOpened) {
  const ScratchFolder scratch;
  auto file = io::OutputFile::create(scratch.path("no/such/folder"), false);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.status().code(), Errc::open_failed);
  EXPECT_THAT(file.status().detail(), testing::HasSubstr("No such file or directory"));
  EXPECT_EQ(io::OutputFile::create(scratch.path(""), true).status().code(), Errc::open_failed);
}

TEST(OutputFile, AFullDeviceIsAnErrorWithTheSystemsReason) {
  auto file = io::OutputFile::create("/dev/full", false);  // a device is not protected
  ASSERT_TRUE(file) << why(file);
  const Status status = (*file)->write(text_bytes("x"));
  EXPECT_EQ(status.code(), Errc::write_failed);
  EXPECT_THAT(status.detail(), testing::HasSubstr("No space left on device"));
  EXPECT_EQ((*file)->commit().code(), Errc::write_failed);
  EXPECT_TRUE(std::filesystem::exists("/dev/full"));
}

TEST(Sinks, EveryKindProtectsWhatIsThere) {
  const ScratchFolder scratch;
  const io::SinkOptions options = sink_options();
  std::vector<std::string> packet_names{"a.mjpeg", "a.jpg"}, frame_names{"a.y4m", "a.ppm"};
  if (io::features().ffmpeg) packet_names.insert(packet_names.end(), {"a.mov", "a.mkv", "a.avi"});
  if (io::features().opencv) frame_names.push_back("a.png");
  for (const std::string& name : packet_names) {
    scratch.write(name, std::string("old"));
    EXPECT_EQ(io::open_packet_sink({scratch.path(name), "", {}}, options).status().code(),
              Errc::output_exists)
        << name;
    EXPECT_EQ(text_of(scratch.path(name)), "old");
  }
  for (const std::string& name : frame_names) {
    scratch.write(name, std::string("old"));
    EXPECT_EQ(io::open_frame_sink({scratch.path(name), "", {}}, options).status().code(),
              Errc::output_exists)
        << name;
  }
}

TEST(Sinks, SequencesLookBeforeTheyWrite) {
  const ScratchFolder scratch;
  scratch.write("f0005.jpg", std::string("old"));
  io::SinkOptions options = sink_options();
  EXPECT_EQ(io::open_packet_sink({scratch.path("f%04d.jpg"), "", {}}, options).status().code(),
            Errc::output_exists);
  EXPECT_TRUE(io::open_packet_sink({scratch.path("f%04d.jpg"), "", 6}, options));
  options.overwrite = true;
  auto sink = opened(io::open_packet_sink({scratch.path("f%04d.jpg"), "", 5}, options));
  const Packet packet = make_packets(1)[0];
  ASSERT_TRUE(sink->write(packet, {}));
  EXPECT_EQ(std::filesystem::file_size(scratch.path("f0005.jpg")), packet.size());
  EXPECT_EQ(io::open_packet_sink({scratch.path("none/f%04d.jpg"), "", {}}, options).status().code(),
            Errc::open_failed);
}

TEST(Sinks, NothingIsLeftOfAnUnfinishedFile) {
  const ScratchFolder scratch;
  std::vector<std::string> names{"a.mjpeg", "a.jpg"};
  if (io::features().ffmpeg) names.insert(names.end(), {"a.mov", "a.mkv", "a.avi", "a.mp4"});
  for (const std::string& name : names) {
    auto sink = opened(io::open_packet_sink({scratch.path(name), "", {}}, sink_options()));
    ASSERT_TRUE(sink->write(make_packets(1)[0], {}));
    EXPECT_TRUE(scratch.has(name + ".part"));
  }
  EXPECT_TRUE(scratch.names().empty());
}

TEST(Sinks, NoFrameMakesNoFile) {
  const ScratchFolder scratch;
  std::vector<std::string> names{"a.jpg"};
  if (io::features().ffmpeg) names.insert(names.end(), {"a.mov", "a.mkv", "a.avi"});
  for (const std::string& name : names) {
    auto sink = opened(io::open_packet_sink({scratch.path(name), "", {}}, sink_options()));
    EXPECT_EQ(sink->finish().code(), Errc::unsupported_output) << name;
  }
  EXPECT_TRUE(scratch.names().empty());
}

TEST(Sinks, UnknownNamesAreRefused) {
  const ScratchFolder scratch;
  EXPECT_EQ(io::open_packet_sink({scratch.path("a.webm"), "", {}}, sink_options()).status().code(),
            Errc::unknown_format);
  EXPECT_EQ(io::open_frame_sink({scratch.path("a.gif"), "", {}}, sink_options()).status().code(),
            Errc::unknown_format);
  EXPECT_EQ(io::open_frame_sink({"-", "", {}}, sink_options()).status().code(),
            Errc::unknown_format);
  EXPECT_EQ(io::open_packet_sink({scratch.path("%d.mov"), "", {}}, sink_options()).status().code(),
            Errc::invalid_argument);
  EXPECT_EQ(io::open_frame_sink({scratch.path("%d.y4m"), "", {}}, sink_options()).status().code(),
            Errc::invalid_argument);
}

TEST(Features, DecideWhatCanBeWritten) {
  const ScratchFolder scratch;
  for (const char* name : {"a.mov", "a.mkv", "a.avi", "a.mp4"}) {
    auto movie = io::open_packet_sink({scratch.path(name), "", {}}, sink_options());
    EXPECT_EQ(movie.is_ok(), io::features().ffmpeg);
    if (!movie) {
      EXPECT_EQ(movie.status().code(), Errc::not_built);
      EXPECT_FALSE(scratch.has(std::string(name) + ".part"));
      const std::string there = scratch.write(name, std::string("RIFF\0\0\0\0AVI LIST", 16));
      EXPECT_EQ(io::open_packets({there, "", {}}, {}).status().code(), Errc::not_built);
    }
  }
  auto image = io::open_frame_sink({scratch.path("a.png"), "", {}}, sink_options());
  EXPECT_EQ(image.is_ok(), io::features().opencv);
  if (!image) {
    EXPECT_EQ(image.status().code(), Errc::not_built);
  }
}

std::string md5(std::string_view text) {
  io::Md5 sum;
  sum.add(text_bytes(text));
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

}  // namespace
}  // namespace zerorun::test
