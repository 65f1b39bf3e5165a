// SPDX-License-Identifier: MIT
#include "apps/python/binding/coders.hpp"

#include <span>

#include "apps/python/binding/docs.hpp"

namespace zerorun::python {
namespace {

nb::bytes encode_once(nb::handle object, nb::handle format, nb::handle size, nb::handle stream,
                      const nb::kwargs& options) {
  const EncodeParams params = encode_params(options);
  const std::uintptr_t on = stream_handle(stream, object);
  const Image image = Image::from(object, image_hints(format, size), on);
  return pools().encoders.take(params)->encode(image, on);
}

class PyEncoder : public PyCoder<Encoders, EncodeParams> {
 public:
  explicit PyEncoder(const nb::kwargs& options) : PyCoder(encode_params(options)) {}

  nb::bytes encode(nb::handle object, nb::handle format, nb::handle size, nb::handle stream) {
    const auto made = this->made();
    const std::uintptr_t on = stream_handle(stream, object);
    const Image image = Image::from(object, image_hints(format, size), on);
    const Locked lock(made->mutex);
    return made->coders.encode(image, on);
  }

  nb::object encode_into(nb::handle object, nb::handle out, nb::handle size_out, nb::handle format,
                         nb::handle size, nb::handle stream) {
    const auto made = this->made();
    const std::uintptr_t on = stream_handle(stream, object);
    const Image image = Image::from(object, image_hints(format, size), on);
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
    Result<EncodeReport> report =
        without_gil([&] { return made->coders.host().encode(image.view, room); });
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

void check_target(int device, int data_device, const DecodeParams& params) {
  if (device == kHost && data_device != kHost)
    fail_argument("data is in the memory of a GPU, so the picture goes there too: use to='device'");
  if (device == kHost) return;
  check_device(params, device, "the decoded picture");
  if (data_device != kHost && data_device != device)
    fail_argument("data and out are on two devices");
}

/// Errors: those of inspect().
StreamInfo inspect_where_it_is(const JpegData& data, std::uintptr_t on,
                               const StreamLimits& limits) {
  return value_of(without_gil([&]() -> Result<StreamInfo> {
    if (data.device() == kHost) return inspect(data.bytes(), limits);
    // The headers of most streams are shorter.
    constexpr std::size_t kHead = std::size_t{1} << 16;
    const std::size_t size = data.bytes().size();
    Result<StreamInfo> found = inspect(copy_to_host(data, std::min(size, kHead), on), limits);
    return found || size <= kHead ? found : inspect(copy_to_host(data, size, on), limits);
  }));
}

/// Where a call puts its picture; reads the header for the size. `on` is the handle of the caller's
/// `stream`. Errors: those of inspect(), ArgumentError.
Picture make_target(const JpegData& data, PixelFormat format, nb::handle out, nb::handle to,
                    nb::handle stream, std::uintptr_t on, const DecodeParams& params) {
  const int data_device = data.device();
  const StreamInfo found = inspect_where_it_is(data, on, params.limits);
  const ImageSize size =
      value_of(decoded_size(found.width, found.height, params.scale, params.region));
  Picture picture;
  if (!out.is_none()) {
    picture = picture_in(out, format, size.width, size.height, on);
    order_after(picture.arrays, on);
  } else if (wants_device(to, params) || (to.is_none() && data_device != kHost)) {
    picture = new_device_picture(format, size.width, size.height,
                                 data_device != kHost ? data_device : params.device, on, stream);
  } else {
    picture = new_picture(format, size.width, size.height);
  }
  check_target(picture.device, data_device, params);
  return picture;
}

/// Decodes by decode(jpeg, picture, on) and returns the arrays of the picture.
template <typename Decode>
nb::object decode_with(const DecodeParams& params, nb::handle data, nb::handle format,
                       nb::handle out, nb::handle to, nb::handle stream, const Decode& decode) {
  const std::uintptr_t on = stream_handle(stream, out.is_none() ? data : out);
  // A stream that another thread could write is copied to where the kernels read it.
  const bool is_cuda = params.backend == Backend::cuda;
  const JpegData jpeg(data, on, is_cuda ? HostMemory::pinned : HostMemory::pageable);
  Picture picture = make_target(jpeg, parse_format(format), out, to, stream, on, params);
  decode(jpeg, picture, on);
  return std::move(picture.object);
}

nb::object decode_once(nb::handle data, nb::handle format, nb::handle out, nb::handle to,
                       nb::handle stream, const nb::kwargs& options) {
  const DecodeParams params = decode_params(options);
  return decode_with(params, data, format, out, to, stream, [&](const auto&... call) {
    const auto coders = pools().decoders.take(params);
    value_of(without_gil([&] { return coders->decode(params, call...); }));
  });
}

/// A numpy array that has the values for its memory.
template <typename T>
nb::object array_of(std::vector<T> values, std::initializer_list<std::size_t> shape) {
  const auto kept = std::make_shared<std::vector<T>>(std::move(values));
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), shape, capsule_of(kept)));
}

nb::object array_of(ComponentPlane& plane) {
  return array_of(std::move(plane.samples),
                  {static_cast<std::size_t>(plane.height), static_cast<std::size_t>(plane.width)});
}

nb::object array_of(ComponentCoefficients& blocks) {
  return array_of(std::move(blocks.values), {static_cast<std::size_t>(blocks.blocks_high),
                                             static_cast<std::size_t>(blocks.blocks_wide), 64});
}

class PyDecoder : public PyCoder<Decoders, DecodeParams> {
 public:
  explicit PyDecoder(const nb::kwargs& options) : PyCoder(decode_params(options)) {}

