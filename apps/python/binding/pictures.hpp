// Arrays of Python to decode into, and streams of Python to decode.
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "apps/python/binding/arrays.hpp"
#include "apps/python/binding/images.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::python {

/// A frame to decode into, and the object that Python gets for it.
struct Picture {
  nb::object object;          ///< an array, or a tuple with an array for each plane
  std::vector<Array> arrays;  ///< its planes
  FrameView view;
};

/// New numpy arrays: [height][width][channels], or a tuple of planes.
Picture new_picture(PixelFormat format, int width, int height);

/// The caller's arrays, in host or in device memory. Errors: ArgumentError unless every array is
/// writable and has the shape of its plane, with rows that do not overlap.
Picture picture_in(nb::handle out, PixelFormat format, int width, int height,
                   std::uintptr_t stream = 0);

/// A JPEG stream in the caller's memory. A stream that another thread could write is copied.
class JpegData {
 public:
  /// Errors: TypeError, ArgumentError.
  explicit JpegData(nb::handle data, std::uintptr_t stream = 0);

  std::span<const std::byte> bytes() const { return bytes_; }
  int device() const { return array_.device; }
  const Array& array() const { return array_; }

 private:
  Array array_;
  std::unique_ptr<std::byte[]> copy_;
  std::span<const std::byte> bytes_;
};

}  // namespace zerorun::python
