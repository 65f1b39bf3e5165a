// Arrays of Python as memory: shape, strides, who keeps it alive, and on which device it is.
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace zerorun::python {

namespace nb = nanobind;

inline constexpr int kHost = -1;

/// An array of bytes with at most three dimensions. The memory lives as long as `owner`.
struct Array {
  std::uint8_t* data = nullptr;
  int dimensions = 0;
  std::array<std::int64_t, 3> shape{};
  std::array<std::int64_t, 3> stride{};  ///< bytes; any sign, also 0
  bool writable = false;
  int device = kHost;                    ///< index of a CUDA device, or kHost
  std::optional<std::uintptr_t> stream;  ///< the CUDA stream on which the contents become valid
  std::shared_ptr<void> owner;           ///< may be released without the GIL
};

/// Takes `__cuda_array_interface__`, a buffer (numpy, bytes, memoryview) or DLPack.
/// `name` is the argument's, for messages; `stream` is the CUDA stream that will use the array.
/// Errors: TypeError for what is no array, ArgumentError for other types than uint8.
Array array_from(nb::handle object, const std::string& name, std::uintptr_t stream = 0);

/// The other protocols; empty if the object does not speak them. DLPack's functions in C call no
/// Python code. Here they are for arrays on a GPU alone, because they keep the object alive and not
/// its memory.
std::optional<Array> array_from_exchange(nb::handle object, const std::string& name);
std::optional<Array> array_from_cuda_interface(nb::handle object, const std::string& name,
                                               std::uintptr_t stream);
std::optional<Array> array_from_dlpack(nb::handle object, const std::string& name,
                                       std::uintptr_t stream);

/// Has an array in device memory made valid on `stream`, by DLPack, where its
/// `__cuda_array_interface__` does not speak of streams: JAX copies and computes on its own. An
/// error of the producer's leaves the array as it is; want of memory and interruptions go on.
void make_ready(nb::handle object, std::uintptr_t stream);

/// Takes over a shape of at most three dimensions and its strides in bytes, which may be null:
/// without gaps. Errors: ArgumentError for negative sizes and for more than 2^63 bytes.
void set_shape(Array& array, int dimensions, const std::int64_t* shape, const std::int64_t* strides,
               const std::string& name);

/// Sets the device of an array by its memory. Errors: ArgumentError for an empty array, and those
/// of device_of_memory().
void find_device(Array& array, const std::string& name);

/// An owner that keeps a Python object alive.
std::shared_ptr<void> owner_of(nb::object object);

[[noreturn]] void fail_dtype(const std::string& name, const std::string& dtype);
[[noreturn]] void fail_dimensions(const std::string& name, std::int64_t dimensions);

/// "(480, 640, 3)"
std::string shape_text(const Array& array);

}  // namespace zerorun::python
