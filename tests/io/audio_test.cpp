// Audio copied beside new video: packets untouched, in time, trimmed, or left out with a notice.
// SPDX-License-Identifier: MIT
extern "C" {
#include <libavformat/avformat.h>
}

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/io/support.hpp"
#include "zerorun/source.hpp"

namespace zerorun::test {
namespace {

struct Sound {
  std::vector<std::string> packets;
  std::vector<double> seconds;
  int codec = 0;
};

Sound read_sound(const std::string& path) {
  Sound sound;
  AVFormatContext* context = nullptr;
  EXPECT_EQ(avformat_open_input(&context, path.c_str(), nullptr, nullptr), 0) << path;
  if (context == nullptr) return sound;
  EXPECT_GE(avformat_find_stream_info(context, nullptr), 0);
  AVPacket* packet = av_packet_alloc();
  while (av_read_frame(context, packet) >= 0) {
    const AVStream* stream = context->streams[packet->stream_index];
    if (stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO) {
      sound.codec = stream->codecpar->codec_id;
      sound.packets.emplace_back(reinterpret_cast<const char*>(packet->data),
                                 static_cast<std::size_t>(packet->size));
      sound.seconds.push_back(static_cast<double>(packet->pts) * av_q2d(stream->time_base));
    }
    av_packet_unref(packet);
  }
  av_packet_free(&packet);
  avformat_close_input(&context);
  return sound;
}

class Audio : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("ffmpeg")) GTEST_SKIP() << "no ffmpeg program";
  }

  /// Four seconds of a sine and of video.
  std::string make_source(const std::string& name, const std::string& codec) {
    const std::string path = scratch_.path(name);
    run("ffmpeg -v error -y -f lavfi -i testsrc=s=64x48:r=30000/1001:d=4 -f lavfi -i "
        "sine=d=4:r=48000 -c:v mpeg4 -c:a " +
        codec + " '" + path + "' 2>&1");
    EXPECT_TRUE(scratch_.has(name));
    return path;
  }

  /// Writes 90 frames (3.003 s) with the sound from `start` on; returns the sink's notice.
  std::string write(const std::string& name, const std::string& from, double start = 0,
                    double end = -1) {
    io::SinkOptions options = sink_options();
    options.audio_from = from;
    options.audio_start_seconds = start;
    options.audio_end_seconds = end;
    auto sink = io::open_packet_sink({scratch_.path(name), "", {}}, options);
    EXPECT_TRUE(sink) << why(sink);
    if (!sink) return {};
    const std::vector<Packet> packets = make_packets(5);
    for (int i = 0; i < 90; ++i) {
      const Status status = (*sink)->write(packets[static_cast<std::size_t>(i % 5)], {i, 1});
      EXPECT_TRUE(status) << status.message();
    }
    const Status status = (*sink)->finish();
    EXPECT_TRUE(status) << status.message();
    return (*sink)->notice();
  }

  ScratchFolder scratch_;
};

TEST_F(Audio, IsCopiedPacketByPacket) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"s.mp4", "aac", "o.mov"},       {"s.mp4", "aac", "o.mp4"},
      {"s.mp4", "aac", "o.mkv"},       {"s.avi", "pcm_s16le", "o.avi"},
      {"s.avi", "pcm_s16le", "o.mov"}, {"s.avi", "pcm_s16le", "o.mkv"},
      {"s.mkv", "ac3", "o.mov"},       {"s.mkv", "ac3", "o.avi"},
      {"s.mkv", "ac3", "o.mp4"},       {"s.mkv", "flac", "o.mkv"}};
  for (const auto& [source_name, codec, name] : cases) {
    SCOPED_TRACE(std::string(codec) + " into " + name);
    const std::string source = make_source(source_name, codec);
    EXPECT_EQ(write(name, source), "");
    const Sound before = read_sound(source), after = read_sound(scratch_.path(name));
    EXPECT_EQ(after.codec, before.codec);
    std::string all_before, all_after;  // demuxers cut PCM into packets of their own
    for (const std::string& packet : before.packets) all_before += packet;
    for (const std::string& packet : after.packets) all_after += packet;
    // A priming packet has a negative time and is left out.
    const std::size_t at = all_before.find(all_after);
    ASSERT_NE(at, std::string::npos);
    EXPECT_LE(at, before.packets[0].size());
    EXPECT_NEAR(after.seconds.front(), 0.0, 0.03);
    EXPECT_NEAR(after.seconds.back(), 3.003, 0.13);
    EXPECT_EQ(probe_video(scratch_.path(name))["nb_read_frames"], "90");
    EXPECT_EQ(run("ffmpeg -v error -i '" + scratch_.path(name) + "' -f null - 2>&1"), "");
    std::filesystem::remove(scratch_.path(name));
  }
}

