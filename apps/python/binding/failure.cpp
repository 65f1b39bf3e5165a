// A Status as an exception of the package.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/failure.hpp"

#include <nanobind/stl/string.h>

namespace zerorun::python {
namespace {

std::string_view group_name(Errc code) {
  switch (group(code)) {
    case ErrorGroup::none:
      return "none";
    case ErrorGroup::argument:
      return "argument";
    case ErrorGroup::corrupt:
      return "corrupt";
    case ErrorGroup::unsupported:
      return "unsupported";
    case ErrorGroup::capacity:
      return "capacity";
    case ErrorGroup::device:
      return "device";
    case ErrorGroup::io:
      return "io";
  }
  return "none";
}

nb::object number_or_none(std::int64_t number) {
  if (number < 0) return nb::none();
  return nb::int_(number);
}

nb::str text(std::string_view view) { return nb::str(view.data(), view.size()); }

/// Details may hold a file's name in any encoding.
nb::object any_text(const std::string& bytes) {
  return nb::steal(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

}  // namespace

void fail(Status status) { throw Failure(std::move(status)); }

void fail(Errc code, std::string sentence) { throw Failure(Status(code, std::move(sentence))); }

void fail_type(const std::string& sentence) { throw nb::type_error(sentence.c_str()); }

nb::object exception_of(const Status& status) {
  const nb::object make = nb::module_::import_("zerorun._errors").attr("make_error");
  return make(any_text(status.message()), text(name(status.code())),
              static_cast<int>(status.code()), text(group_name(status.code())),
              number_or_none(status.byte_offset()), number_or_none(status.restart_interval()),
              any_text(status.detail()));
}

void add_failure_translator() {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Failure& failure) {
      try {
        const nb::object error = exception_of(failure.status());
        PyErr_SetObject(error.type().ptr(), error.ptr());
      } catch (nb::python_error& while_making) {
        while_making.restore();
      }
    }
  });
}

std::string type_of(nb::handle object) {
  const nb::handle type = object.type();
  const std::string name = nb::cast<std::string>(type.attr("__name__"));
  const nb::object module = nb::getattr(type, "__module__", nb::none());
  if (!nb::isinstance<nb::str>(module)) return name;
  const std::string module_name = nb::cast<std::string>(module);
  return module_name == "builtins" ? name : module_name + "." + name;
}

}  // namespace zerorun::python
