// Pictures of Python as frames to encode.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/images.hpp"

#include <string>

#include "apps/python/binding/failure.hpp"
#include "apps/python/binding/options.hpp"

namespace zerorun::python {
namespace {

bool is_stacked_format(PixelFormat format) {
  return format == PixelFormat::nv12 || format == PixelFormat::nv21 ||
         format == PixelFormat::yuv420p;
}

PixelFormat format_of_channels(const Array& array) {
  const std::int64_t channels = array.dimensions == 2 ? 1 : array.shape[2];
  if (channels == 1) return PixelFormat::gray8;
  if (channels == 3) return PixelFormat::rgb24;
  if (channels == 4) return PixelFormat::rgbx32;
  fail(Errc::invalid_frame, "image has the shape " + shape_text(array) +
                                "; its last dimension must be 1, 3 or 4, or tell its format=");
}

/// An array of a packed or grey format: 2 dimensions, or 3 with the channels last.
void check_channels(const Array& array, PixelFormat format, const std::string& name) {
  const std::int64_t channels = array.dimensions == 3 ? array.shape[2] : 1;
  const std::int64_t wanted = plane_shape(format, 0, 2, 2).channels;
  if (channels != wanted)
    fail(Errc::invalid_frame, name + " has the shape " + shape_text(array) + ", but " +
                                  std::string(zerorun::name(format)) + " has " +
                                  std::to_string(wanted) + " bytes a pixel");
}

/// Chroma pairs may have 3 dimensions or lie in rows of 2.
PlaneView view_as(const Array& array, const PlaneShape& shape, const std::string& name) {
  PlaneView view = plane_view(array);
  if (shape.channels == 2 && array.dimensions == 2 && array.shape[1] == shape.row_bytes()) {
    view.channel_stride = view.column_stride;
    view.column_stride *= 2;
    view.shape = {array.shape[0], array.shape[1] / 2, 2};
  }
  if (view.shape != shape)
    fail(Errc::invalid_frame,
         name + " has the shape " + shape_text(array) + ", but must have " + shape_text(shape));
  return view;
}

PixelFormat guess_planar(const std::vector<Array>& planes) {
  if (planes.size() == 1) return PixelFormat::gray8;
  if (planes.size() == 2) return PixelFormat::nv12;
  const auto width = static_cast<int>(planes[0].shape[1]);
  const auto height = static_cast<int>(planes[0].shape[0]);
  std::optional<PixelFormat> found;
  for (int i = 0; i < kPixelFormatCount; ++i) {
    const auto format = static_cast<PixelFormat>(i);
    if (plane_count(format) != 3 ||
        plane_view(planes[1]).shape != plane_shape(format, 1, width, height))
      continue;
    if (found)
      fail(Errc::invalid_frame,
           "the planes of image fit several formats; tell which by format='yuv420p'");
    found = format;
  }
  if (found) return *found;
  fail(Errc::invalid_frame, "the planes of image have the shapes " + shape_text(planes[0]) +
                                " and " + shape_text(planes[1]) + ", which fit no format");
}

}  // namespace

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

std::vector<Array> arrays_from(nb::handle object, const std::string& name, std::uintptr_t stream) {
  std::vector<Array> arrays;
  if (!nb::isinstance<nb::tuple>(object) && !nb::isinstance<nb::list>(object)) {
    arrays.push_back(array_from(object, name, stream));
    return arrays;
  }
  const std::size_t count = nb::len(object);
  if (count < 1 || count > 3)
    fail(Errc::invalid_frame,
         name + " has " + std::to_string(count) + " planes, but a picture has 1 to 3");
  for (std::size_t i = 0; i < count; ++i)
    arrays.push_back(array_from(object[i], "plane " + std::to_string(i), stream));
  for (const Array& array : arrays)
    if (array.device != arrays[0].device)
      fail(Errc::invalid_frame, "the planes of " + name + " are not on one device");
  return arrays;
}

Image Image::from(nb::handle object, const ImageHints& hints, std::uintptr_t stream) {
  Image image;
  image.arrays_ = arrays_from(object, "image", stream);
  const Array& first = image.arrays_.front();
  if (image.arrays_.size() > 1 || nb::isinstance<nb::tuple>(object) ||
      nb::isinstance<nb::list>(object)) {
    image.take_planes(hints);
  } else if (first.dimensions == 1) {
    image.take_flat(hints);
  } else if (first.dimensions == 2 && hints.format && is_stacked_format(*hints.format)) {
    image.take_stacked(*hints.format);
  } else {
    image.take_single(hints);
  }
  check(validate(image.view_));
  return image;
}

void Image::set_shape(PixelFormat format, std::int64_t width, std::int64_t height) {
  check_picture_size(width, height);
  view_.format = format;
  view_.width = static_cast<int>(width);
  view_.height = static_cast<int>(height);
}

/// One dimension: the planes one after another without gaps, as in a raw video.
void Image::take_flat(const ImageHints& hints) {
  if (!hints.format || !hints.size)
    fail(Errc::invalid_frame,
         "image has one dimension; then format= and size=(width, height) must be given");
  set_shape(*hints.format, hints.size->first, hints.size->second);
  const Array& array = arrays_.front();
  const std::int64_t step = array.stride[0];
  std::int64_t at = 0;
  for (int p = 0; p < plane_count(view_.format); ++p) {
    const PlaneShape shape = plane_shape(view_.format, p, view_.width, view_.height);
    const std::int64_t end = at + shape.rows * shape.row_bytes();
    if (end <= array.shape[0])
      set_plane(p, direct({array.data + at * step, shape, shape.row_bytes() * step,
                           shape.channels * step, step}));
    at = end;
  }
  if (at != array.shape[0])
    fail(Errc::invalid_frame, "image has " + std::to_string(array.shape[0]) + " bytes, but " +
                                  std::string(name(view_.format)) + " of this size has " +
                                  std::to_string(at));
}

/// Two dimensions with 3/2 as many rows: chroma below luma, as OpenCV and cameras have it.
void Image::take_stacked(PixelFormat format) {
  const Array& array = arrays_.front();
  const std::int64_t width = array.shape[1], height = array.shape[0] / 3 * 2;
  if (array.shape[0] % 3 != 0 || width % 2 != 0)
    fail(Errc::invalid_frame,
         "image has the shape " + shape_text(array) +
             "; 4:2:0 in one array has an even width and 3/2 rows for each of an even height");
  set_shape(format, width, height);
  // Two chroma rows of I420 share a row of the array, so these must follow without a gap.
  const PlaneView whole = direct(plane_view(array), format == PixelFormat::yuv420p);
  const std::int64_t step = whole.row_stride;
  for (int p = 0; p < plane_count(format); ++p) {
    const PlaneShape shape = plane_shape(format, p, view_.width, view_.height);
    std::uint8_t* data = whole.data + (p == 0 ? 0 : height * step);
    const std::int64_t row = p > 0 && format == PixelFormat::yuv420p ? step / 2 : step;
    if (p == 2) data += height / 2 * row;
    set_plane(p, {data, shape, row, shape.channels, 1});
  }
}

void Image::take_single(const ImageHints& hints) {
  const Array& array = arrays_.front();
  if (array.dimensions < 2)
    fail(Errc::invalid_frame,
         "image has the shape " + shape_text(array) + ", but a picture has height and width");
  const PixelFormat format = hints.format ? *hints.format : format_of_channels(array);
  if (plane_count(format) > 1)
    fail(Errc::invalid_frame,
         std::string(name(format)) + " has several planes; pass them as a tuple of arrays");
  check_channels(array, format, "image");
  const bool is_packed = format == PixelFormat::yuyv || format == PixelFormat::uyvy;
  std::int64_t width = array.shape[1];
  if (is_packed && width % 2 != 0)
    fail(Errc::invalid_frame, "image has an odd number of columns; packed 4:2:2 has pairs of them");
  if (hints.size) {
    const auto [wide, high] = *hints.size;
    const bool fits = (wide == width || (is_packed && wide + 1 == width)) && high == array.shape[0];
    if (!fits) fail(Errc::invalid_frame, "size= is not that of the array");
    width = wide;
  }
  set_shape(format, width, array.shape[0]);
  set_plane(0, direct(plane_view(array)));
}

void Image::take_planes(const ImageHints& hints) {
  for (const Array& array : arrays_)
    if (array.dimensions < 2)
      fail(Errc::invalid_frame, "a plane of image has the shape " + shape_text(array) +
                                    ", but must have height and width");
  const Array& luma = arrays_.front();
  check_picture_size(luma.shape[1], luma.shape[0]);
  const PixelFormat format = hints.format ? *hints.format : guess_planar(arrays_);
  if (static_cast<std::size_t>(plane_count(format)) != arrays_.size())
    fail(Errc::invalid_frame, std::string(name(format)) + " has " +
                                  std::to_string(plane_count(format)) + " planes, image has " +
                                  std::to_string(arrays_.size()));
  const bool has_width = hints.size && plane_count(format) == 1;
  set_shape(format, has_width ? hints.size->first : luma.shape[1], luma.shape[0]);
  if (hints.size && (hints.size->first != view_.width || hints.size->second != view_.height))
    fail(Errc::invalid_frame, "size= is not that of the arrays");
  for (int p = 0; p < plane_count(format); ++p)
    set_plane(p, direct(view_as(arrays_[static_cast<std::size_t>(p)],
                                plane_shape(format, p, view_.width, view_.height),
                                "plane " + std::to_string(p))));
}

PlaneView Image::direct(const PlaneView& plane, bool without_gaps) {
  if (plane.is_direct() && (!without_gaps || plane.row_stride == plane.shape.row_bytes()))
    return plane;
  if (device() != kHost)
    fail(Errc::invalid_frame,
         "the samples of image do not lie side by side; make it contiguous, for example with "
         "tensor.contiguous()");
  const PlaneShape& shape = plane.shape;
  copies_.push_back({plane, std::make_unique_for_overwrite<std::uint8_t[]>(
                                static_cast<std::size_t>(shape.rows * shape.row_bytes()))});
  return {copies_.back().memory.get(), shape, shape.row_bytes(), shape.channels, 1};
}

void Image::set_plane(int plane, const PlaneView& view) {
  const auto p = static_cast<std::size_t>(plane);
  view_.data[p] = view.data;
  // Of one row the stride means nothing; numpy may give any.
  view_.stride_bytes[p] = view.shape.rows == 1 ? view.shape.row_bytes() : view.row_stride;
}

void Image::settle() {
  for (const Copy& copy : copies_) copy_tight(copy.from, copy.memory.get());
}

}  // namespace zerorun::python