TEST_F(Audio, IsTrimmedToTheRange) {
  const std::string source = make_source("s.mp4", "aac");
  write("o.mov", source, 1.5, 2.5);
  const Sound before = read_sound(source), after = read_sound(scratch_.path("o.mov"));
  ASSERT_FALSE(after.packets.empty());
  EXPECT_NEAR(after.seconds.back() + 1024 / 48000.0, 1.0, 0.03);
  for (std::size_t i = 0; i < before.packets.size(); ++i)
    if (before.packets[i] == after.packets[5]) {
      EXPECT_NEAR(before.seconds[i] - 1.5, after.seconds[5], 0.001);
      return;
    }
  FAIL() << "the packet is not the source's";
}

TEST_F(Audio, WhatDoesNotFitIsLeftOutWithAWord) {
  // No version of FFmpeg writes it into MP4; from 7 on PCM is.
  const std::string source = make_source("s.avi", "adpcm_ms");
  const auto info = io::probe({source, "", {}}, {});
  ASSERT_TRUE(info) << why(info);
  const auto ledger = io::compare(io::facts_of(*info), {"o.mp4", "", {}}, {});
  EXPECT_THAT(io::losses_text(ledger, "s.avi", {}), testing::HasSubstr("adpcm_ms"));
  write("o.mp4", source);
  EXPECT_TRUE(read_sound(scratch_.path("o.mp4")).packets.empty());
  EXPECT_EQ(probe_video(scratch_.path("o.mp4"))["nb_read_frames"], "90");
}

TEST_F(Audio, AdtsLosesItsHeadersWhereItMust) {
  const std::string source = make_source("s.ts", "aac");
  EXPECT_EQ(write("o.mov", source), "");
  EXPECT_FALSE(read_sound(scratch_.path("o.mov")).packets.empty());
  EXPECT_EQ(run("ffmpeg -v warning -i '" + scratch_.path("o.mov") + "' -f null - 2>&1"), "");
}

TEST_F(Audio, ASourceWithoutSoundIsSilent) {
  const std::string source = scratch_.path("silent.mp4");
  run("ffmpeg -v error -f lavfi -i testsrc=s=64x48:d=1 -c:v mpeg4 '" + source + "' 2>&1");
  EXPECT_EQ(write("o.mov", source), "");
  io::SinkOptions options = sink_options();
  options.audio_from = scratch_.path("absent.mp4");
  EXPECT_EQ(io::open_packet_sink({scratch_.path("p.mov"), "", {}}, options).status().code(),
            Errc::open_failed);
  EXPECT_FALSE(scratch_.has("p.mov.part"));
}

/// All samples of the left channel from `seconds` on.
std::vector<float> left_samples(io::AudioSource& audio, double seconds) {
  EXPECT_TRUE(audio.seek(seconds));
  std::vector<float> left, chunk(1000);
  for (;;) {
    const auto count = audio.read(chunk);
    EXPECT_TRUE(count);
    if (!count || *count == 0) return left;
    EXPECT_EQ(*count % 2, 0U);
    for (std::size_t i = 0; i < *count; i += 2) left.push_back(chunk[i]);
  }
}

TEST_F(Audio, DecodesForAPlayerFromAnyTimeOn) {
  for (const auto& [file, codec] : {std::pair("a.mov", "pcm_s16le"), std::pair("a.mkv", "flac"),
                                    std::pair("a.mp4", "aac"), std::pair("a.avi", "mp2")}) {
    auto audio = opened(io::open_audio(make_source(file, codec), {48000, 2}));
    const auto all = left_samples(*audio, 0);
    EXPECT_NEAR(static_cast<double>(all.size()), 4 * 48000, 3000) << file;
    EXPECT_GT(*std::max_element(all.begin(), all.end()), 0.05F) << file;
    for (const double seconds : {3.0, 0.123, 1.7}) {
      const auto part = left_samples(*audio, seconds);
      ASSERT_GT(part.size(), 20000U) << file;
      const auto first = static_cast<std::size_t>(std::lround(seconds * 48000));
      double apart = 0;  // sound of this time, and not a part of a period (109 samples) off
      for (std::size_t i = 4000; i < 12000; ++i)
        apart = std::max(apart, static_cast<double>(std::abs(part[i] - all[first + i])));
      EXPECT_LT(apart, 0.01) << file << " from " << seconds;
    }
    EXPECT_TRUE(left_samples(*audio, 100).empty()) << file;
  }
}

TEST_F(Audio, ResamplesToWhatIsAskedFor) {
  auto audio = opened(io::open_audio(make_source("a.mov", "pcm_s16le"), {8000, 2}));
  EXPECT_NEAR(static_cast<double>(left_samples(*audio, 0).size()), 4 * 8000, 100);
}

TEST_F(Audio, OfFilesWithoutSoundIsAnError) {
  const std::string silent = scratch_.path("silent.mov");
  run("ffmpeg -v error -y -f lavfi -i testsrc=s=64x48:r=25:d=1 -c:v mpeg4 '" + silent + "' 2>&1");
  EXPECT_EQ(io::open_audio(silent, {}).status().code(), Errc::bad_input);
  EXPECT_EQ(io::open_audio(scratch_.path("missing.mov"), {}).status().code(), Errc::open_failed);
  EXPECT_EQ(io::open_audio(silent, {0, 2}).status().code(), Errc::invalid_argument);
}

}  // namespace
}  // namespace zerorun::test
