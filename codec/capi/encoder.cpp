// The C interface: encoder.
// SPDX-License-Identifier: MIT
#include "codec/base/try.hpp"
#include "codec/capi/convert.hpp"
#include "zerorun/backend.hpp"

using namespace zerorun;
using namespace zerorun::capi;

struct zerorun_encoder {
  Encoder object;
  zerorun_error error = make_error(Status::ok());
  HostBuffer jpeg{preferred_memory(object.backend())};
  EncodeReport report = {};
};

zerorun_status zerorun_encoder_create(const zerorun_encode_params* params, zerorun_encoder** out,
                                      zerorun_error* error) {
  return create_with<Encoder>(params, out, error);
}

void zerorun_encoder_destroy(zerorun_encoder* encoder) { delete encoder; }

zerorun_status zerorun_encoder_encode(zerorun_encoder* encoder, const zerorun_frame* frame,
                                      const std::uint8_t** jpeg, std::size_t* size) {
  if (jpeg != nullptr) *jpeg = nullptr;
  if (size != nullptr) *size = 0;
  return on_handle(encoder, [&]() -> Status {
    if (jpeg == nullptr || size == nullptr) return null_argument("jpeg or size");
    ZR_LET(view, to_view(frame));
    ZR_LET(report, encoder->object.encode(view, encoder->jpeg));
    encoder->report = report;
    *jpeg = reinterpret_cast<const std::uint8_t*>(encoder->jpeg.data());
    *size = report.bytes;
    return Status::ok();
  });
}

zerorun_status zerorun_encoder_encode_to(zerorun_encoder* encoder, const zerorun_frame* frame,
                                         std::uint8_t* out, std::size_t capacity,
                                         std::size_t* size) {
  if (size != nullptr) *size = 0;
  return on_handle(encoder, [&]() -> Status {
    if (out == nullptr || size == nullptr) return null_argument("out or size");
    ZR_LET(view, to_view(frame));
    ZR_LET(report, encoder->object.encode(view, {reinterpret_cast<std::byte*>(out), capacity}));
    encoder->report = report;
    *size = report.bytes;
    return Status::ok();
  });
}

zerorun_status zerorun_max_encoded_bytes(const zerorun_encode_params* params, std::int32_t format,
                                         std::int32_t width, std::int32_t height,
                                         std::size_t* size) {
  return reported(nullptr, [&]() -> Status {
    if (size == nullptr) return null_argument("size");
    *size = 0;
    ZR_LET(wanted, to_params(params));
    ZR_LET(pixels, to_format(format));
    ZR_LET(bytes, max_encoded_bytes(wanted, pixels, width, height));
    *size = bytes;
    return Status::ok();
  });
}

zerorun_status zerorun_encoder_set_quality(zerorun_encoder* encoder, std::int32_t quality) {
  return on_handle(encoder, [&] { return encoder->object.set_quality(quality); });
}

zerorun_status zerorun_encoder_set_size(zerorun_encoder* encoder, std::size_t target_bytes,
                                        std::size_t max_bytes) {
  return on_handle(encoder, [&] { return encoder->object.set_size({target_bytes, max_bytes}); });
}

zerorun_status zerorun_encoder_set_target(zerorun_encoder* encoder, double target_psnr,
                                          double target_ssim) {
  return on_handle(encoder, [&] {
    return encoder->object.set_size({0, 0, target_psnr, target_ssim});
  });
}

zerorun_status zerorun_encoder_setting(const zerorun_encoder* encoder, double* quality,
                                       std::int32_t* thrift, std::int32_t* codings) {
  if (encoder == nullptr) return ZERORUN_INVALID_ARGUMENT;
  if (quality != nullptr) *quality = encoder->report.quality;
  if (thrift != nullptr) *thrift = encoder->report.thrift;
  if (codings != nullptr) *codings = encoder->report.codings;
  return ZERORUN_OK;
}

double zerorun_encoder_reached(const zerorun_encoder* encoder) {
  return encoder == nullptr ? 0.0 : encoder->report.reached;
}

std::int32_t zerorun_encoder_backend(const zerorun_encoder* e) { return backend_of(e); }
const zerorun_error* zerorun_encoder_error(const zerorun_encoder* e) { return error_of(e); }
