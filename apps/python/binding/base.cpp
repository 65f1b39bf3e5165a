// SPDX-License-Identifier: MIT
#include "apps/python/binding/base.hpp"

#include <pthread.h>

#include <atomic>

namespace zerorun::python {
namespace {

/// Details may hold a file's name in any encoding.
nb::object any_text(const std::string& bytes) {
  return nb::steal(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

std::atomic<int> generation{0};
std::atomic<bool> uses_cuda{false};
std::atomic<bool> parent_used_cuda{false};

void after_fork_in_child() {
  generation.fetch_add(1);
  if (uses_cuda) parent_used_cuda = true;
}

}  // namespace

void fail(const Status& status) {
  const WithGil gil;
  const nb::object error = exception_of(status);
  PyErr_SetObject(error.type().ptr(), error.ptr());
  throw nb::python_error();
}

void fail(Errc code, std::string sentence) { fail(Status(code, std::move(sentence))); }
void fail_type(const std::string& sentence) {
  PyErr_SetString(PyExc_TypeError, sentence.c_str());
  throw nb::python_error();
}

nb::object exception_of(const Status& status) {
  const nb::object kinds = nb::module_::import_("zerorun._errors").attr("KINDS");
  const auto known = [](std::int64_t number) {
    return number < 0 ? nb::none() : nb::object(nb::int_(number));
  };
  return call_python(kinds[static_cast<std::size_t>(group(status.code()))],
                     any_text(status.message()), std::string(name(status.code())),
                     static_cast<int>(status.code()), known(status.byte_offset()),
                     known(status.restart_interval()), any_text(status.detail()));
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
  if (!nb::isinstance<nb::str>(module) || utf8_of(module) == "builtins") return utf8_of(name);
  return utf8_of(module) + "." + utf8_of(name);
}

int fork_generation() noexcept { return generation; }

void watch_forks() { pthread_atfork(nullptr, nullptr, after_fork_in_child); }

bool cuda_was_used_before_fork() noexcept { return parent_used_cuda; }

void use_cuda() {
  if (parent_used_cuda)
    fail(Errc::no_device,
         "this process was forked from one that had used CUDA, and CUDA does not survive a fork; "
         "start the process by multiprocessing.get_context('spawn'), or use device='cpu'");
  uses_cuda = true;
}

Backend usable_backend(Backend backend) {
#ifdef ZERORUN_HAVE_CUDA
  if (backend == Backend::automatic && parent_used_cuda) return Backend::cpu;
  if (backend != Backend::cpu) use_cuda();
#endif
  return backend;
}

}  // namespace zerorun::python
