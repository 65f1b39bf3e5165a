// Arrays of Python as memory: shape, strides, who keeps it alive, and on which device it is.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "apps/python/binding/base.hpp"

namespace zerorun::python {

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

  /// True for bytes one after another.
  bool is_flat() const { return dimensions == 1 && (stride[0] == 1 || shape[0] <= 1); }
};

/// Takes a buffer (numpy, bytes, memoryview), DLPack or `__cuda_array_interface__`. `name` is the
/// argument's, for messages; `stream` is the CUDA stream that will use the array. Errors: TypeError
/// for what is no array, ArgumentError for other types than uint8.
Array array_from(nb::handle object, const std::string& name, std::uintptr_t stream = 0);

/// An owner that keeps a Python object alive.
std::shared_ptr<void> owner_of(nb::object object);

/// "(480, 640, 3)"
std::string shape_text(const Array& array);

}  // namespace zerorun::python
