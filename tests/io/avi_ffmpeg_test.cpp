// AVI files of zerorun's own writer read by FFmpeg, and FFmpeg's by zerorun's own reader.
// SPDX-License-Identifier: MIT
#include <string>

#include "io/readers.hpp"
#include "io/sinks.hpp"
#include "tests/io/support.hpp"

namespace zerorun::test {
namespace {

Result<std::unique_ptr<io::PacketSource>> open_own(const std::string& path) {
  auto bytes = io::ByteReader::open(path);
  if (!bytes) return bytes.status();
  auto reader = io::open_avi(*std::move(bytes));
  if (!reader) return reader.status();
  return io::select_packets(*std::move(reader), {});
}

std::unique_ptr<io::PacketSink> own_sink(const std::string& path, const io::SinkOptions& options,
                                         std::int64_t most_riff_bytes = 1 << 30) {
  auto file = io::OutputFile::create(path, true);
  EXPECT_TRUE(file) << why(file);
  auto sink = io::make_avi_sink(*std::move(file), options, most_riff_bytes);
  EXPECT_TRUE(sink) << why(sink);
  return *std::move(sink);
}

void write_all(io::PacketSink& sink, const std::vector<Packet>& packets) {
  for (std::size_t i = 0; i < packets.size(); ++i)
    ASSERT_TRUE(sink.write(packets[i], {static_cast<std::int64_t>(i), 1}));
}

void expect_same(io::PacketSource& source, const std::vector<Packet>& packets) {
  const ReadPackets read = read_all(source);
  EXPECT_EQ(read.packets, packets);
  for (std::size_t i = 0; i < read.times.size(); ++i)
    EXPECT_EQ(read.times[i].pts, static_cast<std::int64_t>(i));
}

io::SinkOptions rich_options() {
  io::SinkOptions options = sink_options();
  options.sample_aspect = {16, 11};
  options.content.tags = {{"title", "Ein Lied"}, {"comment", "two words"}};
  options.content.timecode = "01:02:03:04";
  return options;
}

void expect_rich(const io::SourceInfo& info) {
  EXPECT_EQ(info.container, "avi");
  EXPECT_EQ(info.codec, "mjpeg");
  EXPECT_EQ(info.width, 64);
  EXPECT_EQ(info.frame_rate, (io::Rational{30000, 1001}));
  EXPECT_EQ(info.sample_aspect, (io::Rational{16, 11}));
  EXPECT_EQ(info.content.timecode, "01:02:03:04");
  for (const auto& tag : rich_options().content.tags)
    EXPECT_THAT(info.content.tags, testing::Contains(tag));
}

TEST(AviAndFfmpeg, FfmpegReadsOurs) {
  const ScratchFolder scratch;
  const std::vector<Packet> packets = make_packets(30);
  const auto few = static_cast<std::int64_t>(6 * packets[1].size() + 8000);
  for (const std::int64_t most_riff_bytes : {std::int64_t{1} << 30, few}) {
    const std::string path = scratch.path("a.avi");
    const auto sink = own_sink(path, rich_options(), most_riff_bytes);
    write_all(*sink, packets);
    ASSERT_TRUE(sink->finish());
    auto source = io::open_packets({path, "", {}}, {});
    ASSERT_TRUE(source) << why(source);
    expect_rich((*source)->info());
    EXPECT_EQ((*source)->info().frame_count, 30);
    expect_same(**source, packets);
    if (!has_program("ffmpeg")) continue;
    EXPECT_EQ(run("ffmpeg -v warning -i '" + path + "' -f null - 2>&1"), "");
    auto video = probe_video(path);
    EXPECT_EQ(video["nb_frames"], "30");
    EXPECT_EQ(video["codec_tag_string"], "MJPG");
    EXPECT_EQ(video["avg_frame_rate"], "30000/1001");
    EXPECT_NEAR(std::stod(video["duration"]), 30 * 1001 / 30000.0, 1e-6);
  }
}

TEST(AviAndFfmpeg, FfmpegReadsWhatAKilledProcessLeaves) {
  const ScratchFolder scratch;
  const std::vector<Packet> packets = make_packets(8);
  const auto sink = own_sink(scratch.path("a.avi"), sink_options());
  write_all(*sink, packets);
  auto source = io::open_packets({scratch.path("a.avi.part"), "avi", {}}, {});
  ASSERT_TRUE(source) << why(source);
  EXPECT_EQ(read_all(**source).packets, packets);
}

TEST(AviAndFfmpeg, RepeatedPicturesMeanTheSame) {
  const ScratchFolder scratch;
  const std::vector<Packet> packets = make_packets(4);
  const std::int64_t times[] = {0, 3, 4, 9};
  const auto sink = own_sink(scratch.path("a.avi"), sink_options());
  for (std::size_t i = 0; i < packets.size(); ++i)
    ASSERT_TRUE(sink->write(packets[i], {times[i], 1}));
  ASSERT_TRUE(sink->finish());
  auto theirs = io::open_packets({scratch.path("a.avi"), "", {}}, {});
  auto ours = open_own(scratch.path("a.avi"));
  ASSERT_TRUE(theirs) << why(theirs);
  ASSERT_TRUE(ours) << why(ours);
  const ReadPackets by_ffmpeg = read_all(**theirs), own = read_all(**ours);
  EXPECT_EQ(own.packets, by_ffmpeg.packets);
  ASSERT_EQ(own.times.size(), by_ffmpeg.times.size());
  for (std::size_t i = 0; i < own.times.size(); ++i)
    EXPECT_EQ(own.times[i].pts, by_ffmpeg.times[i].pts);
}

TEST(AviAndFfmpeg, WeReadFfmpegs) {
  const ScratchFolder scratch;
  const std::vector<Packet> packets = make_packets(30);
  io::SinkOptions options = rich_options();
  if (has_program("ffmpeg")) {
    run("ffmpeg -v error -f lavfi -i sine=duration=1 -c:a pcm_s16le '" + scratch.path("s.wav") +
        "'");
    options.audio_from = scratch.path("s.wav");
  }
  auto sink = io::open_packet_sink({scratch.path("a.avi"), "", {}}, options);
  ASSERT_TRUE(sink) << why(sink);
  write_all(**sink, packets);
  ASSERT_TRUE((*sink)->finish());
  auto source = open_own(scratch.path("a.avi"));
  ASSERT_TRUE(source) << why(source);
  expect_rich((*source)->info());
  EXPECT_EQ((*source)->info().frame_count, 30);
  EXPECT_EQ((*source)->info().has_audio, !options.audio_from.empty());
  expect_same(**source, packets);
}

}  // namespace
}  // namespace zerorun::test
