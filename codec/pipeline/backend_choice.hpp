// What becomes of an automatic choice of the backend that turns out wrong.
// SPDX-License-Identifier: MIT
#pragma once

#include "zerorun/backend.hpp"

namespace zerorun {

/// What make(resolved) makes. Where the choice was left to the library (`wanted` is automatic) and
/// CUDA fails - no memory is left on the device, or it broke -, what make(Backend::cpu) makes.
template <typename Make>
auto make_with_backend(Backend wanted, Backend resolved, const Make& make)
    -> decltype(make(resolved)) {
  auto made = make(resolved);
  if (made || wanted != Backend::automatic || resolved == Backend::cpu) return made;
  return make(Backend::cpu);
}

}  // namespace zerorun
