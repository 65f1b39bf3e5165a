// The device functions of the C interface: the bytes and samples of the CPU, from and into device
// memory, and documented errors for bad calls.
// SPDX-License-Identifier: MIT
#include <cuda_runtime_api.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "cuda/base/memory.hpp"
#include "tests/cuda/device_memory.hpp"
#include "tests/support/capi.hpp"
#include "tests/support/coder.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/guarded_buffer.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

Bytes to_bytes(const std::vector<std::uint8_t>& from) {
  const auto bytes = std::as_bytes(std::span(from));
  return {bytes.begin(), bytes.end()};
}

using DeviceEncoderHandle = Handle<zerorun_device_encoder, zerorun_device_encoder_destroy>;
using DeviceDecoderHandle = Handle<zerorun_device_decoder, zerorun_device_decoder_destroy>;

/// With default parameters.
template <typename Handle, typename Params>
Handle made_by(zerorun_status (*create)(const Params*, typename Handle::pointer*, zerorun_error*)) {
  const auto params = sized<Params>();
  auto error = sized<zerorun_error>();
  typename Handle::pointer handle = nullptr;
  EXPECT_EQ(create(&params, &handle, &error), ZERORUN_OK) << error.message;
  return Handle(handle);
}
DeviceEncoderHandle make_device_encoder() {
  return made_by<DeviceEncoderHandle>(zerorun_device_encoder_create);
}
DeviceDecoderHandle make_device_decoder() {
  return made_by<DeviceDecoderHandle>(zerorun_device_decoder_create);
}

using testing::HasSubstr;

class CApiParity : public GpuTest {};

constexpr Layout kLayouts[] = {Layout::tight, Layout::padded, Layout::bottom_up};

TEST_F(CApiParity, BatchesGoToTheHost) {
  struct Streams {
    std::vector<std::vector<std::uint8_t>> found = std::vector<std::vector<std::uint8_t>>(3);
    zerorun_status answer = ZERORUN_OK;
  } streams;
  const auto memory = [](void* user, zerorun_encoded_stream* given, std::size_t count) {
    auto& to = *static_cast<Streams*>(user);
    for (std::size_t i = 0; i < count; ++i) {
      to.found.at(given[i].frame).resize(given[i].size);
      given[i].out = to.found[given[i].frame].data();
    }
    return to.answer;
  };
  std::vector<std::unique_ptr<DeviceTwin>> on_device;
  std::vector<Bytes> expected;
  std::vector<zerorun_frame> frames;
  for (int i = 0; i < 3; ++i) {
    TestFrame frame = make_frame(Content::photo, PixelFormat::rgb24, 90 + i, 60, 7);
    on_device.push_back(std::make_unique<DeviceTwin>(frame));
    expected.push_back(encoded_on_cpu(frame.view()));
    frames.push_back(to_c(on_device.back()->view()));
  }
  const zerorun_frame* const views[] = {&frames[0], &frames[1], &frames[2]};
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const DeviceEncoderHandle encoder = make_device_encoder();
  const auto encode = [&](zerorun_stream_memory give) {
    return zerorun_device_encoder_encode_to_host(encoder.get(), 3, views, give, &streams, nullptr);
  };
  ASSERT_EQ(encode(memory), ZERORUN_OK);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(to_bytes(streams.found[i]), expected[i]);
  streams.answer = ZERORUN_OUT_OF_MEMORY;
  EXPECT_EQ(encode(memory), ZERORUN_OUT_OF_MEMORY);
  EXPECT_EQ(encode(nullptr), ZERORUN_INVALID_ARGUMENT);
}

TEST_F(CApiParity, DestroyWaitsForWhatWasEnqueued) {
  constexpr int kFrames = 6;
  Stream streams[2];
  for (Stream& stream : streams) ASSERT_TRUE(stream.create());
  std::vector<TestFrame> frames;
  std::vector<std::unique_ptr<DeviceTwin>> on_device;
  std::vector<Bytes> expected;
  std::vector<std::unique_ptr<GuardedBuffer<std::uint8_t>>> out;
  for (int i = 0; i < kFrames; ++i)
    frames.push_back(make_frame(Content::photo, PixelFormat::nv12, 200 + 40 * i, 150, 7));
  for (TestFrame& frame : frames) {
    on_device.push_back(std::make_unique<DeviceTwin>(frame));
    expected.push_back(encoded_on_cpu(frame.view()));
    out.push_back(
        std::make_unique<GuardedBuffer<std::uint8_t>>(Memory::device, expected.back().size()));
  }
  GuardedBuffer<std::size_t> sizes(Memory::device, kFrames);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  zerorun_device_encoder* encoder = nullptr;  // without parameters
  ASSERT_EQ(zerorun_device_encoder_create(nullptr, &encoder, nullptr), ZERORUN_OK);
  for (std::size_t i = 0; i < kFrames; ++i) {
    const zerorun_frame frame = to_c(on_device[i]->view());
    ASSERT_EQ(zerorun_device_encoder_encode(encoder, &frame, out[i]->data(), out[i]->size(),
                                            sizes.data() + i, streams[i % 2].get()),
              ZERORUN_OK);
  }
  zerorun_device_encoder_destroy(encoder);
  const std::vector<std::size_t> lengths = sizes.to_host();
  for (std::size_t i = 0; i < kFrames; ++i) {
    EXPECT_EQ(lengths[i], expected[i].size());
    EXPECT_EQ(to_bytes(out[i]->to_host()), expected[i]) << "frame " << i;
  }
}

