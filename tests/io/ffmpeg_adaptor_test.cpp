// zerorun/ffmpeg.hpp: AVFrame in, AVPacket out.
// SPDX-License-Identifier: MIT
#include "zerorun/ffmpeg.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/support/coder.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::test {
namespace {

struct Free {
  void operator()(AVFrame* frame) const noexcept { av_frame_free(&frame); }
  void operator()(AVPacket* packet) const noexcept { av_packet_free(&packet); }
};
using FramePtr = std::unique_ptr<AVFrame, Free>;
using PacketPtr = std::unique_ptr<AVPacket, Free>;

FramePtr allocate(AVPixelFormat format, int width, int height) {
  FramePtr frame(av_frame_alloc());
  frame->format = format;
  frame->width = width;
  frame->height = height;
  EXPECT_EQ(av_frame_get_buffer(frame.get(), 0), 0);
  return frame;
}

FramePtr copy_of(const TestFrame& from, PixelFormat format, AVPixelFormat as, int width,
                 int height) {
  FramePtr frame = allocate(as, width, height);
  for (int p = 0; p < plane_count(format); ++p)
    for (int y = 0; y < from.rows(p); ++y)
      std::memcpy(frame->data[p] + y * frame->linesize[p], from.row(p, y), from.row_bytes(p));
  return frame;
}

ffmpeg::PacketEncoder make_encoder() {
  EncodeParams params;
  params.backend = Backend::cpu;
  auto encoder = ffmpeg::PacketEncoder::create(params);
  EXPECT_TRUE(encoder.is_ok());
  return *std::move(encoder);
}

std::vector<std::byte> bytes_of(const AVPacket& packet) {
  const auto* data = reinterpret_cast<const std::byte*>(packet.data);
  return {data, data + packet.size};
}

TEST(FfmpegAdaptor, EveryFormatAndSmallSizeGivesTheBytesOfTheFrame) {
  ffmpeg::PacketEncoder encoder = make_encoder();
  const PacketPtr packet(av_packet_alloc());
  for (const PixelFormat format : kAllFormats)
    for (int size = 0; size <= 17 * 17; size += kSanitized ? 3 : 1) {
      const int width = size == 0 ? 70 : (size - 1) % 17 + 1;
      const int height = size == 0 ? 34 : (size - 1) / 17 + 1;
      const TestFrame frame = make_frame(Content::photo, format, width, height, 3);
      const FramePtr av = copy_of(frame, format, ffmpeg::av_pixel_format(format), width, height);
      av->color_range = AVCOL_RANGE_JPEG;
      const auto report = encoder.encode(*av, *packet);
      ASSERT_TRUE(report.is_ok()) << report.status().message();
      ASSERT_EQ(bytes_of(*packet), encoded_on_cpu(frame.view()))
          << name(format) << ' ' << width << 'x' << height;
    }
}

TEST(FfmpegAdaptor, FormatsThatAreTheSameInMemoryAreRead) {
  const std::pair<AVPixelFormat, PixelFormat> same[] = {
      {AV_PIX_FMT_YUV420P, PixelFormat::yuv420p}, {AV_PIX_FMT_YUV422P, PixelFormat::yuv422p},
      {AV_PIX_FMT_YUV444P, PixelFormat::yuv444p}, {AV_PIX_FMT_YUV440P, PixelFormat::yuv440p},
      {AV_PIX_FMT_YUV411P, PixelFormat::yuv411p}, {AV_PIX_FMT_RGBA, PixelFormat::rgbx32},
      {AV_PIX_FMT_BGRA, PixelFormat::bgrx32},     {AV_PIX_FMT_ARGB, PixelFormat::xrgb32},
      {AV_PIX_FMT_ABGR, PixelFormat::xbgr32}};
  for (const auto& [av, ours] : same) {
    const auto format = ffmpeg::pixel_format(av);
    ASSERT_TRUE(format.is_ok());
    EXPECT_EQ(*format, ours);
  }
  for (const PixelFormat format : kAllFormats) {
    const auto back = ffmpeg::pixel_format(ffmpeg::av_pixel_format(format));
    ASSERT_TRUE(back.is_ok());
    EXPECT_EQ(*back, format);
  }
}

TEST(FfmpegAdaptor, WhatJpegCannotShowIsRefusedWithASentence) {
  const auto refused = [](AVPixelFormat format, AVColorRange range, AVColorSpace space,
                          const std::string& word) {
    const FramePtr frame = allocate(format, 16, 16);
    frame->color_range = range;
    frame->colorspace = space;
    const auto view = ffmpeg::frame_view(*frame);
    EXPECT_EQ(view.status().code(), Errc::invalid_frame) << av_get_pix_fmt_name(format);
    EXPECT_NE(view.status().message().find(word), std::string::npos) << view.status().message();
    return ffmpeg::frame_view(*frame, ffmpeg::ColourCheck::ignore).is_ok();
  };
  constexpr auto kAny = AVCOL_SPC_UNSPECIFIED;
  EXPECT_TRUE(refused(AV_PIX_FMT_YUV420P, AVCOL_RANGE_MPEG, kAny, "limited"));
  EXPECT_TRUE(refused(AV_PIX_FMT_NV12, AVCOL_RANGE_UNSPECIFIED, kAny, "does not tell"));
  EXPECT_TRUE(refused(AV_PIX_FMT_YUVJ420P, AVCOL_RANGE_JPEG, AVCOL_SPC_BT709, "bt709"));
  EXPECT_TRUE(refused(AV_PIX_FMT_GRAY8, AVCOL_RANGE_MPEG, kAny, "limited"));
  EXPECT_TRUE(refused(AV_PIX_FMT_RGB24, AVCOL_RANGE_MPEG, AVCOL_SPC_RGB, "limited"));
  EXPECT_FALSE(refused(AV_PIX_FMT_YUV420P10LE, AVCOL_RANGE_JPEG, kAny, "yuv420p10le"));
  EXPECT_FALSE(refused(AV_PIX_FMT_GBRP, AVCOL_RANGE_JPEG, AVCOL_SPC_RGB, "gbrp"));
}

TEST(FfmpegAdaptor, WhatIsUnmistakableNeedsNoTag) {
  for (const AVPixelFormat format : {AV_PIX_FMT_GRAY8, AV_PIX_FMT_RGB24, AV_PIX_FMT_BGRA,
                                     AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ411P})
    EXPECT_TRUE(ffmpeg::frame_view(*allocate(format, 9, 9))) << av_get_pix_fmt_name(format);
  FramePtr bt601 = allocate(AV_PIX_FMT_YUV422P, 9, 9);
  bt601->color_range = AVCOL_RANGE_JPEG;
  bt601->colorspace = AVCOL_SPC_SMPTE170M;
  EXPECT_TRUE(ffmpeg::frame_view(*bt601));
}

TEST(FfmpegAdaptor, FramesWithoutDataAreRefused) {
  const FramePtr frame(av_frame_alloc());
  EXPECT_EQ(ffmpeg::frame_view(*frame).status().code(), Errc::invalid_frame);
  frame->format = AV_PIX_FMT_YUVJ420P;
  frame->width = frame->height = 8;
  EXPECT_EQ(ffmpeg::frame_view(*frame).status().code(), Errc::invalid_frame);
  const FramePtr cropped = allocate(AV_PIX_FMT_GRAY8, 32, 32);
  cropped->crop_bottom = 8;
  EXPECT_EQ(ffmpeg::frame_view(*cropped).status().code(), Errc::invalid_frame);
}

TEST(FfmpegAdaptor, NegativeLinesizesAreRead) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::bgr24, 21, 15, 4);
  FramePtr av = copy_of(frame, PixelFormat::bgr24, AV_PIX_FMT_BGR24, 21, 15);
  TestFrame flipped(PixelFormat::bgr24, 21, 15);
  for (int y = 0; y < 15; ++y)
    std::memcpy(flipped.row(0, y), frame.row(0, 14 - y), frame.row_bytes(0));
  av->data[0] += 14 * av->linesize[0];
  av->linesize[0] = -av->linesize[0];
  const auto view = ffmpeg::frame_view(*av);
  ASSERT_TRUE(view.is_ok());
  EXPECT_EQ(encoded_on_cpu(*view), encoded_on_cpu(flipped.view()));
}

