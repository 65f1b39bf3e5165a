// Coders as the binding keeps them: for host memory, for each GPU, and between calls; the inputs
// and threads of batches.
// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "apps/python/binding/frames.hpp"
#include "codec/base/thread_pool.hpp"

namespace zerorun::python {

// Arrays in the memory of a GPU (device.cpp). In a build without CUDA these functions fail with the
// reason (device_absent.cpp).

/// The CUDA device of the bytes from `first` to `last`; kHost for pinned memory of the host.
/// Errors: DeviceError; ArgumentError for memory that no device can read.
int device_of_memory(const void* first, const void* last, const std::string& name);

/// The CUDA stream of a call: the caller's `stream` (a number, or a stream of PyTorch or CuPy),
/// else the current stream of the library that made `object`. 0 is the default stream; so are
/// buffers.
std::uintptr_t stream_handle(nb::handle stream, nb::handle object);

/// What is enqueued on `stream` from now on sees the contents of the arrays.
void order_after(const std::vector<Array>& arrays, std::uintptr_t stream);

/// An encoder for frames in device memory. Its members release the GIL themselves; one thread at a
/// time.
class DeviceEncoding {
 public:
  virtual ~DeviceEncoding() = default;
  /// Waits for the stream, for the bytes.
  virtual nb::bytes encode(const Image& image, std::uintptr_t stream) = 0;
  /// Enqueues the work and returns.
  virtual void encode_into(const Image& image, const Array& out, const Array& size,
                           std::uintptr_t stream) = 0;
  /// For each image its bytes or an error. Ctrl-C ends it.
  virtual std::vector<nb::object> encode_batch(const std::vector<Image*>& images,
                                               std::uintptr_t stream) = 0;
};
/// For params.device.
std::unique_ptr<DeviceEncoding> device_coder(const EncodeParams& params);

/// Decodes the part that `part` tells, at its scale, into device memory. Needs no GIL; one thread
/// at a time.
using DeviceDecode = std::function<Result<DecodeReport>(
    const JpegData& data, const DecodeParams& part, const FrameView& out, std::uintptr_t stream)>;
DeviceDecode device_coder(const DecodeParams& params);

/// The first `count` bytes of a stream in device memory. Waits for `stream`; needs no GIL.
std::vector<std::byte> copy_to_host(const JpegData& data, std::size_t count, std::uintptr_t stream);

/// New arrays of the class DeviceArray, allocated in the order of `stream`.
Picture new_device_picture(const FrameView& frame, int device, std::uintptr_t stream,
                           nb::handle stream_owner);

/// Makes a coder of the library. Errors: those of Coder::create(), and CUDA after a fork.
template <typename Coder, typename Params>
Coder make_coder(Params params) {
  params.backend = usable_backend(params.backend);
  return value_of(Coder::create(params));
}

/// Errors: ArgumentError where coders of these parameters do not use the GPU on which `what` is.
template <typename Params>
void check_device(const Params& params, int device, const char* what) {
  use_cuda();
  if (params.backend == Backend::cpu)
    fail_argument(what, " is in the memory of a GPU, but device is 'cpu'");
  if (params.backend == Backend::cuda && params.device != device)
    fail_argument(what, " is on cuda:", device, ", but device is 'cuda:", params.device, "'");
}

/// Coders of one set of options: for host memory, and for each GPU that has had a picture. They are
/// made at the first call. Needs no GIL.
template <typename Coder, typename Params, typename OnDevice>
class Coders {
 public:
  explicit Coders(const Params& params) : params_(params) {}

  Coder& host() {
    if (!host_) host_ = make_coder<Coder>(params_);
    return *host_;
  }
  Backend backend() { return host().backend(); }

 protected:
  OnDevice& made_on(int device) {
    OnDevice& found = on_device_[device];
    if (found) return found;
    Params params = params_;
    params.backend = Backend::cuda;
    params.device = device;
    return found = device_coder(params);
  }

  Params params_;
  std::optional<Coder> host_;
  std::map<int, OnDevice> on_device_;
};

class Encoders : public Coders<Encoder, EncodeParams, std::unique_ptr<DeviceEncoding>> {
 public:
  using Coders::Coders;

  /// Errors: ArgumentError for another device than the encoder's.
  DeviceEncoding& on_device(int device) {
    check_device(params_, device, "image");
    return *made_on(device);
  }
  /// Encodes into `stream`. Needs no GIL.
  Status encode_host(const Image& image) {
    const HostMemory best = preferred_memory(backend());
    if (stream.memory() != best) stream = HostBuffer(best);
    return host().encode(image.view, stream).status();
  }
  nb::bytes encode(const Image& image, std::uintptr_t on) {
    if (image.device() != kHost) return on_device(image.device()).encode(image, on);
    check(without_gil([&] { return encode_host(image); }));
    return stream_object(stream.bytes(), backend() == Backend::cuda);
  }
  void set_quality(int quality) {
    check(host().set_quality(quality));
    params_.quality = quality;
    on_device_.clear();
  }

  HostBuffer stream;  ///< of encode_host(); read faster than new memory
};

class Decoders : public Coders<Decoder, DecodeParams, DeviceDecode> {
 public:
  using Coders::Coders;

