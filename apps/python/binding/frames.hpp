// What Python gives as what the library takes: keyword arguments as parameters, arrays as memory
// and as frames, in and out, and as JPEG streams.
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/ndarray.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "apps/python/binding/base.hpp"
#include "codec/base/try.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/transcoder.hpp"

namespace zerorun::python {

/// Keyword arguments. Errors: TypeError for an unknown keyword and for an object of another type,
/// ArgumentError for an impossible value.
EncodeParams encode_params(const nb::kwargs& options);
DecodeParams decode_params(const nb::kwargs& options);
TranscodeParams transcode_params(const nb::kwargs& options);

int parse_int(nb::handle number, const char* name);
/// (x, y, width, height), or None: the whole picture.
Region parse_region(nb::handle value, const char* name);
/// "rgb24", "nv12", ...; the library's names and a few usual ones ("rgb", "bgr", "gray").
PixelFormat parse_format(nb::handle name);

/// For what can use several devices: "cuda:0,2", "cuda:all", or a list or tuple of names of
/// devices. Takes it out of the options, in which device= is then the first of them. Empty: it is
/// one device. Errors: also DeviceError for "cuda:all" without a usable device.
std::vector<int> take_device_list(nb::kwargs& options);

inline constexpr int kHost = -1;

/// [rows][columns][channels]; arrays have two dimensions where `channels` is 1.
struct PlaneShape {
  std::int64_t rows = 0, columns = 0, channels = 1;
  std::int64_t row_bytes() const { return columns * channels; }
  std::size_t bytes() const { return static_cast<std::size_t>(rows * row_bytes()); }
  nb::tuple tuple() const {
    return channels == 1 ? nb::make_tuple(rows, columns) : nb::make_tuple(rows, columns, channels);
  }
  friend bool operator==(const PlaneShape&, const PlaneShape&) = default;
};

/// An array of bytes with at most three dimensions. The memory lives as long as `owner`.
struct Array {
  std::uint8_t* data = nullptr;
  int dimensions = 0;
  std::array<std::int64_t, 3> shape{1, 1, 1};
  std::array<std::int64_t, 3> stride{1, 1, 1};  ///< bytes; any sign, also 0
  bool writable = false;
  int device = kHost;                    ///< index of a CUDA device, or kHost
  std::optional<std::uintptr_t> stream;  ///< the CUDA stream on which the contents become valid
  std::shared_ptr<void> owner;           ///< may be released without the GIL

  /// True for bytes one after another.
  bool is_flat() const { return dimensions == 1 && (stride[0] == 1 || shape[0] <= 1); }
  PlaneShape plane() const { return {shape[0], shape[1], shape[2]}; }
  /// True for a plane that the library can use as it is: samples of a row side by side, and rows
  /// that do not overlap.
  bool is_direct() const;
};

/// Takes a buffer (numpy, bytes, memoryview), DLPack or `__cuda_array_interface__`. `name` is the
/// argument's, for messages; `stream` is the CUDA stream that will use the array. Errors: TypeError
/// for what is no array, ArgumentError for other types than uint8.
Array array_from(nb::handle object, const std::string& name, std::uintptr_t stream = 0);

/// PyTorch's current stream for a tensor, without Python code: that takes 10 to 30 us. Nothing for
/// all other arrays. Errors: those of PyTorch, for example for a tensor that needs a gradient.
std::optional<std::uintptr_t> current_stream_of(nb::handle array);

/// An owner that keeps a Python object alive; null for None.
std::shared_ptr<void> owner_of(nb::handle object);

/// A capsule that keeps the owner alive.
nb::capsule capsule_of(std::shared_ptr<void> owner);

/// "(480, 640, 3)"
std::string shape_text(const Array& array);

inline std::size_t planes_of(PixelFormat format) {
  return static_cast<std::size_t>(plane_count(format));
}
PlaneShape plane_shape(const ConstFrameView& frame, std::size_t plane);

/// A numpy array over memory that `owner` keeps alive; for memory of a GPU a capsule of DLPack.
/// Needs the GIL.
nb::object array_over(void* data, const PlaneShape& shape, std::shared_ptr<void> owner,
                      int device = kHost, nb::dlpack::dtype type = nb::dtype<std::uint8_t>());
/// What `make` makes of each plane: one array, or a tuple of several. Needs the GIL.
template <typename Make>
nb::object picture_of(const FrameView& view, const Make& make) {
  nb::list planes;
  for (std::size_t p = 0; p < planes_of(view.format); ++p)
    planes.append(make(view.data[p], plane_shape(view, p)));
  return planes.size() == 1 ? nb::object(planes[0]) : nb::object(nb::tuple(planes));
}

/// What the caller says about a picture beside its arrays.
struct ImageHints {
  std::optional<PixelFormat> format;
  std::optional<std::pair<int, int>> size;  ///< width, height
};
ImageHints image_hints(nb::handle format, nb::handle size);

/// A frame in the caller's memory. Planes whose strides the library does not take are copied.
struct Image {
  /// Errors: TypeError, ArgumentError.
  static Image from(nb::handle object, const ImageHints& hints, std::uintptr_t stream = 0);
  int device() const { return arrays.front().device; }

