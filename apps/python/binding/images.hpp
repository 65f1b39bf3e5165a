// Pictures of Python as frames to encode.
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <vector>

#include "apps/python/binding/arrays.hpp"
#include "apps/python/binding/layouts.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::python {

/// What the caller says about a picture beside its arrays.
struct ImageHints {
  std::optional<PixelFormat> format;
  std::optional<std::pair<int, int>> size;  ///< width, height
};
ImageHints image_hints(nb::handle format, nb::handle size);

/// A frame in the caller's memory. Planes whose strides the library does not take are copied by
/// settle(), which needs no GIL and comes before the frame is used.
class Image {
 public:
  /// Errors: TypeError, ArgumentError.
  static Image from(nb::handle object, const ImageHints& hints, std::uintptr_t stream = 0);

  void settle();
  const ConstFrameView& view() const { return view_; }
  int device() const { return arrays_.front().device; }
  const std::vector<Array>& arrays() const { return arrays_; }

 private:
  struct Copy {
    PlaneView from;
    std::unique_ptr<std::uint8_t[]> memory;
  };

  void take_flat(const ImageHints& hints);
  void take_stacked(PixelFormat format);
  void take_single(const ImageHints& hints);
  void take_planes(const ImageHints& hints);
  void set_shape(PixelFormat format, std::int64_t width, std::int64_t height);
  /// The plane as it is, or tight memory that settle() fills.
  PlaneView direct(const PlaneView& plane, bool without_gaps = false);
  void set_plane(int plane, const PlaneView& view);

  std::vector<Array> arrays_;
  std::vector<Copy> copies_;
  ConstFrameView view_;
};

/// What Python gives for `image` or `out`: an array, or a tuple or list of planes.
std::vector<Array> arrays_from(nb::handle object, const std::string& name, std::uintptr_t stream);

}  // namespace zerorun::python
