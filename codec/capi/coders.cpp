// The C interface: encoders and decoders, and those with several frames or images in flight.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <string>
#include <vector>

#include "codec/base/try.hpp"
#include "codec/capi/convert.hpp"
#include "zerorun/async.hpp"
#include "zerorun/backend.hpp"
#include "zerorun/transcoder.hpp"

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

struct zerorun_decoder {
  Decoder object;
  zerorun_error error = make_error(Status::ok());
  Frame frame = {};
};

zerorun_status zerorun_decoder_create(const zerorun_decode_params* params, zerorun_decoder** out,
                                      zerorun_error* error) {
  return create_with<Decoder>(params, out, error);
}

void zerorun_decoder_destroy(zerorun_decoder* decoder) { delete decoder; }

zerorun_status zerorun_decoder_select(zerorun_decoder* decoder, std::int32_t scale,
                                      const zerorun_region* region) {
  return on_handle(decoder, [&] { return decoder->object.select(scale, to_region(region)); });
}

zerorun_status zerorun_decoder_decode_to(zerorun_decoder* decoder, const void* jpeg,
                                         std::size_t size, const zerorun_frame* out,
                                         zerorun_decode_report* report) {
  return on_handle(decoder, [&]() -> Status {
    ZR_LET(bytes, to_span(jpeg, size));
    ZR_LET(view, to_view(out));
    ZR_LET(done, decoder->object.decode(bytes, view));
    write_struct(from_report(done), report);
    return Status::ok();
  });
}

zerorun_status zerorun_decoder_decode(zerorun_decoder* decoder, const void* jpeg, std::size_t size,
                                      std::int32_t format, zerorun_frame* out,
                                      zerorun_decode_report* report) {
  return on_handle(decoder, [&]() -> Status {
    if (out == nullptr) return null_argument("the frame");
    ZR_TRY(check_size(*out, "zerorun_frame"));
    ZR_LET(bytes, to_span(jpeg, size));
    ZR_LET(pixels, to_format(format));
    ZR_LET(done, decoder->object.decode(bytes, pixels, decoder->frame));
    write_struct(from_view(decoder->frame.view()), out);
    write_struct(from_report(done), report);
    return Status::ok();
  });
}

std::int32_t zerorun_decoder_backend(const zerorun_decoder* d) { return backend_of(d); }
const zerorun_error* zerorun_decoder_error(const zerorun_decoder* d) { return error_of(d); }

struct zerorun_transcoder {
  Transcoder object;
  zerorun_error error = make_error(Status::ok());
  std::vector<std::byte> stream = {};
};

zerorun_status zerorun_transcoder_create(const zerorun_transcode_params* params,
                                         zerorun_transcoder** out, zerorun_error* error) {
  return create_with<Transcoder>(params, out, error);
}

void zerorun_transcoder_destroy(zerorun_transcoder* transcoder) { delete transcoder; }

zerorun_status zerorun_transcoder_transcode(zerorun_transcoder* transcoder, const void* jpeg,
                                            std::size_t size, const std::uint8_t** out,
                                            std::size_t* out_size,
                                            zerorun_transcode_report* report) {
  if (out != nullptr) *out = nullptr;
  if (out_size != nullptr) *out_size = 0;
  return on_handle(transcoder, [&]() -> Status {
    if (out == nullptr || out_size == nullptr) return null_argument("out or out_size");
    ZR_LET(bytes, to_span(jpeg, size));
    ZR_LET(done, transcoder->object.transcode(bytes, transcoder->stream));
    *out = reinterpret_cast<const std::uint8_t*>(transcoder->stream.data());
    *out_size = transcoder->stream.size();
    write_struct({sizeof *report, done.bytes_consumed, done.is_unchanged, done.width, done.height,
                  code_of(done.first_problem), done.is_of_gpu},
                 report);
    return Status::ok();
  });
}

const zerorun_error* zerorun_transcoder_error(const zerorun_transcoder* t) { return error_of(t); }

struct zerorun_async_encoder {
  AsyncEncoder object;
  EncodedFrame taken = {};  // what the receiving thread looks at
  zerorun_error error = make_error(Status::ok());
};

struct zerorun_async_decoder {
  AsyncDecoder object;
  DecodedFrame taken = {};
  zerorun_frame frame = {};
  zerorun_decode_report report = {};
  zerorun_error error = make_error(Status::ok());
};

