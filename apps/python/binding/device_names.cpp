// device= as the device of a coder, or as several.
// SPDX-License-Identifier: MIT
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>

#include "apps/python/binding/failure.hpp"
#include "apps/python/binding/options.hpp"

namespace zerorun::python {

DeviceChoice parse_device(nb::handle device) {
  if (device.is_none()) return {};
  const std::string text = utf8_of(nb::str(device));
  if (text == "auto") return {};
  if (text == "cpu") return {Backend::cpu, 0};
  if (text == "cuda") return {Backend::cuda, 0};
  const std::string number = text.starts_with("cuda:") ? text.substr(5) : "";
  if (number.empty() || number.size() > 4 ||
      number.find_first_not_of("0123456789") != std::string::npos)
    fail_choice("device", text, "None, 'cpu', 'cuda' or 'cuda:N'");
  return {Backend::cuda, std::stoi(number)};
}

namespace {

/// The indices after "cuda:" in "cuda:0,2".
std::vector<int> parse_indices(const std::string& text) {
  std::vector<int> list;
  for (std::size_t at = sizeof("cuda:") - 1; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    list.push_back(parse_device(nb::str(("cuda:" + text.substr(at, comma - at)).c_str())).index);
    at = comma + 1;
  }
  return list;
}

std::vector<int> indices_of(nb::handle devices) {
  std::vector<int> list;
  for (const nb::handle each : nb::borrow<nb::sequence>(devices)) {
    const DeviceChoice choice = parse_device(each);
    if (choice.backend != Backend::cuda)
      fail_choice("device", utf8_of(nb::str(each)), "a GPU; a list is of GPUs alone");
    list.push_back(choice.index);
  }
  return list;
}

}  // namespace

std::vector<int> take_device_list(nb::kwargs& options) {
  if (!options.contains("device")) return {};
  const nb::object device = options["device"];
  std::vector<int> list;
  if (nb::isinstance<nb::list>(device) || nb::isinstance<nb::tuple>(device)) {
    list = indices_of(device);
    if (list.empty()) fail_choice("device", "[]", "a list of at least one GPU");
  } else {
    const std::string text = utf8_of(nb::str(device));
    if (text == "cuda:all") {
      list = usable_cuda_devices();
      if (list.empty()) fail(Errc::no_device, "there is no usable CUDA device");
    } else if (text.starts_with("cuda:") && text.find(',') != text.npos) {
      list = parse_indices(text);
    } else {
      return {};
    }
  }
  nb::kwargs one = nb::steal<nb::kwargs>(PyDict_Copy(options.ptr()));  // the caller keeps its own
  one["device"] = nb::str(("cuda:" + std::to_string(list[0])).c_str());
  options = one;
  return list;
}

}  // namespace zerorun::python
