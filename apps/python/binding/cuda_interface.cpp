// `__cuda_array_interface__`, versions 2 and 3: arrays of PyTorch, CuPy, Numba, JAX on a GPU.
// SPDX-License-Identifier: MIT
#include <nanobind/stl/string.h>

#include <string>

#include "apps/python/binding/arrays.hpp"
#include "apps/python/binding/device.hpp"
#include "apps/python/binding/failure.hpp"

namespace zerorun::python {
namespace {

nb::object entry(const nb::dict& description, const char* key) {
  PyObject* found = PyDict_GetItemString(description.ptr(), key);
  return found == nullptr ? nb::none() : nb::borrow(found);
}

[[noreturn]] void fail_description(const std::string& name, const char* what) {
  fail(Errc::invalid_frame, name + " has a __cuda_array_interface__ with " + what);
}

std::int64_t number(nb::handle value, const std::string& name) {
  std::int64_t result = 0;
  if (!nb::try_cast(value, result)) fail_description(name, "something else than integers");
  return result;
}

void read_shape(const nb::dict& description, const std::string& name, Array& array) {
  const nb::object shape = entry(description, "shape");
  if (!nb::isinstance<nb::tuple>(shape)) fail_description(name, "no shape");
  const std::size_t dimensions = nb::len(shape);
  if (dimensions > 3) fail_dimensions(name, static_cast<std::int64_t>(dimensions));
  array.dimensions = static_cast<int>(dimensions);
  for (std::size_t i = 0; i < dimensions; ++i) {
    array.shape[i] = number(shape[i], name);
    if (array.shape[i] < 0) fail_description(name, "a negative shape");
  }
  const nb::object strides = entry(description, "strides");
  if (!strides.is_none() && (!nb::isinstance<nb::tuple>(strides) || nb::len(strides) != dimensions))
    fail_description(name, "strides that do not fit its shape");
  std::int64_t tight = 1;
  for (std::size_t i = dimensions; i-- > 0;) {
    array.stride[i] = strides.is_none() ? tight : number(strides[i], name);
    if (__builtin_mul_overflow(tight, std::max<std::int64_t>(array.shape[i], 1), &tight))
      fail_description(name, "a shape of more than 2^63 bytes");
  }
}

void read_data(const nb::dict& description, const std::string& name, Array& array) {
  const nb::object data = entry(description, "data");
  std::uintptr_t address = 0;
  if (!nb::isinstance<nb::tuple>(data) || nb::len(data) != 2 || !nb::try_cast(data[0], address))
    fail_description(name, "no data pointer");
  array.data = reinterpret_cast<std::uint8_t*>(address);
  array.writable = !nb::cast<bool>(nb::bool_(data[1]));
}

/// The byte at `offset` from `data`; neither has to be memory.
const void* byte_at(const Array& array, std::int64_t offset, const std::string& name) {
  std::uintptr_t address = 0;
  if (__builtin_add_overflow(reinterpret_cast<std::uintptr_t>(array.data), offset, &address))
    fail_description(name, "strides that leave the address space");
  return reinterpret_cast<const void*>(address);
}

/// Offsets of the first and the last byte from `data`.
std::pair<std::int64_t, std::int64_t> extent(const Array& array, const std::string& name) {
  std::int64_t first = 0, last = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(array.dimensions); ++i) {
    std::int64_t reach = 0;
    if (array.shape[i] == 0) return {0, -1};
    std::int64_t& end = array.stride[i] < 0 ? first : last;
    if (__builtin_mul_overflow(array.shape[i] - 1, array.stride[i], &reach) ||
        __builtin_add_overflow(end, reach, &end))
      fail_description(name, "strides that leave the address space");
  }
  return {first, last};
}

}  // namespace

void find_device(Array& array, const std::string& name) {
  const auto [first, last] = extent(array, name);
  if (last < first) fail(Errc::invalid_frame, name + " is empty: " + shape_text(array));
  array.device = device_of_memory(byte_at(array, first, name), byte_at(array, last, name), name);
}

std::optional<Array> array_from_cuda_interface(nb::handle object, const std::string& name,
                                               std::uintptr_t stream) {
  const nb::object found = nb::getattr(object, "__cuda_array_interface__", nb::none());
  if (!nb::isinstance<nb::dict>(found)) return {};
  const nb::dict description = nb::borrow<nb::dict>(found);
  const nb::object type = entry(description, "typestr");
  const std::string dtype = nb::isinstance<nb::str>(type) ? utf8_of(type) : std::string("?");
  if (dtype != "|u1" && dtype != "<u1" && dtype != "u1") fail_dtype(name, dtype);
  if (!entry(description, "mask").is_none()) fail_description(name, "a mask");
  Array array;
  read_shape(description, name, array);
  read_data(description, name, array);
  const nb::object own_stream = entry(description, "stream");
  if (!own_stream.is_none()) array.stream = static_cast<std::uintptr_t>(number(own_stream, name));
  find_device(array, name);
  array.owner = owner_of(nb::borrow(object));
  if (!description.contains("stream")) make_ready(object, stream);
  return array;
}

}  // namespace zerorun::python
