// The coders for host memory as the binding keeps them.
// SPDX-License-Identifier: MIT
#pragma once

#include "apps/python/binding/coder_pool.hpp"
#include "apps/python/binding/device.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::python {

/// An encoder and memory for its stream, which is read faster than it is allocated.
struct HostEncoder {
  static Result<HostEncoder> create(const EncodeParams& params) {
    Result<Encoder> encoder = Encoder::create(params);
    if (!encoder) return encoder.status();
    const HostMemory memory = preferred_memory(encoder->backend());
    return HostEncoder{*std::move(encoder), HostBuffer(memory)};
  }

  Encoder encoder;
  HostBuffer stream;
};

using EncoderPool = CoderPool<HostEncoder, EncodeParams>;
using DecoderPool = CoderPool<Decoder, DecodeParams>;
/// For pictures on the device that the parameters name.
using DeviceEncoderPool = CoderPool<DeviceEncodeBox, EncodeParams>;

/// The pools of the module; never destroyed, because other threads may run at the end.
EncoderPool& encoder_pool();
DecoderPool& decoder_pool();
DeviceEncoderPool& device_encoder_pool();
/// For encode_batch(), whose coders keep up to 128 MiB of device memory and 96 MiB of pinned
/// memory: four of them at most.
DeviceEncoderPool& device_batch_encoder_pool();

void bind_encode(nb::module_& module);
void bind_decode(nb::module_& module);
void bind_batch(nb::module_& module);
void bind_async(nb::module_& module);
void bind_info(nb::module_& module);
void bind_video(nb::module_& module);

/// The attributes of DecodeReport as an object of Python.
nb::object report_object(const DecodeReport& report);

}  // namespace zerorun::python