namespace {

/// Any thread may call: the handle keeps no error.
template <typename Handle, typename Call>
zerorun_status on_object(Handle* handle, zerorun_error* error, Call&& call) {
  return reported(error, [&]() -> Status {
    if (handle == nullptr) return null_argument("the handle");
    return call(handle->object);
  });
}

template <typename Handle>
zerorun_status finish(Handle* handle) {
  return on_object(handle, nullptr, [](auto& object) {
    object.finish();
    return Status::ok();
  });
}

template <typename Handle>
zerorun_status discard(Handle* handle) {
  return on_object(handle, nullptr, [](auto& object) {
    object.discard();
    return Status::ok();
  });
}

/// Receives into handle->taken, and describes it in `out` as `fill` does after a success. `least`:
/// bytes of the struct in the first version.
template <typename Handle, typename Out, typename Fill>
zerorun_status receive(Handle* handle, std::int32_t wait, Out* out, std::size_t least,
                       const char* out_name, const Fill& fill) {
  Received received = Received::not_yet;
  const Status status = contained([&]() -> Status {
    if (handle == nullptr || out == nullptr) return null_argument("the handle or the output");
    if (out->struct_size < least) return wrong_size(out_name);
    received = handle->object.receive(handle->taken, wait != 0);
    return Status::ok();
  });
  if (!status) return code_of(status);
  if (received == Received::not_yet) return ZERORUN_NOT_YET;
  if (received == Received::end) return ZERORUN_END;
  handle->error = make_error(handle->taken.status);
  Out result{};
  result.number = handle->taken.number;
  result.tag = handle->taken.tag;
  if (handle->taken.status)
    fill(result);
  else
    result.error = &handle->error;
  write_struct(result, out);
  return ZERORUN_OK;
}

/// The members that both params have.
struct FlightParams {
  int lanes = 0, depth = 0;
  std::vector<int> devices;
};

Result<FlightParams> to_flight(const zerorun_async_params* async) {
  ZR_LET(given,
         read_struct(async, offsetof(zerorun_async_params, devices), "zerorun_async_params"));
  FlightParams flight{given.lanes, given.depth, {}};
  constexpr std::int32_t kAll = -1, kMost = 1024;
  if (given.device_count < kAll || given.device_count > kMost)
    return Status(Errc::invalid_argument, "device_count " + std::to_string(given.device_count) +
                                              " is not in -1.." + std::to_string(kMost));
  if (given.devices == nullptr && given.device_count > 0) return null_argument("devices");
  if (given.device_count == kAll) {
    flight.devices = usable_cuda_devices();
    if (flight.devices.empty()) return Status(Errc::no_device, "there is no usable CUDA device");
  } else {
    flight.devices.assign(given.devices, given.devices + given.device_count);
  }
  return flight;
}

template <typename Handle>
zerorun_status lost_device(const Handle* handle, std::int32_t which, std::int32_t* device,
                           zerorun_error* why) {
  LostDevice lost;
  bool found = false;
  const Status status = contained([&]() -> Status {
    if (handle == nullptr || which < 0) return null_argument("the handle, or the number negative");
    const std::vector<LostDevice> all = handle->object.lost_devices();
    found = static_cast<std::size_t>(which) < all.size();
    if (found) lost = all[static_cast<std::size_t>(which)];
    return Status::ok();
  });
  if (!status) return code_of(status);
  if (!found) return ZERORUN_END;
  if (device != nullptr) *device = lost.device;
  write_struct(make_error(lost.why), why);
  return ZERORUN_OK;
}

}  // namespace

zerorun_status zerorun_async_encoder_create(const zerorun_encode_params* encode,
                                            const zerorun_async_params* async,
                                            zerorun_async_encoder** out, zerorun_error* error) {
  return create_handle(out, error, [&]() -> Result<AsyncEncoder> {
    ZR_LET(params, to_params(encode));
    ZR_LET(flight, to_flight(async));
    return AsyncEncoder::create({params, flight.lanes, flight.depth, flight.devices});
  });
}

zerorun_status zerorun_async_decoder_create(const zerorun_decode_params* decode,
                                            const zerorun_async_params* async, std::int32_t format,
                                            zerorun_async_decoder** out, zerorun_error* error) {
  return create_handle(out, error, [&]() -> Result<AsyncDecoder> {
    ZR_LET(params, to_params(decode));
    ZR_LET(flight, to_flight(async));
    ZR_LET(pixels, to_format(format));
    return AsyncDecoder::create({params, pixels, flight.lanes, flight.depth, flight.devices});
  });
}

