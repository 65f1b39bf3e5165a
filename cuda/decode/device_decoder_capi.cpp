// The C interface of DeviceDecoder.
// SPDX-License-Identifier: MIT
#include "codec/capi/convert.hpp"
#include "zerorun/cuda.hpp"

using namespace zerorun;
using namespace zerorun::capi;

struct zerorun_device_decoder {
  DeviceDecoder decoder;
  zerorun_error error = make_error(Status::ok());
};

zerorun_status zerorun_device_decoder_create(const zerorun_decode_params* params,
                                             zerorun_device_decoder** out, zerorun_error* error) {
  return create_handle(out, error, [&]() -> Result<DeviceDecoder> {
    const auto wanted = to_params(params);
    if (!wanted) return wanted.status();
    return DeviceDecoder::create(*wanted);
  });
}

void zerorun_device_decoder_destroy(zerorun_device_decoder* decoder) { delete decoder; }

zerorun_status zerorun_device_decoder_decode(zerorun_device_decoder* decoder, const void* jpeg,
                                             std::size_t size, const zerorun_frame* out,
                                             void* stream, zerorun_decode_report* report) {
  return on_handle(decoder, [&]() -> Status {
    if (jpeg == nullptr && size > 0) return null_argument("jpeg");
    const auto view = to_view(out);
    if (!view) return view.status();
    const auto done = decoder->decoder.decode({static_cast<const std::byte*>(jpeg), size}, *view,
                                              static_cast<cudaStream_t>(stream));
    if (!done) return done.status();
    write_struct(from_report(*done), report);
    return Status::ok();
  });
}

zerorun_status zerorun_device_decoder_decode_device(zerorun_device_decoder* decoder,
                                                    const void* device_jpeg, std::size_t size,
                                                    const zerorun_frame* out, void* stream,
                                                    zerorun_decode_report* report) {
  return on_handle(decoder, [&]() -> Status {
    if (device_jpeg == nullptr) return null_argument("device_jpeg");
    const auto view = to_view(out);
    if (!view) return view.status();
    const auto done = decoder->decoder.decode_device(
        static_cast<const std::byte*>(device_jpeg), size, *view, static_cast<cudaStream_t>(stream));
    if (!done) return done.status();
    write_struct(from_report(*done), report);
    return Status::ok();
  });
}

const zerorun_error* zerorun_device_decoder_error(const zerorun_device_decoder* decoder) {
  return decoder == nullptr ? nullptr : &decoder->error;
}
