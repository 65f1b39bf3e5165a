// zerorun/opencv.hpp: matrices of any step as frames, and back.
// SPDX-License-Identifier: MIT
#include "zerorun/opencv.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "tests/support/coder.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

/// A frame of one packed plane, copied into the middle of a larger matrix.
cv::Mat inside_larger(const TestFrame& frame, int width, int height, int type, cv::Mat& owner) {
  owner.create(height + 5, width + 7, type);
  owner.setTo(cv::Scalar::all(0x5A));
  cv::Mat part = owner(cv::Rect(3, 2, width, height));
  for (int y = 0; y < height; ++y) std::memcpy(part.ptr(y), frame.row(0, y), frame.row_bytes(0));
  return part;
}

TEST(OpenCvAdaptor, AnyStepGivesTheBytesOfTheFrame) {
  const std::pair<PixelFormat, int> formats[] = {
      {PixelFormat::gray8, CV_8UC1}, {PixelFormat::bgr24, CV_8UC3}, {PixelFormat::bgrx32, CV_8UC4}};
  for (const auto& [format, type] : formats)
    for (int size = 0; size <= 17 * 17; ++size) {
      const int width = size == 0 ? 64 : (size - 1) % 17 + 1;
      const int height = size == 0 ? 33 : (size - 1) / 17 + 1;
      const TestFrame frame = make_frame(Content::photo, format, width, height, 5);
      cv::Mat owner;
      const cv::Mat part = inside_larger(frame, width, height, type, owner);
      ASSERT_GT(part.step, frame.row_bytes(0));
      const auto view = opencv::frame_view(part);
      ASSERT_TRUE(view.is_ok()) << view.status().message();
      EXPECT_EQ(view->data[0], part.data) << "copied";
      ASSERT_EQ(encoded_on_cpu(*view), encoded_on_cpu(frame.view()))
          << name(format) << ' ' << width << 'x' << height;
    }
}

TEST(OpenCvAdaptor, HugeMatricesAreSeenWhole) {
  const cv::Mat picture(15000, 20000, CV_8UC3);  // never touched, so it takes no memory
  const auto view = opencv::frame_view(picture);
  ASSERT_TRUE(view.is_ok()) << view.status().message();
  EXPECT_EQ(view->data[0] + view->stride_bytes[0] * 14999, picture.ptr(14999));
  const cv::Mat stacked(22500, 20000, CV_8UC1);
  const auto planes = opencv::frame_view(stacked, PixelFormat::yuv420p);
  ASSERT_TRUE(planes.is_ok()) << planes.status().message();
  EXPECT_EQ(planes->data[2] + planes->stride_bytes[2] * 7500, stacked.ptr(22499) + 20000);
}

TEST(OpenCvAdaptor, OtherFormatsAreNamedByTheCaller) {
  for (const PixelFormat format : {PixelFormat::rgb24, PixelFormat::rgbx32, PixelFormat::xrgb32,
                                   PixelFormat::yuyv, PixelFormat::uyvy}) {
    const TestFrame frame = make_frame(Content::photo, format, 34, 21, 6);
    cv::Mat owner;
    const cv::Mat part =
        inside_larger(frame, 34, 21, CV_8UC(static_cast<int>(frame.row_bytes(0)) / 34), owner);
    const auto view = opencv::frame_view(part, format);
    ASSERT_TRUE(view.is_ok()) << view.status().message();
    EXPECT_EQ(encoded_on_cpu(*view), encoded_on_cpu(frame.view())) << name(format);
  }
}

TEST(OpenCvAdaptor, StackedChromaIsFoundBelowTheLuma) {
  for (const PixelFormat format : {PixelFormat::yuv420p, PixelFormat::nv12, PixelFormat::nv21}) {
    const TestFrame frame = make_frame(Content::photo, format, 36, 22, 7);
    const std::vector<std::uint8_t> packed = frame.packed();
    cv::Mat stacked(33, 36, CV_8UC1);
    ASSERT_EQ(stacked.total(), packed.size());
    std::memcpy(stacked.data, packed.data(), packed.size());
    const auto view = opencv::frame_view(stacked, format);
    ASSERT_TRUE(view.is_ok()) << view.status().message();
    EXPECT_EQ(encoded_on_cpu(*view), encoded_on_cpu(frame.view())) << name(format);

    cv::Mat owner(40, 50, CV_8UC1);
    cv::Mat part = owner(cv::Rect(0, 0, 36, 33));
    stacked.copyTo(part);
    const auto of_part = opencv::frame_view(part, format);
    if (format == PixelFormat::yuv420p) {
      EXPECT_EQ(of_part.status().code(), Errc::invalid_frame) << "half rows have no one stride";
    } else {
      ASSERT_TRUE(of_part.is_ok()) << of_part.status().message();
      EXPECT_EQ(encoded_on_cpu(*of_part), encoded_on_cpu(frame.view())) << name(format);
    }
  }
}