zerorun_status zerorun_async_encoder_submit(zerorun_async_encoder* encoder,
                                            const zerorun_frame* frame,
                                            const zerorun_submit_options* options,
                                            zerorun_error* error) {
  return on_object(encoder, error, [&](AsyncEncoder& object) -> Status {
    ZR_LET(view, to_view(frame));
    ZR_LET(wanted, read_struct(options, offsetof(zerorun_submit_options, target_bytes),
                               "zerorun_submit_options"));
    SubmitOptions submit{.tag = wanted.tag, .wait = wanted.wait != 0};
    if (wanted.quality != 0) submit.quality = wanted.quality;
    const SizeGoal size{wanted.target_bytes, wanted.max_bytes, wanted.target_psnr,
                        wanted.target_ssim};
    if (size.any()) submit.size = size;
    return object.submit(view, submit);
  });
}

zerorun_status zerorun_async_decoder_submit(zerorun_async_decoder* decoder, const void* jpeg,
                                            std::size_t size, const zerorun_decode_options* options,
                                            zerorun_error* error) {
  return on_object(decoder, error, [&](AsyncDecoder& object) -> Status {
    ZR_LET(bytes, to_span(jpeg, size));
    ZR_LET(wanted, read_struct(options, sizeof *options, "zerorun_decode_options"));
    DecodeOptions submit{.tag = wanted.tag, .wait = wanted.wait != 0};
    if (wanted.into != nullptr) {
      ZR_LET(view, to_view(wanted.into));
      submit.into = view;
    }
    return object.submit(bytes, submit);
  });
}

zerorun_status zerorun_async_encoder_receive(zerorun_async_encoder* encoder, std::int32_t wait,
                                             zerorun_encoded* out) {
  return receive(encoder, wait, out, offsetof(zerorun_encoded, quality), "zerorun_encoded",
                 [&](zerorun_encoded& result) {
                   result.jpeg = reinterpret_cast<const std::uint8_t*>(encoder->taken.jpeg.data());
                   result.size = encoder->taken.jpeg.size();
                   result.quality = encoder->taken.report.quality;
                   result.thrift = encoder->taken.report.thrift;
                   result.codings = encoder->taken.report.codings;
                   result.reached = encoder->taken.report.reached;
                 });
}

zerorun_status zerorun_async_decoder_receive(zerorun_async_decoder* decoder, std::int32_t wait,
                                             zerorun_decoded* out) {
  return receive(decoder, wait, out, sizeof *out, "zerorun_decoded", [&](zerorun_decoded& result) {
    decoder->frame = from_view(decoder->taken.frame.view());
    decoder->report = from_report(decoder->taken.report);
    result.frame = &decoder->frame;
    result.report = &decoder->report;
  });
}

zerorun_status zerorun_async_encoder_set_quality(zerorun_async_encoder* encoder,
                                                 std::int32_t quality) {
  return on_object(encoder, nullptr,
                   [&](AsyncEncoder& object) { return object.set_quality(quality); });
}

zerorun_status zerorun_async_encoder_finish(zerorun_async_encoder* e) { return finish(e); }
zerorun_status zerorun_async_decoder_finish(zerorun_async_decoder* d) { return finish(d); }
zerorun_status zerorun_async_encoder_discard(zerorun_async_encoder* e) { return discard(e); }
zerorun_status zerorun_async_decoder_discard(zerorun_async_decoder* d) { return discard(d); }
void zerorun_async_encoder_destroy(zerorun_async_encoder* e) { delete e; }
void zerorun_async_decoder_destroy(zerorun_async_decoder* d) { delete d; }

std::int32_t zerorun_async_encoder_in_flight(const zerorun_async_encoder* e) {
  return e == nullptr ? 0 : e->object.in_flight();
}
std::int32_t zerorun_async_decoder_in_flight(const zerorun_async_decoder* d) {
  return d == nullptr ? 0 : d->object.in_flight();
}
std::int32_t zerorun_async_encoder_depth(const zerorun_async_encoder* e) {
  return e == nullptr ? 0 : e->object.depth();
}
std::int32_t zerorun_async_decoder_depth(const zerorun_async_decoder* d) {
  return d == nullptr ? 0 : d->object.depth();
}
std::int32_t zerorun_async_encoder_backend(const zerorun_async_encoder* e) { return backend_of(e); }
std::int32_t zerorun_async_decoder_backend(const zerorun_async_decoder* d) { return backend_of(d); }

zerorun_status zerorun_async_encoder_lost_device(const zerorun_async_encoder* e, std::int32_t which,
                                                 std::int32_t* device, zerorun_error* why) {
  return lost_device(e, which, device, why);
}
zerorun_status zerorun_async_decoder_lost_device(const zerorun_async_decoder* d, std::int32_t which,
                                                 std::int32_t* device, zerorun_error* why) {
  return lost_device(d, which, device, why);
}
