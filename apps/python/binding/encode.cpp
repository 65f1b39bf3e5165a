// encode() and the class Encoder.
// SPDX-License-Identifier: MIT
#include <nanobind/stl/string.h>

#include <map>
#include <mutex>
#include <span>

#include "apps/python/binding/coders.hpp"
#include "apps/python/binding/device.hpp"
#include "apps/python/binding/docs.hpp"
#include "apps/python/binding/failure.hpp"
#include "apps/python/binding/gil.hpp"
#include "apps/python/binding/images.hpp"
#include "apps/python/binding/locked.hpp"

namespace zerorun::python {
namespace {

nb::bytes bytes_of(std::span<const std::byte> stream) {
  return nb::bytes(reinterpret_cast<const char*>(stream.data()), stream.size());
}

/// Errors: ArgumentError for an image on another device than the encoder's.
void check_device(const EncodeParams& params, int device) {
  if (device == kHost) return;
  check_cuda_after_fork();
  if (params.backend == Backend::cpu)
    fail(Errc::invalid_argument, "image is in the memory of a GPU, but device is 'cpu'");
  if (params.backend == Backend::cuda && params.device != device)
    fail(Errc::invalid_argument, "image is on cuda:" + std::to_string(device) +
                                     ", but device is 'cuda:" + std::to_string(params.device) +
                                     "'");
}

nb::bytes encode_device_image(EncodeParams params, Image& image, std::uintptr_t stream) {
  params.device = image.device();
  auto lent = device_encoder_pool().take(params);
  nb::bytes jpeg = lent.coder->encode(image, stream);
  device_encoder_pool().give_back(std::move(lent));
  return jpeg;
}

nb::bytes encode_once(nb::handle object, nb::handle format, nb::handle size, nb::handle stream,
                      const nb::kwargs& options) {
  const EncodeParams params = encode_params(options);
  const std::uintptr_t on = stream_handle(stream, object);
  Image image = Image::from(object, image_hints(format, size), on);
  check_device(params, image.device());
  if (image.device() != kHost) return encode_device_image(params, image, on);
  EncoderPool::Lent lent = encoder_pool().take(params);
  Status status;
  {
    const WithoutGil no_gil;
    image.settle();
    status = lent.coder->encoder.encode(image.view(), lent.coder->stream).status();
  }
  nb::bytes jpeg = bytes_of(status ? lent.coder->stream.bytes() : std::span<const std::byte>{});
  encoder_pool().give_back(std::move(lent));
  check(std::move(status));
  return jpeg;
}

/// The class Encoder. The lock is taken without the GIL, so threads that share an object wait for
/// each other and not for the interpreter.
class PyEncoder {
 public:
  explicit PyEncoder(const nb::kwargs& options) : params_(encode_params(options)) { (void)made(); }

  nb::bytes encode(nb::handle object, nb::handle format, nb::handle size, nb::handle stream) {
    const std::shared_ptr<Made> coder = made();
    const std::uintptr_t on = stream_handle(stream, object);
    Image image = Image::from(object, image_hints(format, size), on);
    const Locked lock(coder->mutex);
    if (image.device() != kHost) return on_device(*coder, image).encode(image, on);
    run(*coder, image);
    return bytes_of(coder->host.stream.bytes());
  }

  nb::object encode_into(nb::handle object, nb::handle out, nb::handle size_out, nb::handle format,
                         nb::handle size, nb::handle stream) {
    const std::shared_ptr<Made> coder = made();
    const std::uintptr_t on = stream_handle(stream, object);
    Image image = Image::from(object, image_hints(format, size), on);
    const Array memory = array_from(out, "out", on);
    if (!memory.writable || memory.dimensions != 1 || memory.stride[0] != 1)
      fail(Errc::invalid_argument, "out must be a writable array of bytes one after another");
    const Locked lock(coder->mutex);
    if (image.device() != kHost) {
      if (size_out.is_none())
        fail(Errc::invalid_argument,
             "for an image on a GPU size_out must be 8 bytes that the device can write");
      on_device(*coder, image).encode_into(image, memory, array_from(size_out, "size_out", on), on);
      return nb::none();
    }
    return nb::int_(run_into(*coder, image, memory));
  }

