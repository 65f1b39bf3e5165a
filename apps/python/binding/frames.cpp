// SPDX-License-Identifier: MIT
#include "apps/python/binding/frames.hpp"

#include <sys/mman.h>

#include <bit>
#include <cstring>

#include "codec/base/copy_threads.hpp"
#include "codec/base/pixel_rows.hpp"

namespace zerorun::python {
namespace {

/// Copies the samples of an array whose memory the library does not take as it is. Errors:
/// ArgumentError for an array on a GPU.
void make_direct(Array& array, bool is_direct) {
  if (is_direct) return;
  if (array.device != kHost)
    fail_frame(
        "the samples of image do not lie side by side; make it contiguous, for example with "
        "tensor.contiguous()");
  std::size_t sizes[3];
  std::copy(array.shape.begin(), array.shape.end(), sizes);
  const nb::object view = nb::cast(
      nb::ndarray<nb::numpy, std::uint8_t>(array.data, static_cast<std::size_t>(array.dimensions),
                                           sizes, capsule_of(array.owner), array.stride.data()));
  array = array_from(call_python(nb::module_::import_("numpy").attr("ascontiguousarray"), view),
                     "image");
}

template <typename View>
void set_plane(View& frame, std::size_t p, std::uint8_t* data, std::int64_t stride) {
  const PlaneShape shape = plane_shape(frame, p);
  frame.data[p] = data;
  // The stride of a single row means nothing; numpy may give any.
  frame.stride_bytes[p] = shape.rows == 1 ? shape.row_bytes() : stride;
}

/// Errors: invalid_frame for sizes that JPEG does not hold.
void check_picture_size(std::int64_t width, std::int64_t height) {
  if (width < 1 || height < 1 || width > kMaxDimension || height > kMaxDimension)
    fail_frame("the picture has ", width, "x", height,
               " pixels, but JPEG holds 1x1 to 65535x65535");
}

/// What Python gives for `image` or `out`: an array, or a tuple or list of planes.
std::vector<Array> arrays_from(nb::handle object, const std::string& name, std::uintptr_t stream) {
  std::vector<Array> arrays;
  if (!is_sequence(object)) {
    arrays.push_back(array_from(object, name, stream));
    return arrays;
  }
  const std::size_t count = nb::len(object);
  if (count < 1 || count > 3) fail_frame(name, " has ", count, " planes, but a picture has 1 to 3");
  for (std::size_t i = 0; i < count; ++i)
    arrays.push_back(array_from(object[i], "plane " + std::to_string(i), stream));
  for (const Array& array : arrays)
    if (array.device != arrays[0].device)
      fail_frame("the planes of ", name, " are not on one device");
  return arrays;
}

[[noreturn]] void fail_shape(const std::string& name, const Array& array, const PlaneShape& shape) {
  fail_frame(name, " has the shape ", shape_text(array), ", but must have ",
             utf8_of(nb::repr(shape.tuple())));
}

/// Chroma pairs may have 3 dimensions or lie in rows of 2.
bool is_direct_as(Array array, const PlaneShape& shape, const std::string& name) {
  if (shape.channels == 2 && array.dimensions == 2 && array.shape[1] == shape.row_bytes()) {
    array.shape = {array.shape[0], array.shape[1] / 2, 2};
    array.stride = {array.stride[0], array.stride[1] * 2, array.stride[1]};
  }
  if (array.plane() != shape) fail_shape(name, array, shape);
  return array.is_direct();
}

PixelFormat guess_format(const std::vector<Array>& planes) {
  if (planes.size() == 2) return PixelFormat::nv12;
  const PlaneShape first = planes[0].plane();
  if (planes.size() == 1) {
    if (first.channels == 1) return PixelFormat::gray8;
    if (first.channels == 3) return PixelFormat::rgb24;
    if (first.channels == 4) return PixelFormat::rgbx32;
    fail_frame("image has the shape ", shape_text(planes[0]),
               "; its last dimension must be 1, 3 or 4, or tell its format=");
  }
  std::optional<PixelFormat> found;
  for (int i = 0; i < kPixelFormatCount; ++i) {
    const auto format = static_cast<PixelFormat>(i);
    const FrameView frame{
        format, static_cast<int>(first.columns), static_cast<int>(first.rows), {}, {}};
    if (plane_count(format) != 3 || planes[1].plane() != plane_shape(frame, 1)) continue;
    if (found)
      fail_frame("the planes of image fit several formats; tell which by format='yuv420p'");
    found = format;
  }
  if (found) return *found;
  fail_frame("the planes of image have the shapes ", shape_text(planes[0]), " and ",
             shape_text(planes[1]), ", which fit no format");
}

void check_disjoint(const FrameView& frame) {
  std::array<std::pair<std::intptr_t, std::intptr_t>, 3> ranges{};
  for (std::size_t p = 0; p < planes_of(frame.format); ++p) {
    const PlaneShape shape = plane_shape(frame, p);
    const auto at = reinterpret_cast<std::intptr_t>(frame.data[p]);
    const std::int64_t reach = (shape.rows - 1) * frame.stride_bytes[p];
    const auto [low, high] =
        ranges[p] = {at + std::min<std::int64_t>(reach, 0),
                     at + std::max<std::int64_t>(reach, 0) + shape.row_bytes()};
    for (std::size_t other = 0; other < p; ++other)
      if (low < ranges[other].second && ranges[other].first < high)
        fail_frame("two planes of out share memory");
  }
}

/// From this size on numpy asks for huge pages, too. Without them, writing to new memory for the
/// first time takes several times as long. A wish: memory without huge pages serves as well.
void want_huge_pages(const HostBuffer& memory) {
  constexpr std::size_t kHugeBytes = std::size_t{1} << 22;
  if (memory.size() < kHugeBytes) return;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto at = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t begin = round_up(at, page);
  (void)madvise(reinterpret_cast<void*>(begin), (at + memory.size()) / page * page - begin,
                MADV_HUGEPAGE);
}

/// One dimension: the planes one after another without gaps, as in a raw video.
void take_flat(Image& image, const ImageHints& hints) {
  if (!hints.format || !hints.size)
    fail_frame("image has one dimension; then format= and size=(width, height) must be given");
  Array& array = image.arrays.front();
  make_direct(array, array.is_flat());
  FrameView placed{*hints.format, hints.size->first, hints.size->second, {}, {}};
  const auto at = static_cast<std::int64_t>(place_planes(placed, array.data, 1));
  image.view = placed;
  if (at != array.shape[0])
    fail_frame("image has ", array.shape[0], " bytes, but ", name(image.view.format),
               " of this size has ", at);
}

/// Two dimensions with 3/2 as many rows: chroma below luma, as OpenCV and cameras have it.
void take_stacked(Image& image, PixelFormat format) {
  Array& array = image.arrays.front();
  const std::int64_t width = array.shape[1], height = array.shape[0] / 3 * 2;
  if (array.shape[0] % 3 != 0 || width % 2 != 0)
    fail_frame("image has the shape ", shape_text(array),
               "; 4:2:0 in one array has an even width and 3/2 rows for each of an even height");
  check_picture_size(width, height);
  image.view = {format, static_cast<int>(width), static_cast<int>(height), {}, {}};
  // Two chroma rows of I420 share a row of the array, so these must follow without a gap.
  const bool is_i420 = format == PixelFormat::yuv420p;
  make_direct(array, array.is_direct() && (!is_i420 || array.stride[0] == width));
  const std::int64_t step = array.stride[0], chroma_step = is_i420 ? step / 2 : step;
  set_plane(image.view, 0, array.data, step);
  set_plane(image.view, 1, array.data + height * step, chroma_step);
  if (is_i420)
    set_plane(image.view, 2, array.data + height * step + height / 2 * chroma_step, chroma_step);
}

/// An array for each plane, with 2 dimensions, or 3 with the channels last.
void take_planes(Image& image, const ImageHints& hints) {
  for (const Array& array : image.arrays)
    if (array.dimensions < 2)
      fail_frame("image has the shape ", shape_text(array),
                 ", but a picture, and each of its planes, has height and width");
  const Array& first = image.arrays.front();
  check_picture_size(first.shape[1], first.shape[0]);
  const PixelFormat format = hints.format ? *hints.format : guess_format(image.arrays);
  const std::size_t planes = planes_of(format);
  if (planes != image.arrays.size())
    fail_frame(name(format), " has ", planes, " planes, image has ", image.arrays.size(),
               "; several are a tuple of arrays");
  const auto [width, height] =
      hints.size.value_or(std::pair<int, int>(first.shape[1], first.shape[0]));
  image.view = {format, width, height, {}, {}};
  for (std::size_t p = 0; p < planes; ++p) {
    Array& array = image.arrays[p];
    const std::string name = planes == 1 ? "image" : "plane " + std::to_string(p);
    make_direct(array, is_direct_as(array, plane_shape(image.view, p), name));
    set_plane(image.view, p, array.data, array.stride[0]);
  }
}

}  // namespace

PlaneShape plane_shape(const ConstFrameView& frame, std::size_t plane) {
  const int p = static_cast<int>(plane);
  const auto row_bytes = [&](int width) {
    return static_cast<std::int64_t>(plane_row_bytes(frame.format, p, width));
  };
  const bool is_packed = frame.format == PixelFormat::yuyv || frame.format == PixelFormat::uyvy;
  const std::int64_t channels = is_packed ? 2 : row_bytes(1);
  return {plane_rows(frame.format, p, frame.height), row_bytes(frame.width) / channels, channels};
}

nb::capsule capsule_of(std::shared_ptr<void> owner) {
  auto kept = std::make_unique<std::shared_ptr<void>>(std::move(owner));
  return {kept.release(),
          [](void* held) noexcept { delete static_cast<std::shared_ptr<void>*>(held); }};
}

nb::object array_over(void* data, const PlaneShape& shape, std::shared_ptr<void> owner, int device,
                      nb::dlpack::dtype type) {
  const nb::capsule capsule = capsule_of(std::move(owner));
  const std::size_t sizes[3] = {static_cast<std::size_t>(shape.rows),
                                static_cast<std::size_t>(shape.columns),
                                static_cast<std::size_t>(shape.channels)};
  const std::size_t dimensions = shape.channels == 1 ? 2 : 3;
  if (device == kHost)
    return nb::cast(nb::ndarray<nb::numpy>(data, dimensions, sizes, capsule, nullptr, type));
  return nb::cast(nb::ndarray<>(data, dimensions, sizes, capsule, nullptr, type,
                                nb::device::cuda::value, device));
}

bool Array::is_direct() const {
  const std::int64_t row_bytes = plane().row_bytes();
  return (shape[2] == 1 || stride[2] == 1) && (shape[1] == 1 || stride[1] == shape[2]) &&
         (shape[0] == 1 || stride[0] >= row_bytes || stride[0] <= -row_bytes);
}

ImageHints image_hints(nb::handle format, nb::handle size) {
  ImageHints hints;
  if (!format.is_none()) hints.format = parse_format(format);
  if (!size.is_none()) {
    if (!nb::isinstance<nb::tuple>(size) || nb::len(size) != 2)
      fail_type("size must be a tuple (width, height)");
    hints.size = {parse_int(size[0], "the width"), parse_int(size[1], "the height")};
    check_picture_size(hints.size->first, hints.size->second);
  }
  return hints;
}

Image Image::from(nb::handle object, const ImageHints& hints, std::uintptr_t stream) {
  Image image;
  image.arrays = arrays_from(object, "image", stream);
  const Array& first = image.arrays.front();
  const bool may_be_stacked = hints.format && plane_count(*hints.format) > 1 &&
                              native_subsampling(*hints.format) == Subsampling::s420;
  if (!is_sequence(object) && first.dimensions == 1)
    take_flat(image, hints);
  else if (!is_sequence(object) && first.dimensions == 2 && may_be_stacked)
    take_stacked(image, *hints.format);
  else
    take_planes(image, hints);
  check(validate(image.view));
  return image;
}

Picture picture_in(nb::handle out, const FrameView& frame, std::uintptr_t stream) {
  Picture picture{nb::borrow(out), arrays_from(out, "out", stream), frame};
  picture.device = picture.arrays[0].device;
  const std::size_t planes = planes_of(frame.format);
  if (picture.arrays.size() != planes)
    fail_frame("out has ", picture.arrays.size(), " arrays, but ", name(frame.format), " has ",
               planes, " planes");
  for (std::size_t p = 0; p < planes; ++p) {
    const Array& array = picture.arrays[p];
    const PlaneShape shape = plane_shape(frame, p);
    const std::string name = planes == 1 ? "out" : "plane " + std::to_string(p) + " of out";
    if (!array.writable) fail_frame(name, " is read-only");
    if (array.dimensions < 2 || array.plane() != shape) fail_shape(name, array, shape);
    if (!array.is_direct())
      fail_frame(name,
                 " has samples that do not lie side by side, or rows that overlap; pass a "
                 "contiguous array or rows of one");
    set_plane(picture.view, p, array.data, array.stride[0]);
  }
  check_disjoint(picture.view);
  return picture;
}

Result<HostPicture> HostPicture::make(const FrameView& frame) {
  HostPicture made{frame, std::make_shared<HostBuffer>()};
  ZR_TRY(made.memory->resize(place_planes(made.view, nullptr, 1)));
  want_huge_pages(*made.memory);
  place_planes(made.view, reinterpret_cast<std::uint8_t*>(made.memory->data()), 1);
  return made;
}

nb::object HostPicture::object() const {
  return picture_of(view, [&](std::uint8_t* data, const PlaneShape& shape) {
    return array_over(data, shape, memory);
  });
}

Picture new_picture(const FrameView& frame) {
  const HostPicture made = value_of(HostPicture::make(frame));
  return {made.object(), {}, made.view};
}

Result<FrameView> decoded_frame(std::span<const std::byte> jpeg, PixelFormat format,
                                const StreamLimits& limits, int scale, const Region& region) {
  ZR_LET(info, inspect(jpeg, limits));
  ZR_LET(size, decoded_size(info.width, info.height, scale, region));
  return FrameView{format, size.width, size.height, {}, {}};
}

namespace {

/// The threads that help to copy what goes to a GPU or comes from one.
constexpr int kMostHelpers = 7;
struct Helpers {
  CopyThreads threads{std::min(usable_processors() - 1, kMostHelpers)};
};

/// `is_read_soon`: by the CPU.
void copy_together(std::span<const std::byte> from, std::byte* to, bool is_read_soon) {
  constexpr std::size_t kPiece = std::size_t{1} << 18;
  std::vector<CopyPiece> pieces;
  for (std::size_t at = 0; at < from.size(); at += kPiece)
    pieces.push_back({reinterpret_cast<const std::uint8_t*>(from.data()) + at, 0,
                      reinterpret_cast<std::uint8_t*>(to) + at, 0,
                      std::min(kPiece, from.size() - at), 1});
  SharedCopy copy(&of_this_process<Helpers>().threads,
                  static_cast<int>(std::min<std::size_t>(kMostHelpers, from.size() / kPiece)),
                  pieces, is_read_soon);
  copy.release(pieces.size());
  while (copy.copy_one()) {
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) copy.wait_for(i);
}

/// Copies a stream to memory that is kept if it is not larger than streams of photos.
std::shared_ptr<HostBuffer> copy_stream(std::span<const std::byte> stream, HostMemory memory) {
  constexpr std::size_t kLeast = std::size_t{1} << 18, kMostKept = std::size_t{16} << 20;
  auto copy = stream.size() <= kMostKept ? stream_rooms().take(memory)
                                         : std::make_shared<HostBuffer>(memory);
  check(copy->reserve(std::bit_ceil(std::max(stream.size(), kLeast))));
  check(copy->resize(stream.size()));
  // The device reads pinned memory, which it does faster where no cache has the lines.
  if (memory == HostMemory::pinned)
    copy_together(stream, copy->data(), /*is_read_soon=*/false);
  else
    std::memcpy(copy->data(), stream.data(), stream.size());
  return copy;
}

}  // namespace

nb::object GivenStreams::next(std::size_t bytes) {
  const auto size = static_cast<Py_ssize_t>(bytes);
  auto it = kept_.lower_bound(size);
  for (int looks = 8; looks > 0 && it != kept_.end() && it->first <= size + size / 4; --looks) {
    const auto found = it++;
    if (Py_REFCNT(found->second.ptr()) != 1) continue;
    bytes_ -= found->first;
    kept_.erase(found);  // malloc() finds the memory at once
    break;
  }
  return nb::steal(PyBytes_FromStringAndSize(nullptr, size));
}

void GivenStreams::keep(nb::handle object) {
  constexpr Py_ssize_t kLeast = Py_ssize_t{1} << 12, kMost = Py_ssize_t{192} << 20;
  const Py_ssize_t size = PyBytes_Size(object.ptr());
  if (size < kLeast || size > kMost / 4) return;
  if (bytes_ + size > kMost) *this = {};
  kept_.emplace(size, nb::borrow(object));
  bytes_ += size;
}

nb::bytes stream_object(std::span<const std::byte> stream, bool is_of_gpu) {
  if (!is_of_gpu) return nb::bytes(stream.data(), stream.size());
  const nb::object made = given_streams().next(stream.size());
  if (!made.is_valid()) throw nb::python_error();
  copy_together(stream, reinterpret_cast<std::byte*>(PyBytes_AsString(made.ptr())), true);
  given_streams().keep(made);
  return nb::borrow<nb::bytes>(made);
}

JpegData::JpegData(nb::handle data, std::optional<std::uintptr_t> on,
                   std::optional<HostMemory> memory) {
  // All other questions together take a quarter of a microsecond, while the GPU has nothing to do.
  if (PyBytes_CheckExact(data.ptr())) {
    bytes_object_ = nb::borrow(data);
    bytes_ = {reinterpret_cast<const std::byte*>(PyBytes_AsString(data.ptr())),
              static_cast<std::size_t>(PyBytes_Size(data.ptr()))};
    return;
  }
  array_ = array_from(data, "data", on.value_or(0));
  if (!array_.is_flat())
    fail_argument("data has the shape ", shape_text(array_),
                  ", but a JPEG stream is bytes one after another");
  if (!on && device() != kHost) fail_argument("data must be in host memory for this call");
  bytes_ = {reinterpret_cast<const std::byte*>(array_.data),
            static_cast<std::size_t>(array_.shape[0])};
  is_stable_ = !array_.writable || device() != kHost || bytes_.empty();
  if (is_stable_ || !memory) return;
  copy_ = copy_stream(bytes_, *memory);
  bytes_ = copy_->bytes();
  is_stable_ = true;
}

}  // namespace zerorun::python
