// Keyword arguments of the package as parameters of the library. Errors name the keyword.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "apps/python/binding/base.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/transcoder.hpp"

namespace zerorun::python {

/// Errors of all: TypeError for an unknown keyword and for an object of another type, ArgumentError
/// for an impossible value.
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

}  // namespace zerorun::python
