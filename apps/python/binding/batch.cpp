// encode_batch() and decode_batch(), their threads, and the files that they read.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

#include "apps/python/binding/coders.hpp"
#include "codec/base/interruptions.hpp"

namespace zerorun::python {
namespace {

/// The bytes of a name, as os.fsencode() makes them.
std::string encoded_path(nb::handle object) {
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(object.ptr(), &encoded) == 0) throw nb::python_error();
  const auto path = nb::steal<nb::bytes>(encoded);
  return {path.c_str(), path.size()};
}

Status file_problem(Errc code, const std::string& path, int error) {
  return Status(code, path + ": " + std::generic_category().message(error));
}

Result<std::span<const std::byte>> read_file(const std::string& path, HostBuffer& room) {
  // A pipe without a writer would block for ever.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return file_problem(Errc::open_failed, path, errno);
  const std::shared_ptr<void> closes(nullptr, [file](void*) { (void)close(file); });
  struct stat about {};
  if (fstat(file, &about) != 0) return file_problem(Errc::read_failed, path, errno);
  if (!S_ISREG(about.st_mode))
    return Status(Errc::open_failed, path + ": it is not a regular file");
  // The size of a sparse file may be anything.
  if (about.st_size > off_t{1} << 31)
    return Status(Errc::out_of_memory, path + ": it has more than 2 GiB, which no picture needs");
  ZR_TRY(room.resize(static_cast<std::size_t>(about.st_size)));
  const std::ptrdiff_t count = read_fully(file, 0, {room.data(), room.size()});
  if (count < 0) return file_problem(Errc::read_failed, path, errno);
  return room.bytes().first(static_cast<std::size_t>(count));
}

/// Errors of one item become its result; others leave the call.
template <typename Body>
nb::object result_or_error(const Body& body) try {
  return body();
} catch (nb::python_error& error) {
  if (!error.matches(PyExc_Exception)) throw;
  // Before Python 3.12 it may still be the arguments of an exception that what() makes of them.
  (void)error.what();
  return nb::borrow(error.value());
}

/// A job for each item, by take(job, item). Errors: those of the iterator, and of handlers of
/// signals.
template <typename Job, typename Take>
std::vector<Job> jobs_of(nb::handle items, const Take& take) {
  std::vector<Job> jobs;
  const nb::object iterator = nb::iter(items);
  const auto next = [&] { return PyIter_Next(iterator.ptr()); };
  while (const nb::object item = nb::steal(sleep_if_python_ends(next))) {
    Job& job = jobs.emplace_back();
    job.result = result_or_error([&] {
      take(job, item);
      return nb::none();
    });
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return jobs;
}

/// Coders for so many jobs; `wanted` as worker_count(). Errors: those of a coder for the host.
template <typename Pool, typename Params>
auto take_coders(Pool& pool, Params params, int wanted, std::size_t jobs) {
  const auto backend = resolve_backend(usable_backend(params.backend), params.device);
  const bool is_cuda = backend && *backend == Backend::cuda;
  if (!is_cuda && params.threads == 0 && jobs > 1 && wanted != 1) params.threads = 1;
  std::vector<decltype(pool.take(params))> coders;
  for (int left = worker_count(wanted, is_cuda, jobs); left > 0; --left) {
    coders.push_back(pool.take(params));
    (void)coders.back()->host();
  }
  return coders;
}

struct EncodeJob {
  std::optional<Image> image;  ///< unset: `result` has the error
  nb::object result;
  Status status;
  std::vector<std::byte> jpeg;
};

/// No worker makes an object of Python: the interpreter may end before a worker has the GIL.
Status encode_job(Encoders& coder, EncodeJob& job) {
  ZR_TRY(coder.encode_host(*job.image));
  job.jpeg.assign(coder.stream.bytes().begin(), coder.stream.bytes().end());
  return Status::ok();
}

void encode_host_jobs(const std::vector<EncodeJob*>& jobs, const EncodeParams& params, int wanted) {
  if (jobs.empty()) return;
  const auto coders = take_coders(pools().encoders, params, wanted, jobs.size());
  run_jobs(jobs.size(), coders.size(), [&](std::size_t item, std::size_t worker, const auto&) {
    jobs[item]->status = guarded([&] { return encode_job(*coders[worker], *jobs[item]); });
  });
  const bool is_cuda = coders[0]->backend() == Backend::cuda;
  for (EncodeJob* job : jobs)
    job->result = job->status ? stream_object(job->jpeg, is_cuda) : exception_of(job->status);
}

void encode_device_jobs(const std::vector<EncodeJob*>& jobs, EncodeParams params, int workers,
                        std::uintptr_t stream) {
  if (jobs.empty()) return;
  const int device = jobs[0]->image->device();
  std::vector<Image*> images;
  for (EncodeJob* job : jobs) {
    if (job->image->device() != device) fail_argument("the images of a batch must be on one GPU");
    images.push_back(&*job->image);
  }
  if (params.threads == 0) params.threads = workers;
  const auto coders = pools().batch_encoders.take(params);
  std::vector<nb::object> results = coders->on_device(device).encode_batch(images, stream);
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i]->result = std::move(results[i]);
}

nb::list encode_many(nb::handle images, nb::handle format, nb::handle stream, nb::handle workers,
                     const nb::kwargs& options) {
  const EncodeParams params = encode_params(options);
  check(max_encoded_bytes(params, PixelFormat::gray8, 1, 1).status());  // checks the options alone
  const ImageHints hints = image_hints(format, nb::none());
  std::optional<std::uintptr_t> on;  // that of the first image on a GPU, for all
  auto jobs = jobs_of<EncodeJob>(images, [&](EncodeJob& job, nb::handle object) {
    const std::uintptr_t used = on ? *on : stream_handle(stream, object);
    job.image = Image::from(object, hints, used);
    if (job.image->device() != kHost) on = used;
  });
  std::vector<EncodeJob*> on_host, on_device;
  for (EncodeJob& job : jobs)
    if (job.image) (job.image->device() == kHost ? on_host : on_device).push_back(&job);
  const int wanted = parse_int(workers, "workers");
  encode_host_jobs(on_host, params, wanted);
  encode_device_jobs(on_device, params, wanted, on.value_or(0));
  return list_of(jobs, &EncodeJob::result);
}

/// A file is read into `room`, which every item of a worker uses again: a call holds no more files
/// at a time than it has workers.
Status decode_job(Decoder& coder, HostBuffer& room, DecodeJob& job, PixelFormat format) {
  ZR_LET(jpeg, job.input->bytes(room));
  ZR_LET(frame, decoded_frame(jpeg, format, coder.params().limits, job.scale, job.region));
  ZR_LET(picture, HostPicture::make(frame));
  job.picture = std::move(picture);
  ZR_TRY(coder.select(job.scale, job.region));
  return coder.decode(jpeg, job.picture->view).status();
}

void decode_host_jobs(std::vector<DecodeJob>& jobs, const DecodeParams& params, PixelFormat format,
                      int wanted) {
  std::vector<DecodeJob*> ready;
  for (DecodeJob& job : jobs)
    if (job.input) ready.push_back(&job);
  if (ready.empty()) return;
  const auto coders = take_coders(pools().decoders, params, wanted, ready.size());
  std::vector<HostBuffer> rooms(coders.size());
  run_jobs(ready.size(), coders.size(), [&](std::size_t item, std::size_t worker, const auto&) {
    ready[item]->status = guarded(
        [&] { return decode_job(coders[worker]->host(), rooms[worker], *ready[item], format); });
  });
  for (DecodeJob* job : ready)
    job->result = result_or_error(
        [&] { return job->status ? job->picture->object() : exception_of(job->status); });
}

/// The letters of a name and the bytes of a stream would be items, too.
void refuse_single(nb::handle streams) {
  nb::ndarray<nb::ro, std::uint8_t, nb::ndim<1>> bytes;
  if (nb::isinstance<nb::str>(streams) || nb::hasattr(streams, "__fspath__") ||
      (PyObject_CheckBuffer(streams.ptr()) && nb::try_cast(streams, bytes, /*convert=*/false)))
    fail_type(
        "decode_batch() takes a list of streams or file names, and this is a single one: put it "
        "into a list, or call decode()");
}

nb::list decode_many(nb::handle streams, nb::handle format, nb::handle to, nb::handle stream,
                     nb::handle workers, nb::handle scale, nb::handle region,
                     const nb::kwargs& options) {
  refuse_single(streams);
  const bool are_scales = nb::isinstance<nb::list>(scale);
  const bool are_regions =
      nb::isinstance<nb::list>(region) &&
      (nb::len(region) == 0 || !nb::isinstance<nb::int_>(nb::object(region[0])));
  DecodeParams params = decode_params(options);
  if (!are_scales) params.scale = parse_int(scale, "scale");
  if (!are_regions) params.region = parse_region(region, "region");
  const PixelFormat pixels = parse_format(format);
  auto jobs = jobs_of<DecodeJob>(streams, [](DecodeJob& job, nb::handle object) {
    job.input = std::make_unique<BatchInput>(object);
  });
  if ((are_scales && nb::len(scale) != jobs.size()) ||
      (are_regions && nb::len(region) != jobs.size()))
    fail_argument("a list of scale or region needs one entry for each of the ", jobs.size(),
                  " streams");
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].scale = are_scales ? parse_int(nb::object(scale[i]), "scale") : params.scale;
    jobs[i].region = are_regions ? parse_region(nb::object(region[i]), "region") : params.region;
  }
  const int wanted = parse_int(workers, "workers");
  if (wants_device(to, params))
    decode_batch_to_device(jobs, pixels, params, wanted, stream_handle(stream, nb::none()), stream);
  else
    decode_host_jobs(jobs, params, pixels, wanted);
  return list_of(jobs, &DecodeJob::result);
}

}  // namespace

