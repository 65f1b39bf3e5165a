// Memory and streams of GPUs.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/device_memory.hpp"

#include <nanobind/stl/string.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "apps/python/binding/device.hpp"
#include "apps/python/binding/device_lane.hpp"
#include "apps/python/binding/dropped_blocks.hpp"
#include "apps/python/binding/failure.hpp"
#include "apps/python/binding/forks.hpp"

namespace zerorun::python {
namespace {

struct Pools {
  std::mutex mutex;
  std::map<int, cudaMemPool_t> of_device;
};
Pools& pools() {
  static auto& all = *new Pools;  // CUDA frees them at the end of the process
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
  Status status = cuda_status(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
  if (!status) return status;
  std::uint64_t keep = UINT64_MAX;
  status = cuda_status(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep),
                       "cudaMemPoolSetAttribute");
  if (!status) return status;
  return all.of_device[device] = pool;
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
  // While the process ends, no thread of this module may call CUDA.
  const bool may_wait = stream == 0 && Py_IsInitialized() != 0;
  (may_wait ? drop_block : free_block)({data, bytes, device, stream});
}

Result<std::shared_ptr<DeviceBlock>> allocate_device_block(std::size_t bytes, int device,
                                                           std::uintptr_t stream) {
  const OnDevice current(device);
  const Result<cudaMemPool_t> pool = pool_of(device);
  if (!pool) return pool.status();
  auto block = std::make_shared<DeviceBlock>();
  block->bytes = bytes;
  block->device = device;
  block->stream = stream;
  block->generation = fork_generation();
  if (const std::optional<DroppedBlock> found = reuse_block(bytes, device)) {
    block->data = found->data;
    block->bytes = found->bytes;
    return block;
  }
  const auto allocate = [&] {
    return cuda_status(cudaMallocFromPoolAsync(&block->data, bytes, *pool, stream_of(stream)),
                       "cudaMallocFromPoolAsync");
  };
  Status status = allocate();
  if (status.code() == Errc::out_of_memory) {
    free_dropped_blocks();
    status = allocate();
  }
  if (!status) return status;
  return block;
}

Status order_streams(std::uintptr_t first, std::uintptr_t second, int device) {
  if (first == second) return Status::ok();
  const OnDevice current(device);
  cudaEvent_t event = nullptr;
  Status status = cuda_status(cudaEventCreateWithFlags(&event, cudaEventDisableTiming),
                              "cudaEventCreateWithFlags");
  if (!status) return status;
  status = cuda_status(cudaEventRecord(event, stream_of(first)), "cudaEventRecord");
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
    fail(Errc::invalid_frame,
         name +
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
  if (!nb::try_cast(number, handle))
    fail(Errc::invalid_argument, "stream is no handle of a CUDA stream");
  return handle;
}

std::vector<std::byte> copy_to_host(const JpegData& data, std::uintptr_t stream) {
  std::vector<std::byte> bytes(data.bytes().size());
  const OnDevice current(data.device());
  if (data.array().stream) check(order_streams(*data.array().stream, stream, data.device()));
  check(cuda_status(cudaMemcpyAsync(bytes.data(), data.bytes().data(), bytes.size(),
                                    cudaMemcpyDeviceToHost, stream_of(stream)),
                    "cudaMemcpyAsync"));
  check(cuda_status(cudaStreamSynchronize(stream_of(stream)), "cudaStreamSynchronize"));
  return bytes;
}

void release_device_memory() {
  if (cuda_was_used_before_fork()) return;
  release_lanes();
  free_dropped_blocks();
  Pools& all = pools();
  const std::lock_guard lock(all.mutex);
  for (const auto& [device, pool] : all.of_device) {
    const OnDevice current(device);
    (void)cudaStreamSynchronize(nullptr);  // what is still to be freed there is not given back
    (void)cudaMemPoolTrimTo(pool, 0);
  }
}

}  // namespace zerorun::python
