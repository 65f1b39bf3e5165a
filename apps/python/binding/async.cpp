// The classes AsyncEncoder and AsyncDecoder.
// SPDX-License-Identifier: MIT
#include "zerorun/async.hpp"

#include <nanobind/stl/string.h>

#include <optional>

#include "apps/python/binding/coders.hpp"
#include "apps/python/binding/docs.hpp"
#include "apps/python/binding/flight.hpp"
#include "apps/python/binding/gil.hpp"
#include "apps/python/binding/images.hpp"
#include "apps/python/binding/pictures.hpp"

namespace zerorun::python {
namespace {

/// A zerorun.Coded.
nb::object coded(std::int64_t number, nb::handle tag, nb::object value, const Status& status) {
  const nb::object make = nb::module_::import_("zerorun._types").attr("Coded");
  if (!status) return call_python(make, number, tag, nb::none(), exception_of(status));
  return call_python(make, number, tag, value, nb::none());
}

/// The value of a zerorun.Coded, or its exception.
nb::object value_or_raise(nb::handle result) {
  const nb::object error = result.attr("error");
  if (error.is_none()) return result.attr("value");
  PyErr_SetObject(error.type().ptr(), error.ptr());
  throw nb::python_error();
}

/// Sizes and members that both classes have.
template <typename Self, typename Coder, typename Output, typename Entry>
class PyAsync {
 public:
  explicit PyAsync(Coder coder) : flight_(std::move(coder)) {}

  nb::object receive(bool wait) { return receive(wait, wait); }

  /// Another thread may take the last frame meanwhile, so this does not wait for one to be
  /// submitted.
  nb::object next() {
    nb::object result = receive(true, false);
    if (result.is_none()) throw nb::stop_iteration();
    return result;
  }

  void finish() { flight_.finish(); }
  void discard() { flight_.discard(); }
  void close() { flight_.close(); }
  int in_flight() { return flight_.coder().in_flight(); }
  int depth() { return flight_.coder().depth(); }
  int lanes() { return flight_.coder().lanes(); }
  nb::list lost_devices() {
    nb::list names;
    for (const LostDevice& lost : flight_.coder().lost_devices())
      names.append(nb::make_tuple("cuda:" + std::to_string(lost.device), exception_of(lost.why)));
    return names;
  }
  std::string backend() { return std::string(name(flight_.coder().backend())); }

 protected:
  Flight<Coder, Output, Entry> flight_;

 private:
  nb::object receive(bool wait, bool also_for_submit) {
    nb::object result = nb::none();
    flight_.receive(wait, also_for_submit, [&](Output& output, Entry& entry) {
      result = coded(output.number, entry.tag, Self::value_of_output(output, entry), output.status);
    });
    return result;
  }
};

struct EncodeEntry {
  nb::object tag;
  Image image;
};

class PyAsyncEncoder : public PyAsync<PyAsyncEncoder, AsyncEncoder, EncodedFrame, EncodeEntry> {
 public:
  PyAsyncEncoder(int lanes, int depth, const nb::kwargs& options)
      : PyAsync(make(lanes, depth, options)) {}

  void submit(nb::handle object, nb::handle tag, nb::handle quality, nb::handle format,
              nb::handle size, bool wait) {
    (void)flight_.coder();  // says that it is closed before it says anything else
    Image image = Image::from(object, image_hints(format, size));
    if (image.device() != kHost)
      fail(Errc::invalid_argument,
           "image is in the memory of a GPU; Encoder.encode_into() codes it there without waiting");
    {
      const WithoutGil no_gil;
      image.settle();
    }
    SubmitOptions options;
    if (!quality.is_none()) options.quality = parse_int(quality, "quality");
    const ConstFrameView view = image.view();
    flight_.submit({nb::borrow(tag), std::move(image)}, wait,
                   [&](AsyncEncoder& coder) { return coder.submit(view, options); });
  }

