// What a build without CUDA says about arrays in device memory.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/coders.hpp"

namespace zerorun::python {

int device_of_memory(const void*, const void*, const std::string& name) {
  fail(Errc::cuda_not_built, name + " is in device memory");
}

std::uintptr_t stream_handle(nb::handle stream, nb::handle) {
  if (!stream.is_none()) fail(Errc::cuda_not_built, "stream= is for arrays in device memory");
  return 0;
}

void order_after(const std::vector<Array>&, std::uintptr_t) {}

std::unique_ptr<DeviceEncoding> device_coder(const EncodeParams&) {
  fail(Errc::cuda_not_built, {});
}

DeviceDecode device_coder(const DecodeParams&) { fail(Errc::cuda_not_built, {}); }

std::vector<std::byte> copy_to_host(const JpegData&, std::size_t, std::uintptr_t) { return {}; }

Picture new_device_picture(const FrameView&, int, std::uintptr_t, nb::handle) {
  fail(Errc::cuda_not_built, {});
}

void decode_batch_to_device(std::vector<DecodeJob>&, PixelFormat, DecodeParams, int, std::uintptr_t,
                            nb::handle) {
  fail(Errc::cuda_not_built, {});
}

void release_device_memory() {}

void bind_device_array(nb::module_&) {}

}  // namespace zerorun::python
