// SPDX-License-Identifier: MIT
#include "apps/python/binding/coders.hpp"

#include <cuda_runtime_api.h>
#include <nanobind/stl/pair.h>

#include <bit>
#include <cstring>
#include <deque>

#include "codec/base/pixel_rows.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::python {
namespace {

cudaStream_t stream_of(std::uintptr_t handle) { return reinterpret_cast<cudaStream_t>(handle); }

/// ok, or device_failure with the call and CUDA's reason.
Status cuda_status(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return Status::ok();
  (void)cudaGetLastError();
  const Errc code = error == cudaErrorMemoryAllocation ? Errc::out_of_memory : Errc::device_failure;
  return Status(code, std::string(call) + ": " + cudaGetErrorString(error));
}

/// The Status of a call of CUDA.
#define ZR_CUDA(call, ...) cuda_status(call(__VA_ARGS__), #call)

/// Makes a device the thread's current one, and the old one again.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    (void)cudaGetDevice(&before_);
    if (before_ != device) (void)cudaSetDevice(device);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() {
    int now = 0;
    (void)cudaGetDevice(&now);
    if (now != before_) (void)cudaSetDevice(before_);
  }

 private:
  int before_ = 0;
};

/// What is enqueued on `second` from now on waits for what is on `first`.
Status order_streams(std::uintptr_t first, std::uintptr_t second, int device) {
  if (first == second) return Status::ok();
  const OnDevice current(device);
  cudaEvent_t event = nullptr;
  ZR_TRY(ZR_CUDA(cudaEventCreateWithFlags, &event, cudaEventDisableTiming));
  Status status = ZR_CUDA(cudaEventRecord, event, stream_of(first));
  if (status) status = ZR_CUDA(cudaStreamWaitEvent, stream_of(second), event, 0);
  (void)cudaEventDestroy(event);  // CUDA keeps it until the wait is over
  return status;
}

/// Waits for `stream`. Needs no GIL.
Status copy_to_host(void* to, const void* from, std::size_t bytes, int device,
                    std::uintptr_t stream) {
  const OnDevice current(device);
  ZR_TRY(ZR_CUDA(cudaMemcpyAsync, to, from, bytes, cudaMemcpyDeviceToHost, stream_of(stream)));
  return ZR_CUDA(cudaStreamSynchronize, stream_of(stream));
}

/// Work on the stream that is enqueued by now still sees it.
void free_memory(void* data, cudaStream_t stream) {
  if (cudaFreeAsync(data, stream) != cudaSuccess) (void)cudaGetLastError();
}

/// Device memory that arrays have dropped, by its bytes, for the next arrays: from CUDA's pool one
/// takes 20 to 100 us where several threads ask, and 2 us to give back.
using KeptMemory = std::multimap<std::size_t, void*>;
std::mutex kept_mutex;  ///< for each of them

/// Null: no piece is as large and hardly larger, and one of another size is freed, so that there
/// are never more than there were arrays at a time. `bytes` becomes what the piece has.
void* take_kept(KeptMemory& pieces, std::size_t& bytes, cudaStream_t stream) {
  const std::lock_guard lock(kept_mutex);
  auto found = pieces.lower_bound(bytes);
  if (found != pieces.end() && found->first <= bytes + bytes / 4 + (std::size_t{64} << 10)) {
    bytes = found->first;
    return pieces.extract(found).mapped();
  }
  if (pieces.empty()) return nullptr;
  if (found != pieces.begin()) --found;
  free_memory(pieces.extract(found).mapped(), stream);
  return nullptr;
}

