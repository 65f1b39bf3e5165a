// The protocols by which Python's arrays show their memory, and the order in which they are tried.
// SPDX-License-Identifier: MIT
#include <nanobind/stl/vector.h>

#include "apps/python/binding/coders.hpp"

namespace zerorun::python {
namespace {

[[noreturn]] void fail_dtype(const std::string& name, const std::string& dtype) {
  fail_frame(
      name, " has elements of type '", dtype,
      "', but samples are uint8; scale and convert them, for example with array.astype('uint8')");
}

/// Takes over a shape and its strides in bytes, which may be null: without gaps. Errors:
/// ArgumentError for more than 3 dimensions, for negative sizes and for more than 2^63 bytes.
void set_shape(Array& array, std::int64_t dimensions, const std::int64_t* shape,
               const std::int64_t* strides, const std::string& name) {
  if (dimensions < 0 || dimensions > 3 || (dimensions > 0 && shape == nullptr))
    fail_frame(name, " has ", dimensions,
               " dimensions, but a picture has at most 3 (height, width, channels)");
  array.dimensions = static_cast<int>(dimensions);
  std::int64_t tight = 1;
  for (auto i = static_cast<std::size_t>(dimensions); i-- > 0;) {
    array.shape[i] = shape[i];
    array.stride[i] = strides == nullptr ? tight : strides[i];
    if (shape[i] < 0 || __builtin_mul_overflow(tight, std::max<std::int64_t>(shape[i], 1), &tight))
      fail_frame(name, " has a shape that no memory can have");
  }
}

/// An owner that needs the GIL to let go.
template <typename Release>
std::shared_ptr<void> owner_by(void* kept, const Release& release) {
  return {kept, [release](void* owned) {
            if (!Py_IsInitialized()) return;
            const WithGil gil;
            release(owned);
          }};
}

// The buffer protocol.

bool is_bytes_format(const Py_buffer& buffer) {
  if (buffer.itemsize != 1) return false;
  std::string_view format = buffer.format == nullptr ? "B" : buffer.format;
  if (!format.empty() && std::string_view("@=<>!|").find(format[0]) != std::string_view::npos)
    format.remove_prefix(1);
  return format == "B";
}

Array array_from_buffer(nb::handle object, const std::string& name) {
  auto buffer = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), buffer.get(), PyBUF_STRIDED_RO | PyBUF_FORMAT) != 0)
    throw nb::python_error();
  const Py_buffer& view = *buffer;
  Array array;
  array.owner = owner_by(buffer.release(), [](void* kept) {
    PyBuffer_Release(static_cast<Py_buffer*>(kept));
    delete static_cast<Py_buffer*>(kept);
  });
  if (!is_bytes_format(view)) fail_dtype(name, view.format == nullptr ? "?" : view.format);
  array.data = static_cast<std::uint8_t*>(view.buf);
  array.writable = view.readonly == 0;
  // Arrays of ctypes have no strides, although the protocol asks for them.
  set_shape(array, view.ndim, view.shape, view.strides, name);
  return array;
}

// `__cuda_array_interface__`, versions 2 and 3: arrays of CuPy, Numba, JAX on a GPU.

[[noreturn]] void fail_description(const std::string& name, const char* what) {
  fail_frame(name, " has a __cuda_array_interface__ with ", what);
}

nb::object entry(const nb::dict& description, const char* key) {
  return description.contains(key) ? nb::object(description[key]) : nb::none();
}

/// Of a tuple.
std::vector<std::int64_t> numbers(nb::handle tuple, const std::string& name) {
  std::vector<std::int64_t> result;
  if (!nb::isinstance<nb::tuple>(tuple) || !nb::try_cast(tuple, result))
    fail_description(name, "a shape or strides that are no tuple of integers");
  return result;
}

void check_not_empty(const Array& array, const std::string& name) {
  if (std::ranges::count(array.shape, 0) > 0) fail_frame(name, " is empty: ", shape_text(array));
}

/// Sets the device of an array by its memory. Errors: ArgumentError for an empty array, and those
/// of device_of_memory().
void find_device(Array& array, const std::string& name) {
  // No sum leaves 128 bits: all sizes together are below 2^63.
  __extension__ __int128 first = reinterpret_cast<std::uintptr_t>(array.data), last = first;
  check_not_empty(array, name);
  for (std::size_t i = 0; i < static_cast<std::size_t>(array.dimensions); ++i)
    (array.stride[i] < 0 ? first : last) +=
        static_cast<decltype(first)>(array.shape[i] - 1) * array.stride[i];
  if (first < 0 || last > UINTPTR_MAX)
    fail_description(name, "strides that leave the address space");
  array.device =
      device_of_memory(reinterpret_cast<const void*>(static_cast<std::uintptr_t>(first)),
                       reinterpret_cast<const void*>(static_cast<std::uintptr_t>(last)), name);
}