int worker_count(int wanted, bool is_cuda, std::size_t items) {
  if (wanted < 0 || wanted > 256) fail_argument("workers must be from 0 (automatic) to 256");
  // The CPU has to copy pictures for a GPU too. Arrays of 3840x2160 take 931 us each with 16
  // workers, 1,844 with 8 and 2,098 with 4 (H200, 16 cores).
  const int automatic = is_cuda ? std::clamp(usable_processors(), 4, 16) : usable_processors();
  const int workers = wanted > 0 ? wanted : automatic;
  return static_cast<int>(std::clamp<std::size_t>(items, 1, static_cast<std::size_t>(workers)));
}

void run_jobs(std::size_t count, std::size_t workers, const Job& job,
              const std::function<void()>& stop) {
  const auto pool = pools().threads.take(static_cast<int>(workers));
  std::atomic<std::size_t> next{0};
  bool interrupted = false;
  {
    WithoutGil no_gil;
    auto looked = std::chrono::steady_clock::now();
    const auto look = [&] {
      constexpr std::chrono::milliseconds kLookForSignals{50};
      const auto now = std::chrono::steady_clock::now();
      if (interrupted || now - looked < kLookForSignals) return;
      looked = now;
      if (no_gil.call_with_gil(PyErr_CheckSignals) == 0) return;
      interrupted = true;
      next = count;
      stop();
    };
    const std::function<void()> looks[] = {look, [] {}};  // signals are the calling thread's
    const auto work = [&](std::int64_t worker, int thread) {
      for (std::size_t item; (item = next.fetch_add(1)) < count;) {
        job(item, static_cast<std::size_t>(worker), looks[thread == 0 ? 0 : 1]);
        looks[thread == 0 ? 0 : 1]();
      }
    };
    pool->run(static_cast<std::int64_t>(workers), work);
  }
  if (interrupted) throw nb::python_error();
}