  static nb::object value_of_output(EncodedFrame& output, EncodeEntry&) {
    if (!output.status) return nb::none();
    return nb::bytes(reinterpret_cast<const char*>(output.jpeg.data()), output.jpeg.size());
  }

  void set_quality(nb::handle quality) {
    const int value = parse_int(quality, "quality");  // first: it may run code that closes this
    check(flight_.coder().set_quality(value));
  }

 private:
  static AsyncEncoder make(int lanes, int depth, nb::kwargs options) {
    AsyncEncodeParams params;
    params.devices = take_device_list(options);
    params.encode = encode_params(options);
    params.encode.backend = usable_choice({params.encode.backend, params.encode.device}).backend;
    params.lanes = lanes;
    params.depth = depth;
    return value_of(AsyncEncoder::create(params));
  }
};

struct DecodeEntry {
  nb::object tag;
  std::unique_ptr<JpegData> data;
  std::optional<Picture> picture;
};

class PyAsyncDecoder : public PyAsync<PyAsyncDecoder, AsyncDecoder, DecodedFrame, DecodeEntry> {
 public:
  PyAsyncDecoder(nb::handle format, int lanes, int depth, const nb::kwargs& options)
      : PyAsync(make(format, lanes, depth, options)) {}

  void submit(nb::handle object, nb::handle tag, nb::handle format, nb::handle out, bool wait) {
    const AsyncDecodeParams params = flight_.coder().params();  // a copy: `object` may close this
    DecodeEntry entry{nb::borrow(tag), std::make_unique<JpegData>(object), {}};
    if (entry.data->device() != kHost)
      fail(Errc::invalid_argument, "data must be in host memory for this call");
    DecodeOptions options;
    options.format = format.is_none() ? params.format : parse_format(format);
    const Result<StreamInfo> info = inspect(entry.data->bytes(), params.decode.limits);
    if (info) {  // else the decoder finds the same error, and receive() tells it
      entry.picture = out.is_none() ? new_picture(*options.format, info->width, info->height)
                                    : picture_in(out, *options.format, info->width, info->height);
      if (entry.picture->arrays[0].device != kHost)
        fail(Errc::invalid_argument, "out must be in host memory for this call");
      options.into = entry.picture->view;
    }
    const std::span<const std::byte> bytes = entry.data->bytes();
    flight_.submit(std::move(entry), wait,
                   [&](AsyncDecoder& coder) { return coder.submit(bytes, options); });
  }

  static nb::object value_of_output(DecodedFrame&, DecodeEntry& entry) {
    return entry.picture ? entry.picture->object : nb::none();
  }

 private:
  static AsyncDecoder make(nb::handle format, int lanes, int depth, nb::kwargs options) {
    AsyncDecodeParams params;
    params.devices = take_device_list(options);
    params.decode = decode_params(options);
    params.decode.backend = usable_choice({params.decode.backend, params.decode.device}).backend;
    params.format = parse_format(format);
    params.lanes = lanes;
    params.depth = depth;
    return value_of(AsyncDecoder::create(params));
  }
};

/// Gives the items of `inputs` to an async coder and its values back, in order; a Python iterator.
template <typename Coder>
class Mapped {
 public:
  Mapped(nb::object owner, nb::object inputs)
      : owner_(std::move(owner)), inputs_(nb::iter(inputs)) {}

  nb::object next() {
    auto& coder = nb::cast<Coder&>(owner_);
    while (!ended_ && coder.in_flight() < coder.depth()) {
      const nb::object item = next_item(inputs_);
      if (!item.is_valid()) {
        ended_ = true;
        break;
      }
      submit(coder, item);
    }
    return value_or_raise(coder.next());
  }

 private:
  static void submit(PyAsyncEncoder& coder, nb::handle item) {
    coder.submit(item, nb::none(), nb::none(), nb::none(), nb::none(), false);
  }
  static void submit(PyAsyncDecoder& coder, nb::handle item) {
    coder.submit(item, nb::none(), nb::none(), nb::none(), false);
  }

