// The C interface: several images in flight.
// SPDX-License-Identifier: MIT
#include "zerorun/async.hpp"

#include "codec/capi/convert.hpp"

using namespace zerorun;
using namespace zerorun::capi;

struct zerorun_async_decoder {
  AsyncDecoder decoder;
  DecodedFrame taken = {};  // what the receiving thread looks at
  zerorun_frame frame = {};
  zerorun_decode_report report = {};
  zerorun_error error = make_error(Status::ok());
};

zerorun_status zerorun_async_decoder_create(const zerorun_decode_params* decode,
                                            const zerorun_async_params* async, std::int32_t format,
                                            zerorun_async_decoder** out, zerorun_error* error) {
  return create_handle(out, error, [&]() -> Result<AsyncDecoder> {
    const auto wanted = to_params(decode);
    if (!wanted) return wanted.status();
    const auto flight = read_struct(async, sizeof(zerorun_async_params), "zerorun_async_params");
    if (!flight) return flight.status();
    const auto pixels = to_format(format);
    if (!pixels) return pixels.status();
    return AsyncDecoder::create({*wanted, *pixels, flight->lanes, flight->depth});
  });
}

void zerorun_async_decoder_destroy(zerorun_async_decoder* decoder) { delete decoder; }

zerorun_status zerorun_async_decoder_submit(zerorun_async_decoder* decoder, const void* jpeg,
                                            std::size_t size, const zerorun_decode_options* options,
                                            zerorun_error* error) {
  return reported(error, [&]() -> Status {
    if (decoder == nullptr) return null_argument("the decoder");
    const auto bytes = to_span(jpeg, size);
    if (!bytes) return bytes.status();
    const auto wanted =
        read_struct(options, sizeof(zerorun_decode_options), "zerorun_decode_options");
    if (!wanted) return wanted.status();
    DecodeOptions submit{.tag = wanted->tag, .wait = wanted->wait != 0};
    if (wanted->into != nullptr) {
      const auto view = to_view(wanted->into);
      if (!view) return view.status();
      submit.into = *view;
    }
    return decoder->decoder.submit(*bytes, submit);
  });
}

zerorun_status zerorun_async_decoder_receive(zerorun_async_decoder* decoder, std::int32_t wait,
                                             zerorun_decoded* out) {
  Received received = Received::not_yet;
  const Status status = guarded([&]() -> Status {
    if (decoder == nullptr || out == nullptr) return null_argument("decoder or out");
    if (out->struct_size < sizeof(zerorun_decoded))
      return Status(Errc::invalid_argument, "zerorun_decoded.struct_size is not its sizeof");
    received = decoder->decoder.receive(decoder->taken, wait != 0);
    return Status::ok();
  });
  if (!status) return code_of(status);
  if (received == Received::not_yet) return ZERORUN_NOT_YET;
  if (received == Received::end) return ZERORUN_END;
  DecodedFrame& taken = decoder->taken;
  decoder->error = make_error(taken.status);
  zerorun_decoded result{};
  result.number = taken.number;
  result.tag = taken.tag;
  if (taken.status) {
    decoder->frame = from_view(taken.frame.view());
    decoder->report = from_report(taken.report);
    result.frame = &decoder->frame;
    result.report = &decoder->report;
  } else {
    result.error = &decoder->error;
  }
  write_struct(result, out);
  return ZERORUN_OK;
}

zerorun_status zerorun_async_decoder_finish(zerorun_async_decoder* decoder) {
  return reported(nullptr, [&]() -> Status {
    if (decoder == nullptr) return null_argument("the decoder");
    decoder->decoder.finish();
    return Status::ok();
  });
}

zerorun_status zerorun_async_decoder_discard(zerorun_async_decoder* decoder) {
  return reported(nullptr, [&]() -> Status {
    if (decoder == nullptr) return null_argument("the decoder");
    decoder->decoder.discard();
    return Status::ok();
  });
}

std::int32_t zerorun_async_decoder_in_flight(const zerorun_async_decoder* decoder) {
  return decoder == nullptr ? 0 : decoder->decoder.in_flight();
}

std::int32_t zerorun_async_decoder_depth(const zerorun_async_decoder* decoder) {
  return decoder == nullptr ? 0 : decoder->decoder.depth();
}

std::int32_t zerorun_async_decoder_backend(const zerorun_async_decoder* decoder) {
  return decoder == nullptr ? ZERORUN_BACKEND_AUTOMATIC
                            : static_cast<std::int32_t>(decoder->decoder.backend());
}
