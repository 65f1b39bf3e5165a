// Pictures of Python as frames of the library, in and out, and JPEG streams of Python.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "apps/python/binding/arrays.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::python {

/// [rows][columns][channels]; arrays have two dimensions where `channels` is 1.
struct PlaneShape {
  std::int64_t rows = 0, columns = 0, channels = 1;
  std::int64_t row_bytes() const { return columns * channels; }
  std::size_t bytes() const { return static_cast<std::size_t>(rows * row_bytes()); }
  friend bool operator==(const PlaneShape&, const PlaneShape&) = default;
};
PlaneShape plane_shape(PixelFormat format, int plane, int width, int height);

/// A numpy array over memory that `owner` keeps alive; for memory of a GPU a capsule of DLPack.
/// Needs the GIL.
nb::object array_over(void* data, const PlaneShape& shape, std::shared_ptr<void> owner,
                      int device = kHost);
/// One array, or a tuple of several.
nb::object picture_of(const nb::list& planes);

/// A plane of an array: where its samples are.
struct PlaneView {
  std::uint8_t* data = nullptr;
  PlaneShape shape;
  std::int64_t row_stride = 0, column_stride = 0, channel_stride = 1;

  bool has_tight_rows() const;
  /// True if the library can use the memory as it is: samples of a row side by side, and rows that
  /// do not overlap.
  bool is_direct() const;
};

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

  std::vector<Array> arrays_;
  std::vector<Copy> copies_;
  ConstFrameView view_;
};

/// A frame to decode into, and the object that Python gets for it.
struct Picture {
  nb::object object;          ///< an array, or a tuple with an array for each plane
  std::vector<Array> arrays;  ///< the caller's
  FrameView view;
  int device = kHost;
};

/// The caller's arrays, in host or in device memory. Errors: ArgumentError unless every array is
/// writable and has the shape of its plane, with rows that do not overlap.
Picture picture_in(nb::handle out, PixelFormat format, int width, int height,
                   std::uintptr_t stream = 0);

/// New host memory for a picture without gaps. Threads without the GIL decode into it.
class HostPicture {
 public:
  /// Needs no GIL. Errors: out_of_memory.
  static Result<HostPicture> make(PixelFormat format, int width, int height);
  /// To decode into; lives as long as the memory.
  const FrameView& view() const { return view_; }
  /// numpy arrays of the memory, which they keep alive. Needs the GIL.
  nb::object object() const;

 private:
  std::shared_ptr<HostBuffer> memory_;
  FrameView view_;
};
Picture new_picture(PixelFormat format, int width, int height);

/// A JPEG stream in the caller's memory. A stream that another thread could write is copied.
class JpegData {
 public:
  /// Errors: TypeError, ArgumentError.
  explicit JpegData(nb::handle data, std::uintptr_t stream = 0);

  std::span<const std::byte> bytes() const { return bytes_; }
  int device() const { return array_.device; }
  const Array& array() const { return array_; }
  /// Errors: ArgumentError for a stream in device memory.
  void check_host() const;

 private:
  Array array_;
  std::unique_ptr<std::byte[]> copy_;
  std::span<const std::byte> bytes_;
};

}  // namespace zerorun::python