TEST_F(CApiParity, DecodesFromTheHostAndFromTheDevice) {
  const Bytes jpeg =
      encoded_on_cpu(make_frame(Content::photo, PixelFormat::rgb24, 151, 99, 4).view());
  const GuardedBuffer<std::byte> device_jpeg(Memory::device, std::span<const std::byte>(jpeg), 1);
  Decoder cpu = cpu_decoder();
  const DeviceDecoderHandle decoder = make_device_decoder();
  for (const Layout layout : kLayouts)
    for (const bool from_device : {false, true}) {
      SCOPED_TRACE(testing::Message() << "layout " << static_cast<int>(layout) << from_device);
      TestFrame wanted(PixelFormat::yuv420p, 151, 99, layout), found = wanted;
      const auto expected = cpu.decode(jpeg, wanted.view());
      ASSERT_TRUE(expected);
      DeviceTwin on_device(found);
      const zerorun_frame out = to_c(on_device.view());
      auto report = sized<zerorun_decode_report>();
      ASSERT_EQ(from_device
                    ? zerorun_device_decoder_decode_device(decoder.get(), device_jpeg.data(),
                                                           jpeg.size(), &out, nullptr, &report)
                    : zerorun_device_decoder_decode(decoder.get(), jpeg.data(), jpeg.size(), &out,
                                                    nullptr, &report),
                ZERORUN_OK);
      EXPECT_EQ(report.bytes_consumed, expected->bytes_consumed);
      EXPECT_EQ(report.intervals, expected->intervals);
      on_device.download();
      EXPECT_TRUE(found == wanted) << "samples or padding";
    }
}

