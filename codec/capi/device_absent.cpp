// The C interface for device memory in a build without CUDA: every function says so.
// SPDX-License-Identifier: MIT
#include "codec/capi/convert.hpp"

using namespace zerorun;
using namespace zerorun::capi;

namespace {

template <typename Handle>
zerorun_status refuse(Handle** out, zerorun_error* error) {
  if (out != nullptr) *out = nullptr;
  return reported(error, [] { return Status(Errc::cuda_not_built); });
}

}  // namespace

zerorun_status zerorun_device_encoder_create(const zerorun_encode_params*,
                                             zerorun_device_encoder** out, zerorun_error* error) {
  return refuse(out, error);
}
void zerorun_device_encoder_destroy(zerorun_device_encoder*) {}
zerorun_status zerorun_device_encoder_encode(zerorun_device_encoder*, const zerorun_frame*,
                                             std::uint8_t*, std::size_t, std::size_t*, void*) {
  return ZERORUN_CUDA_NOT_BUILT;
}
zerorun_status zerorun_device_encoder_encode_batch(zerorun_device_encoder*, std::size_t,
                                                   const zerorun_frame* const*,
                                                   std::uint8_t* const*, const std::size_t*,
                                                   std::size_t* const*, void*) {
  return ZERORUN_CUDA_NOT_BUILT;
}
zerorun_status zerorun_device_encoder_encode_to_host(zerorun_device_encoder*, std::size_t,
                                                     const zerorun_frame* const*,
                                                     zerorun_stream_memory, void*, void*) {
  return ZERORUN_CUDA_NOT_BUILT;
}
const zerorun_error* zerorun_device_encoder_error(const zerorun_device_encoder*) { return nullptr; }

zerorun_status zerorun_device_decoder_select(zerorun_device_decoder*, int32_t,
                                             const zerorun_region*) {
  return ZERORUN_CUDA_NOT_BUILT;
}
zerorun_status zerorun_device_decoder_create(const zerorun_decode_params*,
                                             zerorun_device_decoder** out, zerorun_error* error) {
  return refuse(out, error);
}
void zerorun_device_decoder_destroy(zerorun_device_decoder*) {}
zerorun_status zerorun_device_decoder_decode(zerorun_device_decoder*, const void*, std::size_t,
                                             const zerorun_frame*, void*, zerorun_decode_report*) {
  return ZERORUN_CUDA_NOT_BUILT;
}
zerorun_status zerorun_device_decoder_decode_device(zerorun_device_decoder*, const void*,
                                                    std::size_t, const zerorun_frame*, void*,
                                                    zerorun_decode_report*) {
  return ZERORUN_CUDA_NOT_BUILT;
}
const zerorun_error* zerorun_device_decoder_error(const zerorun_device_decoder*) { return nullptr; }
