// The interpreter's lock (GIL), given up and taken, and the end of the interpreter.
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

namespace zerorun::python {

/// Runs a function of Python's C interface that may wait for the GIL; it throws nothing. A thread
/// that does so while the interpreter ends (a daemon thread, when the main thread returns) is ended
/// by CPython up to 3.13: pthread_exit() unwinds the stack as an exception does. Neither
/// destructors nor the handlers of nanobind let that pass, and the whole process would abort. So
/// the thread sleeps until the process ends, as CPython 3.14 does it.
template <typename Call>
auto sleep_if_python_ends(const Call& call) noexcept {
  try {
    return call();
  } catch (...) {
    for (;;) pause();
  }
}

/// No GIL while it lives; as nanobind::gil_scoped_release.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() { take(); }

  /// Calls with the GIL, which the thread takes by its own state: PyGILState_Ensure() would look
  /// for one, and make one of an interpreter that is gone.
  template <typename Call>
  auto call_with_gil(const Call& call) {
    take();
    const auto result = sleep_if_python_ends(call);
    state_ = PyEval_SaveThread();
    return result;
  }

 private:
  void take() {
    sleep_if_python_ends([this] { PyEval_RestoreThread(state_); });
  }

  PyThreadState* state_;
};

/// The GIL while it lives, also in a thread that has it; as nanobind::gil_scoped_acquire.
class WithGil {
 public:
  WithGil() : state_(sleep_if_python_ends([] { return PyGILState_Ensure(); })) {}
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;
  ~WithGil() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

/// Calls what may be a function of Python, which lets other threads run now and then and so waits
/// for the GIL, too.
template <typename... Args>
nanobind::object call_python(nanobind::handle callable, const Args&... args) {
  const nanobind::tuple values = nanobind::make_tuple(args...);
  PyObject* result =
      sleep_if_python_ends([&] { return PyObject_CallObject(callable.ptr(), values.ptr()); });
  if (result == nullptr) throw nanobind::python_error();
  return nanobind::steal(result);
}

/// The next item, or null at the end. Errors: those of the iterator.
inline nanobind::object next_item(nanobind::handle iterator) {
  PyObject* item = sleep_if_python_ends([&] { return PyIter_Next(iterator.ptr()); });
  if (item == nullptr && PyErr_Occurred() != nullptr) throw nanobind::python_error();
  return nanobind::steal(item);
}

}  // namespace zerorun::python
