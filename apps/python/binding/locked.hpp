// A lock that is waited for without the GIL.
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <mutex>

#include "apps/python/binding/gil.hpp"

namespace zerorun::python {

/// Holds the mutex, and after the constructor the GIL too. Nobody waits for the mutex with the GIL
/// held, so its holder may wait for the GIL.
class Locked {
 public:
  explicit Locked(std::mutex& mutex) : mutex_(mutex) {
    if (mutex_.try_lock()) return;
    const WithoutGil no_gil;
    mutex_.lock();
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() { mutex_.unlock(); }

 private:
  std::mutex& mutex_;
};

}  // namespace zerorun::python