TEST_F(CApiParity, BadCallsOfTheEncoderAreErrors) {
  TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 40, 30, 1);
  const DeviceTwin on_device(frame);
  const zerorun_frame good = to_c(on_device.view());
  GuardedBuffer<std::uint8_t> out(Memory::device, 10000);
  GuardedBuffer<std::size_t> size(Memory::device, 1);
  const DeviceEncoderHandle encoder = make_device_encoder();
  const auto encode = [&](const zerorun_frame* given, std::uint8_t* to, std::size_t* size_to) {
    const zerorun_status status =
        zerorun_device_encoder_encode(encoder.get(), given, to, out.size(), size_to, nullptr);
    EXPECT_EQ(zerorun_device_encoder_error(encoder.get())->code, status);
    EXPECT_GT(std::strlen(zerorun_device_encoder_error(encoder.get())->message), 10u);
    return status;
  };
  EXPECT_EQ(encode(nullptr, out.data(), size.data()), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(encode(&good, nullptr, size.data()), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(encode(&good, out.data(), nullptr), ZERORUN_INVALID_ARGUMENT);
  zerorun_frame bad = good;
  bad.data[2] = nullptr;
  EXPECT_EQ(encode(&bad, out.data(), size.data()), ZERORUN_INVALID_FRAME);
  EXPECT_THAT(zerorun_device_encoder_error(encoder.get())->message, HasSubstr("plane 2 is null"));
  EXPECT_EQ(
      zerorun_device_encoder_encode(nullptr, &good, out.data(), out.size(), size.data(), nullptr),
      ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(zerorun_device_encoder_error(nullptr), nullptr);
  zerorun_device_encoder_destroy(nullptr);

  EXPECT_EQ(out.to_host(), std::vector<std::uint8_t>(out.size(), kPoison));  // nothing was written
  EXPECT_EQ(zerorun_device_encoder_encode(encoder.get(), &good, out.data(), out.size(), size.data(),
                                          nullptr),
            ZERORUN_OK);  // still works
  Bytes jpeg = to_bytes(out.to_host());
  jpeg.resize(size.to_host()[0]);
  EXPECT_EQ(jpeg, encoded_on_cpu(frame.view()));
  EXPECT_EQ(zerorun_device_encoder_error(encoder.get())->code, ZERORUN_OK);
}

TEST_F(CApiParity, BadCallsOfTheDecoderAreErrors) {
  const Bytes jpeg =
      encoded_on_cpu(make_frame(Content::photo, PixelFormat::yuv420p, 40, 30, 1).view());
  const GuardedBuffer<std::byte> device_jpeg(Memory::device, std::span<const std::byte>(jpeg));
  TestFrame like(PixelFormat::yuv420p, 40, 30);
  const TestFrame untouched = like;
  DeviceTwin on_device(like);
  const zerorun_frame good = to_c(on_device.view());
  const DeviceDecoderHandle handle = make_device_decoder();
  zerorun_device_decoder* const decoder = handle.get();
  const auto both = [&](const void* host, const void* device, const zerorun_frame* out) {
    const zerorun_status one =
        zerorun_device_decoder_decode(decoder, host, jpeg.size(), out, nullptr, nullptr);
    EXPECT_EQ(zerorun_device_decoder_error(decoder)->code, one);
    const zerorun_status other =
        zerorun_device_decoder_decode_device(decoder, device, jpeg.size(), out, nullptr, nullptr);
    EXPECT_EQ(other, one);
    EXPECT_EQ(zerorun_device_decoder_error(decoder)->code, other);
    EXPECT_GT(std::strlen(zerorun_device_decoder_error(decoder)->message), 10u);
    return one;
  };
  EXPECT_EQ(both(nullptr, nullptr, &good), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(both(jpeg.data(), device_jpeg.data(), nullptr), ZERORUN_INVALID_ARGUMENT);
  zerorun_frame bad = good;
  bad.stride_bytes[1] = 19;
  EXPECT_EQ(both(jpeg.data(), device_jpeg.data(), &bad), ZERORUN_INVALID_FRAME);
  EXPECT_EQ(
      zerorun_device_decoder_decode(nullptr, jpeg.data(), jpeg.size(), &good, nullptr, nullptr),
      ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(zerorun_device_decoder_decode_device(nullptr, device_jpeg.data(), jpeg.size(), &good,
                                                 nullptr, nullptr),
            ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(zerorun_device_decoder_error(nullptr), nullptr);
  zerorun_device_decoder_destroy(nullptr);

  on_device.download();
  EXPECT_EQ(like.packed(), untouched.packed());
  EXPECT_EQ(
      zerorun_device_decoder_decode(decoder, jpeg.data(), jpeg.size(), &good, nullptr, nullptr),
      ZERORUN_OK);  // still works
}

/// Expects an error of create() of both, whose parameters have the members tried here in common.
template <typename Change>
void expect_refused(zerorun_status expected, const char* words, const Change& change) {
  auto error = sized<zerorun_error>();
  auto encode = sized<zerorun_encode_params>();
  change(encode);
  zerorun_device_encoder* encoder = reinterpret_cast<zerorun_device_encoder*>(&error);
  EXPECT_EQ(zerorun_device_encoder_create(&encode, &encoder, &error), expected);
  EXPECT_EQ(encoder, nullptr);
  EXPECT_EQ(error.code, expected);
  EXPECT_THAT(error.message, HasSubstr(words));
  auto decode = sized<zerorun_decode_params>();
  change(decode);
  zerorun_device_decoder* decoder = reinterpret_cast<zerorun_device_decoder*>(&error);
  EXPECT_EQ(zerorun_device_decoder_create(&decode, &decoder, &error), expected);
  EXPECT_EQ(decoder, nullptr);
  EXPECT_EQ(error.code, expected);
  EXPECT_THAT(error.message, HasSubstr(words));
}

TEST_F(CApiParity, DevicesAndParametersThatDoNotExistAreErrors) {
  EXPECT_EQ(zerorun_check_device(0, nullptr), ZERORUN_OK);
  auto error = sized<zerorun_error>();
  EXPECT_EQ(zerorun_check_device(4096, &error), ZERORUN_NO_DEVICE);
  EXPECT_THAT(error.message, HasSubstr("there is no device 4096"));
  expect_refused(ZERORUN_NO_DEVICE, "there is no device 4096", [](auto& p) { p.device = 4096; });
  expect_refused(ZERORUN_INVALID_ARGUMENT, "negative", [](auto& p) { p.device = -1; });
  expect_refused(ZERORUN_INVALID_ARGUMENT, "CPU backend",
                 [](auto& p) { p.backend = ZERORUN_BACKEND_CPU; });
  expect_refused(ZERORUN_INVALID_ARGUMENT, "backend 3", [](auto& p) { p.backend = 3; });
  expect_refused(ZERORUN_INVALID_ARGUMENT, "struct_size", [](auto& p) { p.struct_size = 4; });
  EXPECT_EQ(zerorun_device_encoder_create(nullptr, nullptr, &error), ZERORUN_INVALID_ARGUMENT);
  EXPECT_EQ(zerorun_device_decoder_create(nullptr, nullptr, &error), ZERORUN_INVALID_ARGUMENT);
}

}  // namespace

}  // namespace zerorun::test
