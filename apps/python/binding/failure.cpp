// A Status as an exception of the package.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/failure.hpp"

#include <nanobind/stl/string.h>

#include "apps/python/binding/gil.hpp"

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
  return call_python(make, any_text(status.message()), text(name(status.code())),
                     static_cast<int>(status.code()), text(group_name(status.code())),
                     number_or_none(status.byte_offset()),
                     number_or_none(status.restart_interval()), any_text(status.detail()));
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

std::string utf8_of(nb::handle text) {
  if (!nb::isinstance<nb::str>(text)) fail_type("a str is needed, not " + type_of(text));
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes == nullptr) throw nb::python_error();
  return {bytes, static_cast<std::size_t>(size)};
}

std::string type_of(nb::handle object) {
  const nb::handle type = object.type();
  const nb::object name = nb::getattr(type, "__name__", nb::none());
  const nb::object module = nb::getattr(type, "__module__", nb::none());
  if (!nb::isinstance<nb::str>(name)) return "an object";  // a metaclass may say anything
  if (!nb::isinstance<nb::str>(module)) return utf8_of(name);
  const std::string module_name = utf8_of(module);
  return module_name == "builtins" ? utf8_of(name) : module_name + "." + utf8_of(name);
}

}  // namespace zerorun::python
