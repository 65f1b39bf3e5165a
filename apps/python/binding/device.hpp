// Arrays in the memory of a GPU. A build without CUDA has device_absent.cpp, whose functions fail
// with the reason.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/python/binding/frames.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::python {

struct DecodeJob;

/// The CUDA device of the bytes from `first` to `last`; kHost for pinned memory of the host.
/// Errors: DeviceError; ArgumentError for memory that no device can read.
int device_of_memory(const void* first, const void* last, const std::string& name);

/// The CUDA stream of a call: the caller's `stream` (a number, or a stream of PyTorch or CuPy),
/// else the current stream of the library that made `object`. 0 is the default stream; so are
/// buffers.
std::uintptr_t stream_handle(nb::handle stream, nb::handle object);

/// What is enqueued on `stream` from now on sees the contents of the arrays.
void order_after(const std::vector<Array>& arrays, std::uintptr_t stream);

/// An encoder for frames in device memory. Its members release the GIL themselves; one thread at a
/// time.
class DeviceEncoding {
 public:
  virtual ~DeviceEncoding() = default;
  /// Waits for the stream, for the bytes.
  virtual nb::bytes encode(const Image& image, std::uintptr_t stream) = 0;
  /// Enqueues the work and returns.
  virtual void encode_into(const Image& image, const Array& out, const Array& size,
                           std::uintptr_t stream) = 0;
  /// For each image its bytes or an error. Ctrl-C ends it.
  virtual std::vector<nb::object> encode_batch(const std::vector<Image*>& images,
                                               std::uintptr_t stream) = 0;
};
std::unique_ptr<DeviceEncoding> device_coder(const EncodeParams& params, int device);

/// Decodes the part that `part` tells, at its scale, into device memory. Needs no GIL; one thread
/// at a time.
using DeviceDecode = std::function<Result<DecodeReport>(
    const JpegData& data, const DecodeParams& part, const FrameView& out, std::uintptr_t stream)>;
DeviceDecode device_coder(const DecodeParams& params, int device);

/// The first `count` bytes of a stream in device memory. Waits for `stream`; needs no GIL.
std::vector<std::byte> copy_to_host(const JpegData& data, std::size_t count, std::uintptr_t stream);

/// New arrays of the class DeviceArray, allocated in the order of `stream`.
Picture new_device_picture(PixelFormat format, int width, int height, int device,
                           std::uintptr_t stream, nb::handle stream_owner);

/// Decodes streams of any sizes side by side: each job gets its arrays or an error.
void decode_batch_to_device(std::vector<DecodeJob>& jobs, PixelFormat format, DecodeParams params,
                            int workers, std::uintptr_t stream, nb::handle stream_owner);

/// Gives unused device memory back to the system, and the decoders of decode_batch().
void release_device_memory();

/// Adds the class DeviceArray.
void bind_device_array(nb::module_& module);

}  // namespace zerorun::python
