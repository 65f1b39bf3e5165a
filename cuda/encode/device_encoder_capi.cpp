// The C interface of DeviceEncoder.
// SPDX-License-Identifier: MIT
#include <vector>

#include "codec/capi/convert.hpp"
#include "zerorun/cuda.hpp"

using namespace zerorun;
using namespace zerorun::capi;

struct zerorun_device_encoder {
  DeviceEncoder encoder;
  zerorun_error error = make_error(Status::ok());
};

zerorun_status zerorun_device_encoder_create(const zerorun_encode_params* params,
                                             zerorun_device_encoder** out, zerorun_error* error) {
  return create_handle(out, error, [&]() -> Result<DeviceEncoder> {
    const auto wanted = to_params(params);
    if (!wanted) return wanted.status();
    return DeviceEncoder::create(*wanted);
  });
}

void zerorun_device_encoder_destroy(zerorun_device_encoder* encoder) { delete encoder; }

zerorun_status zerorun_device_encoder_encode(zerorun_device_encoder* encoder,
                                             const zerorun_frame* frame, std::uint8_t* out,
                                             std::size_t capacity, std::size_t* device_size,
                                             void* stream) {
  return on_handle(encoder, [&]() -> Status {
    if (out == nullptr || device_size == nullptr) return null_argument("out or device_size");
    const auto view = to_view(frame);
    if (!view) return view.status();
    return encoder->encoder.encode(*view, reinterpret_cast<std::byte*>(out), capacity, device_size,
                                   static_cast<cudaStream_t>(stream));
  });
}

zerorun_status zerorun_device_encoder_encode_batch(zerorun_device_encoder* encoder,
                                                   std::size_t count,
                                                   const zerorun_frame* const* frames,
                                                   std::uint8_t* const* outs,
                                                   const std::size_t* capacities,
                                                   std::size_t* const* device_sizes, void* stream) {
  return on_handle(encoder, [&]() -> Status {
    if (count > 0 &&
        (frames == nullptr || outs == nullptr || capacities == nullptr || device_sizes == nullptr))
      return null_argument("frames, outs, capacities or device_sizes");
    std::vector<DeviceEncodeJob> jobs;
    for (std::size_t i = 0; i < count; ++i) {
      const auto view = to_view(frames[i]);
      if (!view) return view.status();
      jobs.push_back(
          {*view, reinterpret_cast<std::byte*>(outs[i]), capacities[i], device_sizes[i]});
    }
    return encoder->encoder.encode_batch(jobs, static_cast<cudaStream_t>(stream));
  });
}

zerorun_status zerorun_device_encoder_encode_to_host(zerorun_device_encoder* encoder,
                                                     std::size_t count,
                                                     const zerorun_frame* const* frames,
                                                     zerorun_stream_memory memory, void* user,
                                                     void* stream) {
  return on_handle(encoder, [&]() -> Status {
    if (memory == nullptr || (count > 0 && frames == nullptr))
      return null_argument("frames or memory");
    std::vector<ConstFrameView> views;
    for (std::size_t i = 0; i < count; ++i) {
      const auto view = to_view(frames[i]);
      if (!view) return view.status();
      views.push_back(*view);
    }
    std::vector<zerorun_encoded_stream> given;
    const auto give = [&](std::span<EncodedStream> streams) -> Status {
      given.clear();
      for (const EncodedStream& s : streams) given.push_back({s.frame, s.bytes, nullptr});
      const zerorun_status status = memory(user, given.data(), given.size());
      if (status != ZERORUN_OK)
        return Status(static_cast<Errc>(status), "the function that gives memory ended the batch");
      for (std::size_t i = 0; i < given.size(); ++i)
        streams[i].out = reinterpret_cast<std::byte*>(given[i].out);
      return Status::ok();
    };
    return encoder->encoder.encode_to_host(views, give, static_cast<cudaStream_t>(stream));
  });
}

const zerorun_error* zerorun_device_encoder_error(const zerorun_device_encoder* encoder) {
  return encoder == nullptr ? nullptr : &encoder->error;
}
