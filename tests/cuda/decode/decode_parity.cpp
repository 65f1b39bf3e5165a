// Whole streams: the CUDA backend gives the CPU backend's coefficients, planes, pixels and reports,
// for valid streams and for damaged ones.
// SPDX-License-Identifier: MIT
#include <filesystem>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cuda/decode/decoder_pair.hpp"
#include "tests/support/device_copy.hpp"
#include "tests/support/encode_params.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/test_data.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::test {
namespace {

class DecodeParity : public GpuTest {};

TEST_F(DecodeParity, EverySamplingTableAndRestart) {
  DecoderPair pair;
  ASSERT_TRUE(pair.ready());
  for_all_params({1, 50, 90, 100}, [&pair](const EncodeParams& params) {
    pair.expect_same(encode(Content::photo, 203, 117, params));
  });
}

TEST_F(DecodeParity, EveryContentAndSize) {
  DecoderPair pair;
  ASSERT_TRUE(pair.ready());
  for (const Content content : kContents)
    for (const int size : {1, 7, 8, 9, 16, 17, 64, 300}) {
      SCOPED_TRACE(testing::Message() << name(content) << " " << size);
      EncodeParams params;
      params.restart = RestartPolicy::none();
      params.quality = 95;
      pair.expect_same(encode(content, size, size + 5, params));
      if (HasFatalFailure()) return;
    }
}

TEST_F(DecodeParity, EveryPixelFormatAndFilter) {
  for (const auto upsampling : {ChromaUpsampling::fancy, ChromaUpsampling::nearest}) {
    DecoderPair pair(upsampling);
    ASSERT_TRUE(pair.ready());
    for (const Subsampling sampling : kAllSubsamplings) {
      EncodeParams params;
      params.subsampling = sampling;
      const Jpeg jpeg = encode(Content::photo, 131, 77, params);
      for (const PixelFormat format : kAllFormats) pair.expect_same_frame(jpeg, format);
      if (HasFatalFailure()) return;
    }
  }
}

/// The frame's format is made right behind a scan with every component; nothing that follows that
/// scan changes its samples, or their colour model.
TEST_F(DecodeParity, WhatFollowsTheLastComponent) {
  EncodeParams params;
  const Jpeg first = encode(Content::photo, 131, 77, params);
  const Jpeg second = encode(Content::gradient, 131, 77, params);
  const auto scan = from_sos(second);
  Jpeg again(first.begin(), first.end() - 2);  // without EOI
  again.insert(again.end(), scan.begin(), scan.end());
  // Beside JFIF, Adobe's segment would not count.
  const Jpeg plain = without_segments(first, 0xE0);
  const Jpeg rgb =
      with_inserted(plain, plain.size() - 2,
                    make_segment(0xEE, {'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0}));
  for (const auto upsampling : {ChromaUpsampling::fancy, ChromaUpsampling::nearest}) {
    DecoderPair pair(upsampling);
    ASSERT_TRUE(pair.ready());
    for (const PixelFormat format : kAllFormats) {
      pair.expect_same_frame(again, format);
      pair.expect_same_frame(rgb, format);
      pair.expect_same_frame(first, format);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(DecodeParity, LargeFrames) {
  DecoderPair pair;
  ASSERT_TRUE(pair.ready());
  for (const auto& restart : {RestartPolicy::none(), RestartPolicy::automatic()}) {
    EncodeParams params;
    params.restart = restart;
    pair.expect_same(encode(Content::photo, 3840, 2160, params));
    pair.expect_same(encode(Content::noise, 1920, 1080, params));
    pair.expect_same(encode(Content::flat, 1920, 1080, params));
  }
}

/// A frame in device memory with more bytes between its rows than the row has.
class DeviceFrame {
 public:
  DeviceFrame(PixelFormat format, int width, int height) : view_{format, width, height, {}, {}} {
    for (int p = 0; p < plane_count(format); ++p) {
      const auto index = static_cast<std::size_t>(p);
      const std::size_t stride = plane_row_bytes(format, p, width) + 13;
      void* memory = nullptr;
      EXPECT_EQ(
          cudaMalloc(&memory, stride * static_cast<std::size_t>(plane_rows(format, p, height))),
          cudaSuccess);
      view_.data[index] = static_cast<std::uint8_t*>(memory);
      view_.stride_bytes[index] = static_cast<std::ptrdiff_t>(stride);
    }
  }
  ~DeviceFrame() {
    for (std::uint8_t* plane : view_.data) (void)cudaFree(plane);
  }
  DeviceFrame(const DeviceFrame&) = delete;
  DeviceFrame& operator=(const DeviceFrame&) = delete;

  const FrameView& view() const { return view_; }
  Frame to_host() const {
    auto frame = Frame::create(view_.format, view_.width, view_.height);
    EXPECT_TRUE(frame);
    for (int p = 0; p < plane_count(view_.format); ++p) {
      const auto index = static_cast<std::size_t>(p);
      EXPECT_EQ(cudaMemcpy2D(frame->view().data[index],
                             static_cast<std::size_t>(frame->view().stride_bytes[index]),
                             view_.data[index], static_cast<std::size_t>(view_.stride_bytes[index]),
                             plane_row_bytes(view_.format, p, view_.width),
                             static_cast<std::size_t>(plane_rows(view_.format, p, view_.height)),
                             cudaMemcpyDeviceToHost),
                cudaSuccess);
    }
    return *std::move(frame);
  }

 private:
  FrameView view_;
};

TEST_F(DecodeParity, DeviceFramesAndDeviceStreams) {
  DecodeParams cpu_params;
  cpu_params.backend = Backend::cpu;
  auto cpu = Decoder::create(cpu_params);
  auto device = DeviceDecoder::create();
  ASSERT_TRUE(cpu);
  ASSERT_TRUE(device) << device.status().message();
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  EncodeParams params;
  params.subsampling = Subsampling::s420;
  const Jpeg jpeg = encode(Content::photo, 151, 99, params);
  void* d_jpeg = nullptr;
  ASSERT_EQ(cudaMalloc(&d_jpeg, jpeg.size() + 1), cudaSuccess);
  auto* const odd = static_cast<std::byte*>(d_jpeg) + 1;  // no alignment is asked for
  ASSERT_EQ(copy_to_device(odd, jpeg.data(), jpeg.size()), cudaSuccess);
  for (const PixelFormat format : kAllFormats) {
    SCOPED_TRACE(name(format));
    Frame expected;
    const auto report = cpu->decode(jpeg, format, expected);
    ASSERT_TRUE(report);
    DeviceFrame from_host(format, 151, 99), from_device(format, 151, 99);
    const auto first = device->decode(jpeg, from_host.view(), stream);
    ASSERT_TRUE(first) << first.status().message();
    const auto second = device->decode_device(odd, jpeg.size(), from_device.view(), stream);
    ASSERT_TRUE(second) << second.status().message();
    EXPECT_EQ(first->bytes_consumed, report->bytes_consumed);
    EXPECT_EQ(second->intervals, report->intervals);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_TRUE(packed(from_host.to_host()) == packed(expected));
    EXPECT_TRUE(packed(from_device.to_host()) == packed(expected));
  }
  DeviceFrame wrong(PixelFormat::rgb24, 150, 99);
  EXPECT_EQ(device->decode(jpeg, wrong.view(), stream).status().code(), Errc::invalid_frame);
  EXPECT_EQ(cudaFree(d_jpeg), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(DecodeParity, HostileStreams) {
  DecoderPair pair;
  ASSERT_TRUE(pair.ready());
  for (const auto& entry : std::filesystem::directory_iterator(project_tests() / "hostile")) {
    if (entry.path().extension() != ".jpg") continue;
    SCOPED_TRACE(entry.path().filename());
    pair.expect_same(read_file(entry.path()));
    if (HasFatalFailure()) return;
  }
}

TEST_F(DecodeParity, Corpus) {
  const auto data = test_data();
  if (!data) GTEST_SKIP() << kNoTestData;
  DecoderPair pair;
  ASSERT_TRUE(pair.ready());
  for (const Row& row : read_tsv(*data / "MANIFEST.tsv")) {
    const std::string& kind = row.at("class");
    if (kind == "container" || kind.starts_with("source")) continue;
    SCOPED_TRACE(row.at("path"));
    pair.expect_same(read_file(*data / row.at("path")));
    if (HasFatalFailure()) return;
  }
}

TEST_F(DecodeParity, DecodersOnManyThreads) {
  EncodeParams params;
  params.restart = RestartPolicy::none();
  const Jpeg jpeg = encode(Content::photo, 640, 480, params);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      DecoderPair pair;
      ASSERT_TRUE(pair.ready());
      for (int i = 0; i < 5; ++i) pair.expect_same(jpeg);
    });
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace zerorun::test
