// Memory and streams of GPUs, and the class DeviceArray.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/device_memory.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "apps/python/binding/device.hpp"
#include "codec/base/try.hpp"

namespace zerorun::python {
namespace {

/// A pool of this module's own for each device. CUDA frees them at the end of the process.
struct Pools {
  std::mutex mutex;
  std::map<int, cudaMemPool_t> of_device;
};
Pools& pools() {
  static auto& all = *new Pools;
  return all;
}

/// Asking the system for memory takes milliseconds, so the pool keeps what it has.
Result<cudaMemPool_t> pool_of(int device) {
  Pools& all = pools();
  const std::lock_guard lock(all.mutex);
  const auto found = all.of_device.find(device);
  if (found != all.of_device.end()) return found->second;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaMemPool_t pool = nullptr;
  ZR_TRY(cuda_status(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate"));
  std::uint64_t keep = UINT64_MAX;
  ZR_TRY(cuda_status(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep),
                     "cudaMemPoolSetAttribute"));
  return all.of_device[device] = pool;
}

Result<std::shared_ptr<DeviceBlock>> allocate_block(std::size_t bytes, int device,
                                                    std::uintptr_t stream) {
  const OnDevice current(device);
  const Result<cudaMemPool_t> pool = pool_of(device);
  if (!pool) return pool.status();
  auto block = std::make_shared<DeviceBlock>();
  block->device = device;
  block->stream = stream;
  block->generation = fork_generation();
  ZR_TRY(cuda_status(cudaMallocFromPoolAsync(&block->data, bytes, *pool, stream_of(stream)),
                     "cudaMallocFromPoolAsync"));
  return block;
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

/// A row-major array without gaps.
struct DeviceArray {
  std::shared_ptr<DeviceBlock> block;
  std::uint8_t* data = nullptr;
  PlaneShape shape;
};

constexpr char kDocs[] =
    R"(Samples (uint8) in the memory of a GPU, row by row without gaps.

torch.from_dlpack(array), cupy.asarray(array) and jax.dlpack.from_dlpack(array) take it without a
copy; numpy() copies it to the host. Its memory belongs to the stream of the call that made it:
use the array on that stream, or keep it until other streams have done with it.)";

nb::tuple shape_of(const DeviceArray& array) {
  const PlaneShape& s = array.shape;
  if (s.channels == 1) return nb::make_tuple(s.rows, s.columns);
  return nb::make_tuple(s.rows, s.columns, s.channels);
}

/// The default stream has the number 1 in both protocols.
std::uintptr_t public_stream(std::uintptr_t stream) { return stream == 0 ? 1 : stream; }

nb::dict cuda_interface(const DeviceArray& array) {
  nb::dict description;
  description["shape"] = shape_of(array);
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
  check_cuda_after_fork();
  if (consumer != -1)
    check(order_streams(public_stream(array.block->stream), static_cast<std::uintptr_t>(consumer),
                        array.block->device));
  return array_over(array.data, array.shape, array.block, array.block->device);
}

nb::object to_numpy(const DeviceArray& array) {
  check_cuda_after_fork();
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

}  // namespace

Status cuda_status(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return Status::ok();
  (void)cudaGetLastError();
  const Errc code = error == cudaErrorMemoryAllocation ? Errc::out_of_memory : Errc::device_failure;
  return Status(code, std::string(call) + ": " + cudaGetErrorString(error));
}

OnDevice::OnDevice(int device) {
  (void)cudaGetDevice(&before_);
  if (before_ != device) (void)cudaSetDevice(device);
}

OnDevice::~OnDevice() {
  int now = 0;
  (void)cudaGetDevice(&now);
  if (now != before_) (void)cudaSetDevice(before_);
}

DeviceBlock::~DeviceBlock() {
  if (data == nullptr || generation != fork_generation()) return;
  const OnDevice current(device);
  if (cudaFreeAsync(data, stream_of(stream)) != cudaSuccess) (void)cudaGetLastError();
}

DevicePlanes::DevicePlanes(PixelFormat format, int width, int height) {
  constexpr std::size_t kAlignment = 256;  // as cudaMalloc()
  view = {format, width, height, {}, {}};
  for (int p = 0; p < plane_count(format); ++p) {
    offsets[static_cast<std::size_t>(p)] = bytes;
    const std::size_t plane = plane_shape(format, p, width, height).bytes();
    bytes += (plane + kAlignment - 1) / kAlignment * kAlignment;
  }
}

Status DevicePlanes::allocate(int device, std::uintptr_t stream) {
  Result<std::shared_ptr<DeviceBlock>> memory = allocate_block(bytes, device, stream);
  if (!memory) return memory.status();
  block = *memory;
  for (int i = 0; i < plane_count(view.format); ++i) {
    const auto p = static_cast<std::size_t>(i);
    view.data[p] = static_cast<std::uint8_t*>(block->data) + offsets[p];
    view.stride_bytes[p] = static_cast<std::ptrdiff_t>(plane_row_bytes(view.format, i, view.width));
  }
  return Status::ok();
}

nb::object DevicePlanes::object() const {
  nb::list planes;
  for (int p = 0; p < plane_count(view.format); ++p)
    planes.append(DeviceArray{block, view.data[static_cast<std::size_t>(p)],
                              plane_shape(view.format, p, view.width, view.height)});
  return picture_of(planes);
}

Picture new_device_picture(PixelFormat format, int width, int height, int device,
                           std::uintptr_t stream, nb::handle stream_owner) {
  check_cuda_after_fork();
  note_cuda_use();
  check(resolve_backend(Backend::cuda, device).status());
  DevicePlanes planes(format, width, height);
  check(planes.allocate(device, stream));
  if (!stream_owner.is_none()) planes.block->stream_owner = owner_of(nb::borrow(stream_owner));
  return {planes.object(), {}, planes.view, device};
}

Status order_streams(std::uintptr_t first, std::uintptr_t second, int device) {
  if (first == second) return Status::ok();
  const OnDevice current(device);
  cudaEvent_t event = nullptr;
  ZR_TRY(cuda_status(cudaEventCreateWithFlags(&event, cudaEventDisableTiming),
                     "cudaEventCreateWithFlags"));
  Status status = cuda_status(cudaEventRecord(event, stream_of(first)), "cudaEventRecord");
  if (status)
    status = cuda_status(cudaStreamWaitEvent(stream_of(second), event, 0), "cudaStreamWaitEvent");
  (void)cudaEventDestroy(event);  // CUDA keeps it until the wait is over
  return status;
}

void order_after(const std::vector<Array>& arrays, std::uintptr_t stream) {
  for (const Array& array : arrays)
    if (array.device != kHost && array.stream)
      check(order_streams(*array.stream, stream, array.device));
}

int device_of_memory(const void* first, const void* last, const std::string& name) {
  check_cuda_after_fork();
  note_cuda_use();
  const cudaPointerAttributes begin = attributes_of(first, name), end = attributes_of(last, name);
  if (begin.type == cudaMemoryTypeUnregistered || begin.type != end.type ||
      begin.device != end.device)
    fail_frame(name +
               " points to memory that is not CUDA's from its first to its last byte; it may have "
               "been freed");
  return begin.type == cudaMemoryTypeHost ? kHost : begin.device;
}

std::uintptr_t stream_handle(nb::handle stream, nb::handle object) {
  nb::handle first = object;
  const bool is_sequence = nb::isinstance<nb::tuple>(object) || nb::isinstance<nb::list>(object);
  if (stream.is_none()) {
    if (is_sequence && nb::len(object) > 0) first = nb::object(object[0]);
    if (first.is_none() || PyObject_CheckBuffer(first.ptr())) return 0;
  }
  const nb::object number = nb::module_::import_("zerorun._streams").attr("handle")(stream, object);
  std::uintptr_t handle = 0;
  if (!nb::try_cast(number, handle)) fail_argument("stream is no handle of a CUDA stream");
  return handle;
}

Status copy_to_host(void* to, const void* from, std::size_t bytes, int device,
                    std::uintptr_t stream) {
  const OnDevice current(device);
  ZR_TRY(cuda_status(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_of(stream)),
                     "cudaMemcpyAsync"));
  return cuda_status(cudaStreamSynchronize(stream_of(stream)), "cudaStreamSynchronize");
}

std::vector<std::byte> copy_to_host(const JpegData& data, std::uintptr_t stream) {
  std::vector<std::byte> bytes(data.bytes().size());
  if (data.array().stream) check(order_streams(*data.array().stream, stream, data.device()));
  check(copy_to_host(bytes.data(), data.bytes().data(), bytes.size(), data.device(), stream));
  return bytes;
}

void release_device_memory() {
  if (cuda_was_used_before_fork()) return;
  release_lanes();
  Pools& all = pools();
  const std::lock_guard lock(all.mutex);
  for (const auto& [device, pool] : all.of_device) {
    const OnDevice current(device);
    (void)cudaStreamSynchronize(nullptr);  // what is still to be freed there is not given back
    (void)cudaMemPoolTrimTo(pool, 0);
  }
}

void bind_device_array(nb::module_& module) {
  nb::class_<DeviceArray>(module, "DeviceArray", kDocs)
      .def_prop_ro("shape", &shape_of, nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro("ndim", [](const DeviceArray& a) { return nb::len(shape_of(a)); })
      .def_prop_ro("nbytes", [](const DeviceArray& a) { return a.shape.bytes(); })
      .def_prop_ro("dtype", [](const DeviceArray&) { return "uint8"; })
      .def_prop_ro("device", &device_name)
      .def_prop_ro("__cuda_array_interface__", &cuda_interface,
                   nb::sig("def __cuda_array_interface__(self) -> dict[str, Any]"))
      .def("__dlpack__", &dlpack, nb::kw_only(), "stream"_a = nb::none(),
           "max_version"_a = nb::none(), "dl_device"_a = nb::none(), "copy"_a = nb::none())
      .def(
          "__dlpack_device__",
          [](const DeviceArray& a) {
            return nb::make_tuple(nb::device::cuda::value, a.block->device);
          },
          nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
      .def("numpy", &to_numpy, "A copy in host memory; waits for the stream.")
      .def("__repr__", [](const DeviceArray& a) {
        return "zerorun.DeviceArray(shape=" + utf8_of(nb::repr(shape_of(a))) + ", device='" +
               device_name(a) + "')";
      });
}

}  // namespace zerorun::python