// DLPack.

bool is_cuda(std::int32_t type) {
  return type == nb::device::cuda::value || type == nb::device::cuda_managed::value;
}

bool has_dlpack(nb::handle object) {
  return nb::hasattr(object, "__dlpack__") && nb::hasattr(object, "__dlpack_device__");
}

bool is_on_cuda(nb::handle object) {
  const nb::object place = call_python(object.attr("__dlpack_device__"));
  if (!nb::isinstance<nb::tuple>(place) || nb::len(place) != 2) return false;
  int type = 0;
  if (!nb::try_cast(place[0], type)) fail_type("__dlpack_device__() gives no numbers");
  return is_cuda(type);
}

/// A producer on a GPU makes its array valid on `stream`; DLPack calls the default stream 1.
nb::object capsule_on_cuda(nb::handle object, std::uintptr_t stream) {
  return object.attr("__dlpack__")(nb::arg("stream") = nb::int_(stream == 0 ? 1 : stream));
}

/// Without device and owner.
Array array_of(const nb::dlpack::dltensor& tensor, const std::string& name) {
  if (tensor.dtype != nb::dtype<std::uint8_t>())
    fail_dtype(name, "DLPack " + std::to_string(static_cast<int>(tensor.dtype.code)) + " with " +
                         std::to_string(tensor.dtype.bits) + " bits");
  Array array;
  array.data = static_cast<std::uint8_t*>(tensor.data) + tensor.byte_offset;
  array.writable = true;  // DLPack's first version does not tell
  set_shape(array, tensor.ndim, tensor.shape, tensor.strides, name);
  return array;
}

/// PyTorch's current stream is that of the call, unless the caller chose another (_streams.py).
bool is_of_torch(nb::handle object) { return type_of(object).starts_with("torch."); }

Array array_from_dlpack(nb::handle object, const std::string& name, std::uintptr_t stream) {
  const nb::object capsule =
      is_on_cuda(object) ? capsule_on_cuda(object, stream) : call_python(object.attr("__dlpack__"));
  const auto* const tensor =
      static_cast<const nb::dlpack::dltensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (tensor == nullptr) throw nb::python_error();
  auto kept = std::make_unique<nb::ndarray<nb::ro>>();
  if (!nb::try_cast(capsule, *kept)) fail_type(name + " has a DLPack capsule that is broken");
  Array array = array_of(*tensor, name);
  array.owner =
      owner_by(kept.release(), [](void* held) { delete static_cast<nb::ndarray<nb::ro>*>(held); });
  const std::int32_t place = tensor->device.device_type;
  if (is_cuda(place))
    array.device = device_of_memory(array.data, array.data, name);
  else if (place != nb::device::cpu::value && place != nb::device::cuda_host::value)
    fail_frame(name, " is neither in host memory nor on a CUDA device");
  return array;
}

/// Has an array in device memory made valid on `stream`, by DLPack, where its
/// `__cuda_array_interface__` does not speak of streams: JAX copies and computes on its own. An
/// error of the producer's leaves the array as it is; want of memory and interruptions go on.
void make_ready(nb::handle object, std::uintptr_t stream) {
  if (!has_dlpack(object) || is_of_torch(object)) return;
  try {
    if (is_on_cuda(object)) capsule_on_cuda(object, stream);
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_Exception) || error.matches(PyExc_MemoryError)) throw;
  }
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
  const std::vector<std::int64_t> shape = numbers(entry(description, "shape"), name);
  const nb::object strides = entry(description, "strides");
  const auto steps = strides.is_none() ? shape : numbers(strides, name);
  if (steps.size() != shape.size()) fail_description(name, "strides that do not fit its shape");
  set_shape(array, std::ssize(shape), shape.data(), strides.is_none() ? nullptr : steps.data(),
            name);
  const nb::object data = entry(description, "data");
  std::uintptr_t address = 0;
  if (!nb::isinstance<nb::tuple>(data) || nb::len(data) != 2 || !nb::try_cast(data[0], address))
    fail_description(name, "no data pointer");
  array.data = reinterpret_cast<std::uint8_t*>(address);
  array.writable = !nb::cast<bool>(nb::bool_(data[1]));
  const nb::object own_stream = entry(description, "stream");
  if (!own_stream.is_none() && !nb::try_cast(own_stream, array.stream.emplace()))
    fail_description(name, "a stream that is no handle");
  find_device(array, name);
  array.owner = owner_of(object);
  if (!description.contains("stream")) make_ready(object, stream);
  return array;
}

