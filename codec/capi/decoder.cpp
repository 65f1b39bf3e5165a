// The C interface: decoder.
// SPDX-License-Identifier: MIT
#include "codec/capi/convert.hpp"

using namespace zerorun;
using namespace zerorun::capi;

struct zerorun_decoder {
  Decoder decoder;
  zerorun_error error = make_error(Status::ok());
  Frame frame = {};
};

zerorun_status zerorun_decoder_create(const zerorun_decode_params* params, zerorun_decoder** out,
                                      zerorun_error* error) {
  return create_handle(out, error, [&]() -> Result<Decoder> {
    const auto wanted = to_params(params);
    if (!wanted) return wanted.status();
    return Decoder::create(*wanted);
  });
}

void zerorun_decoder_destroy(zerorun_decoder* decoder) { delete decoder; }

zerorun_status zerorun_decoder_decode_to(zerorun_decoder* decoder, const void* jpeg,
                                         std::size_t size, const zerorun_frame* out,
                                         zerorun_decode_report* report) {
  return on_handle(decoder, [&]() -> Status {
    const auto bytes = to_span(jpeg, size);
    if (!bytes) return bytes.status();
    const auto view = to_view(out);
    if (!view) return view.status();
    const auto done = decoder->decoder.decode(*bytes, *view);
    if (!done) return done.status();
    write_struct(from_report(*done), report);
    return Status::ok();
  });
}

zerorun_status zerorun_decoder_decode(zerorun_decoder* decoder, const void* jpeg, std::size_t size,
                                      std::int32_t format, zerorun_frame* out,
                                      zerorun_decode_report* report) {
  return on_handle(decoder, [&]() -> Status {
    if (out == nullptr) return null_argument("the frame");
    if (out->struct_size < sizeof(zerorun_frame))
      return Status(Errc::invalid_argument, "zerorun_frame.struct_size is not its sizeof");
    const auto bytes = to_span(jpeg, size);
    if (!bytes) return bytes.status();
    const auto pixels = to_format(format);
    if (!pixels) return pixels.status();
    const auto done = decoder->decoder.decode(*bytes, *pixels, decoder->frame);
    if (!done) return done.status();
    write_struct(from_view(decoder->frame.view()), out);
    write_struct(from_report(*done), report);
    return Status::ok();
  });
}

std::int32_t zerorun_decoder_backend(const zerorun_decoder* decoder) {
  return decoder == nullptr ? ZERORUN_BACKEND_AUTOMATIC
                            : static_cast<std::int32_t>(decoder->decoder.backend());
}

const zerorun_error* zerorun_decoder_error(const zerorun_decoder* decoder) {
  return decoder == nullptr ? nullptr : &decoder->error;
}
