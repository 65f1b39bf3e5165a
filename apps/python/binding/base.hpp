// What all of the binding needs: errors, the interpreter's lock (GIL), fork(), and objects that are
// kept for the next call. What this header includes, the others do not include again.
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <unistd.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "zerorun/backend.hpp"
#include "zerorun/status.hpp"

namespace zerorun::python {

namespace nb = nanobind;
using namespace nb::literals;

/// Raises zerorun.Error, with and without the GIL.
[[noreturn]] void fail(const Status& status);
[[noreturn]] void fail(Errc code, std::string sentence);
[[noreturn]] void fail_type(const std::string& sentence);  ///< TypeError

inline std::string part_text(std::string_view part) { return std::string(part); }
inline std::string part_text(std::integral auto part) { return std::to_string(part); }

/// With the code invalid_argument or invalid_frame, and a sentence of texts and numbers.
template <typename... Parts>
[[noreturn]] void fail_argument(const Parts&... parts) {
  fail(Errc::invalid_argument, (part_text(parts) + ...));
}
template <typename... Parts>
[[noreturn]] void fail_frame(const Parts&... parts) {
  fail(Errc::invalid_frame, (part_text(parts) + ...));
}

inline void check(const Status& status) {
  if (!status) fail(status);
}

template <typename T>
T value_of(Result<T> result) {
  if (!result) fail(result.status());
  return *std::move(result);
}

/// The exception of a Status as an object. Needs the GIL.
nb::object exception_of(const Status& status);

/// The bytes of a str. Errors: UnicodeEncodeError for halves of surrogate pairs, TypeError.
std::string utf8_of(nb::handle text);
/// "str", "numpy.ndarray": the type of an object, for messages.
std::string type_of(nb::handle object);
/// A class of zerorun._types.
inline nb::object type_named(const char* name) {
  return nb::module_::import_("zerorun._types").attr(name);
}
/// True for a tuple or a list.
inline bool is_sequence(nb::handle object) {
  return nb::isinstance<nb::tuple>(object) || nb::isinstance<nb::list>(object);
}

/// What `make` returns for each item; `make` may also be a member of the items.
template <typename Items, typename Make>
nb::list list_of(Items& items, const Make& make) {
  nb::list list;
  for (auto& item : items) list.append(std::invoke(make, item));
  return list;
}

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

/// What the call returns, which runs without the GIL.
template <typename Call>
auto without_gil(const Call& call) {
  const WithoutGil no_gil;
  return call();
}

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

/// Holds the mutex, and the GIL too. No thread waits for the mutex with the GIL held, so its holder
/// may wait for the GIL.
inline std::unique_lock<std::mutex> locked(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::try_to_lock);
  if (lock) return lock;
  const WithoutGil no_gil;
  lock.lock();
  return lock;
}

/// Calls what may be a function of Python, which lets other threads run now and then and so waits
/// for the GIL, too.
template <typename... Args>
nb::object call_python(nb::handle callable, const Args&... args) {
  const nb::tuple values = nb::make_tuple(args...);
  PyObject* result =
      sleep_if_python_ends([&] { return PyObject_CallObject(callable.ptr(), values.ptr()); });
  if (result == nullptr) throw nb::python_error();
  return nb::steal(result);
}

/// How many forks lie between this process and the one that imported the module.
int fork_generation() noexcept;
/// Registers with the system; once, when the module is imported.
void watch_forks();

bool cuda_was_used_before_fork() noexcept;
/// Remembers that this process uses CUDA, which its children then cannot. Errors: DeviceError in
/// such a child.
void use_cuda();
/// The choice as the library gets it: in a child that cannot use CUDA, automatic means the CPU.
Backend usable_backend(Backend backend);

/// The T of this process. A child makes its own and leaves its parent's alone, whose threads it
/// does not have. Never destroyed, because other threads may run at the end. With the GIL held.
template <typename T>
T& of_this_process() {
  static T* object = nullptr;
  static int generation = 0;
  if (object == nullptr || generation != fork_generation()) object = new T;
  generation = fork_generation();
  return *object;
}

/// True if what was made with one serves for the other. Numbers count what it has, and more do.
template <typename Params>
bool serves(const Params& made, const Params& wanted) {
  if constexpr (std::integral<Params>) return made >= wanted;
  return made == wanted;
}

/// Objects that are kept for the next call with the same parameters. One for each process
/// (of_this_process()). Call all members, and let go of what was taken, with the GIL held.
template <typename T, typename Params, std::size_t kMostIdle>
class Pool {
 public:
  /// One that is made with these parameters; no other call has it until the pointer goes.
  std::shared_ptr<T> take(const Params& params) {
    const auto found = std::find_if(idle_.rbegin(), idle_.rend(),
                                    [&](const auto& idle) { return serves(idle.first, params); });
    const bool is_kept = found != idle_.rend();
    auto lent = is_kept ? std::move(*found) : std::pair(params, std::make_unique<T>(params));
    if (is_kept) idle_.erase(std::next(found).base());
    idle_.reserve(kMostIdle + 1);  // what comes back must not fail
    return {lent.second.release(), [this, made = std::move(lent.first)](T* object) mutable {
              idle_.emplace_back(std::move(made), object);
              if (idle_.size() > kMostIdle) idle_.erase(idle_.begin());
            }};
  }

 private:
  std::vector<std::pair<Params, std::unique_ptr<T>>> idle_;
};

/// A pointer whose object a child neither uses nor destroys: its threads are gone, and a lock in it
/// may be held by one of them for ever.
template <typename T>
class ForkBound {
 public:
  ForkBound() = default;
  explicit ForkBound(std::unique_ptr<T> object)
      : object_(object.release(), [made = fork_generation()](T* kept) {
          if (made == fork_generation()) delete kept;
        }) {}

  /// Null in a child of the process that made the object.
  std::shared_ptr<T> get() const { return is_foreign() ? nullptr : object_; }
  bool is_foreign() const noexcept { return object_ && generation_ != fork_generation(); }

 private:
  std::shared_ptr<T> object_;
  int generation_ = fork_generation();
};

}  // namespace zerorun::python
