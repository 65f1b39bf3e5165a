// A picture that threads without the GIL decode into, and that becomes arrays of Python later.
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "zerorun/backend.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun::python {

namespace nb = nanobind;

/// New host memory for a picture without gaps, one plane after another.
class HostPicture {
 public:
  /// Needs no GIL. Errors: out_of_memory.
  static Result<HostPicture> make(PixelFormat format, int width, int height);

  /// To decode into; lives as long as the memory.
  const FrameView& view() const { return view_; }

  /// numpy arrays [height][width][channels] of the memory, or a tuple of planes; they keep it
  /// alive. Needs the GIL.
  nb::object object() const;

 private:
  std::shared_ptr<HostBuffer> memory_;
  FrameView view_;
};

}  // namespace zerorun::python
