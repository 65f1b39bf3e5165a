// Encoders and decoders for device memory.
// SPDX-License-Identifier: MIT
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "apps/python/binding/device.hpp"
#include "apps/python/binding/device_memory.hpp"
#include "apps/python/binding/failure.hpp"
#include "apps/python/binding/forks.hpp"
#include "apps/python/binding/gil.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::python {
namespace {

/// Memory for a stream at the first try. Photos at quality 90 take a sixth of their RGB bytes; a
/// stream that needs more is coded again.
std::size_t likely_bytes(const ConstFrameView& frame) {
  std::size_t bytes = 0;
  for (int p = 0; p < plane_count(frame.format); ++p)
    bytes += plane_row_bytes(frame.format, p, frame.width) *
             static_cast<std::size_t>(plane_rows(frame.format, p, frame.height));
  return (bytes / 2 + 65536 + 63) / 64 * 64;
}

/// Errors: ArgumentError for memory that the device cannot write.
void check_writable(const Array& array, const char* name) {
  if (!array.writable || array.dimensions != 1 || (array.shape[0] > 1 && array.stride[0] != 1))
    fail(Errc::invalid_argument, std::string(name) + " must be writable bytes one after another");
  if (array.shape[0] == 0) fail(Errc::invalid_argument, std::string(name) + " is empty");
  if (array.device != kHost) return;
  cudaPointerAttributes attributes{};
  const cudaError_t error = cudaPointerGetAttributes(&attributes, array.data);
  if (error != cudaSuccess) (void)cudaGetLastError();
  if (error != cudaSuccess || attributes.type != cudaMemoryTypeHost)
    fail(Errc::invalid_argument,
         std::string(name) + " must be on the GPU or in pinned memory, which the GPU can write");
}

/// The device has found that the picture cannot be so small. How small it can be, it does not tell.
Status size_not_reached(const SizeGoal& goal) {
  std::size_t most = goal.target_bytes != 0 ? goal.target_bytes : goal.max_bytes;
  if (goal.max_bytes != 0) most = std::min(most, goal.max_bytes);
  return Status(Errc::size_not_reached,
                "the smallest stream of this picture has more than the " + std::to_string(most) +
                    " bytes that were asked for; ask for more, or scale the picture down");
}

nb::bytes bytes_at(const std::byte* data, std::size_t size) {
  return nb::bytes(reinterpret_cast<const char*>(data), size);
}

class EncodeBox final : public DeviceEncodeBox {
 public:
  EncodeBox(DeviceEncoder encoder, int device) : encoder_(std::move(encoder)), device_(device) {}

  nb::bytes encode(Image& image, std::uintptr_t stream) override {
    order_after(image.arrays(), stream);
    std::size_t size = 0;
    Status status;
    {
      const WithoutGil no_gil;
      status = run(image.view(), stream, size);
    }
    check(std::move(status));
    return bytes_at(out_.data(), size);
  }

  void encode_into(Image& image, const Array& out, const Array& size,
                   std::uintptr_t stream) override {
    check_writable(out, "out");
    check_writable(size, "size_out");
    if (size.shape[0] != 8 || reinterpret_cast<std::uintptr_t>(size.data) % 8 != 0)
      fail(Errc::invalid_argument, "size_out must be 8 bytes at an address that 8 divides");
    order_after(image.arrays(), stream);
    Status status;
    {
      const WithoutGil no_gil;
      const OnDevice current(device_);
      status = encoder_.encode(image.view(), reinterpret_cast<std::byte*>(out.data),
                               static_cast<std::size_t>(out.shape[0]),
                               reinterpret_cast<std::size_t*>(size.data), stream_of(stream));
    }
    check(std::move(status));
  }

