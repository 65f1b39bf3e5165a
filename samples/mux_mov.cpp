// Writes a movie with sound through FFmpeg, ten seconds of colours and a tone: mux_mov OUTPUT.mov.
// SPDX-License-Identifier: MIT
extern "C" {
#include <libavformat/avformat.h>
}

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <string>

#include <zerorun/ffmpeg.hpp>

constexpr int kWidth = 640, kHeight = 360, kFps = 25, kFrames = 250, kRate = 48000;

static void check(bool good, const std::string& why) {
  if (good) return;
  std::fprintf(stderr, "mux_mov: %s\n", why.c_str());
  std::exit(1);
}

static void paint(AVFrame& frame, int number) {
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < 3 * kWidth; ++x)
      frame.data[0][y * frame.linesize[0] + x] =
          static_cast<std::uint8_t>(x / 3 + y + x % 3 * number);
}

static void play(AVPacket& packet, int number, int samples) {
  check(av_new_packet(&packet, 2 * samples) >= 0, "no memory");
  auto* level = reinterpret_cast<std::int16_t*>(packet.data);
  for (int i = 0; i < samples; ++i)
    level[i] = static_cast<std::int16_t>(
        8000 * std::sin(2 * std::numbers::pi * 440 * (number * samples + i) / kRate));
  packet.pts = packet.dts = std::int64_t{number} * samples;
}

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: mux_mov OUTPUT.mov\n"), 2;

  AVFormatContext* movie = nullptr;
  avformat_alloc_output_context2(&movie, nullptr, "mov", argv[1]);
  check(movie != nullptr, "FFmpeg has no MOV");
  AVStream* video = avformat_new_stream(movie, nullptr);
  zerorun::ffmpeg::describe_stream(*video->codecpar, kWidth, kHeight);
  video->time_base = {1, kFps};
  AVStream* sound = avformat_new_stream(movie, nullptr);
  sound->codecpar->codec_type = AVMEDIA_TYPE_AUDIO;
  sound->codecpar->codec_id = AV_CODEC_ID_PCM_S16LE;
  sound->codecpar->sample_rate = kRate;
  av_channel_layout_default(&sound->codecpar->ch_layout, 1);
  sound->time_base = {1, kRate};
  check(avio_open(&movie->pb, argv[1], AVIO_FLAG_WRITE) >= 0, "the output cannot be written");
  check(avformat_write_header(movie, nullptr) >= 0, "the header cannot be written");

  auto encoder = zerorun::ffmpeg::PacketEncoder::create({});
  check(encoder.is_ok(), encoder.status().message());
  AVPacket* packet = av_packet_alloc();
  AVFrame* frame = av_frame_alloc();
  frame->format = AV_PIX_FMT_RGB24, frame->width = kWidth, frame->height = kHeight;
  check(av_frame_get_buffer(frame, 0) >= 0, "no memory");
  for (frame->pts = 0; frame->pts < kFrames; ++frame->pts) {
    const int number = static_cast<int>(frame->pts);
    paint(*frame, number);
    auto report = encoder->encode(*frame, *packet);
    check(report.is_ok(), report.status().message());
    packet->stream_index = video->index;
    packet->duration = 1;
    av_packet_rescale_ts(packet, {1, kFps}, video->time_base);
    check(av_interleaved_write_frame(movie, packet) >= 0, "a picture cannot be written");
    play(*packet, number, kRate / kFps);
    packet->stream_index = sound->index;
    av_packet_rescale_ts(packet, {1, kRate}, sound->time_base);
    check(av_interleaved_write_frame(movie, packet) >= 0, "sound cannot be written");
  }
  check(av_write_trailer(movie) >= 0 && avio_closep(&movie->pb) >= 0, "the end cannot be written");
  av_packet_free(&packet), av_frame_free(&frame), avformat_free_context(movie);
}
