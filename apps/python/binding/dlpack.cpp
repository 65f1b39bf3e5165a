// DLPack arrays of other libraries: PyTorch's tensors in host memory, JAX, ...
// SPDX-License-Identifier: MIT
#include "apps/python/binding/dlpack.hpp"

#include <string>

#include "apps/python/binding/arrays.hpp"
#include "apps/python/binding/device.hpp"
#include "apps/python/binding/failure.hpp"
#include "apps/python/binding/gil.hpp"

namespace zerorun::python {
namespace {

std::shared_ptr<void> owner_of_tensor(DlManagedTensor* managed) {
  return {managed, [](void* kept) {
            if (!Py_IsInitialized()) return;
            const WithGil gil;
            auto* tensor = static_cast<DlManagedTensor*>(kept);
            if (tensor->release != nullptr) tensor->release(tensor);
          }};
}

bool is_on_cuda(nb::handle object) {
  const nb::object place = call_python(object.attr("__dlpack_device__"));
  if (!nb::isinstance<nb::tuple>(place) || nb::len(place) != 2) return false;
  int type = 0;
  if (!nb::try_cast(place[0], type)) fail_type("__dlpack_device__() gives no numbers");
  return type == kDlCuda || type == kDlCudaManaged;
}

/// A producer on a GPU makes its array valid on `stream`; DLPack calls the default stream 1.
nb::object capsule_on_cuda(nb::handle object, std::uintptr_t stream) {
  return object.attr("__dlpack__")(nb::arg("stream") = nb::int_(stream == 0 ? 1 : stream));
}

nb::object capsule_of(nb::handle object, std::uintptr_t stream) {
  return is_on_cuda(object) ? capsule_on_cuda(object, stream)
                            : call_python(object.attr("__dlpack__"));
}

void read_tensor(const DlTensor& tensor, const std::string& name, Array& array) {
  if (tensor.type.code != kDlUnsigned || tensor.type.bits != 8 || tensor.type.lanes != 1)
    fail_dtype(name, "DLPack " + std::to_string(tensor.type.code) + " with " +
                         std::to_string(tensor.type.bits) + " bits");
  if (tensor.dimensions < 0 || tensor.dimensions > 3) fail_dimensions(name, tensor.dimensions);
  array.data = static_cast<std::uint8_t*>(tensor.data) + tensor.byte_offset;
  set_shape(array, tensor.dimensions, tensor.shape, tensor.strides, name);
}

bool has_dlpack(nb::handle object) {
  return nb::hasattr(object, "__dlpack__") && nb::hasattr(object, "__dlpack_device__");
}

const DlExchangeApi* exchange_api(nb::handle object) {
  constexpr std::uint32_t kKnown = 1;
  const nb::object capsule = nb::getattr(object.type(), "__dlpack_c_exchange_api__", nb::none());
  if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) return nullptr;
  const auto* api =
      static_cast<const DlExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  while (api != nullptr && api->major != kKnown) api = api->older;
  return api;
}

/// PyTorch's current stream is that of the call, unless the caller chose another (_streams.py).
bool is_of_torch(nb::handle object) { return type_of(object).starts_with("torch."); }

}  // namespace

std::optional<Array> array_from_exchange(nb::handle object, const std::string& name) {
  const DlExchangeApi* const api = exchange_api(object);
  if (api == nullptr || api->tensor_from_object == nullptr) return {};
  DlTensor tensor{};
  if (api->tensor_from_object(object.ptr(), &tensor) != 0) throw nb::python_error();
  if (tensor.device.type != kDlCuda && tensor.device.type != kDlCudaManaged) return {};
  Array array;
  read_tensor(tensor, name, array);
  find_device(array, name);
  array.writable = true;
  array.owner = owner_of(nb::borrow(object));
  if (!is_of_torch(object)) {
    void* stream = nullptr;
    if (api->current_stream(tensor.device.type, tensor.device.index, &stream) != 0)
      throw nb::python_error();
    array.stream = reinterpret_cast<std::uintptr_t>(stream);
  }
  return array;
}

void make_ready(nb::handle object, std::uintptr_t stream) {
  if (!has_dlpack(object) || is_of_torch(object)) return;
  try {
    if (is_on_cuda(object)) capsule_on_cuda(object, stream);
  } catch (const nb::builtin_exception&) {  // of is_on_cuda()
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_Exception) || error.matches(PyExc_MemoryError)) throw;
  }
}

std::optional<Array> array_from_dlpack(nb::handle object, const std::string& name,
                                       std::uintptr_t stream) {
  if (!has_dlpack(object)) return {};
  const nb::object capsule = capsule_of(object, stream);
  auto* managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (managed == nullptr) throw nb::python_error();
  Array array;
  array.owner = owner_of_tensor(managed);
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  read_tensor(managed->tensor, name, array);
  const DlDevice device = managed->tensor.device;
  if (device.type == kDlCuda || device.type == kDlCudaManaged)
    array.device = device_of_memory(array.data, array.data, name);
  else if (device.type != kDlCpu && device.type != kDlCudaHost)
    fail(Errc::invalid_frame, name + " is neither in host memory nor on a CUDA device");
  // DLPack's first version does not tell whether an array may be written.
  array.writable = true;
  return array;
}

}  // namespace zerorun::python
