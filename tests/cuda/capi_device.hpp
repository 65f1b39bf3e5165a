// The device encoder and decoder of the C interface, beside the C++ ones on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "tests/cuda/device_twin.hpp"
#include "tests/support/capi.hpp"
#include "tests/support/guarded_buffer.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {

inline Bytes to_bytes(const std::vector<std::uint8_t>& from) {
  const auto bytes = std::as_bytes(std::span(from));
  return {bytes.begin(), bytes.end()};
}

inline Bytes encoded_on_cpu(const TestFrame& frame, EncodeParams params = {}) {
  params.backend = Backend::cpu;
  params.threads = 1;
  auto encoder = Encoder::create(params);
  Bytes out;
  EXPECT_TRUE(encoder && encoder->encode(frame.view(), out));
  return out;
}

/// Ends with the test.
struct DeviceEncoderHandle {
  explicit DeviceEncoderHandle(
      const zerorun_encode_params& params = sized<zerorun_encode_params>()) {
    auto error = sized<zerorun_error>();
    EXPECT_EQ(zerorun_device_encoder_create(&params, &handle, &error), ZERORUN_OK) << error.message;
  }
  ~DeviceEncoderHandle() { zerorun_device_encoder_destroy(handle); }
  DeviceEncoderHandle(const DeviceEncoderHandle&) = delete;
  DeviceEncoderHandle& operator=(const DeviceEncoderHandle&) = delete;

  struct Coded {
    std::size_t size = 0;
    Bytes jpeg;  ///< the stream; empty if it did not fit
  };
  /// Into guarded device memory of `capacity` bytes, `skew` bytes off its alignment.
  Coded encode(const FrameView& device_frame, std::size_t capacity, cudaStream_t stream = nullptr,
               std::size_t skew = 0) {
    const zerorun_frame frame = to_c(device_frame);
    GuardedBuffer<std::uint8_t> out(Memory::device, capacity, skew);
    GuardedBuffer<std::size_t> size(Memory::device, 1);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);  // `stream` waits for no other one
    EXPECT_EQ(
        zerorun_device_encoder_encode(handle, &frame, out.data(), capacity, size.data(), stream),
        ZERORUN_OK)
        << zerorun_device_encoder_error(handle)->message;
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    Coded coded{size.to_host()[0], to_bytes(out.to_host())};
    coded.jpeg.resize(coded.size > capacity ? 0 : coded.size);
    return coded;
  }

  zerorun_device_encoder* handle = nullptr;
};

/// Where the stream to be decoded lies.
enum class Door : std::uint8_t { host, device };

/// A decoder of each kind, used for image after image.
class DecoderPair {
 public:
  explicit DecoderPair(const zerorun_decode_params& c = sized<zerorun_decode_params>(),
                       DecodeParams cpp = {}) {
    cpp.backend = Backend::cpu;
    cpp.threads = 1;
    auto cpu = Decoder::create(cpp);
    EXPECT_TRUE(cpu) << cpu.status().message();
    if (cpu) cpu_ = *std::move(cpu);
    auto error = sized<zerorun_error>();
    EXPECT_EQ(zerorun_device_decoder_create(&c, &handle_, &error), ZERORUN_OK) << error.message;
  }
  ~DecoderPair() { zerorun_device_decoder_destroy(handle_); }
  DecoderPair(const DecoderPair&) = delete;
  DecoderPair& operator=(const DecoderPair&) = delete;

  /// Decodes into frames like `like`: same samples, padding untouched, same report or same error.
  void expect_same(const Bytes& jpeg, const TestFrame& like, Door door,
                   cudaStream_t stream = nullptr) {
    TestFrame wanted = like, found = like;
    const auto expected = cpu_->decode(jpeg, wanted.view());
    DeviceTwin on_device(found);
    const zerorun_frame out = to_c(on_device.view());
    auto report = sized<zerorun_decode_report>();
    const zerorun_status status = decode(jpeg, out, door, stream, report);
    const zerorun_error& error = *zerorun_device_decoder_error(handle_);
    ASSERT_EQ(status, static_cast<zerorun_status>(expected.status().code())) << error.message;
    EXPECT_EQ(error.code, status);
    if (!expected) {
      EXPECT_EQ(error.byte_offset, expected.status().byte_offset());
      EXPECT_EQ(error.restart_interval, expected.status().restart_interval());
      EXPECT_EQ(error.message, expected.status().message());
      return;
    }
    EXPECT_EQ(report.bytes_consumed, expected->bytes_consumed);
    EXPECT_EQ(report.intervals, expected->intervals);
    EXPECT_EQ(report.concealed_intervals, expected->concealed_intervals);
    EXPECT_EQ(report.first_problem, static_cast<zerorun_status>(expected->first_problem.code()));
    if (report.concealed_intervals > 0) {
      EXPECT_GT(report.cpu_scans, 0);
    }
    on_device.download();
    ASSERT_TRUE(found == wanted) << "samples or padding";
  }

  zerorun_device_decoder* handle() const noexcept { return handle_; }

 private:
  zerorun_status decode(const Bytes& jpeg, const zerorun_frame& out, Door door, cudaStream_t stream,
                        zerorun_decode_report& report) {
    // A byte off, for streams lie anywhere.
    const GuardedBuffer<std::byte> device_jpeg(Memory::device, std::span<const std::byte>(jpeg), 1);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);  // `stream` waits for no other one
    const zerorun_status status =
        door == Door::host ? zerorun_device_decoder_decode(handle_, jpeg.data(), jpeg.size(), &out,
                                                           stream, &report)
                           : zerorun_device_decoder_decode_device(
                                 handle_, device_jpeg.data(), jpeg.size(), &out, stream, &report);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    return status;
  }

  std::optional<Decoder> cpu_;
  zerorun_device_decoder* handle_ = nullptr;
};

}  // namespace zerorun::test
