// A picture that threads without the GIL decode into, and that becomes arrays of Python later.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/host_picture.hpp"

#include <nanobind/ndarray.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "apps/python/binding/layouts.hpp"
#include "codec/base/place_planes.hpp"

namespace zerorun::python {
namespace {

/// From this size on numpy asks for huge pages, too. Without them, writing to new memory for the
/// first time takes several times as long.
constexpr std::size_t kHugeBytes = std::size_t{1} << 22;

/// A wish: memory without huge pages serves as well.
void want_huge_pages(const HostBuffer& memory) {
  if (memory.size() < kHugeBytes) return;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto at = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t begin = (at + page - 1) / page * page;
  const std::uintptr_t end = (at + memory.size()) / page * page;
  (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

nb::object array_of(std::uint8_t* data, const PlaneShape& shape, nb::handle owner) {
  const std::size_t sizes[3] = {static_cast<std::size_t>(shape.rows),
                                static_cast<std::size_t>(shape.columns),
                                static_cast<std::size_t>(shape.channels)};
  const std::size_t dimensions = shape.channels == 1 ? 2 : 3;
  return nb::cast(nb::ndarray<nb::numpy, std::uint8_t>(data, dimensions, sizes, owner));
}

}  // namespace

Result<HostPicture> HostPicture::make(PixelFormat format, int width, int height) {
  HostPicture picture;
  picture.view_ = {format, width, height, {}, {}};
  picture.memory_ = std::make_shared<HostBuffer>();
  if (Status status = picture.memory_->resize(place_planes(picture.view_, nullptr, 1)); !status)
    return status;
  want_huge_pages(*picture.memory_);
  place_planes(picture.view_, reinterpret_cast<std::uint8_t*>(picture.memory_->data()), 1);
  return picture;
}

nb::object HostPicture::object() const {
  auto kept = std::make_unique<std::shared_ptr<HostBuffer>>(memory_);
  const nb::capsule owner(kept.get(), [](void* held) noexcept {
    delete static_cast<std::shared_ptr<HostBuffer>*>(held);
  });
  (void)kept.release();
  const int planes = plane_count(view_.format);
  nb::list arrays;
  for (int plane = 0; plane < planes; ++plane)
    arrays.append(array_of(view_.data[static_cast<std::size_t>(plane)],
                           plane_shape(view_.format, plane, view_.width, view_.height), owner));
  return planes == 1 ? nb::object(arrays[0]) : nb::object(nb::tuple(arrays));
}

}  // namespace zerorun::python
