// The classes AsyncEncoder and AsyncDecoder.
// SPDX-License-Identifier: MIT
#include "zerorun/async.hpp"

#include <chrono>
#include <deque>
#include <thread>

#include "apps/python/binding/coders.hpp"

namespace zerorun::python {
namespace {

/// Lets other threads work for a moment. Errors: what a signal's handler raises.
void wait_a_moment() {
  without_gil([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// What both classes have: frames in flight, each with an `Entry` that stays alive until the frame
/// is received. `Coder` is AsyncEncoder or AsyncDecoder, `Output` what it gives.
template <typename Self, typename Coder, typename Output, typename Entry>
class PyAsync {
 public:
  explicit PyAsync(Coder coder) : made_(std::make_unique<Made>(std::move(coder))) {}
  ~PyAsync() {
    // The coder lets go of the entries' memory first; its threads need no GIL.
    const WithoutGil no_gil;
    made_ = {};
  }

  /// A zerorun.Coded for the oldest frame; None if there is none (yet). `wait`: until it is
  /// finished. `also_for_submit`: and until another thread submits one, if none is in flight.
  nb::object receive(bool wait, bool also_for_submit) {
    for (;; wait_a_moment()) {
      const std::shared_ptr<Made> made = this->made();
      {
        const auto lock = locked(made->mutex);
        if (made->coder.in_flight() > 0) {
          // A frame in flight is finished soon, so waiting for it needs no look at signals.
          if (without_gil([&] { return made->coder.receive(made->output, wait); }) ==
              Received::frame)
            return take_oldest(made->output);
        } else if (made->finished || !also_for_submit) {
          return nb::none();
        }
      }
      if (!wait) return nb::none();
    }
  }

  /// Another thread may take the last frame meanwhile, so this does not wait for one to be
  /// submitted.
  nb::object next() {
    nb::object result = receive(true, false);
    if (result.is_none()) throw nb::stop_iteration();
    return result;
  }

  void finish() {
    const std::shared_ptr<Made> made = this->made();
    made->coder.finish();
    made->finished = true;
  }

  void discard() { drop_all(this->made()); }

  void close() {
    if (const std::shared_ptr<Made> made = std::exchange(made_, {}).get()) drop_all(made);
  }

  int in_flight() { return coder().in_flight(); }
  int depth() { return coder().depth(); }
  int lanes() { return coder().lanes(); }
  std::string backend() { return std::string(name(coder().backend())); }
  nb::list lost_devices() {
    const auto lost = coder().lost_devices();
    return list_of(lost, [](const LostDevice& each) {
      return nb::make_tuple("cuda:" + std::to_string(each.device), exception_of(each.why));
    });
  }

 protected:
  Coder& coder() { return made()->coder; }

  /// `enqueue(coder)` submits without waiting. `wait`: until a frame is received elsewhere.
  template <typename Enqueue>
  void submit(Entry entry, bool wait, const Enqueue& enqueue) {
    for (;; wait_a_moment()) {
      const std::shared_ptr<Made> made = this->made();
      if (made->discarding) continue;
      Status status = enqueue(made->coder);  // and no other thread of Python runs until push_back
      if (status) break;
      if (status.code() != Errc::queue_full || !wait) fail(status);
    }
    entries_.push_back(std::move(entry));
  }

 private:
  struct Made {
    explicit Made(Coder made) : coder(std::move(made)) {}
    Coder coder;
    std::mutex mutex;  ///< of receivers
    Output output;
    bool finished = false;
    int discarding = 0;  ///< calls of drop_all(): nothing is submitted; the GIL protects it
  };

  nb::object take_oldest(Output& output) {
    Entry entry = std::move(entries_.front());
    entries_.pop_front();
    const bool is_ok = output.status.is_ok();
    return call_python(type_named("Coded"), output.number, entry.tag,
                       is_ok ? Self::value_of_output(output, entry) : nb::none(),
                       is_ok ? nb::none() : exception_of(output.status));
  }

  /// Frames that are submitted later have entries of their own: none may go with the old ones.
  void drop_all(const std::shared_ptr<Made>& made) {
    std::deque<Entry> gone;  // released last: that may run code of Python
    ++made->discarding;
    {
      const auto lock = locked(made->mutex);
      without_gil([&] { made->coder.discard(); });
      made->finished = false;
      gone.swap(entries_);
    }
    --made->discarding;
  }

  std::shared_ptr<Made> made() {
    if (auto made = made_.get()) return made;
    fail(Errc::already_finished,
         made_.is_foreign() ? "it was made before this process was forked, and its threads are not "
                              "here; make another one"
                            : "it is closed");
  }

  ForkBound<Made> made_;
  std::deque<Entry> entries_;  ///< in flight, oldest first; the GIL protects it
};

/// Fills what the parameters of both classes have.
template <typename Coder, typename Params, typename Options>
Coder make_async(Params params, Options Params::*coder, Options (*parse)(const nb::kwargs&),
                 int lanes, int depth, nb::kwargs options) {
  params.devices = take_device_list(options);
  params.*coder = parse(options);
  (params.*coder).backend = usable_backend((params.*coder).backend);
  params.lanes = lanes;
  params.depth = depth;
  return value_of(Coder::create(params));
}

struct EncodeEntry {
  nb::object tag;
  Image image;
};

class PyAsyncEncoder : public PyAsync<PyAsyncEncoder, AsyncEncoder, EncodedFrame, EncodeEntry> {
 public:
  PyAsyncEncoder(int lanes, int depth, const nb::kwargs& options)
      : PyAsync(make_async<AsyncEncoder>(AsyncEncodeParams(), &AsyncEncodeParams::encode,
                                         &encode_params, lanes, depth, options)) {}

  void submit(nb::handle object, nb::handle tag, nb::handle quality, nb::handle format,
              nb::handle size, bool wait) {
    (void)coder();  // says that it is closed before it says anything else
    Image image = Image::from(object, image_hints(format, size));
    if (image.device() != kHost)
      fail_argument(
          "image is in the memory of a GPU; Encoder.encode_into() codes it there without waiting");
    SubmitOptions options;
    if (!quality.is_none()) options.quality = parse_int(quality, "quality");
    const ConstFrameView view = image.view;
    PyAsync::submit({nb::borrow(tag), std::move(image)}, wait,
                    [&](AsyncEncoder& coder) { return coder.submit(view, options); });
  }

  static nb::object value_of_output(EncodedFrame& output, EncodeEntry&) {
    return stream_object(output.jpeg.bytes(), output.jpeg.memory() == HostMemory::pinned);
  }

  void set_quality(nb::handle quality) {
    const int value = parse_int(quality, "quality");  // first: it may run code that closes this
    check(coder().set_quality(value));
  }
};

struct DecodeEntry {
  nb::object tag;
  JpegData data;
  Picture picture;
};

class PyAsyncDecoder : public PyAsync<PyAsyncDecoder, AsyncDecoder, DecodedFrame, DecodeEntry> {
 public:
  PyAsyncDecoder(nb::handle format, int lanes, int depth, const nb::kwargs& options)
      : PyAsync(make_async<AsyncDecoder>(AsyncDecodeParams{{}, parse_format(format)},
                                         &AsyncDecodeParams::decode, &decode_params, lanes, depth,
                                         options)) {}

  void submit(nb::handle object, nb::handle tag, nb::handle format, nb::handle out, bool wait) {
    const AsyncDecodeParams params = coder().params();  // a copy: `object` may close this
    DecodeEntry entry{nb::borrow(tag), JpegData(object), {}};
    DecodeOptions options;
    options.format = format.is_none() ? params.format : parse_format(format);
    const Result<FrameView> frame =
        decoded_frame(entry.data.bytes(), *options.format, params.decode.limits,
                      params.decode.scale, params.decode.region);
    if (frame) {  // else the decoder finds the same error, and receive() tells it
      entry.picture = out.is_none() ? new_picture(*frame) : picture_in(out, *frame);
      if (entry.picture.device != kHost) fail_argument("out must be in host memory for this call");
      options.into = entry.picture.view;
    }
    const std::span<const std::byte> bytes = entry.data.bytes();
    PyAsync::submit(std::move(entry), wait,
                    [&](AsyncDecoder& coder) { return coder.submit(bytes, options); });
  }

  static nb::object value_of_output(DecodedFrame&, DecodeEntry& entry) {
    return entry.picture.object;
  }
};

nb::object mapped(nb::handle self, nb::handle inputs) {
  return call_python(type_named("Mapped"), self, inputs);
}

template <typename Class>
void bind_shared(nb::class_<Class>& type) {
  type.def("map", &mapped, "inputs"_a,
           nb::sig("def map(self, inputs: Iterable[Any]) -> Iterator[Any]"),
           R"(Submits the inputs while there is room and gives the results in order.

An input that fails raises its error from next(); a further next() goes on behind it.)")
      .def(
          "receive", [](Class& self, bool wait) { return self.receive(wait, wait); },
          "wait"_a = true, nb::sig("def receive(self, wait: bool = True) -> Optional[Coded]"),
          R"(Takes the oldest frame when it is finished: a zerorun.Coded.

With wait it waits for that, also for another thread to submit; without, it returns None if
the frame is not ready. After finish() it returns None when all frames are received.)")
      .def(
          "finish", &Class::finish,
          "No frame follows: submit() raises an error from here on, and receive() comes to an end.")
      .def("discard", &Class::discard, "Drops all frames in flight, and allows submit() again.")
      .def_prop_ro("in_flight", &Class::in_flight, "Frames submitted and not yet received.")
      .def_prop_ro("depth", &Class::depth, "The most frames that may be in flight.")
      .def_prop_ro("lanes", &Class::lanes, "Frames coded at a time.")
      .def_prop_ro("lost_devices", &Class::lost_devices,
                   nb::sig("def lost_devices(self, /) -> list[tuple[str, Error]]"),
                   "The GPUs that failed while others went on, and why; in that order.")
      .def("__iter__", &itself, nb::sig("def __iter__(self) -> Iterator[Coded]"))
      .def("__next__", &Class::next, nb::sig("def __next__(self) -> Coded"));
  bind_coder(type, "Drops what is in flight; later calls raise an error.");
}

}  // namespace

void bind_async(nb::module_& module) {
  nb::class_<PyAsyncEncoder> encoder(
      module, "AsyncEncoder",
      R"(Encodes several frames at a time; they come back in the order of submission.

    for jpeg in zerorun.AsyncEncoder(quality=85).map(frames): ...

or by hand: submit() until in_flight is depth, then receive() the oldest. Iteration gives a
zerorun.Coded for each frame in flight. Frames stay referenced until they are received; do not
change them before. Any thread may call any member. Options are those of encode(), and
lanes (frames coded at a time; 0: one a core, 4 on a GPU) and depth (0: twice the lanes).
device='cuda:0,2', 'cuda:all' or ['cuda:0', 'cuda:2'] takes several GPUs. If one fails, the
others code its frames again, and lost_devices names it.)");
  encoder
      .def(nb::init<int, int, const nb::kwargs&>(), nb::kw_only(), "lanes"_a = 0, "depth"_a = 0,
           "options"_a,
           nb::sig("def __init__(self, *, lanes: int = 0, depth: int = 0, **options: "
                   "Unpack[EncodeOptions]) -> None"))
      .def("submit", &PyAsyncEncoder::submit, "image"_a.none(), nb::kw_only(), "tag"_a = nb::none(),
           "quality"_a = nb::none(), "format"_a = nb::none(), "size"_a = nb::none(),
           "wait"_a = false,
           nb::sig("def submit(self, image: Image, *, tag: Any = None, quality: Optional[int] = "
                   "None, format: Optional[str] = None, size: Optional[tuple[int, int]] = None, "
                   "wait: bool = False) -> None"),
           R"(Puts a picture in host memory into the queue. tag comes back with the stream.

Raises CapacityError with the code 'queue_full' if depth frames are in flight; with wait=True
it waits until another thread receives one.)")
      .def("set_quality", &PyAsyncEncoder::set_quality, "quality"_a,
           nb::sig("def set_quality(self, quality: int) -> None"),
           "Quality of the frames submitted from here on.");
  bind_shared(encoder);
  nb::class_<PyAsyncDecoder> decoder(
      module, "AsyncDecoder",
      R"(Decodes several streams at a time; they come back in the order of submission.

    for rgb in zerorun.AsyncDecoder('rgb24').map(streams): ...

Works as AsyncEncoder. Results are numpy arrays of `format`. Options are those of decode().)");
  decoder
      .def(nb::init<nb::handle, int, int, const nb::kwargs&>(), "format"_a = "rgb24", nb::kw_only(),
           "lanes"_a = 0, "depth"_a = 0, "options"_a,
           nb::sig("def __init__(self, format: str = \"rgb24\", *, lanes: int = 0, depth: int = 0, "
                   "**options: Unpack[DecodeOptions]) -> None"))
      .def("submit", &PyAsyncDecoder::submit, "data"_a.none(), nb::kw_only(), "tag"_a = nb::none(),
           "format"_a = nb::none(), "out"_a = nb::none(), "wait"_a = false,
           nb::sig("def submit(self, data: Data, *, tag: Any = None, format: Optional[str] = None, "
                   "out: Any = None, wait: bool = False) -> None"),
           "Puts a stream into the queue; out as in decode(). tag comes back with the picture. "
           "Raises CapacityError as AsyncEncoder.submit().");
  bind_shared(decoder);
}

}  // namespace zerorun::python
