// The class DeviceArray, and new ones to decode into.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/device_array.hpp"

#include <nanobind/stl/string.h>

#include <array>
#include <string>

#include "apps/python/binding/device.hpp"
#include "apps/python/binding/dlpack.hpp"
#include "apps/python/binding/failure.hpp"
#include "apps/python/binding/forks.hpp"
#include "apps/python/binding/gil.hpp"

namespace zerorun::python {
namespace {

constexpr char kDocs[] =
    R"(Samples (uint8) in the memory of a GPU, row by row without gaps.

torch.from_dlpack(array), cupy.asarray(array) and jax.dlpack.from_dlpack(array) take it without a
copy; numpy() copies it to the host. Its memory belongs to the stream of the call that made it:
use the array on that stream, or keep it until other streams have done with it.)";

nb::tuple shape_of(const DeviceArray& array) {
  const PlaneShape& s = array.shape;
  if (s.channels == 1) return nb::make_tuple(s.rows, s.columns);
  return nb::make_tuple(s.rows, s.columns, s.channels);
}

/// The default stream has the number 1 in both protocols.
std::uintptr_t public_stream(std::uintptr_t stream) { return stream == 0 ? 1 : stream; }

nb::dict cuda_interface(const DeviceArray& array) {
  nb::dict description;
  description["shape"] = shape_of(array);
  description["typestr"] = "|u1";
  description["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(array.data), false);
  description["strides"] = nb::none();
  description["stream"] = public_stream(array.block->stream);
  description["version"] = 3;
  return description;
}

struct Exported {
  DlManagedTensor managed{};
  std::array<std::int64_t, 3> shape{};
  std::shared_ptr<DeviceBlock> block;
};

void release_exported(DlManagedTensor* managed) { delete static_cast<Exported*>(managed->context); }

/// The destructor of a capsule that nobody took.
void drop_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, "dltensor")) return;
  release_exported(static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor")));
}

/// `stream` is the consumer's: None and 1 the default stream, -1 one that needs no order.
nb::object dlpack(const DeviceArray& array, nb::handle stream, nb::handle, nb::handle, nb::handle) {
  std::int64_t consumer = 1;
  if (!stream.is_none() && !nb::try_cast(stream, consumer))
    fail(Errc::invalid_argument, "stream is no handle of a CUDA stream");
  check_cuda_after_fork();
  if (consumer != -1)
    check(order_streams(public_stream(array.block->stream), static_cast<std::uintptr_t>(consumer),
                        array.block->device));
  auto exported = std::make_unique<Exported>();
  exported->block = array.block;
  exported->shape = {array.shape.rows, array.shape.columns, array.shape.channels};
  exported->managed.tensor = {array.data,
                              {kDlCuda, array.block->device},
                              array.shape.channels == 1 ? 2 : 3,
                              {kDlUnsigned, 8, 1},
                              exported->shape.data(),
                              nullptr,
                              0};
  exported->managed.context = exported.get();
  exported->managed.release = release_exported;
  PyObject* capsule = PyCapsule_New(&exported->managed, "dltensor", drop_capsule);
  if (capsule == nullptr) throw nb::python_error();
  (void)exported.release();
  return nb::steal(capsule);
}

nb::object to_numpy(const DeviceArray& array) {
  check_cuda_after_fork();
  const nb::object copy = nb::module_::import_("numpy").attr("empty")(shape_of(array), "u1");
  const Array memory = array_from(copy, "copy");
  const auto bytes = static_cast<std::size_t>(array.shape.rows * array.shape.row_bytes());
  Status status;
  {
    const WithoutGil no_gil;
    const OnDevice current(array.block->device);
    const cudaStream_t stream = stream_of(array.block->stream);
    status =
        cuda_status(cudaMemcpyAsync(memory.data, array.data, bytes, cudaMemcpyDeviceToHost, stream),
                    "cudaMemcpyAsync");
    if (status) status = cuda_status(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  check(std::move(status));
  return copy;
}

std::string device_name(const DeviceArray& array) {
  return "cuda:" + std::to_string(array.block->device);
}

}  // namespace

DevicePlanes::DevicePlanes(PixelFormat format, int width, int height)
    : format_(format), width_(width), height_(height) {
  constexpr std::size_t kAlignment = 256;  // as cudaMalloc()
  for (int p = 0; p < plane_count(format); ++p) {
    shapes.push_back(plane_shape(format, p, width, height));
    offsets.push_back(bytes);
    const auto plane = static_cast<std::size_t>(shapes.back().rows * shapes.back().row_bytes());
    bytes += (plane + kAlignment - 1) / kAlignment * kAlignment;
  }
}

FrameView DevicePlanes::view_of(const DeviceBlock& block) const {
  FrameView view{format_, width_, height_, {}, {}};
  for (std::size_t p = 0; p < shapes.size(); ++p) {
    view.data[p] = static_cast<std::uint8_t*>(block.data) + offsets[p];
    view.stride_bytes[p] = static_cast<std::ptrdiff_t>(shapes[p].row_bytes());
  }
  return view;
}

nb::object DevicePlanes::object_of(const std::shared_ptr<DeviceBlock>& block) const {
  nb::list planes;
  for (std::size_t p = 0; p < shapes.size(); ++p)
    planes.append(
        DeviceArray{block, static_cast<std::uint8_t*>(block->data) + offsets[p], shapes[p]});
  if (shapes.size() == 1) return nb::object(planes[0]);
  return nb::tuple(planes);
}

Picture new_device_picture(PixelFormat format, int width, int height, int device,
                           std::uintptr_t stream, nb::handle stream_owner) {
  check_cuda_after_fork();
  note_cuda_use();
  check(resolve_backend(Backend::cuda, device).status());
  const DevicePlanes planes(format, width, height);
  const std::shared_ptr<DeviceBlock> block =
      value_of(allocate_device_block(planes.bytes, device, stream));
  if (!stream_owner.is_none()) block->stream_owner = owner_of(nb::borrow(stream_owner));
  Picture picture;
  picture.object = planes.object_of(block);
  picture.view = planes.view_of(*block);
  return picture;
}

void bind_device_array(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<DeviceArray>(module, "DeviceArray", kDocs)
      .def_prop_ro("shape", &shape_of, nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro("ndim", [](const DeviceArray& a) { return nb::len(shape_of(a)); })
      .def_prop_ro("nbytes",
                   [](const DeviceArray& a) { return a.shape.rows * a.shape.row_bytes(); })
      .def_prop_ro("dtype", [](const DeviceArray&) { return "uint8"; })
      .def_prop_ro("device", &device_name)
      .def_prop_ro("__cuda_array_interface__", &cuda_interface,
                   nb::sig("def __cuda_array_interface__(self) -> dict[str, Any]"))
      .def("__dlpack__", &dlpack, nb::kw_only(), "stream"_a = nb::none(),
           "max_version"_a = nb::none(), "dl_device"_a = nb::none(), "copy"_a = nb::none())
      .def(
          "__dlpack_device__",
          [](const DeviceArray& a) { return nb::make_tuple(kDlCuda, a.block->device); },
          nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
      .def("numpy", &to_numpy, "A copy in host memory; waits for the stream.")
      .def("__repr__", [](const DeviceArray& a) {
        return "zerorun.DeviceArray(shape=" + utf8_of(nb::repr(shape_of(a))) + ", device='" +
               device_name(a) + "')";
      });
}

}  // namespace zerorun::python
