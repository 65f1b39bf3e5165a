// Lists the CUDA devices and which of them this build can use.
// SPDX-License-Identifier: MIT
#include "codec/base/cuda_device.hpp"

#include <cuda_runtime.h>

#include <string>

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

static Status probe(int device) {
  int before = 0;
  cudaGetDevice(&before);
  cudaError_t error = cudaSetDevice(device);
  cudaFuncAttributes attributes{};
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, probe_kernel);
  cudaGetLastError();  // later calls must not report the error of the probe
  cudaSetDevice(before);
  if (error == cudaSuccess) return Status::ok();
  return Status(Errc::device_unsuitable,
                "device " + std::to_string(device) + ": " + cudaGetErrorString(error));
}

std::vector<DeviceInfo> cuda_backend_devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return {};
  }
  std::vector<DeviceInfo> devices;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) {
      cudaGetLastError();
      continue;
    }
    devices.push_back({index, properties.name, properties.major, properties.minor,
                       properties.totalGlobalMem, properties.multiProcessorCount, probe(index)});
  }
  return devices;
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

}  // namespace zerorun
