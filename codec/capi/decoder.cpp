// The C interface: decoder.
// SPDX-License-Identifier: MIT
#include "codec/base/try.hpp"
#include "codec/capi/convert.hpp"

using namespace zerorun;
using namespace zerorun::capi;

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