/// False: the caller has to free it.
bool keep_memory(KeptMemory& pieces, void* data, std::size_t bytes) noexcept try {
  const std::lock_guard lock(kept_mutex);
  pieces.emplace(bytes, data);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void free_kept(KeptMemory& pieces, cudaStream_t stream) {
  const std::lock_guard lock(kept_mutex);
  for (const auto& [bytes, data] : std::exchange(pieces, {})) free_memory(data, stream);
}

/// A pool of this module's own. CUDA frees it at the end of the process.
struct MemoryPool {
  cudaMemPool_t pool = nullptr;
  KeptMemory kept;  ///< what is used on the default stream from now on may use it
};
std::mutex pools_mutex;
/// By device. Lock the mutex for it; a pool stays where it is.
std::map<int, MemoryPool>& memory_pools() {
  static auto& all = *new std::map<int, MemoryPool>;
  return all;
}

/// Asking the system for memory takes milliseconds, so the pool keeps what it has.
Result<MemoryPool*> pool_of(int device) {
  const std::lock_guard lock(pools_mutex);
  MemoryPool& found = memory_pools()[device];
  if (found.pool != nullptr) return &found;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaMemPool_t pool = nullptr;
  ZR_TRY(ZR_CUDA(cudaMemPoolCreate, &pool, &properties));
  std::uint64_t keep = UINT64_MAX;
  ZR_TRY(ZR_CUDA(cudaMemPoolSetAttribute, pool, cudaMemPoolAttrReleaseThreshold, &keep));
  found.pool = pool;
  return &found;
}

/// A piece of device memory. Work enqueued on `stream` before it is freed still sees it.
struct DeviceBlock {
  ~DeviceBlock() {
    if (data == nullptr || generation != fork_generation()) return;
    // The caller may destroy a stream of its own once the arrays are gone.
    if (stream == 0 && keep_memory(pool->kept, data, bytes)) return;
    const OnDevice current(device);
    free_memory(data, stream_of(stream));
  }

  void* data = nullptr;
  std::size_t bytes = 0;
  MemoryPool* pool = nullptr;
  int device = 0;
  std::uintptr_t stream = 0;
  int generation = 0;                  ///< a child of fork() leaves it alone
  std::shared_ptr<void> stream_owner;  ///< keeps a stream of Python alive
};

/// `kept`: what may be used on the stream; null: nothing.
Result<std::shared_ptr<DeviceBlock>> allocate_block(std::size_t bytes, int device,
                                                    std::uintptr_t stream, KeptMemory* kept) {
  const OnDevice current(device);
  ZR_LET(pool, pool_of(device));
  const std::shared_ptr<DeviceBlock> block(
      new DeviceBlock{nullptr, bytes, pool, device, stream, fork_generation(), nullptr});
  if (kept != nullptr) block->data = take_kept(*kept, block->bytes, stream_of(stream));
  if (block->data != nullptr) return block;
  const auto allocate = [&] {
    return cudaMallocFromPoolAsync(&block->data, bytes, pool->pool, stream_of(stream));
  };
  cudaError_t error = allocate();
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    free_kept(pool->kept, nullptr);
    (void)cudaStreamSynchronize(nullptr);
    if (kept != nullptr) free_kept(*kept, stream_of(stream));
    error = allocate();
  }
  ZR_TRY(cuda_status(error, "cudaMallocFromPoolAsync"));
  return block;
}

/// A row-major array without gaps.
struct DeviceArray {
  std::shared_ptr<DeviceBlock> block;
  std::uint8_t* data = nullptr;
  PlaneShape shape;
};

/// The planes of a picture in one block, each at a multiple of 256 bytes as cudaMalloc() has it.
struct DevicePlanes {
  /// Needs no GIL. Errors: out_of_memory, device_failure.
  static Result<DevicePlanes> make(const FrameView& frame, int device, std::uintptr_t stream,
                                   KeptMemory* kept) {
    DevicePlanes made{frame, nullptr};
    place_planes(made.view, nullptr, 1);  // for the strides
    const std::size_t planes = planes_of(frame.format);
    std::array<std::size_t, 4> at{};
    for (std::size_t p = 0; p < planes; ++p)
      at[p + 1] = round_up(at[p] + plane_shape(frame, p).bytes(), std::size_t{256});
    ZR_LET(block, allocate_block(at[planes], device, stream, kept));
    made.block = block;
    for (std::size_t p = 0; p < planes; ++p)
      made.view.data[p] = static_cast<std::uint8_t*>(block->data) + at[p];
    return made;
  }