  int quality() const { return params_.quality; }
  void set_quality(nb::handle value) {
    const int quality = parse_int(value, "quality");
    const std::shared_ptr<Made> coder = made();
    const Locked lock(coder->mutex);
    check(coder->host.encoder.set_quality(quality));
    params_.quality = quality;
    coder->on_device.clear();
  }
  std::string backend() { return std::string(name(made()->host.encoder.backend())); }
  /// A call of another thread that is under way still ends well.
  void close() {
    made_ = ForkBound<Made>();
    closed_ = true;
  }

 private:
  struct Made {
    explicit Made(HostEncoder encoder) : host(std::move(encoder)) {}
    std::mutex mutex;
    HostEncoder host;
    std::map<int, std::unique_ptr<DeviceEncodeBox>> on_device;
  };

  std::shared_ptr<Made> made() {
    if (closed_) fail(Errc::already_finished, "the encoder is closed");
    if (!made_.get())
      made_ = ForkBound<Made>(std::make_shared<Made>(std::move(*make_coder<HostEncoder>(params_))));
    return made_.get();
  }

  DeviceEncodeBox& on_device(Made& coder, const Image& image) {
    check_device(params_, image.device());
    auto& box = coder.on_device[image.device()];
    if (!box) box = DeviceEncodeBox::make(params_, image.device());
    return *box;
  }

  static void run(Made& coder, Image& image) {
    Status status;
    {
      const WithoutGil no_gil;
      image.settle();
      status = coder.host.encoder.encode(image.view(), coder.host.stream).status();
    }
    check(status);
  }

  static std::size_t run_into(Made& coder, Image& image, const Array& out) {
    if (out.device != kHost)
      fail(Errc::invalid_argument, "image is in host memory, but out on a GPU");
    Result<EncodeReport> report{Status::ok()};
    {
      const WithoutGil no_gil;
      image.settle();
      report = coder.host.encoder.encode(image.view(),
                                         std::span(reinterpret_cast<std::byte*>(out.data),
                                                   static_cast<std::size_t>(out.shape[0])));
    }
    return value_of(std::move(report)).bytes;
  }

  EncodeParams params_;
  ForkBound<Made> made_;
  bool closed_ = false;
};

std::size_t most_bytes(nb::handle format, nb::handle size, const nb::kwargs& options) {
  const ImageHints hints = image_hints(format, size);
  if (!hints.format || !hints.size) fail_type("format and size=(width, height) must be given");
  return value_of(max_encoded_bytes(encode_params(options), *hints.format, hints.size->first,
                                    hints.size->second));
}

}  // namespace

EncoderPool& encoder_pool() {
  static auto& pool = *new EncoderPool(&make_coder<HostEncoder, EncodeParams>);
  return pool;
}

static std::unique_ptr<DeviceEncodeBox> make_device_encoder(const EncodeParams& params) {
  return DeviceEncodeBox::make(params, params.device);
}

DeviceEncoderPool& device_encoder_pool() {
  static auto& pool = *new DeviceEncoderPool(&make_device_encoder);
  return pool;
}

DeviceEncoderPool& device_batch_encoder_pool() {
  constexpr std::size_t kMostIdle = 4;
  static auto& pool = *new DeviceEncoderPool(&make_device_encoder, kMostIdle);
  return pool;
}

void bind_encode(nb::module_& module) {
  using namespace nb::literals;
  module.def("encode", &encode_once, "image"_a.none(), nb::kw_only(), "format"_a = nb::none(),
             "size"_a = nb::none(), "stream"_a = nb::none(), "options"_a, nb::sig(docs::kEncodeSig),
             docs::kEncode);
  module.def("max_encoded_bytes", &most_bytes, "format"_a, "size"_a, "options"_a,
             nb::sig(docs::kMaxBytesSig), docs::kMaxBytes);
  nb::class_<PyEncoder>(module, "Encoder", docs::kEncoder)
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
      .def("close", &PyEncoder::close, "Gives up the encoder; later calls raise an error.")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __enter__(self) -> Encoder"))
      .def(
          "__exit__", [](PyEncoder& self, const nb::args&) { self.close(); }, "error"_a,
          nb::sig("def __exit__(self, *error: Any) -> None"));
}

}  // namespace zerorun::python
