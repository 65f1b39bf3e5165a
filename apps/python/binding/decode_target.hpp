// Where a call puts its decoded picture.
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "apps/python/binding/pictures.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::python {

struct Target {
  Picture picture;
  int device = kHost;
};

struct TargetRequest {
  const JpegData& data;
  nb::handle format;  ///< the picture's
  nb::handle out;     ///< the caller's arrays, or None
  nb::handle to;      ///< "host", "device" or None
  nb::handle stream;  ///< as the caller gave it, to keep it alive
  std::uintptr_t on;  ///< its handle
};

/// True if results go to device memory: the caller said so, or chose a GPU and not `to`.
bool wants_device(nb::handle to, const DecodeParams& params);

/// Reads the header for the size. Errors: those of inspect(), ArgumentError.
Target make_target(const TargetRequest& request, const DecodeParams& params);

}  // namespace zerorun::python
