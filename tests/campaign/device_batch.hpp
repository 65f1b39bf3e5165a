// Frames of the host, coded by DeviceEncoder as one batch in device memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "tests/support/jpeg_segments.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::test {

/// Whether device memory can be had: not where the CPU pretends to be the device
/// (codec/base/cuda_device.hpp).
bool has_device_memory();

/// One encoder with a CUDA stream and memory of its own. One thread at a time.
class DeviceBatch {
 public:
  explicit DeviceBatch(const EncodeParams& params);
  ~DeviceBatch();
  DeviceBatch(const DeviceBatch&) = delete;
  DeviceBatch& operator=(const DeviceBatch&) = delete;

  /// The streams of the frames, in their order. Returns what failed, or nothing.
  std::string encode(std::span<const TestFrame* const> frames, std::vector<Bytes>& out);

 private:
  template <typename T>
  using OnDevice = std::unique_ptr<T, cudaError_t (*)(void*)>;

  std::string reserve(std::size_t frame_bytes, std::size_t out_bytes, std::size_t count);
  std::string upload(std::span<const TestFrame* const> frames);
  std::string download(std::vector<Bytes>& out);

  EncodeParams params_;
  Result<DeviceEncoder> encoder_;
  cudaStream_t stream_ = nullptr;
  OnDevice<std::uint8_t> frames_{nullptr, &cudaFree};
  OnDevice<std::byte> out_{nullptr, &cudaFree};
  OnDevice<std::size_t> sizes_{nullptr, &cudaFree};
  std::size_t frame_bytes_ = 0, out_bytes_ = 0, count_ = 0;
  std::vector<DeviceEncodeJob> jobs_;
};

}  // namespace zerorun::test
