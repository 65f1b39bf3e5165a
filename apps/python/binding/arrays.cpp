// The buffer protocol, and the order in which the protocols are tried.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/arrays.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "apps/python/binding/failure.hpp"
#include "apps/python/binding/gil.hpp"

namespace zerorun::python {
namespace {

bool is_bytes_format(const Py_buffer& buffer) {
  if (buffer.itemsize != 1) return false;
  if (buffer.format == nullptr) return true;
  std::string_view format = buffer.format;
  if (!format.empty() && std::string_view("@=<>!|").find(format[0]) != std::string_view::npos)
    format.remove_prefix(1);
  return format == "B";
}

struct BufferRelease {
  void operator()(Py_buffer* buffer) const {
    if (!Py_IsInitialized()) return;
    const WithGil gil;
    PyBuffer_Release(buffer);
    delete buffer;
  }
};

Array array_from_buffer(nb::handle object, const std::string& name) {
  auto buffer = std::make_unique<Py_buffer>();
  bool writable = true;
  if (PyObject_GetBuffer(object.ptr(), buffer.get(), PyBUF_STRIDED | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    writable = false;
    if (PyObject_GetBuffer(object.ptr(), buffer.get(), PyBUF_STRIDED_RO | PyBUF_FORMAT) != 0)
      throw nb::python_error();
  }
  const std::shared_ptr<Py_buffer> owner(buffer.release(), BufferRelease{});
  if (!is_bytes_format(*owner)) fail_dtype(name, owner->format == nullptr ? "?" : owner->format);
  if (owner->ndim > 3) fail_dimensions(name, owner->ndim);
  Array array;
  array.data = static_cast<std::uint8_t*>(owner->buf);
  if (owner->ndim > 0 && owner->shape == nullptr) fail_dimensions(name, 0);
  // Arrays of ctypes have no strides, although the protocol asks for them.
  set_shape(array, owner->ndim, owner->shape, owner->strides, name);
  array.writable = writable;
  array.owner = owner;
  return array;
}

}  // namespace

std::shared_ptr<void> owner_of(nb::object object) {
  return {object.release().ptr(), [](void* kept) {
            if (!Py_IsInitialized()) return;
            const WithGil gil;
            Py_DECREF(static_cast<PyObject*>(kept));
          }};
}

void fail_dtype(const std::string& name, const std::string& dtype) {
  fail(Errc::invalid_frame, name + " has elements of type '" + dtype +
                                "', but samples are uint8; scale and convert them, for example "
                                "with array.astype('uint8')");
}

void fail_dimensions(const std::string& name, std::int64_t dimensions) {
  fail(Errc::invalid_frame, name + " has " + std::to_string(dimensions) +
                                " dimensions, but a picture has at most 3 (height, width, "
                                "channels)");
}

void set_shape(Array& array, int dimensions, const std::int64_t* shape, const std::int64_t* strides,
               const std::string& name) {
  array.dimensions = dimensions;
  std::int64_t tight = 1;
  for (int i = dimensions; i-- > 0;) {
    const auto at = static_cast<std::size_t>(i);
    array.shape[at] = shape[i];
    array.stride[at] = strides == nullptr ? tight : strides[i];
    if (shape[i] < 0 || __builtin_mul_overflow(tight, std::max<std::int64_t>(shape[i], 1), &tight))
      fail(Errc::invalid_frame, name + " has a shape that no memory can have");
  }
}

std::string shape_text(const Array& array) {
  std::string text = "(";
  for (int i = 0; i < array.dimensions; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(array.shape[static_cast<std::size_t>(i)]);
  return text + (array.dimensions == 1 ? ",)" : ")");
}

Array array_from(nb::handle object, const std::string& name, std::uintptr_t stream) {
  if (nb::isinstance<nb::str>(object))
    fail_type(name + " is a str; pass the bytes, for example of open(path, 'rb').read()");
  // CuPy's arrays have buffers that cannot be read.
  const bool is_buffer = PyObject_CheckBuffer(object.ptr()) != 0;
  if (is_buffer && !nb::hasattr(object, "__cuda_array_interface__"))
    return array_from_buffer(object, name);
  if (std::optional<Array> array = array_from_exchange(object, name)) return *array;
  if (std::optional<Array> array = array_from_cuda_interface(object, name, stream)) return *array;
  if (std::optional<Array> array = array_from_dlpack(object, name, stream)) return *array;
  fail_type(name + " is " + type_of(object) +
            ", but must be an array: a buffer (numpy, bytes), __cuda_array_interface__ or DLPack");
}

}  // namespace zerorun::python
