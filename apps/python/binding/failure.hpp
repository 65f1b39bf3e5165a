// Errors on their way to Python: a Status becomes an exception of the package.
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <string>
#include <utility>

#include "zerorun/status.hpp"

namespace zerorun::python {

namespace nb = nanobind;

/// Carries a Status through C++; the translator of the module raises it as zerorun.Error.
class Failure : public std::exception {
 public:
  explicit Failure(Status status) : status_(std::move(status)) {}
  const Status& status() const noexcept { return status_; }
  const char* what() const noexcept override { return "zerorun::python::Failure"; }

 private:
  Status status_;
};

[[noreturn]] void fail(Status status);
[[noreturn]] void fail(Errc code, std::string sentence);
[[noreturn]] void fail_type(const std::string& sentence);  ///< TypeError

inline void check(Status status) {
  if (!status) fail(std::move(status));
}

template <typename T>
T value_of(Result<T> result) {
  if (!result) fail(result.status());
  return *std::move(result);
}

/// The exception of a Status as an object. Needs the GIL.
nb::object exception_of(const Status& status);

void add_failure_translator();

/// The bytes of a str. Errors: UnicodeEncodeError for halves of surrogate pairs, TypeError.
std::string utf8_of(nb::handle text);

/// "a str", "a numpy.ndarray": the type of an object, for messages.
std::string type_of(nb::handle object);

}  // namespace zerorun::python
