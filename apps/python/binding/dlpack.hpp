// The structs of DLPack (github.com/dmlc/dlpack), which are its binary interface.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace zerorun::python {

inline constexpr std::int32_t kDlCpu = 1, kDlCuda = 2, kDlCudaHost = 3, kDlCudaManaged = 13;
inline constexpr std::uint8_t kDlUnsigned = 1;

struct DlDevice {
  std::int32_t type, index;
};
struct DlType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct DlTensor {
  void* data;
  DlDevice device;
  std::int32_t dimensions;
  DlType type;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null: row-major without gaps
  std::uint64_t byte_offset;
};
struct DlManagedTensor {
  DlTensor tensor;
  void* context;
  void (*release)(DlManagedTensor* self);
};

/// The functions of a library, in a capsule that is an attribute of its array type (DLPack 1.3).
struct DlExchangeApi {
  std::uint32_t major, minor;
  DlExchangeApi* older;  ///< with another major version
  void *allocate, *managed_from_object, *managed_to_object;
  /// May be null. 0, or -1 with an error of Python. What `out` points to stays the object's.
  int (*tensor_from_object)(void* object, DlTensor* out);
  int (*current_stream)(std::int32_t device_type, std::int32_t device, void** out);
};

}  // namespace zerorun::python