  nb::object decode(nb::handle data, nb::handle format, nb::handle out, nb::handle to,
                    nb::handle stream) {
    const auto made = this->made();
    return decode_with(params_, data, format, out, to, stream, [&](const auto&... call) {
      report_ = value_of(without_gil([&] {
        const std::lock_guard lock(made->mutex);
        return made->coders.decode(params_, call...);
      }));
    });
  }

  /// `kCall` is a member of the library's Decoder.
  template <typename Part, auto kCall>
  nb::list decode_parts(nb::handle data) {
    const auto made = this->made();
    const JpegData jpeg(data);
    std::vector<Part> parts;
    report_ = value_of(without_gil([&] {
      const std::lock_guard lock(made->mutex);
      return (made->coders.host().*kCall)(jpeg.bytes(), parts);
    }));
    nb::list arrays;
    for (Part& part : parts) arrays.append(array_of(part));
    return arrays;
  }

  nb::object report() const { return report_ ? report_object(*report_) : nb::none(); }

 private:
  std::optional<DecodeReport> report_;
};

}  // namespace

bool wants_device(nb::handle to, const DecodeParams& params) {
  if (to.is_none()) return params.backend == Backend::cuda;
  const std::string text = utf8_of(nb::str(to));
  if (text == "host") return false;
  if (text == "device") return true;
  fail_argument("to is '", text, "', but must be None, 'host' or 'device'");
}

