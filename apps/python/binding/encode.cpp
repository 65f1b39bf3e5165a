// encode() and the class Encoder.
// SPDX-License-Identifier: MIT
#include <nanobind/stl/string.h>

#include <span>

#include "apps/python/binding/coders.hpp"
#include "apps/python/binding/docs.hpp"

namespace zerorun::python {
namespace {

nb::bytes encode_once(nb::handle object, nb::handle format, nb::handle size, nb::handle stream,
                      const nb::kwargs& options) {
  const EncodeParams params = encode_params(options);
  const std::uintptr_t on = stream_handle(stream, object);
  Image image = Image::from(object, image_hints(format, size), on);
  auto lent = encoder_pool().take(params);
  nb::bytes jpeg("");
  Status status = lent.coder->encode(image, on, jpeg);
  encoder_pool().give_back(std::move(lent));
  check(std::move(status));
  return jpeg;
}

class PyEncoder : public PyCoder<Encoders, EncodeParams> {
 public:
  explicit PyEncoder(const nb::kwargs& options) : PyCoder(encode_params(options)) {}

  nb::bytes encode(nb::handle object, nb::handle format, nb::handle size, nb::handle stream) {
    const auto made = this->made();
    const std::uintptr_t on = stream_handle(stream, object);
    Image image = Image::from(object, image_hints(format, size), on);
    const Locked lock(made->mutex);
    nb::bytes jpeg("");
    check(made->coders.encode(image, on, jpeg));
    return jpeg;
  }

  nb::object encode_into(nb::handle object, nb::handle out, nb::handle size_out, nb::handle format,
                         nb::handle size, nb::handle stream) {
    const auto made = this->made();
    const std::uintptr_t on = stream_handle(stream, object);
    Image image = Image::from(object, image_hints(format, size), on);
    const Array memory = array_from(out, "out", on);
    if (!memory.writable || memory.dimensions != 1 || memory.stride[0] != 1)
      fail_argument("out must be a writable array of bytes one after another");
    const Locked lock(made->mutex);
    if (image.device() != kHost) {
      if (size_out.is_none())
        fail_argument("for an image on a GPU size_out must be 8 bytes that the device can write");
      made->coders.on_device(image.device())
          .encode_into(image, memory, array_from(size_out, "size_out", on), on);
      return nb::none();
    }
    if (memory.device != kHost) fail_argument("image is in host memory, but out on a GPU");
    const std::span room(reinterpret_cast<std::byte*>(memory.data),
                         static_cast<std::size_t>(memory.shape[0]));
    Result<EncodeReport> report = without_gil([&] {
      image.settle();
      return made->coders.host().encode(image.view(), room);
    });
    return nb::int_(value_of(std::move(report)).bytes);
  }

  int quality() const { return params_.quality; }
  void set_quality(nb::handle value) {
    const int quality = parse_int(value, "quality");
    const auto made = this->made();
    const Locked lock(made->mutex);
    made->coders.set_quality(quality);
    params_.quality = quality;
  }
};

std::size_t most_bytes(nb::handle format, nb::handle size, const nb::kwargs& options) {
  const ImageHints hints = image_hints(format, size);
  if (!hints.format || !hints.size) fail_type("format and size=(width, height) must be given");
  return value_of(max_encoded_bytes(encode_params(options), *hints.format, hints.size->first,
                                    hints.size->second));
}

}  // namespace

Encoder& Encoders::host() {
  if (!host_) {
    host_ = make_coder<Encoder>(params_);
    stream = HostBuffer(preferred_memory(host_->backend()));
  }
  return *host_;
}

DeviceEncodeBox& Encoders::on_device(int device) {
  check_cuda_after_fork();
  if (params_.backend == Backend::cpu)
    fail_argument("image is in the memory of a GPU, but device is 'cpu'");
  if (params_.backend == Backend::cuda && params_.device != device)
    fail_argument("image is on cuda:" + std::to_string(device) +
                  ", but device is 'cuda:" + std::to_string(params_.device) + "'");
  auto& box = on_device_[device];
  if (!box) box = DeviceEncodeBox::make(params_, device);
  return *box;
}

Status Encoders::encode_host(Image& image) {
  Encoder& encoder = host();
  image.settle();
  return encoder.encode(image.view(), stream).status();
}

Status Encoders::encode(Image& image, std::uintptr_t on, nb::bytes& jpeg) {
  if (image.device() != kHost) {
    jpeg = on_device(image.device()).encode(image, on);
    return Status::ok();
  }
  Status status = without_gil([&] { return encode_host(image); });
  if (status) jpeg = nb::bytes(stream.data(), stream.size());
  return status;
}

void Encoders::set_quality(int quality) {
  check(host().set_quality(quality));
  params_.quality = quality;
  on_device_.clear();
}

static std::unique_ptr<Encoders> make_encoders(const EncodeParams& params) {
  return std::make_unique<Encoders>(params);
}

CoderPool<Encoders, EncodeParams>& encoder_pool() {
  static auto& pool = *new CoderPool<Encoders, EncodeParams>(&make_encoders);
  return pool;
}

CoderPool<Encoders, EncodeParams>& batch_encoder_pool() {
  static auto& pool = *new CoderPool<Encoders, EncodeParams>(&make_encoders, 4);
  return pool;
}

void bind_encode(nb::module_& module) {
  module.def("encode", &encode_once, "image"_a.none(), nb::kw_only(), "format"_a = nb::none(),
             "size"_a = nb::none(), "stream"_a = nb::none(), "options"_a, nb::sig(docs::kEncodeSig),
             docs::kEncode);
  module.def("max_encoded_bytes", &most_bytes, "format"_a, "size"_a, "options"_a,
             nb::sig(docs::kMaxBytesSig), docs::kMaxBytes);
  nb::class_<PyEncoder> encoder(module, "Encoder", docs::kEncoder);
  encoder
      .def(nb::init<const nb::kwargs&>(), "options"_a,
           nb::sig("def __init__(self, **options: Unpack[EncodeOptions]) -> None"))
      .def("encode", &PyEncoder::encode, "image"_a.none(), nb::kw_only(), "format"_a = nb::none(),
           "size"_a = nb::none(), "stream"_a = nb::none(), nb::sig(docs::kEncoderEncodeSig),
           docs::kEncoderEncode)
      .def("encode_into", &PyEncoder::encode_into, "image"_a.none(), "out"_a.none(),
           "size_out"_a = nb::none(), nb::kw_only(), "format"_a = nb::none(), "size"_a = nb::none(),
           "stream"_a = nb::none(), nb::sig(docs::kEncodeIntoSig), docs::kEncodeInto)
      .def_prop_rw("quality", &PyEncoder::quality, &PyEncoder::set_quality,
                   nb::for_setter(nb::sig("def quality(self, value: int) -> None")),
                   "Quality of all later pictures, 1 to 100.")
      .def_prop_ro("backend", &PyEncoder::backend, "'cpu' or 'cuda'.")
      .def("close", &PyEncoder::close, "Gives up the encoder; later calls raise an error.");
  bind_context(encoder);
}

}  // namespace zerorun::python