  std::vector<Array> arrays;
  ConstFrameView view;
};

/// A frame to decode into, and the object that Python gets for it.
struct Picture {
  nb::object object;          ///< an array, or a tuple with an array for each plane
  std::vector<Array> arrays;  ///< the caller's
  FrameView view;
  int device = kHost;
};

// In what follows a frame tells its format and size.

/// The caller's arrays, in host or in device memory. Errors: ArgumentError unless every array is
/// writable and has the shape of its plane, with rows that do not overlap.
Picture picture_in(nb::handle out, const FrameView& frame, std::uintptr_t stream = 0);

/// New host memory for a picture without gaps. Threads without the GIL decode into it.
struct HostPicture {
  /// Needs no GIL. Errors: out_of_memory.
  static Result<HostPicture> make(const FrameView& frame);
  /// numpy arrays of the memory, which they keep alive. Needs the GIL.
  nb::object object() const;

  FrameView view;
  std::shared_ptr<HostBuffer> memory;
};
Picture new_picture(const FrameView& frame);

/// The frame that a stream is decoded to, without memory. Errors: those of inspect() and
/// decoded_size().
Result<FrameView> decoded_frame(std::span<const std::byte> jpeg, PixelFormat format,
                                const StreamLimits& limits, int scale, const Region& region);

/// Memory for copies of streams. It is kept for the next copies, because new pages take longer than
/// the copy itself.
using StreamRooms = Pool<HostBuffer, HostMemory, 8>;
inline StreamRooms& stream_rooms() { return of_this_process<StreamRooms>(); }

/// Streams that were given out are kept until the next ones take their memory. What malloc() gives
/// back to the system instead costs 2 us for each page of 4 KiB that is written again: 64 streams
/// of 3840x2160 took 350 us a picture so (H200). With the GIL held.
class GivenStreams {
 public:
  /// A new object, or null with an error of Python.
  nb::object next(std::size_t size);
  void keep(nb::handle object);

 private:
  std::multimap<Py_ssize_t, nb::object> kept_;
  Py_ssize_t bytes_ = 0;
};
inline GivenStreams& given_streams() { return of_this_process<GivenStreams>(); }
/// A stream in an object of its own. That of a GPU is kept, and other threads help to copy it.
nb::bytes stream_object(std::span<const std::byte> stream, bool is_of_gpu);

/// A JPEG stream in the caller's memory. Made and destroyed with the GIL held.
class JpegData {
 public:
  /// `on` is the CUDA stream that will use the data; without, it must be in host memory. A stream
  /// that another thread could write is copied to `memory`; without `memory` is_stable() tells.
  /// Errors: TypeError, ArgumentError, MemoryError.
  explicit JpegData(nb::handle data, std::optional<std::uintptr_t> on = {},
                    std::optional<HostMemory> memory = HostMemory::pageable);

  std::span<const std::byte> bytes() const { return bytes_; }
  bool is_stable() const { return is_stable_; }
  int device() const { return array_.device; }
  const Array& array() const { return array_; }

 private:
  nb::object bytes_object_;  ///< of the class bytes, which never changes; else array_ is set
  Array array_;
  std::shared_ptr<HostBuffer> copy_;
  std::span<const std::byte> bytes_;
  bool is_stable_ = true;
};

}  // namespace zerorun::python