  /// The part of the picture that `part` tells, at its scale. Needs no GIL.
  Result<DecodeReport> decode(const DecodeParams& part, const JpegData& jpeg, const Picture& to,
                              std::uintptr_t on) {
    if (to.device != kHost) return made_on(to.device)(jpeg, part, to.view, on);
    ZR_TRY(host().select(part.scale, part.region));
    return host().decode(jpeg.bytes(), to.view);
  }
};

/// Every call of a decoder selects its scale and region.
template <>
inline bool serves(const DecodeParams& made, const DecodeParams& wanted) {
  DecodeParams selected = wanted;
  selected.scale = made.scale;
  selected.region = made.region;
  return made == selected;
}

/// What is kept for the next call: making a coder takes longer than a small picture, and its memory
/// and threads can be used again.
struct Pools {
  /// A coder keeps the memory of the largest picture it saw: about 40 MB for 4K.
  Pool<Encoders, EncodeParams, 16> encoders;
  Pool<Decoders, DecodeParams, 16> decoders;
  /// For batches on a GPU: each keeps up to 128 MiB of device and 112 MiB of pinned memory.
  Pool<Encoders, EncodeParams, 4> batch_encoders;
  /// Of batches, by their number: starting 16 of them takes as long as decoding 20 small pictures
  /// on a GPU.
  Pool<ThreadPool, int, 4> threads;
};
inline Pools& pools() { return of_this_process<Pools>(); }

/// What the classes Encoder and Decoder have in common.
template <typename Coders, typename Params>
class PyCoder {
 public:
  explicit PyCoder(Params params)
      : params_(std::move(params)), made_(std::make_unique<Made>(params_)) {}

  std::string backend() { return std::string(name(made()->coders.backend())); }
  /// A call of another thread that is under way still ends well.
  void close() { made_ = {}; }

 protected:
  /// The lock is taken without the GIL, so threads that share an object wait for each other and
  /// not for the interpreter.
  struct Made {
    explicit Made(const Params& params) : coders(params) { (void)coders.host(); }
    std::mutex mutex;
    Coders coders;
  };

  std::shared_ptr<Made> made() {
    if (made_.is_foreign()) made_ = ForkBound(std::make_unique<Made>(params_));
    if (auto made = made_.get()) return made;
    constexpr bool kEncodes = std::is_same_v<Params, EncodeParams>;
    fail(Errc::already_finished, kEncodes ? "the encoder is closed" : "the decoder is closed");
  }

  Params params_;

 private:
  ForkBound<Made> made_;
};

inline nb::object itself(nb::handle self) { return nb::borrow(self); }

/// What all coders have, also `with coder:`; the block's end closes it.
template <typename Class>
void bind_coder(nb::class_<Class>& type, const char* close_help) {
  type.def_prop_ro("backend", &Class::backend, "'cpu' or 'cuda'.")
      .def("close", &Class::close, close_help)
      .def("__enter__", &itself, nb::sig("def __enter__(self) -> Self"))
      .def(
          "__exit__", [](Class& self, const nb::args&) { self.close(); }, "error"_a,
          nb::sig("def __exit__(self, *error: Any) -> None"));
}

/// Runs a job for items 0 to count-1 on up to `workers` threads, of which the calling one is one; a
/// worker takes the next item that is left when it is done. Call it with the GIL held; jobs run
/// without it and must not throw. A job that takes long calls look() now and then, for signals.
/// Errors: what a signal's handler raises, after `stop` was called and the jobs under way have
/// ended.
using Job =
    std::function<void(std::size_t item, std::size_t worker, const std::function<void()>& look)>;
void run_jobs(
    std::size_t count, std::size_t workers, const Job& job,
    const std::function<void()>& stop = [] {});

/// The caller's number, or one for each core (CPU) or as many as keep a GPU busy (CUDA).
int worker_count(int wanted, bool is_cuda, std::size_t items);

/// An item to decode: a stream in host memory, or the name of a file that holds one. Made and
/// destroyed with the GIL held.
class BatchInput {
 public:
  /// Takes a str or an os.PathLike as the name of a file, and all else as JpegData does. Errors:
  /// those of JpegData; ValueError for a name that no file can have.
  explicit BatchInput(nb::handle object);

  /// Whether bytes() puts the stream into its argument: that of a file, and one that another thread
  /// could write.
  bool fills_room() const { return !data_ || !data_->is_stable(); }
  /// The size of the stream, for planning alone; 0 for a file that cannot be asked.
  std::size_t likely_bytes() const;
  /// The stream, which lives as long as this object and `room`. Needs no GIL. Errors: open_failed,
  /// read_failed, out_of_memory, and those of HostBuffer.
  Result<std::span<const std::byte>> bytes(HostBuffer& room) const;

 private:
  std::optional<JpegData> data_;  ///< unset: the stream is in the file
  std::string path_;
};

/// An item of decode_batch().
struct DecodeJob {
  std::unique_ptr<BatchInput> input;  ///< unset: `result` has the error
  int scale = 1;
  Region region = {};
  std::optional<HostPicture> picture;
  nb::object result;
  Status status;
};

/// Decodes streams of any sizes side by side: each job gets its arrays or an error.
void decode_batch_to_device(std::vector<DecodeJob>& jobs, PixelFormat format, DecodeParams params,
                            int workers, std::uintptr_t stream, nb::handle stream_owner);

/// Gives unused device memory back to the system, and the decoders of decode_batch().
void release_device_memory();

void bind_coders(nb::module_& module);
void bind_batch(nb::module_& module);
void bind_async(nb::module_& module);
void bind_video(nb::module_& module);
void bind_device_array(nb::module_& module);

/// True if results go to device memory: the caller said so, or chose a GPU and not `to`.
bool wants_device(nb::handle to, const DecodeParams& params);

/// The attributes of DecodeReport as an object of Python.
nb::object report_object(const DecodeReport& report);

}  // namespace zerorun::python
