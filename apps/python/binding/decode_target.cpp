// Where a call puts its decoded picture.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/decode_target.hpp"

#include <nanobind/stl/string.h>

#include <string>

#include "apps/python/binding/device.hpp"
#include "apps/python/binding/failure.hpp"
#include "apps/python/binding/forks.hpp"
#include "apps/python/binding/gil.hpp"
#include "apps/python/binding/options.hpp"

namespace zerorun::python {
namespace {

void check_target(const Target& target, const JpegData& data, const DecodeParams& params) {
  if (target.device == kHost && data.device() != kHost)
    fail(Errc::invalid_argument,
         "data is in the memory of a GPU, so the picture goes there too: use to='device'");
  if (target.device == kHost) return;
  check_cuda_after_fork();
  if (params.backend == Backend::cpu)
    fail(Errc::invalid_argument, "the picture goes to a GPU, but device is 'cpu'");
  if (params.backend == Backend::cuda && params.device != target.device)
    fail(Errc::invalid_argument, "out is on cuda:" + std::to_string(target.device) +
                                     ", but device is 'cuda:" + std::to_string(params.device) +
                                     "'");
  if (data.device() != kHost && data.device() != target.device)
    fail(Errc::invalid_argument, "data and out are on two devices");
}

}  // namespace

bool wants_device(nb::handle to, const DecodeParams& params) {
  if (to.is_none()) return params.backend == Backend::cuda;
  const std::string text = utf8_of(nb::str(to));
  if (text == "host") return false;
  if (text == "device") return true;
  fail(Errc::invalid_argument, "to is '" + text + "', but must be None, 'host' or 'device'");
}

Target make_target(const TargetRequest& request, const DecodeParams& params) {
  const PixelFormat format = parse_format(request.format);
  const int data_device = request.data.device();
  Result<StreamInfo> info{Status::ok()};
  {
    const WithoutGil no_gil;
    if (data_device == kHost)
      info = inspect(request.data.bytes(), params.limits);
    else
      info = inspect(copy_to_host(request.data, request.on), params.limits);
  }
  const StreamInfo found = value_of(std::move(info));
  Target target;
  if (!request.out.is_none()) {
    target.picture = picture_in(request.out, format, found.width, found.height, request.on);
    target.device = target.picture.arrays[0].device;
    order_after(target.picture.arrays, request.on);
  } else if (wants_device(request.to, params) || (request.to.is_none() && data_device != kHost)) {
    target.device = data_device != kHost ? data_device : params.device;
    target.picture = new_device_picture(format, found.width, found.height, target.device,
                                        request.on, request.stream);
  } else {
    target.picture = new_picture(format, found.width, found.height);
  }
  check_target(target, request.data, params);
  return target;
}

}  // namespace zerorun::python