  std::vector<nb::object> encode_batch(std::vector<Image*>& images,
                                       std::uintptr_t stream) override {
    std::vector<nb::object> results(images.size());
    for (std::size_t first = 0; first < images.size();) {
      const std::size_t end = end_of_group(images, first);
      encode_group(images, first, end, stream, results);
      first = end;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
    return results;
  }

 private:
  /// Pinned memory for the streams of a group, so that a batch of any size needs no more.
  static constexpr std::size_t kGroupBytes = std::size_t{256} << 20;

  static std::size_t end_of_group(const std::vector<Image*>& images, std::size_t first) {
    std::size_t bytes = 0, end = first;
    while (end < images.size()) {
      bytes += likely_bytes(images[end]->view());
      if (end > first && bytes > kGroupBytes) break;
      ++end;
    }
    return end;
  }

  Status run(const ConstFrameView& frame, std::uintptr_t stream, std::size_t& size) {
    const OnDevice current(device_);
    std::size_t capacity = std::max(likely_bytes(frame), out_.capacity());
    for (;;) {
      Status status = out_.resize(capacity);
      if (status) status = sizes_.resize(sizeof(std::size_t));
      if (!status) return status;
      auto* written = reinterpret_cast<std::size_t*>(sizes_.data());
      status = encoder_.encode(frame, out_.data(), capacity, written, stream_of(stream));
      if (!status) return status;
      status = cuda_status(cudaStreamSynchronize(stream_of(stream)), "cudaStreamSynchronize");
      if (!status) return status;
      size = *written;
      if (size == 0) return size_not_reached(encoder_.params().size);
      if (size <= capacity) return Status::ok();
      capacity = size;
    }
  }

  void encode_group(const std::vector<Image*>& images, std::size_t first, std::size_t end,
                    std::uintptr_t stream, std::vector<nb::object>& results) {
    std::vector<std::size_t> offsets{0};
    for (std::size_t i = first; i < end; ++i) {
      order_after(images[i]->arrays(), stream);
      offsets.push_back(offsets.back() + likely_bytes(images[i]->view()));
    }
    Status status;
    {
      const WithoutGil no_gil;
      status = run_group(images, first, offsets, stream);
    }
    check(std::move(status));
    std::vector<std::size_t> too_large;
    for (std::size_t i = first; i < end; ++i) {
      const std::size_t at = i - first;
      std::size_t size = 0;
      std::memcpy(&size, sizes_.data() + at * sizeof(size), sizeof(size));
      if (size > offsets[at + 1] - offsets[at])
        too_large.push_back(i);
      else if (size == 0)
        results[i] = exception_of(size_not_reached(encoder_.params().size));
      else
        results[i] = bytes_at(out_.data() + offsets[at], size);
    }
    for (const std::size_t i : too_large) results[i] = encode(*images[i], stream);
  }

  Status run_group(const std::vector<Image*>& images, std::size_t first,
                   const std::vector<std::size_t>& offsets, std::uintptr_t stream) {
    const OnDevice current(device_);
    const std::size_t count = offsets.size() - 1;
    Status status = out_.resize(offsets.back());
    if (status) status = sizes_.resize(count * sizeof(std::size_t));
    if (!status) return status;
    std::vector<DeviceEncodeJob> jobs;
    for (std::size_t i = 0; i < count; ++i)
      jobs.push_back({images[first + i]->view(), out_.data() + offsets[i],
                      offsets[i + 1] - offsets[i],
                      reinterpret_cast<std::size_t*>(sizes_.data()) + i});
    status = encoder_.encode_batch(jobs, stream_of(stream));
    const Status waited =
        cuda_status(cudaStreamSynchronize(stream_of(stream)), "cudaStreamSynchronize");
    return status ? waited : status;
  }

  DeviceEncoder encoder_;
  int device_;
  HostBuffer out_{HostMemory::pinned};
  HostBuffer sizes_{HostMemory::pinned};
};

class DecodeBox final : public DeviceDecodeBox {
 public:
  DecodeBox(DeviceDecoder decoder, int device) : decoder_(std::move(decoder)), device_(device) {}

  Result<DecodeReport> decode(const JpegData& data, const FrameView& out,
                              std::uintptr_t stream) override {
    const OnDevice current(device_);
    const std::span<const std::byte> bytes = data.bytes();
    if (data.device() == kHost) return decoder_.decode(bytes, out, stream_of(stream));
    return decoder_.decode_device(bytes.data(), bytes.size(), out, stream_of(stream));
  }

 private:
  DeviceDecoder decoder_;
  int device_;
};

}  // namespace

std::unique_ptr<DeviceEncodeBox> DeviceEncodeBox::make(EncodeParams params, int device) {
  check_cuda_after_fork();
  note_cuda_use();
  params.backend = Backend::cuda;
  params.device = device;
  return std::make_unique<EncodeBox>(value_of(DeviceEncoder::create(params)), device);
}

std::unique_ptr<DeviceDecodeBox> DeviceDecodeBox::make(DecodeParams params, int device) {
  check_cuda_after_fork();
  note_cuda_use();
  params.backend = Backend::cuda;
  params.device = device;
  return std::make_unique<DecodeBox>(value_of(DeviceDecoder::create(params)), device);
}

}  // namespace zerorun::python