TEST(FfmpegAdaptor, HugeFramesAreSeenWhole) {
  // FFmpeg allocates no frame of this size itself.
  const std::unique_ptr<std::uint8_t[]> memory(new std::uint8_t[std::size_t{60000} * 15000]);
  const FramePtr frame(av_frame_alloc());
  frame->format = AV_PIX_FMT_RGB24;
  frame->width = 20000;
  frame->height = 15000;
  frame->data[0] = memory.get();
  frame->linesize[0] = 60000;
  const auto view = ffmpeg::frame_view(*frame);
  ASSERT_TRUE(view.is_ok()) << view.status().message();
  EXPECT_EQ(view->data[0] + view->stride_bytes[0] * 14999,
            memory.get() + std::size_t{60000} * 14999);
}

TEST(FfmpegAdaptor, PacketsCarryWhatTheFrameCarried) {
  FramePtr frame = allocate(AV_PIX_FMT_YUVJ422P, 40, 30);
  for (int p = 0; p < 3; ++p)
    std::memset(frame->data[p], 90 + p, static_cast<std::size_t>(frame->linesize[p]) * 30);
  frame->pts = 1234;
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)
  frame->duration = 40;
#else
  frame->pkt_duration = 40;
#endif
  frame->time_base = {1, 1000};
  frame->opaque_ref = av_buffer_alloc(16);
  AVFrameSideData* captions = av_frame_new_side_data(frame.get(), AV_FRAME_DATA_A53_CC, 3);
  std::memcpy(captions->data, "abc", 3);
  ASSERT_NE(av_frame_new_side_data(frame.get(), AV_FRAME_DATA_DISPLAYMATRIX, 36), nullptr);
  ASSERT_NE(av_frame_new_side_data(frame.get(), AV_FRAME_DATA_MOTION_VECTORS, 8), nullptr);

  ffmpeg::PacketEncoder encoder = make_encoder();
  const PacketPtr packet(av_packet_alloc());
  ASSERT_EQ(av_new_packet(packet.get(), 100), 0);  // make_packet() releases it
  packet->stream_index = 3;
  ASSERT_TRUE(encoder.encode(*frame, *packet));
  EXPECT_EQ(packet->pts, 1234);
  EXPECT_EQ(packet->dts, 1234);
  EXPECT_EQ(packet->duration, 40);
  EXPECT_EQ(av_cmp_q(packet->time_base, {1, 1000}), 0);
  EXPECT_EQ(packet->flags, AV_PKT_FLAG_KEY);
  ASSERT_NE(packet->opaque_ref, nullptr);
  EXPECT_EQ(packet->opaque_ref->data, frame->opaque_ref->data);
  EXPECT_EQ(packet->side_data_elems, 2);
  std::size_t size = 0;
  const std::uint8_t* data = av_packet_get_side_data(packet.get(), AV_PKT_DATA_A53_CC, &size);
  ASSERT_EQ(size, 3U);
  EXPECT_EQ(std::memcmp(data, "abc", 3), 0);
  EXPECT_NE(av_packet_get_side_data(packet.get(), AV_PKT_DATA_DISPLAYMATRIX, &size), nullptr);
}