/// The functions of a library, in a capsule that is an attribute of its array type (DLPack 1.3).
struct DlExchangeApi {
  std::uint32_t major, minor;
  const DlExchangeApi* older;  ///< with another major version
  void *allocate, *managed_from_object, *managed_to_object;
  /// May be null. 0, or -1 with an error of Python. What `out` points to stays the object's.
  int (*tensor_from_object)(void* object, nb::dlpack::dltensor* out);
  int (*current_stream)(std::int32_t device_type, std::int32_t device, void** out);
};

/// What array_from_exchange() asks of a type. The last type is kept: a batch has hundreds of
/// arrays of one type, and the answers take longer than all else that is asked of an array.
struct ExchangeType {
  nb::object type;  ///< alive, so that no other type gets its address
  const DlExchangeApi* api = nullptr;
  bool is_of_torch = false;
};

ExchangeType exchange_type(nb::handle object) {
  static ExchangeType& last = *new ExchangeType;  // the GIL protects it
  const nb::handle type = object.type();
  if (last.type.is(type)) return last;
  ExchangeType found{nb::borrow(type), nullptr, false};
  const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) return found;
  found.api =
      static_cast<const DlExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  while (found.api != nullptr && found.api->major != 1) found.api = found.api->older;
  found.is_of_torch = is_of_torch(object);
  if (found.is_of_torch) last = found;
  return found;
}

/// Asks the library for its current stream.
std::uintptr_t current_stream(const DlExchangeApi& api, const nb::dlpack::device& device) {
  void* stream = nullptr;
  if (api.current_stream(device.device_type, device.device_id, &stream) != 0)
    throw nb::python_error();
  return reinterpret_cast<std::uintptr_t>(stream);
}

/// DLPack's functions in C call no Python code. Here they are for arrays on a GPU alone, because
/// they keep the object alive and not its memory.
std::optional<Array> array_from_exchange(nb::handle object, const std::string& name) {
  const auto [type, api, is_torch] = exchange_type(object);
  if (api == nullptr || api->tensor_from_object == nullptr) return {};
  nb::dlpack::dltensor tensor{};
  if (api->tensor_from_object(object.ptr(), &tensor) != 0) throw nb::python_error();
  if (!is_cuda(tensor.device.device_type)) return {};
#ifndef ZERORUN_HAVE_CUDA
  fail(Errc::cuda_not_built, name + " is in device memory");
#endif
  use_cuda();
  Array array = array_of(tensor, name);
  check_not_empty(array, name);
  array.device = tensor.device.device_id;
  array.owner = owner_of(object);
  if (!is_torch) array.stream = current_stream(*api, tensor.device);
  return array;
}

}  // namespace

std::optional<std::uintptr_t> current_stream_of(nb::handle object) {
  const auto [type, api, is_torch] = exchange_type(object);
  if (!is_torch || api == nullptr || api->tensor_from_object == nullptr ||
      api->current_stream == nullptr)
    return {};
  nb::dlpack::dltensor tensor{};
  if (api->tensor_from_object(object.ptr(), &tensor) != 0) throw nb::python_error();
  return is_cuda(tensor.device.device_type) ? current_stream(*api, tensor.device) : 0;
}

std::shared_ptr<void> owner_of(nb::handle object) {
  if (object.is_none()) return nullptr;
  return owner_by(object.inc_ref().ptr(),
                  [](void* kept) { Py_DECREF(static_cast<PyObject*>(kept)); });
}

std::string shape_text(const Array& array) {
  std::string text = "(";
  for (int i = 0; i < array.dimensions; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(array.shape[static_cast<std::size_t>(i)]);
  return text + (array.dimensions == 1 ? ",)" : ")");
}

Array array_from(nb::handle object, const std::string& name, std::uintptr_t stream) {
  if (nb::isinstance<nb::str>(object) || nb::hasattr(object, "__fspath__"))
    fail_type(name + " is a " + type_of(object) + "; pass the bytes of open(path, 'rb').read()");
  // CuPy's arrays have buffers that cannot be read.
  const bool is_buffer = PyObject_CheckBuffer(object.ptr()) != 0;
  if (is_buffer && !nb::hasattr(object, "__cuda_array_interface__"))
    return array_from_buffer(object, name);
  if (std::optional<Array> array = array_from_exchange(object, name)) return *array;
  if (std::optional<Array> array = array_from_cuda_interface(object, name, stream)) return *array;
  if (has_dlpack(object)) return array_from_dlpack(object, name, stream);
  fail_type(name + " is " + type_of(object) +
            ", but must be an array: a buffer (numpy, bytes), __cuda_array_interface__ or DLPack");
}

}  // namespace zerorun::python