  /// An array, or a tuple of them. Needs the GIL.
  nb::object object() const {
    return picture_of(view, [&](std::uint8_t* data, const PlaneShape& shape) {
      return nb::cast(DeviceArray{block, data, shape});
    });
  }

  FrameView view;
  std::shared_ptr<DeviceBlock> block;
};

/// The default stream has the number 1 in both protocols.
std::uintptr_t public_stream(std::uintptr_t stream) { return stream == 0 ? 1 : stream; }

nb::dict cuda_interface(const DeviceArray& array) {
  nb::dict description;
  description["shape"] = array.shape.tuple();
  description["typestr"] = "|u1";
  description["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(array.data), false);
  description["strides"] = nb::none();
  description["stream"] = public_stream(array.block->stream);
  description["version"] = 3;
  return description;
}

/// `stream` is the consumer's: None and 1 the default stream, -1 one that needs no order.
nb::object dlpack(const DeviceArray& array, nb::handle stream, nb::handle, nb::handle, nb::handle) {
  std::int64_t consumer = 1;
  if (!stream.is_none() && !nb::try_cast(stream, consumer))
    fail(Errc::invalid_argument, "stream is no handle of a CUDA stream");
  use_cuda();
  if (consumer != -1)
    check(order_streams(public_stream(array.block->stream), static_cast<std::uintptr_t>(consumer),
                        array.block->device));
  return array_over(array.data, array.shape, array.block, array.block->device);
}

nb::object to_numpy(const DeviceArray& array) {
  use_cuda();
  const auto copy = std::make_shared<HostBuffer>();
  check(without_gil([&]() -> Status {
    ZR_TRY(copy->resize(array.shape.bytes()));
    return copy_to_host(copy->data(), array.data, copy->size(), array.block->device,
                        array.block->stream);
  }));
  return array_over(copy->data(), array.shape, copy);
}

std::string device_name(const DeviceArray& array) {
  return "cuda:" + std::to_string(array.block->device);
}

/// Memory for a stream at the first try. Photos at quality 90 take a sixth of their RGB bytes; a
/// stream that needs more is coded again.
std::size_t likely_bytes(const ConstFrameView& frame) {
  FrameView tight{frame.format, frame.width, frame.height, {}, {}};
  return round_up(place_planes(tight, nullptr, 1) / 2 + 65536, std::size_t{64});
}

cudaPointerAttributes attributes_of(const void* address, const std::string& name) {
  cudaPointerAttributes attributes{};
  const cudaError_t error = cudaPointerGetAttributes(&attributes, address);
  if (error != cudaSuccess) {
    (void)cudaGetLastError();
    fail(Errc::no_device,
         name + " is in device memory, but CUDA cannot be used: " + cudaGetErrorString(error));
  }
  return attributes;
}

/// Errors: ArgumentError for memory that the device cannot write.
void check_writable(const Array& array, const char* name) {
  if (!array.writable || !array.is_flat())
    fail_argument(name, " must be writable bytes one after another");
  if (array.shape[0] == 0) fail_argument(name, " is empty");
  if (array.device == kHost && attributes_of(array.data, name).type != cudaMemoryTypeHost)
    fail_argument(name, " must be on the GPU or in pinned memory, which the GPU can write");
}

/// The device has found that the picture cannot be so small. How small it can be, it does not tell.
Status size_not_reached(const SizeGoal& goal) {
  std::size_t most = goal.target_bytes != 0 ? goal.target_bytes : goal.max_bytes;
  if (goal.max_bytes != 0) most = std::min(most, goal.max_bytes);
  return Status(Errc::size_not_reached,
                "the smallest stream of this picture has more than the " + std::to_string(most) +
                    " bytes that were asked for; ask for more, or scale the picture down");
}

class Encoding final : public DeviceEncoding {
 public:
  Encoding(DeviceEncoder encoder, int device) : encoder_(std::move(encoder)), device_(device) {}

  nb::bytes encode(const Image& image, std::uintptr_t stream) override {
    order_after(image.arrays, stream);
    if (std::int64_t{image.view.width} * image.view.height >= kLargePixels) {
      const nb::object result = to_bytes({&image.view, 1}, stream, false)[0];
      if (!result.is_valid()) fail(size_not_reached(encoder_.params().size));
      return nb::borrow<nb::bytes>(result);
    }
    const std::size_t size = value_of(without_gil([&] { return run(image.view, stream); }));
    return stream_object({out_.data(), size}, true);
  }

  void encode_into(const Image& image, const Array& out, const Array& size,
                   std::uintptr_t stream) override {
    check_writable(out, "out");
    check_writable(size, "size_out");
    if (size.shape[0] != 8 || reinterpret_cast<std::uintptr_t>(size.data) % 8 != 0)
      fail_argument("size_out must be 8 bytes at an address that 8 divides");
    order_after(image.arrays, stream);
    check(without_gil([&] {
      const OnDevice current(device_);
      return encoder_.encode(image.view, reinterpret_cast<std::byte*>(out.data),
                             static_cast<std::size_t>(out.shape[0]),
                             reinterpret_cast<std::size_t*>(size.data), stream_of(stream));
    }));
  }

  std::vector<nb::object> encode_batch(const std::vector<Image*>& images,
                                       std::uintptr_t stream) override {
    std::vector<ConstFrameView> frames;
    for (const Image* image : images) {
      order_after(image->arrays, stream);
      frames.push_back(image->view);
    }
    std::vector<nb::object> results = to_bytes(frames, stream, true);
    for (nb::object& result : results)
      if (!result.is_valid()) result = exception_of(size_not_reached(encoder_.params().size));
    return results;
  }

 private:
  /// From so many pixels on a stream crosses the bus in copies, behind which threads follow; the
  /// kernels write a smaller one to pinned memory themselves, which saves the host a wait.
  static constexpr std::int64_t kLargePixels = std::int64_t{4} << 20;

  /// A result stays null where no stream is so small. Errors: also what a signal's handler raises.
  /// The handler may use the object that calls: a caller that holds its lock does not look for
  /// signals, or it would wait for itself.
  std::vector<nb::object> to_bytes(std::span<const ConstFrameView> frames, std::uintptr_t stream,
                                   bool looks_for_signals) {
    std::vector<nb::object> results(frames.size());
    bool raised = false;
    Status status;
    {
      WithoutGil no_gil;
      const OnDevice current(device_);
      const auto memory = [&](std::span<EncodedStream> streams) {
        raised = !no_gil.call_with_gil([&] {
          return (!looks_for_signals || PyErr_CheckSignals() == 0) && make_bytes(streams, results);
        });
        return raised ? Status(Errc::out_of_memory) : Status::ok();
      };
      status = encoder_.encode_to_host(frames, memory, stream_of(stream));
    }
    if (raised) throw nb::python_error();
    check(status);
    for (const nb::object& result : results)
      if (result.is_valid()) given_streams().keep(result);
    return results;
  }

  /// Nobody else has the objects, so that they may be filled without the GIL. False: an error of
  /// Python is set.
  static bool make_bytes(std::span<EncodedStream> streams, std::vector<nb::object>& results) {
    for (EncodedStream& stream : streams) {
      if (stream.bytes == 0) continue;
      nb::object& result = results[stream.frame];
      result = given_streams().next(stream.bytes);
      if (!result.is_valid()) return false;
      stream.out = reinterpret_cast<std::byte*>(PyBytes_AsString(result.ptr()));
    }
    return true;
  }

  /// The size of the stream, which is in out_.
  Result<std::size_t> run(const ConstFrameView& frame, std::uintptr_t stream) {
    const OnDevice current(device_);
    std::size_t capacity = std::max(likely_bytes(frame), out_.capacity());
    for (;;) {
      ZR_TRY(out_.resize(capacity));
      ZR_TRY(sizes_.resize(sizeof(std::size_t)));
      auto* written = reinterpret_cast<std::size_t*>(sizes_.data());
      ZR_TRY(encoder_.encode(frame, out_.data(), capacity, written, stream_of(stream)));
      ZR_TRY(ZR_CUDA(cudaStreamSynchronize, stream_of(stream)));
      const std::size_t size = *written;
      if (size == 0) return size_not_reached(encoder_.params().size);
      if (size <= capacity) return size;
      capacity = size;
    }
  }

  DeviceEncoder encoder_;
  int device_;
  HostBuffer out_{HostMemory::pinned};
  HostBuffer sizes_{HostMemory::pinned};
};

/// A stream of a batch, and what becomes of it.
struct DeviceJob {
  DecodeJob* job;
  std::size_t likely_bytes;
  std::span<const std::byte> jpeg;  ///< empty before it is ready to be decoded
  std::optional<DevicePlanes> planes;
  Status status;
};

/// The jobs of a call, taken from both ends of their order by size: long streams keep the GPU busy,
/// and the calls for short ones, which take longer than their kernels, the CPU. Those that are left
/// to the end are of middle size. Safe to use from several threads.
class DeviceJobs {
 public:
  /// `jobs` outlives the object.
  explicit DeviceJobs(std::vector<DeviceJob>& jobs) {
    for (DeviceJob& job : jobs) left_.push_back(&job);
    std::ranges::stable_sort(left_, std::greater(), &DeviceJob::likely_bytes);
  }

  /// The longest or the shortest. Null: all are taken, or stop() was called.
  DeviceJob* take(bool longest) {
    const std::lock_guard lock(mutex_);
    if (left_.empty()) return nullptr;
    DeviceJob* const job = longest ? left_.front() : left_.back();
    longest ? left_.pop_front() : left_.pop_back();
    return job;
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    left_ = {};
  }

 private:
  std::mutex mutex_;
  std::deque<DeviceJob*> left_;
};

/// A decoder with a stream of its own. While the GPU decodes one image of a lane, its thread makes
/// the next one ready.
class Lane {
 public:
  /// Errors: those of DeviceDecoder::create(), device_failure.
  explicit Lane(const DecodeParams& params)
      : decoder_(value_of(DeviceDecoder::create(params))), device_(params.device) {
    check(ZR_CUDA(cudaStreamCreateWithFlags, &stream_, cudaStreamNonBlocking));
    check(ZR_CUDA(cudaEventCreateWithFlags, &ended_, cudaEventDisableTiming));
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane() {
    if (ended_ != nullptr) (void)cudaEventDestroy(ended_);
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
  }

  /// The most bytes that it was given at once: a measure of the memory that it has.
  std::size_t most_bytes() const { return most_bytes_; }

  /// Decodes jobs until none is left. The first is a short one: then the GPU has work at once, and
  /// the first long streams are copied meanwhile. 8 threads take a millisecond to copy 3 MB each.
  /// `kept` may be used behind `dropped`, if that is not null.
  void decode(DeviceJobs& jobs, bool longest, PixelFormat format, KeptMemory* kept,
              cudaEvent_t dropped, const std::function<void()>& look) {
    const OnDevice here(device_);
    if (dropped == nullptr || !ZR_CUDA(cudaStreamWaitEvent, stream_, dropped, 0)) kept = nullptr;
    DeviceJob* next = nullptr;
    for (DeviceJob* job = jobs.take(false); job != nullptr; job = std::exchange(next, nullptr)) {
      // The first one, and one behind an image that failed before the GPU had work.
      if (job->jpeg.empty() && job->status)
        job->status = guarded([&] { return prepare(*job, format, kept, false); });
      bool has_looked_ahead = false;
      const auto look_ahead = [&] {
        has_looked_ahead = true;
        next = jobs.take(longest);
        if (next != nullptr)
          next->status = guarded([&] { return prepare(*next, format, kept, true); });
      };
      if (job->status) job->status = decoder_.select(job->job->scale, job->job->region);
      if (job->status)
        job->status = decoder_.decode(job->jpeg, job->planes->view, stream_, look_ahead).status();
      if (!has_looked_ahead) next = jobs.take(longest);
      look();
    }
  }

  /// An event behind what is on `stream` now, until end_before().
  cudaEvent_t mark(std::uintptr_t stream) {
    check(ZR_CUDA(cudaEventRecord, ended_, stream_of(stream)));
    return ended_;
  }

  /// What is enqueued on `stream` from now on waits for the images.
  Status end_before(std::uintptr_t stream) {
    ZR_TRY(ZR_CUDA(cudaEventRecord, ended_, stream_));
    return ZR_CUDA(cudaStreamWaitEvent, stream_of(stream), ended_, 0);
  }

 private:
  /// Finds the stream, and memory for its image. `ahead`: while the GPU works, so that there is
  /// time to copy the stream to where the GPU fetches it by itself. Otherwise the decoder copies it
  /// piece by piece while the GPU fetches the pieces before.
  Status prepare(DeviceJob& job, PixelFormat format, KeptMemory* kept, bool ahead) {
    const BatchInput& input = *job.job->input;
    HostBuffer& room = rooms_[turn_];
    turn_ = 1 - turn_;
    // Pinned memory that grows makes all lanes wait for milliseconds, so it takes large steps.
    constexpr std::size_t kLeast = std::size_t{1} << 18, kMost = std::size_t{1} << 28;
    if ((ahead || input.fills_room()) && job.likely_bytes <= kMost)
      (void)room.reserve(std::bit_ceil(std::max(job.likely_bytes, kLeast)));
    ZR_LET(jpeg, input.bytes(room));
    ZR_LET(frame,
           decoded_frame(jpeg, format, decoder_.params().limits, job.job->scale, job.job->region));
    most_bytes_ = std::max(most_bytes_, jpeg.size());
    ZR_LET(planes,
           DevicePlanes::make(frame, device_, reinterpret_cast<std::uintptr_t>(stream_), kept));
    job.planes = std::move(planes);
    job.jpeg = jpeg;
    if (ahead && !input.fills_room() && room.resize(jpeg.size())) {
      std::memcpy(room.data(), jpeg.data(), jpeg.size());
      job.jpeg = room.bytes();
    }
    return Status::ok();
  }

  DeviceDecoder decoder_;
  const int device_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t ended_ = nullptr;
  // The stream that the GPU fetches, and the next one. The decoder has fetched all when it returns.
  std::array<HostBuffer, 2> rooms_{HostBuffer(HostMemory::pinned), HostBuffer(HostMemory::pinned)};
  std::size_t turn_ = 0;
  std::size_t most_bytes_ = 0;
};

/// More than the automatic number: making lanes takes longer than what they do in a call.
using LanePool = Pool<Lane, DecodeParams, 64>;
LanePool& lane_pool() { return of_this_process<LanePool>(); }

int lane_count(int wanted, const std::vector<DeviceJob>& jobs) {
  std::size_t bytes = 0;
  for (const DeviceJob& job : jobs) bytes += job.likely_bytes;
  // One decoder a core, as the benchmark's rows with 16 in flight have: pictures of 1920x1080 take
  // 33 us each with 12 to 16, and 37 with 8. Long streams keep the GPU busy by fewer: 64 of
  // 3840x2160 take 89 us each with 5, 93 with 8 and 105 with 16 (H200).
  const int most = bytes >> 20 >= jobs.size() ? 5 : 16;
  return worker_count(wanted > 0 ? wanted : std::min(usable_processors(), most), true, jobs.size());
}

}  // namespace

std::unique_ptr<DeviceEncoding> device_coder(const EncodeParams& params) {
  return std::make_unique<Encoding>(make_coder<DeviceEncoder>(params), params.device);
}

DeviceDecode device_coder(const DecodeParams& params) {
  const auto decoder = std::make_shared<DeviceDecoder>(make_coder<DeviceDecoder>(params));
  return [decoder, device = params.device](const JpegData& data, const DecodeParams& part,
                                           const FrameView& out,
                                           std::uintptr_t stream) -> Result<DecodeReport> {
    const OnDevice current(device);
    const std::span<const std::byte> bytes = data.bytes();
    ZR_TRY(decoder->select(part.scale, part.region));
    if (data.device() == kHost) return decoder->decode(bytes, out, stream_of(stream));
    return decoder->decode_device(bytes.data(), bytes.size(), out, stream_of(stream));
  };
}

Picture new_device_picture(const FrameView& frame, int device, std::uintptr_t stream,
                           nb::handle stream_owner) {
  use_cuda();
  check(resolve_backend(Backend::cuda, device).status());
  KeptMemory* kept = stream == 0 ? &value_of(pool_of(device))->kept : nullptr;
  const auto planes = value_of(DevicePlanes::make(frame, device, stream, kept));
  planes.block->stream_owner = owner_of(stream_owner);
  return {planes.object(), {}, planes.view, device};
}

void order_after(const std::vector<Array>& arrays, std::uintptr_t stream) {
  for (const Array& array : arrays)
    if (array.device != kHost && array.stream)
      check(order_streams(*array.stream, stream, array.device));
}

int device_of_memory(const void* first, const void* last, const std::string& name) {
  use_cuda();
  const cudaPointerAttributes begin = attributes_of(first, name), end = attributes_of(last, name);
  if (begin.type == cudaMemoryTypeUnregistered || begin.type != end.type ||
      begin.device != end.device)
    fail_frame(name,
               " points to memory that is not CUDA's from its first to its last byte; it may have "
               "been freed");
  return begin.type == cudaMemoryTypeHost ? kHost : begin.device;
}

std::uintptr_t stream_handle(nb::handle stream, nb::handle object) {
  nb::handle first = object;
  if (stream.is_none()) {
    if (is_sequence(object) && nb::len(object) > 0) first = nb::object(object[0]);
    if (first.is_none() || PyObject_CheckBuffer(first.ptr())) return 0;
    if (const auto current = current_stream_of(first)) return *current;
  }
  const nb::object number = nb::module_::import_("zerorun._streams").attr("handle")(stream, object);
  std::uintptr_t handle = 0;
  if (!nb::try_cast(number, handle)) fail_argument("stream is no handle of a CUDA stream");
  return handle;
}

std::vector<std::byte> copy_to_host(const JpegData& data, std::size_t count,
                                    std::uintptr_t stream) {
  std::vector<std::byte> bytes(count);
  if (data.array().stream) check(order_streams(*data.array().stream, stream, data.device()));
  check(copy_to_host(bytes.data(), data.bytes().data(), bytes.size(), data.device(), stream));
  return bytes;
}

void decode_batch_to_device(std::vector<DecodeJob>& all, PixelFormat format, DecodeParams params,
                            int workers, std::uintptr_t stream, nb::handle stream_owner) {
  use_cuda();
  params.backend = Backend::cuda;
  check(resolve_backend(params.backend, params.device).status());
  const OnDevice current(params.device);
  // The blocks of failed jobs are freed on the lanes' streams, so the lanes live longer.
  std::vector<std::shared_ptr<Lane>> lanes;
  std::vector<DeviceJob> jobs = without_gil([&] {  // asking for the sizes of files may take a while
    std::vector<DeviceJob> found;
    for (DecodeJob& job : all)
      if (job.input) found.push_back({&job, job.input->likely_bytes(), {}, {}, {}});
    return found;
  });
  for (int left = lane_count(workers, jobs); left > 0; --left)
    lanes.push_back(lane_pool().take(params));
  // The one with the most memory first: it gets the longest stream. Memory that grows makes all
  // lanes wait for the device.
  std::ranges::stable_sort(lanes, std::greater(), [](const auto& l) { return l->most_bytes(); });
  DeviceJobs queue(jobs);
  struct Kept {  // what is dropped while this runs is in use behind what the lanes wait for
    explicit Kept(KeptMemory& all) : whole(all) { move(whole, own); }
    ~Kept() { move(own, whole); }
    static void move(KeptMemory& from, KeptMemory& to) {
      const std::lock_guard lock(kept_mutex);
      to.merge(from);
    }
    KeptMemory& whole;
    KeptMemory own;
  } kept(value_of(pool_of(params.device))->kept);
  const bool reuses = stream == 0 && !kept.own.empty();
  const cudaEvent_t dropped = reuses ? lanes[0]->mark(stream) : nullptr;
  const std::size_t half = (lanes.size() + 1) / 2;
  run_jobs(
      lanes.size(), lanes.size(),
      [&](std::size_t lane, std::size_t, const auto& look) {
        lanes[lane]->decode(queue, lane < half, format, &kept.own, dropped, look);
      },
      [&] { queue.stop(); });
  for (const auto& lane : lanes) check(lane->end_before(stream));
  for (DeviceJob& job : jobs)
    if (job.planes) job.planes->block->stream = stream;
  const std::shared_ptr<void> owner = owner_of(stream_owner);
  for (DeviceJob& job : jobs) {
    if (job.status) job.planes->block->stream_owner = owner;
    job.job->result = job.status ? job.planes->object() : exception_of(job.status);
  }
}

void release_device_memory() {
  if (cuda_was_used_before_fork()) return;
  lane_pool() = {};
  const std::lock_guard lock(pools_mutex);
  for (auto& [device, pool] : memory_pools()) {
    const OnDevice current(device);
    free_kept(pool.kept, nullptr);
    (void)cudaStreamSynchronize(nullptr);  // what is still to be freed there is not given back
    (void)cudaMemPoolTrimTo(pool.pool, 0);
  }
}

void bind_device_array(nb::module_& module) {
  nb::class_<DeviceArray>(module, "DeviceArray",
                          R"(Samples (uint8) in the memory of a GPU, row by row without gaps.

torch.from_dlpack(array), cupy.asarray(array) and jax.dlpack.from_dlpack(array) take it without a
copy; numpy() copies it to the host. Its memory belongs to the stream of the call that made it:
use the array on that stream, or keep it until other streams have done with it.)")
      .def_prop_ro(
          "shape", [](const DeviceArray& a) { return a.shape.tuple(); },
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro("ndim", [](const DeviceArray& a) { return nb::len(a.shape.tuple()); })
      .def_prop_ro("nbytes", [](const DeviceArray& a) { return a.shape.bytes(); })
      .def_prop_ro("dtype", [](const DeviceArray&) { return "uint8"; })
      .def_prop_ro("device", &device_name)
      .def_prop_ro("__cuda_array_interface__", &cuda_interface,
                   nb::sig("def __cuda_array_interface__(self) -> dict[str, Any]"))
      .def("__dlpack__", &dlpack, nb::kw_only(), "stream"_a = nb::none(),
           "max_version"_a = nb::none(), "dl_device"_a = nb::none(), "copy"_a = nb::none())
      .def("__dlpack_device__",
           [](const DeviceArray& a) { return std::pair(nb::device::cuda::value, a.block->device); })
      .def("numpy", &to_numpy, "A copy in host memory; waits for the stream.")
      .def("__repr__", [](const DeviceArray& a) {
        return "zerorun.DeviceArray(shape=" + utf8_of(nb::repr(a.shape.tuple())) + ", device='" +
               device_name(a) + "')";
      });
}

}  // namespace zerorun::python
