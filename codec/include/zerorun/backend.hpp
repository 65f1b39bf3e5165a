// The processor that codes a frame, the devices of this machine, and host memory that suits them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "zerorun/status.hpp"

namespace zerorun {

/// Both backends write the same bytes and decode the same samples.
enum class Backend {
  automatic,  ///< CUDA if there is a usable device, else the CPU; the CPU also where CUDA fails
  cpu,
  cuda,  ///< an error if there is no usable device; the CPU never takes its place
};

ZERORUN_API std::string_view name(Backend backend) noexcept;

/// A CUDA device as this build sees it.
struct DeviceInfo {
  int index = 0;  ///< the N of `cuda:N`
  std::string name;
  int compute_major = 0;
  int compute_minor = 0;
  std::size_t memory_bytes = 0;
  int multiprocessors = 0;
  Status usable;  ///< ok, or why this build cannot use it
};

/// Lists the CUDA devices; empty without a driver, a device or a CUDA build. Thread-safe. Throws
/// std::bad_alloc.
ZERORUN_API std::vector<DeviceInfo> cuda_devices();

/// Whether there seems to be an NVIDIA driver with a device. It only looks for their files, within
/// microseconds: asking CUDA itself starts it, which takes 0.3 s. An ok is no promise that a device
/// is usable. Errors: cuda_not_built, no_device. Thread-safe.
ZERORUN_API Status cuda_presence();

/// Device `device` alone, so that no other device is started. Errors: cuda_not_built, no_device.
/// Thread-safe.
ZERORUN_API Result<DeviceInfo> cuda_device(int device);

/// The indices of the devices that this build can use: a list for AsyncEncodeParams::devices.
/// Starts all devices. Thread-safe. Throws std::bad_alloc.
ZERORUN_API std::vector<int> usable_cuda_devices();

/// A device that failed while it coded, and that is not used any more.
struct LostDevice {
  int device = 0;  ///< CUDA index
  Status why;
};

/// Turns `automatic` into a backend and checks an explicit choice. `device` is a CUDA index.
/// Errors: cuda_not_built, no_device, device_unsuitable. Thread-safe.
ZERORUN_API Result<Backend> resolve_backend(Backend wanted, int device = 0);

/// How many threads of this process can run at once, which is what 0 threads or lanes on the CPU
/// mean: the processors that the calling thread may use (taskset, the cpuset of a container or of a
/// scheduler's job), but no more than the CPU time that control groups allow, rounded up
/// (`docker run --cpus`, limits of Kubernetes). At least 1. std::thread::hardware_concurrency()
/// counts those of the machine with glibc 2.35 and newer. It would take 64 threads in a container
/// with two of 64 cores. Control groups are asked once. Thread-safe.
ZERORUN_API int usable_processors() noexcept;

/// For which of the CPU's instruction sets the CPU backend's code is compiled. Samples and bytes
/// are the same with all of them.
enum class InstructionSet : std::uint8_t {
  best,    ///< what the environment's ZERORUN_CPU names, else the best that this machine has
  scalar,  ///< the reference stages
  sse4,    ///< these three on x86-64
  avx2,
  avx512,
  neon,  ///< on AArch64
};

/// "best", "scalar", "sse4", "avx2", "avx512", "neon".
ZERORUN_API std::string_view name(InstructionSet set) noexcept;

/// Those that this build has code for and this machine can run: scalar first, the best one last.
ZERORUN_API std::vector<InstructionSet> instruction_sets();

/// The one that coders made with `wanted` use; never `best`. Errors: invalid_argument, where this
/// machine lacks it; the message names those that it has. A wrong ZERORUN_CPU is such an error
/// here; coders that are made with `best` then use the best one below it. Thread-safe.
ZERORUN_API Result<InstructionSet> resolve_instruction_set(
    InstructionSet wanted = InstructionSet::best);

enum class HostMemory : std::uint8_t {
  pageable,
  /// Locked for all CUDA devices: copies need no staging and overlap with kernels. Allocation takes
  /// milliseconds, so keep and reuse it. Needs a CUDA build and a device.
  pinned,
};

/// The best memory for frames and streams of this backend (cpu or cuda).
constexpr HostMemory preferred_memory(Backend backend) noexcept {
  return backend == Backend::cuda ? HostMemory::pinned : HostMemory::pageable;
}

/// Bytes in host memory, 64-byte aligned, never cleared. Move-only; a moved-from buffer is empty.
class ZERORUN_API HostBuffer {
 public:
  HostBuffer() noexcept = default;
  explicit HostBuffer(HostMemory memory) noexcept : memory_(memory) {}
  HostBuffer(HostBuffer&& other) noexcept
      : memory_(other.memory_),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  HostBuffer& operator=(HostBuffer&& other) noexcept {
    HostBuffer taken(std::move(other));
    std::swap(memory_, taken.memory_);
    std::swap(data_, taken.data_);
    std::swap(size_, taken.size_);
    std::swap(capacity_, taken.capacity_);
    return *this;
  }
  ~HostBuffer();

  /// Contents are undefined after these two. Memory grows if it has to and never shrinks; after an
  /// error the buffer is empty.
  /// Errors: out_of_memory; pinned also cuda_not_built, no_device, device_failure.
  Status resize(std::size_t bytes);
  Status reserve(std::size_t bytes);

  std::byte* data() noexcept { return data_; }
  const std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return capacity_; }
  HostMemory memory() const noexcept { return memory_; }
  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  HostMemory memory_ = HostMemory::pageable;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace zerorun