TEST(OpenCvAdaptor, WhatIsNoPictureIsRefusedWithASentence) {
  EXPECT_EQ(opencv::frame_view(cv::Mat()).status().code(), Errc::invalid_frame);
  const int volume[] = {4, 4, 4};
  EXPECT_EQ(opencv::frame_view(cv::Mat(3, volume, CV_8UC1)).status().code(), Errc::invalid_frame);
  const auto deep = opencv::frame_view(cv::Mat(8, 8, CV_16UC3));
  EXPECT_EQ(deep.status().code(), Errc::invalid_frame);
  EXPECT_NE(deep.status().message().find("CV_16UC3"), std::string::npos);
  const cv::Mat bgr(9, 8, CV_8UC3), wide(1, 70000, CV_8UC1);
  for (const PixelFormat format :
       {PixelFormat::gray8, PixelFormat::yuyv, PixelFormat::bgrx32, PixelFormat::yuv444p})
    EXPECT_EQ(opencv::frame_view(bgr, format).status().code(), Errc::invalid_frame) << name(format);
  EXPECT_EQ(opencv::frame_view(wide).status().code(), Errc::invalid_frame);
  const cv::Mat odd_width(9, 7, CV_8UC1), odd_rows(8, 8, CV_8UC1), two_channels(4, 3, CV_8UC2);
  EXPECT_FALSE(opencv::frame_view(odd_width, PixelFormat::nv12));
  EXPECT_FALSE(opencv::frame_view(odd_rows, PixelFormat::nv12));
  EXPECT_FALSE(opencv::frame_view(two_channels, PixelFormat::yuyv));
  EXPECT_FALSE(opencv::frame_view(cv::Mat(8, 8, CV_8UC1), PixelFormat::yuv422p));
}

TEST(OpenCvAdaptor, EncodesToABufferAndDecodesToAMatrix) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::bgr24, 50, 31, 8);
  cv::Mat owner;
  const cv::Mat part = inside_larger(frame, 50, 31, CV_8UC3, owner);
  EncodeParams on_cpu;
  on_cpu.backend = Backend::cpu;
  auto encoder = make_coder<Encoder>(on_cpu);
  ASSERT_TRUE(encoder);
  std::vector<uchar> buffer(100000, 7);
  const auto coded = opencv::encode_to_buffer(*encoder, part, buffer);
  ASSERT_TRUE(coded.is_ok()) << coded.status().message();
  EXPECT_EQ(coded->bytes, buffer.size());
  EXPECT_FALSE(opencv::encode_to_buffer(*encoder, cv::Mat(), buffer));

  DecodeParams params;
  params.backend = Backend::cpu;
  auto decoder = Decoder::create(params);
  ASSERT_TRUE(decoder.is_ok());
  const auto jpeg = std::as_bytes(std::span(buffer));
  const std::pair<int, PixelFormat> types[] = {
      {CV_8UC3, PixelFormat::bgr24}, {CV_8UC1, PixelFormat::gray8}, {CV_8UC4, PixelFormat::bgrx32}};
  for (const auto& [type, format] : types) {
    cv::Mat picture;
    const auto report = opencv::decode_to_mat(*decoder, jpeg, picture, type);
    ASSERT_TRUE(report.is_ok()) << report.status().message();
    ASSERT_EQ(picture.size(), cv::Size(50, 31));
    ASSERT_EQ(picture.type(), type);
    TestFrame want(format, 50, 31);
    ASSERT_TRUE(decoder->decode(jpeg, want.view()));
    const std::vector<std::uint8_t> samples(picture.datastart, picture.dataend);
    EXPECT_EQ(samples, want.packed());
  }
  cv::Mat picture;
  EXPECT_EQ(opencv::decode_to_mat(*decoder, jpeg, picture, CV_32FC3).status().code(),
            Errc::invalid_argument);
  EXPECT_EQ(opencv::decode_to_mat(*decoder, jpeg.first(20), picture).status().code(),
            Errc::missing_image);

  cv::Mat large(64, 64, CV_8UC3, cv::Scalar::all(9));
  cv::Mat target = large(cv::Rect(5, 6, 50, 31));
  const auto view = opencv::writable_view(target);
  ASSERT_TRUE(view.is_ok());
  ASSERT_TRUE(decoder->decode(jpeg, *view));
  TestFrame want(PixelFormat::bgr24, 50, 31);
  ASSERT_TRUE(decoder->decode(jpeg, want.view()));
  EXPECT_EQ(std::memcmp(target.ptr(30), want.row(0, 30), want.row_bytes(0)), 0);
  EXPECT_EQ(large.at<cv::Vec3b>(6, 55), cv::Vec3b(9, 9, 9));
}

TEST(OpenCvAdaptor, DeviceMatricesKeepTheirPitch) {
  std::vector<std::uint8_t> memory(512 * 20);  // instead of device memory: only the address matters
  const cv::cuda::GpuMat picture(20, 100, CV_8UC3, memory.data(), 512);
  const auto view = opencv::device_view(picture);
  ASSERT_TRUE(view.is_ok()) << view.status().message();
  EXPECT_EQ(view->format, PixelFormat::bgr24);
  EXPECT_EQ(std::pair(view->width, view->height), std::pair(100, 20));
  EXPECT_EQ(view->data[0], memory.data());
  EXPECT_EQ(view->stride_bytes[0], 512);
  EXPECT_TRUE(opencv::device_view(picture, PixelFormat::rgb24));
  EXPECT_FALSE(opencv::device_view(cv::cuda::GpuMat()));
}

}  // namespace
}  // namespace zerorun::test