  nb::object owner_;
  nb::object inputs_;
  bool ended_ = false;
};

template <typename Coder>
void bind_shared(nb::module_& module, nb::class_<Coder>& type, const char* mapped_name) {
  using namespace nb::literals;
  nb::class_<Mapped<Coder>>(module, mapped_name)
      .def(
          "__iter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __iter__(self) -> Iterator[Any]"))
      .def("__next__", &Mapped<Coder>::next, nb::sig("def __next__(self) -> Any"));
  type.def(
          "map",
          [](nb::object self, nb::object inputs) {
            return Mapped<Coder>(std::move(self), std::move(inputs));
          },
          "inputs"_a, nb::sig(docs::kMapSig), docs::kMap)
      .def(
          "receive", [](Coder& self, bool wait) { return self.receive(wait); }, "wait"_a = true,
          nb::sig(docs::kReceiveSig), docs::kReceive)
      .def("finish", &Coder::finish, docs::kFinish)
      .def("discard", &Coder::discard, docs::kDiscard)
      .def("close", &Coder::close, "Drops what is in flight; later calls raise an error.")
      .def_prop_ro("in_flight", &Coder::in_flight, "Frames submitted and not yet received.")
      .def_prop_ro("depth", &Coder::depth, "The most frames that may be in flight.")
      .def_prop_ro("lanes", &Coder::lanes, "Frames coded at a time.")
      .def_prop_ro("backend", &Coder::backend, "'cpu' or 'cuda'.")
      .def_prop_ro("lost_devices", &Coder::lost_devices,
                   nb::sig("def lost_devices(self, /) -> list[tuple[str, Error]]"),
                   "The GPUs that failed while others went on, and why; in that order.")
      .def(
          "__iter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __iter__(self) -> Iterator[Coded]"))
      .def("__next__", &Coder::next, nb::sig("def __next__(self) -> Coded"))
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __enter__(self) -> Any"))
      .def(
          "__exit__", [](Coder& self, const nb::args&) { self.close(); }, "error"_a,
          nb::sig("def __exit__(self, *error: Any) -> None"));
}

}  // namespace

void bind_async(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<PyAsyncEncoder> encoder(module, "AsyncEncoder", docs::kAsyncEncoder);
  encoder
      .def(nb::init<int, int, const nb::kwargs&>(), nb::kw_only(), "lanes"_a = 0, "depth"_a = 0,
           "options"_a, nb::sig(docs::kAsyncEncoderSig))
      .def("submit", &PyAsyncEncoder::submit, "image"_a.none(), nb::kw_only(), "tag"_a = nb::none(),
           "quality"_a = nb::none(), "format"_a = nb::none(), "size"_a = nb::none(),
           "wait"_a = false, nb::sig(docs::kSubmitImageSig), docs::kSubmitImage)
      .def("set_quality", &PyAsyncEncoder::set_quality, "quality"_a,
           nb::sig("def set_quality(self, quality: int) -> None"),
           "Quality of the frames submitted from here on.");
  bind_shared(module, encoder, "_EncodedStreams");
  nb::class_<PyAsyncDecoder> decoder(module, "AsyncDecoder", docs::kAsyncDecoder);
  decoder
      .def(nb::init<nb::handle, int, int, const nb::kwargs&>(), "format"_a = "rgb24", nb::kw_only(),
           "lanes"_a = 0, "depth"_a = 0, "options"_a, nb::sig(docs::kAsyncDecoderSig))
      .def("submit", &PyAsyncDecoder::submit, "data"_a.none(), nb::kw_only(), "tag"_a = nb::none(),
           "format"_a = nb::none(), "out"_a = nb::none(), "wait"_a = false,
           nb::sig(docs::kSubmitDataSig), docs::kSubmitData);
  bind_shared(module, decoder, "_DecodedPictures");
}

}  // namespace zerorun::python
