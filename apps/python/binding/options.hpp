// Keyword arguments of the package as parameters of the library.
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <vector>

#include "apps/python/binding/values.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::python {

/// Errors: TypeError for an unknown keyword, ArgumentError for an impossible value.
EncodeParams encode_params(const nb::kwargs& options);
DecodeParams decode_params(const nb::kwargs& options);

struct DeviceChoice {
  Backend backend = Backend::automatic;
  int index = 0;
};
/// None or "auto", "cpu", "cuda", "cuda:1"; anything whose str() is one of these.
DeviceChoice parse_device(nb::handle device);

/// For what can use several devices: "cuda:0,2", "cuda:all", or a list or tuple of names of
/// devices. Takes it out of the options, in which device= is then the first of them. Empty: it is
/// one device. Errors: ArgumentError, DeviceError for "cuda:all" without a usable device.
std::vector<int> take_device_list(nb::kwargs& options);

/// A text that is the same for equal parameters and for no others: the key of kept coders.
std::string key_of(const EncodeParams& params);
std::string key_of(const DecodeParams& params);

}  // namespace zerorun::python
