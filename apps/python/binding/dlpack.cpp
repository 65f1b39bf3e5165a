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

}  // namespace

void make_ready(nb::handle object, std::uintptr_t stream) {
  // Of PyTorch's arrays the current stream is known (_streams.py).
  if (!has_dlpack(object) || type_of(object).starts_with("torch.")) return;
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
