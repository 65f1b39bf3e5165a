// Lists the CUDA devices and which of them this build can use.
// SPDX-License-Identifier: MIT
#include "codec/base/cuda_device.hpp"

#include <cuda_runtime.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "cuda/base/check.hpp"
#include "cuda/base/this_device.hpp"

namespace zerorun {

/// Loading it fails on a device that neither machine code nor PTX of this build fits.
static __global__ void probe_kernel() {}

cudaError_t architecture_of_code(int& capability) {
  cudaFuncAttributes attributes{};
  const cudaError_t error = cudaFuncGetAttributes(&attributes, probe_kernel);
  // Machine code may have lost what PTX it was made from.
  capability = attributes.ptxVersion != 0 ? attributes.ptxVersion : attributes.binaryVersion;
  return error;
}

/// Whether a fault of a kernel or of hardware has spoiled CUDA in this process, as opposed to a
/// device that has no code. CUDA then reports it from other devices, too.
static bool is_fault(cudaError_t error) {
  switch (error) {
    case cudaErrorLaunchFailure:
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
      return true;
    default:
      return false;
  }
}

static Status probe(int device) {
  int before = 0;
  cudaGetDevice(&before);
  cudaError_t error = cudaSetDevice(device);
  cudaFuncAttributes attributes{};
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, probe_kernel);
  cudaSetDevice(before);
  cudaGetLastError();  // later calls must not report an error of the probe
  if (error == cudaSuccess) return Status::ok();
  return Status(is_fault(error) ? Errc::device_failure : Errc::device_unsuitable,
                "device " + std::to_string(device) + ": " + cudaGetErrorString(error));
}

/// 0 without a driver.
static int count_devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

static Status check_index(int device) {
  const int count = count_devices();
  if (count == 0) return Status(Errc::no_device, cuda_backend_absence());
  if (device < count) return Status::ok();
  return Status(Errc::no_device, "there is no device " + std::to_string(device) + ", only 0 to " +
                                     std::to_string(count - 1));
}

static bool describe(int device, DeviceInfo& info) {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  info = {device,           properties.name,           properties.major,
          properties.minor, properties.totalGlobalMem, properties.multiProcessorCount,
          probe(device)};
  return true;
}

std::vector<DeviceInfo> cuda_backend_devices() {
  std::vector<DeviceInfo> devices;
  const int count = count_devices();
  for (int index = 0; index < count; ++index)
    if (DeviceInfo info; describe(index, info)) devices.push_back(std::move(info));
  return devices;
}

Result<DeviceInfo> cuda_backend_device(int device) {
  if (Status status = check_index(device); !status) return status;
  DeviceInfo info;
  if (!describe(device, info))
    return Status(Errc::no_device, "device " + std::to_string(device) + " cannot be asked");
  return info;
}

Status cuda_backend_check(int device) {
  if (Status status = check_index(device); !status) return status;
  return probe(device);
}

std::string cuda_backend_absence() {
  int driver = 0, count = 0;
  // CUDA itself reports a missing driver as one that is too old.
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0) {
    return "there is no NVIDIA driver";
  }
  const cudaError_t error = cudaGetDeviceCount(&count);
  cudaGetLastError();
  if (error != cudaSuccess) return cudaGetErrorString(error);
  return count == 0 ? "the driver reports no device" : "";
}

// The limits of each device, which CUDA is asked for once, and how much shared memory a kernel may
// ask for.

namespace {

/// The limits of the current device, `device`.
cudaError_t ask(int device, DeviceLimits& out) {
  cudaError_t error = cudaSuccess;
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&value, which, device);
    return static_cast<std::uint32_t>(value);
  };
  const int major = static_cast<int>(attribute(cudaDevAttrComputeCapabilityMajor));
  out.capability = 10 * major + static_cast<int>(attribute(cudaDevAttrComputeCapabilityMinor));
  out.shared_of_cta = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  out.shared_of_processor = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  out.shared_taken = attribute(cudaDevAttrReservedSharedMemoryPerBlock);
  out.threads_of_processor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  out.ctas_of_processor = attribute(cudaDevAttrMaxBlocksPerMultiprocessor);
  out.registers_of_processor = attribute(cudaDevAttrMaxRegistersPerMultiprocessor);
  int code = 0;
  if (error == cudaSuccess) error = architecture_of_code(code);
  out.programmatic_launches = code >= 90;
  out.processors = attribute(cudaDevAttrMultiProcessorCount);
  return error;
}

std::atomic<bool> is_unusable{false};

}  // namespace

void set_test_unusable() { is_unusable = true; }

cudaError_t current_device(const DeviceLimits*& out) {
  if (is_unusable) return cudaErrorInvalidValue;
  int device = 0;
  if (cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return error;
  thread_local int last_device = -1;
  thread_local const DeviceLimits* last = nullptr;
  if (device != last_device) {
    static std::mutex mutex;
    static std::map<int, DeviceLimits> all;  // pointers to its elements stay valid
    const std::lock_guard lock(mutex);
    if (!all.contains(device)) {
      DeviceLimits found{};
      if (cudaError_t error = ask(device, found); error != cudaSuccess) return error;
      all[device] = found;
    }
    last = &all[device];
    last_device = device;
  }
  out = last;
  return cudaSuccess;
}

Result<DeviceLimits> current_limits() {
  const DeviceLimits* limits = nullptr;
  ZR_CUDA_TRY(current_device(limits));
  return *limits;
}

Status SharedPermission::allow(std::size_t bytes) {
  return ZR_CUDA_STATUS(cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(bytes)));
}

Status SharedPermission::prepare() {
  int device = 0;
  ZR_CUDA_TRY(cudaGetDevice(&device));
  ZR_CUDA_TRY(cudaFuncSetAttribute(kernel_, cudaFuncAttributePreferredSharedMemoryCarveout,
                                   cudaSharedmemCarveoutMaxShared));
  const std::lock_guard lock(mutex_);
  return allowed_[device] != 0 ? allow(allowed_[device]) : Status::ok();
}

Status SharedPermission::raise(std::size_t bytes) {
  int device = 0;
  ZR_CUDA_TRY(cudaGetDevice(&device));
  const std::lock_guard lock(mutex_);
  if (bytes <= allowed_[device]) return Status::ok();
  ZR_TRY(allow(bytes));
  allowed_[device] = bytes;
  return Status::ok();
}

}  // namespace zerorun
