// The C interface: several frames in flight.
// SPDX-License-Identifier: MIT
#include "zerorun/async.hpp"

#include "codec/capi/convert.hpp"

using namespace zerorun;
using namespace zerorun::capi;

struct zerorun_async_encoder {
  AsyncEncoder encoder;
  EncodedFrame taken = {};  // what the receiving thread looks at
  zerorun_error error = make_error(Status::ok());
};

zerorun_status zerorun_async_encoder_create(const zerorun_encode_params* encode,
                                            const zerorun_async_params* async,
                                            zerorun_async_encoder** out, zerorun_error* error) {
  return create_handle(out, error, [&]() -> Result<AsyncEncoder> {
    auto wanted = to_params(encode);
    if (!wanted) return wanted.status();
    const auto flight = read_struct(async, sizeof(zerorun_async_params), "zerorun_async_params");
    if (!flight) return flight.status();
    return AsyncEncoder::create({*std::move(wanted), flight->lanes, flight->depth});
  });
}

void zerorun_async_encoder_destroy(zerorun_async_encoder* encoder) { delete encoder; }

zerorun_status zerorun_async_encoder_submit(zerorun_async_encoder* encoder,
                                            const zerorun_frame* frame,
                                            const zerorun_submit_options* options,
                                            zerorun_error* error) {
  return reported(error, [&]() -> Status {
    if (encoder == nullptr) return null_argument("the encoder");
    const auto view = to_view(frame);
    if (!view) return view.status();
    const auto wanted =
        read_struct(options, sizeof(zerorun_submit_options), "zerorun_submit_options");
    if (!wanted) return wanted.status();
    SubmitOptions submit{.tag = wanted->tag, .wait = wanted->wait != 0};
    if (wanted->quality != 0) submit.quality = wanted->quality;
    return encoder->encoder.submit(*view, submit);
  });
}

zerorun_status zerorun_async_encoder_receive(zerorun_async_encoder* encoder, std::int32_t wait,
                                             zerorun_encoded* out) {
  Received received = Received::not_yet;
  const Status status = guarded([&]() -> Status {
    if (encoder == nullptr || out == nullptr) return null_argument("encoder or out");
    if (out->struct_size < sizeof(zerorun_encoded))
      return Status(Errc::invalid_argument, "zerorun_encoded.struct_size is not its sizeof");
    received = encoder->encoder.receive(encoder->taken, wait != 0);
    return Status::ok();
  });
  if (!status) return code_of(status);
  if (received == Received::not_yet) return ZERORUN_NOT_YET;
  if (received == Received::end) return ZERORUN_END;
  const EncodedFrame& taken = encoder->taken;
  encoder->error = make_error(taken.status);
  zerorun_encoded result{};
  result.number = taken.number;
  result.tag = taken.tag;
  if (taken.status) {
    result.jpeg = reinterpret_cast<const std::uint8_t*>(taken.jpeg.data());
    result.size = taken.jpeg.size();
  } else {
    result.error = &encoder->error;
  }
  write_struct(result, out);
  return ZERORUN_OK;
}

zerorun_status zerorun_async_encoder_finish(zerorun_async_encoder* encoder) {
  return reported(nullptr, [&]() -> Status {
    if (encoder == nullptr) return null_argument("the encoder");
    encoder->encoder.finish();
    return Status::ok();
  });
}

zerorun_status zerorun_async_encoder_discard(zerorun_async_encoder* encoder) {
  return reported(nullptr, [&]() -> Status {
    if (encoder == nullptr) return null_argument("the encoder");
    encoder->encoder.discard();
    return Status::ok();
  });
}

zerorun_status zerorun_async_encoder_set_quality(zerorun_async_encoder* encoder,
                                                 std::int32_t quality) {
  return reported(nullptr, [&]() -> Status {
    if (encoder == nullptr) return null_argument("the encoder");
    return encoder->encoder.set_quality(quality);
  });
}

std::int32_t zerorun_async_encoder_in_flight(const zerorun_async_encoder* encoder) {
  return encoder == nullptr ? 0 : encoder->encoder.in_flight();
}

std::int32_t zerorun_async_encoder_depth(const zerorun_async_encoder* encoder) {
  return encoder == nullptr ? 0 : encoder->encoder.depth();
}

std::int32_t zerorun_async_encoder_backend(const zerorun_async_encoder* encoder) {
  return encoder == nullptr ? ZERORUN_BACKEND_AUTOMATIC
                            : static_cast<std::int32_t>(encoder->encoder.backend());
}
