// MOV, MKV, AVI and MP4 with synthetic packets, read back by the project, libavformat and ffprobe.
// SPDX-License-Identifier: MIT
extern "C" {
#include <libavformat/avformat.h>
}

#include <algorithm>
#include <array>
#include <bit>

#include "tests/io/support.hpp"
#include "tests/support/test_data.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

constexpr const char* kContainers[] = {"mov", "mkv", "avi", "mp4"};

io::SinkOptions options_for(PixelFormat format = PixelFormat::yuv420p) {
  io::SinkOptions options = sink_options();
  options.coded_format = format;
  return options;
}

struct AvPackets {
  std::vector<Packet> packets;
  std::vector<double> seconds;
  AVCodecParameters codec{};
};

/// The independent reader.
AvPackets read_by_libavformat(const std::string& path) {
  AvPackets all;
  AVFormatContext* context = nullptr;
  EXPECT_EQ(avformat_open_input(&context, path.c_str(), nullptr, nullptr), 0) << path;
  if (context == nullptr) return all;
  EXPECT_GE(avformat_find_stream_info(context, nullptr), 0);
  all.codec = *context->streams[0]->codecpar;
  all.codec.extradata = nullptr;
  AVPacket* packet = av_packet_alloc();
  while (av_read_frame(context, packet) >= 0) {
    if (packet->stream_index == 0) {
      const auto* data = reinterpret_cast<const std::byte*>(packet->data);
      all.packets.emplace_back(data, data + packet->size);
      all.seconds.push_back(static_cast<double>(packet->pts) *
                            av_q2d(context->streams[0]->time_base));
    }
    av_packet_unref(packet);
  }
  av_packet_free(&packet);
  avformat_close_input(&context);
  return all;
}