TEST(FfmpegAdaptor, DecodesIntoAFrame) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 45, 27, 9);
  const std::vector<std::byte> jpeg = encoded_on_cpu(frame.view());
  DecodeParams params;
  params.backend = Backend::cpu;
  auto decoder = Decoder::create(params);
  for (const AVPixelFormat format : {AV_PIX_FMT_YUV420P, AV_PIX_FMT_RGB24}) {
    FramePtr av = allocate(format, 45, 27);
    const auto view = ffmpeg::writable_view(*av);
    ASSERT_TRUE(view.is_ok());
    ASSERT_TRUE(decoder->decode(jpeg, *view));
    TestFrame want(view->format, 45, 27);
    ASSERT_TRUE(decoder->decode(jpeg, want.view()));
    for (int p = 0; p < plane_count(view->format); ++p)
      for (int y = 0; y < want.rows(p); ++y)
        ASSERT_EQ(std::memcmp(av->data[p] + y * av->linesize[p], want.row(p, y), want.row_bytes(p)),
                  0);
    EXPECT_TRUE(format == AV_PIX_FMT_RGB24 || ffmpeg::frame_view(*av).is_ok());
    EXPECT_EQ(av->color_range, AVCOL_RANGE_JPEG);
  }
}

TEST(FfmpegAdaptor, CudaFramesAreReadByTheirFormatInMemory) {
  AVHWFramesContext context{};
  context.sw_format = AV_PIX_FMT_NV12;
  AVBufferRef reference{};
  reference.data = reinterpret_cast<std::uint8_t*>(&context);
  std::vector<std::uint8_t> memory(64 * 48);  // instead of device memory: only addresses matter
  AVFrame frame{};
  frame.format = AV_PIX_FMT_CUDA;
  frame.hw_frames_ctx = &reference;
  frame.width = 50;
  frame.height = 32;
  frame.color_range = AVCOL_RANGE_JPEG;
  frame.colorspace = AVCOL_SPC_UNSPECIFIED;
  frame.data[0] = memory.data();
  frame.data[1] = memory.data() + 64 * 32;
  frame.linesize[0] = frame.linesize[1] = 64;
  const auto view = ffmpeg::device_view(frame);
  ASSERT_TRUE(view.is_ok()) << view.status().message();
  EXPECT_EQ(view->format, PixelFormat::nv12);
  EXPECT_EQ(view->data[1], frame.data[1]);
  EXPECT_EQ(view->stride_bytes[1], 64);
  EXPECT_EQ(ffmpeg::frame_view(frame).status().code(), Errc::invalid_frame);
  EXPECT_FALSE(ffmpeg::device_view(*allocate(AV_PIX_FMT_GRAY8, 8, 8)));
}

}  // namespace
}  // namespace zerorun::test