BatchInput::BatchInput(nb::handle object) {
  const bool is_bytes = PyBytes_CheckExact(object.ptr());  // JpegData asks no more of them
  if (!is_bytes && (nb::isinstance<nb::str>(object) || nb::hasattr(object, "__fspath__")))
    path_ = encoded_path(object);
  else
    data_.emplace(object, std::nullopt, std::nullopt);
}

std::size_t BatchInput::likely_bytes() const {
  if (data_) return data_->bytes().size();
  struct stat about {};
  return stat(path_.c_str(), &about) == 0 ? static_cast<std::size_t>(about.st_size) : 0;
}

Result<std::span<const std::byte>> BatchInput::bytes(HostBuffer& room) const {
  if (!data_) return read_file(path_, room);
  if (data_->is_stable()) return data_->bytes();
  ZR_TRY(room.resize(data_->bytes().size()));
  // Not std::ranges::copy(), which goes byte by byte in code that is compiled to be small.
  std::memcpy(room.data(), data_->bytes().data(), data_->bytes().size());
  return room.bytes();
}

void bind_batch(nb::module_& module) {
  module.def("encode_batch", &encode_many, "images"_a.none(), nb::kw_only(),
             "format"_a = nb::none(), "stream"_a = nb::none(), "workers"_a = 0, "options"_a,
             nb::sig("def encode_batch(images: Iterable[Image], *, format: Optional[str] = None, "
                     "stream: Stream = None, workers: int = 0, **options: Unpack[EncodeOptions]) "
                     "-> list[Union[bytes, Exception]]"),
             R"(Encodes pictures of any sizes side by side; returns a list in their order.

An image that cannot be encoded has its exception in the list, and the others go on.
workers is the number of threads; 0: one a core, on a GPU 4 to 16. Pictures that lie on a GPU
are coded there together, and so many threads (0: up to 8) copy their streams. Ctrl-C ends the
call. Options are those of encode().)");
  module.def("decode_batch", &decode_many, "streams"_a.none(), "format"_a = "rgb24", nb::kw_only(),
             "to"_a = nb::none(), "stream"_a = nb::none(), "workers"_a = 0, "scale"_a.none() = 1,
             "region"_a = nb::none(), "options"_a,
             nb::sig("def decode_batch(streams: Iterable[Union[Data, str, PathLike[str]]], format: "
                     "str = \"rgb24\", *, to: Optional[str] = None, stream: Stream = None, "
                     "workers: int = 0, **options: Unpack[DecodeOptions]) -> list[Any]"),
             R"(Decodes streams of any sizes side by side; returns a list of arrays in their order.

A str or an os.PathLike is the name of a file, which is read by the thread that decodes it:
the fastest way from a folder to arrays, with one file a thread in memory (to device memory
two). A stream that cannot be read or decoded has its exception in the list, and the others go
on. workers is the number of threads; 0: one a core, on a GPU at most 16. format, to and the
options are those of decode(). scale and region may also be lists with one entry for each stream;
None is the whole picture.)");
}

}  // namespace zerorun::python