class Container : public testing::TestWithParam<const char*> {
 protected:
  std::string name() const { return std::string("a.") + GetParam(); }
  std::string path() const { return scratch_.path(name()); }
  bool is(const char* kind) const { return std::string(GetParam()) == kind; }
  ScratchFolder scratch_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, Container, testing::ValuesIn(kContainers),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(Container, GivesTheSamePacketsBack) {
  const std::vector<Packet> packets = make_packets(12);
  write_packets(path(), packets, options_for());
  io::SourceInfo info;
  const ReadPackets read = read_packets(path(), {}, &info);
  EXPECT_EQ(info.width, 64);
  EXPECT_EQ(info.height, 48);
  EXPECT_EQ(info.format, PixelFormat::yuv420p);
  EXPECT_EQ(info.frame_rate, (io::Rational{30000, 1001}));
  EXPECT_EQ(info.container, is("mkv") ? "matroska" : GetParam());
  EXPECT_EQ(info.codec, "mjpeg");
  EXPECT_TRUE(info.is_jpeg);
  EXPECT_FALSE(info.variable_frame_rate);
  EXPECT_FALSE(info.has_audio);
  if (!is("mkv")) {
    EXPECT_EQ(info.frame_count, 12);
  }
  EXPECT_EQ(read.packets, packets);
  for (std::size_t i = 0; i < read.times.size(); ++i)
    EXPECT_NEAR(static_cast<double>(read.times[i].pts) * info.time_base.value(),
                static_cast<double>(i) * 1001 / 30000, is("mkv") ? 0.00051 : 1e-9);
  const AvPackets other = read_by_libavformat(path());
  EXPECT_EQ(other.packets, packets);
  EXPECT_EQ(other.codec.codec_id, AV_CODEC_ID_MJPEG);
  EXPECT_THAT(scratch_.names(), testing::ElementsAre(name()));
}

TEST_P(Container, IsDescribedAsPlayersExpect) {
  if (!has_program("ffprobe")) GTEST_SKIP() << "no ffprobe program";
  const std::tuple<Subsampling, const char*> kinds[] = {
      {Subsampling::s420, "yuvj420p"}, {Subsampling::s422, "yuvj422p"},
      {Subsampling::s444, "yuvj444p"}, {Subsampling::s440, "yuvj440p"},
      {Subsampling::s411, "yuvj411p"}, {Subsampling::gray, "gray"}};
  for (const auto& [sampling, pix_fmt] : kinds) {
    SCOPED_TRACE(pix_fmt);
    io::SinkOptions options = options_for(planar_format(sampling));
    options.overwrite = true;
    options.sample_aspect = {16, 11};
    write_packets(path(), make_packets(9, 64, 48, sampling), options);
    auto video = probe_video(path());
    EXPECT_EQ(video["codec_name"], "mjpeg");
    EXPECT_EQ(video["pix_fmt"], pix_fmt);
    // FFmpeg takes untagged grey for full range, and has no yuvj format for it.
    EXPECT_EQ(video["color_range"], sampling == Subsampling::gray && !is("mkv") ? "unknown" : "pc");
    EXPECT_EQ(video["color_space"], "bt470bg");
    EXPECT_EQ(video["r_frame_rate"], "30000/1001");
    EXPECT_EQ(video["avg_frame_rate"], "30000/1001");
    EXPECT_EQ(video["nb_read_frames"], "9");
    EXPECT_EQ(video["sample_aspect_ratio"], "16:11");
    EXPECT_EQ(video["width"], "64");
    if (is("mov")) {
      EXPECT_EQ(video["codec_tag_string"], "jpeg");
    }
    if (is("mp4")) {
      EXPECT_EQ(video["codec_tag_string"], "mp4v");
    }
    if (is("avi")) {
      EXPECT_EQ(video["codec_tag_string"], "MJPG");
    }
    if (!is("mkv")) {
      EXPECT_EQ(video["nb_frames"], "9");
      EXPECT_NEAR(std::stod(video["duration"]), 9 * 1001 / 30000.0, 1e-6);
    } else {
      const std::string duration =
          run("ffprobe -v error -show_entries format=duration -of csv=p=0 '" + path() + "'");
      EXPECT_NEAR(std::stod(duration), 9 * 1001 / 30000.0, 0.0021);
    }
  }
}

TEST_P(Container, CfrTimeStampsAreSnappedToTheRate) {
  // 30000/1001 on Matroska's clock of milliseconds.
  io::SinkOptions options = options_for();
  options.time_base = {1, 1000};
  std::vector<io::FrameTime> times;
  for (const int ms : {100, 133, 167, 200, 233, 267}) times.push_back({ms, 33});
  write_packets(path(), make_packets(6), options, times);
  const AvPackets read = read_by_libavformat(path());
  ASSERT_EQ(read.seconds.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(read.seconds[i], static_cast<double>(i) * 1001 / 30000, is("mkv") ? 0.00051 : 1e-9);
}

TEST_P(Container, VariableRateKeepsEveryTime) {
  io::SinkOptions options = options_for();
  options.variable_frame_rate = true;
  options.frame_rate = {25, 1};
  options.time_base = {1, 1000};
  std::vector<io::FrameTime> times;
  const int milliseconds[] = {500, 540, 700, 710, 1500, 1501};
  for (const int ms : milliseconds) times.push_back({ms, 0});
  if (is("avi")) {
    const auto sink = io::open_packet_sink({path(), "", {}}, options);
    ASSERT_FALSE(sink);
    EXPECT_EQ(sink.status().code(), Errc::unsupported_output);
    EXPECT_THAT(why(sink), testing::HasSubstr("--fps"));
    EXPECT_TRUE(scratch_.names().empty());
    return;
  }
  write_packets(path(), make_packets(6), options, times);
  const AvPackets read = read_by_libavformat(path());
  ASSERT_EQ(read.seconds.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(read.seconds[i], (milliseconds[i] - 500) / 1000.0, 1e-9);
  io::SourceInfo info;
  read_packets(path(), {}, &info);
  EXPECT_TRUE(info.variable_frame_rate);
}

TEST_P(Container, RotationSurvivesWhereThereIsAPlace) {
  for (const int degrees : {90, 180, 270}) {
    io::SinkOptions options = options_for();
    options.rotation_degrees = degrees;
    options.overwrite = true;
    bool is_kept = false;
    {
      auto sink = opened(io::open_packet_sink({path(), "", {}}, options));
      is_kept = sink->notice().empty();
      // Matroska has a place for it in newer versions of FFmpeg.
      const bool has_place = is("mov") || is("mp4") || (is("mkv") && is_kept);
      EXPECT_EQ(is_kept, has_place) << sink->notice();
      ASSERT_TRUE(sink->write(make_packets(1)[0], {0, 1}));
      ASSERT_TRUE(sink->finish());
    }
    auto source = opened(io::open_packets({path(), "", {}}, {}));
    EXPECT_EQ(source->info().rotation_degrees, is_kept ? degrees : 0);
  }
}

TEST_P(Container, RefusesWhatItCannotDescribe) {
  io::SinkOptions options = options_for();
  options.frame_rate = {};
  EXPECT_EQ(io::open_packet_sink({path(), "", {}}, options).status().code(),
            Errc::invalid_argument);
  EXPECT_EQ(io::open_packet_sink({path(), "", {}}, sink_options(0, 5)).status().code(),
            Errc::invalid_argument);
  EXPECT_TRUE(scratch_.names().empty());
  auto sink = opened(io::open_packet_sink({path(), "", {}}, options_for()));
  EXPECT_EQ(sink->write(Packet(3), {0, 1}).code(), Errc::invalid_argument);
}

/// Its computation would take more time than the rest of copying.
TEST(MatroskaLayout, HasNoChecksums) {
  const ScratchFolder scratch;
  const std::string path = scratch.path("a.mkv");
  write_packets(path, make_packets(3), options_for());
  const std::vector<std::byte> file = read_file(path);
  // Identifiers of RFC 9559 and RFC 8794.
  const std::array segment_parts{std::array<int, 4>{0x15, 0x49, 0xA9, 0x66},   // Info
                                 std::array<int, 4>{0x16, 0x54, 0xAE, 0x6B},   // Tracks
                                 std::array<int, 4>{0x1F, 0x43, 0xB6, 0x75}};  // Cluster
  constexpr std::byte kCrc32{0xBF};
  for (const auto& id : segment_parts) {
    // The last ones: the list of parts at the beginning has their identifiers, too.
    const auto found = std::find_end(file.begin(), file.end(), id.begin(), id.end(),
                                     [](std::byte b, int i) { return b == std::byte(i); });
    ASSERT_LT(found + 12, file.end());
    const auto size_bytes = std::countl_zero(std::to_integer<std::uint8_t>(found[4])) + 1;
    EXPECT_NE(found[4 + size_bytes], kCrc32);
  }
}

TEST(DamagedContainers, GiveThePacketsThatFfmpegFinds) {
  const auto data = test_data();
  if (!data) GTEST_SKIP() << kNoTestData;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*data / "containers")) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() == ".tsv" || path.extension() == ".mjpeg") continue;
    SCOPED_TRACE(path.filename().string());
    auto source = opened(io::open_packets({path.string(), "", {}}, {}));
    // FFmpeg believes an index that names one packet of fifty. This file is mjpeg_420.avi but for
    // it.
    const bool index_lies = path.filename() == "mjpeg_bad_index.avi";
    const std::filesystem::path told = index_lies ? path.parent_path() / "mjpeg_420.avi" : path;
    const std::vector<Row> rows = read_tsv(told.string() + ".frames.tsv");
    const ReadPackets read = read_all(*source);
    ASSERT_EQ(read.packets.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      EXPECT_EQ(std::to_string(read.packets[i].size()), rows[i].at("bytes")) << i;
    if (rows[0].at("libjpeg") == "ok" && path.filename() != "mjpeg_field_order.avi") {
      EXPECT_EQ(std::to_string(source->info().width), rows[0].at("width"));
    }
    ++files;
  }
  EXPECT_GE(files, 13);
}

TEST(InterlacedContainers, FieldsAreWovenAsByFfmpeg) {
  const auto data = test_data();
  if (!data) GTEST_SKIP() << kNoTestData;
  const std::string path = (*data / "containers" / "mjpeg_field_order.avi").string();
  io::SourceInfo info;
  const ReadFrames read = read_frames(path, {}, &info);
  EXPECT_EQ(info.height, 312);
  const std::string other = run("ffmpeg -v error -i '" + path +
                                "' -vsync passthrough -pix_fmt yuvj422p -f rawvideo - 2>/dev/null");
  const std::size_t size = read.samples[0].size();
  ASSERT_EQ(other.size(), size * read.samples.size());
  for (std::size_t i = 0; i < read.samples.size(); ++i) {
    double squares = 0;  // two IDCTs: close, not equal; swapped fields would be far
    for (std::size_t k = 0; k < size; ++k) {
      const double d = read.samples[i][k] - static_cast<unsigned char>(other[i * size + k]);
      squares += d * d;
    }
    EXPECT_LT(squares / static_cast<double>(size), 1.0) << i;
  }
}

}  // namespace
}  // namespace zerorun::test