void bind_coders(nb::module_& module) {
  module.def(
      "encode", &encode_once, "image"_a.none(), nb::kw_only(), "format"_a = nb::none(),
      "size"_a = nb::none(), "stream"_a = nb::none(), "options"_a,
      nb::sig("def encode(image: Image, *, format: Optional[str] = None, size: Optional[tuple[int, "
              "int]] = None, stream: Stream = None, **options: Unpack[EncodeOptions]) -> bytes"),
      docs::kEncode);
  module.def("max_encoded_bytes", &most_bytes, "format"_a, "size"_a, "options"_a,
             nb::sig("def max_encoded_bytes(format: str, size: tuple[int, int], **options: "
                     "Unpack[EncodeOptions]) -> int"),
             "The size that no stream of such a picture exceeds; size is (width, height).");
  nb::class_<PyEncoder> encoder(module, "Encoder", docs::kEncoder);
  encoder
      .def(nb::init<const nb::kwargs&>(), "options"_a,
           nb::sig("def __init__(self, **options: Unpack[EncodeOptions]) -> None"))
      .def("encode", &PyEncoder::encode, "image"_a.none(), nb::kw_only(), "format"_a = nb::none(),
           "size"_a = nb::none(), "stream"_a = nb::none(),
           nb::sig("def encode(self, image: Image, *, format: Optional[str] = None, size: "
                   "Optional[tuple[int, int]] = None, stream: Stream = None) -> bytes"),
           "Encodes a picture; see zerorun.encode().")
      .def("encode_into", &PyEncoder::encode_into, "image"_a.none(), "out"_a.none(),
           "size_out"_a = nb::none(), nb::kw_only(), "format"_a = nb::none(), "size"_a = nb::none(),
           "stream"_a = nb::none(),
           nb::sig("def encode_into(self, image: Image, out: Any, size_out: Any = None, *, format: "
                   "Optional[str] = None, size: Optional[tuple[int, int]] = None, stream: Stream = "
                   "None) -> Optional[int]"),
           docs::kEncodeInto)
      .def_prop_rw("quality", &PyEncoder::quality, &PyEncoder::set_quality,
                   nb::for_setter(nb::sig("def quality(self, value: int) -> None")),
                   "Quality of all later pictures, 1 to 100.")
      .def_prop_ro("backend", &PyEncoder::backend, "'cpu' or 'cuda'.")
      .def("close", &PyEncoder::close, "Gives up the encoder; later calls raise an error.");
  bind_context(encoder);

  module.def(
      "decode", &decode_once, "data"_a.none(), "format"_a = "rgb24", nb::kw_only(),
      "out"_a = nb::none(), "to"_a = nb::none(), "stream"_a = nb::none(), "options"_a,
      nb::sig(
          "def decode(data: Data, format: str = \"rgb24\", *, out: Any = None, to: Optional[str] = "
          "None, stream: Stream = None, **options: Unpack[DecodeOptions]) -> Any"),
      docs::kDecode);
  nb::class_<PyDecoder> decoder(module, "Decoder", docs::kDecoder);
  decoder
      .def(nb::init<const nb::kwargs&>(), "options"_a,
           nb::sig("def __init__(self, **options: Unpack[DecodeOptions]) -> None"))
      .def("decode", &PyDecoder::decode, "data"_a.none(), "format"_a = "rgb24", nb::kw_only(),
           "out"_a = nb::none(), "to"_a = nb::none(), "stream"_a = nb::none(),
           nb::sig("def decode(self, data: Data, format: str = \"rgb24\", *, out: Any = None, to: "
                   "Optional[str] = None, stream: Stream = None) -> Any"),
           "Decodes a stream; see zerorun.decode().")
      .def(
          "decode_planes", &PyDecoder::decode_parts<ComponentPlane, &Decoder::decode_planes>,
          "data"_a.none(), nb::sig("def decode_planes(self, data: Data) -> list[Any]"),
          "Every component as stored, in the order of the header: arrays (height, width) of uint8.")
      .def("decode_coefficients",
           &PyDecoder::decode_parts<ComponentCoefficients, &Decoder::decode_coefficients>, "data"_a,
           nb::sig("def decode_coefficients(self, data: Data) -> list[Any]"),
           "The quantised coefficients: arrays (block rows, block columns, 64) of int16, each "
           "block in row order.")
      .def_prop_ro("report", &PyDecoder::report, nb::sig("def report(self) -> Optional[Report]"),
                   "What the last call found: a zerorun.Report, or None before the first call.")
      .def_prop_ro("backend", &PyDecoder::backend, "'cpu' or 'cuda'.")
      .def("close", &PyDecoder::close, "Gives up the decoder; later calls raise an error.");
  bind_context(decoder);
}

}  // namespace zerorun::python
