// Encoders and decoders for device memory.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <span>
#include <utility>

#include "apps/python/binding/device.hpp"
#include "apps/python/binding/device_memory.hpp"
#include "codec/base/try.hpp"
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
  if (!array.writable || !array.is_flat())
    fail_argument(name, " must be writable bytes one after another");
  if (array.shape[0] == 0) fail_argument(name, " is empty");
  if (array.device != kHost) return;
  cudaPointerAttributes attributes{};
  const cudaError_t error = cudaPointerGetAttributes(&attributes, array.data);
  if (error != cudaSuccess) (void)cudaGetLastError();
  if (error != cudaSuccess || attributes.type != cudaMemoryTypeHost)
    fail_argument(name, " must be on the GPU or in pinned memory, which the GPU can write");
}

/// The device has found that the picture cannot be so small. How small it can be, it does not tell.
Status size_not_reached(const SizeGoal& goal) {
  std::size_t most = goal.target_bytes != 0 ? goal.target_bytes : goal.max_bytes;
  if (goal.max_bytes != 0) most = std::min(most, goal.max_bytes);
  return Status(Errc::size_not_reached,
                "the smallest stream of this picture has more than the " + std::to_string(most) +
                    " bytes that were asked for; ask for more, or scale the picture down");
}

class EncodeBox final : public DeviceEncodeBox {
 public:
  EncodeBox(DeviceEncoder encoder, int device) : encoder_(std::move(encoder)), device_(device) {}

  nb::bytes encode(const Image& image, std::uintptr_t stream) override {
    order_after(image.arrays(), stream);
    if (is_large(image.view())) {
      std::vector<nb::object> results(1);
      to_bytes({&image.view(), 1}, stream, Signals::leave, results);
      if (!results[0].is_valid()) fail(size_not_reached(encoder_.params().size));
      return nb::borrow<nb::bytes>(results[0]);
    }
    const std::size_t size = value_of(without_gil([&] { return run(image.view(), stream); }));
    return nb::bytes(out_.data(), size);
  }

  void encode_into(const Image& image, const Array& out, const Array& size,
                   std::uintptr_t stream) override {
    check_writable(out, "out");
    check_writable(size, "size_out");
    if (size.shape[0] != 8 || reinterpret_cast<std::uintptr_t>(size.data) % 8 != 0)
      fail_argument("size_out must be 8 bytes at an address that 8 divides");
    order_after(image.arrays(), stream);
    check(without_gil([&] {
      const OnDevice current(device_);
      return encoder_.encode(image.view(), reinterpret_cast<std::byte*>(out.data),
                             static_cast<std::size_t>(out.shape[0]),
                             reinterpret_cast<std::size_t*>(size.data), stream_of(stream));
    }));
  }

  std::vector<nb::object> encode_batch(const std::vector<Image*>& images,
                                       std::uintptr_t stream) override {
    std::vector<nb::object> results(images.size());
    std::vector<ConstFrameView> frames;
    for (const Image* image : images) {
      order_after(image->arrays(), stream);
      frames.push_back(image->view());
    }
    to_bytes(frames, stream, Signals::handle, results);
    for (nb::object& result : results)
      if (!result.is_valid()) result = exception_of(size_not_reached(encoder_.params().size));
    return results;
  }

 private:
  /// From so many pixels on a stream crosses the bus in one copy; the kernels write a smaller one
  /// to pinned memory themselves, which saves the host a wait.
  static constexpr std::int64_t kLargePixels = std::int64_t{4} << 20;

  static bool is_large(const ConstFrameView& frame) {
    return std::int64_t{frame.width} * frame.height >= kLargePixels;
  }

  /// A handler of a signal may use the object that calls: with a lock it would wait for itself.
  enum class Signals { handle, leave };

  /// A result stays null where no stream is so small. Errors: also what a signal's handler raises.
  void to_bytes(std::span<const ConstFrameView> frames, std::uintptr_t stream, Signals signals,
                std::vector<nb::object>& results) {
    bool raised = false;
    Status status;
    {
      WithoutGil no_gil;
      const OnDevice current(device_);
      const auto memory = [&](std::span<EncodedStream> streams) {
        raised = !no_gil.call_with_gil([&] {
          return (signals == Signals::leave || PyErr_CheckSignals() == 0) &&
                 make_bytes(streams, results);
        });
        return raised ? Status(Errc::out_of_memory) : Status::ok();
      };
      status = encoder_.encode_to_host(frames, memory, stream_of(stream));
    }
    if (raised) throw nb::python_error();
    check(std::move(status));
  }

  /// Nobody else has the objects, so that they may be filled without the GIL. False: an error of
  /// Python is set.
  static bool make_bytes(std::span<EncodedStream> streams, std::vector<nb::object>& results) {
    for (EncodedStream& stream : streams) {
      if (stream.bytes == 0) continue;
      const auto size = static_cast<Py_ssize_t>(stream.bytes);
      nb::object& result = results[stream.frame];
      result = nb::steal(PyBytes_FromStringAndSize(nullptr, size));
      if (!result.is_valid()) return false;
      stream.out = reinterpret_cast<std::byte*>(PyBytes_AsString(result.ptr()));
    }
    return true;
  }

  /// The size of the stream, which is in out_.
  Result<std::size_t> run(const ConstFrameView& frame, std::uintptr_t stream) {
    const OnDevice current(device_);
    std::size_t capacity = std::max(likely_bytes(frame), out_.capacity());
    for (;;) {
      ZR_TRY(out_.resize(capacity));
      ZR_TRY(sizes_.resize(sizeof(std::size_t)));
      auto* written = reinterpret_cast<std::size_t*>(sizes_.data());
      ZR_TRY(encoder_.encode(frame, out_.data(), capacity, written, stream_of(stream)));
      ZR_TRY(cuda_status(cudaStreamSynchronize(stream_of(stream)), "cudaStreamSynchronize"));
      const std::size_t size = *written;
      if (size == 0) return size_not_reached(encoder_.params().size);
      if (size <= capacity) return size;
      capacity = size;
    }
  }

  DeviceEncoder encoder_;
  int device_;
  HostBuffer out_{HostMemory::pinned};
  HostBuffer sizes_{HostMemory::pinned};
};

class DecodeBox final : public DeviceDecodeBox {
 public:
  DecodeBox(DeviceDecoder decoder, int device) : decoder_(std::move(decoder)), device_(device) {}

  Status select(int scale, const Region& region) override { return decoder_.select(scale, region); }
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

/// A coder of the library for the device.
template <typename Coder, typename Params>
Coder make_on(Params params, int device) {
  check_cuda_after_fork();
  note_cuda_use();
  params.backend = Backend::cuda;
  params.device = device;
  return value_of(Coder::create(params));
}

}  // namespace

std::unique_ptr<DeviceEncodeBox> DeviceEncodeBox::make(EncodeParams params, int device) {
  return std::make_unique<EncodeBox>(make_on<DeviceEncoder>(std::move(params), device), device);
}

std::unique_ptr<DeviceDecodeBox> DeviceDecodeBox::make(DecodeParams params, int device) {
  return std::make_unique<DecodeBox>(make_on<DeviceDecoder>(params, device), device);
}

}  // namespace zerorun::python
