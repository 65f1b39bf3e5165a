// The class DeviceArray: decoded samples in the memory of a GPU.
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "apps/python/binding/device_memory.hpp"
#include "apps/python/binding/layouts.hpp"

namespace zerorun::python {

/// A row-major array without gaps.
struct DeviceArray {
  std::shared_ptr<DeviceBlock> block;
  std::uint8_t* data = nullptr;
  PlaneShape shape;
};

/// The planes of a picture in one block, each at a multiple of 256 bytes.
struct DevicePlanes {
  explicit DevicePlanes(PixelFormat format, int width, int height);

  std::size_t bytes = 0;
  std::vector<std::size_t> offsets;
  std::vector<PlaneShape> shapes;

  FrameView view_of(const DeviceBlock& block) const;
  /// An array, or a tuple of them.
  nb::object object_of(const std::shared_ptr<DeviceBlock>& block) const;

 private:
  PixelFormat format_;
  int width_, height_;
};

}  // namespace zerorun::python
