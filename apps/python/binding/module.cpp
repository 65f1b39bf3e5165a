// The extension module zerorun._zerorun.
// SPDX-License-Identifier: MIT
#include "apps/python/binding/coders.hpp"

NB_MODULE(_zerorun, module) {
  using namespace zerorun::python;
  // Objects that are alive at the end of the interpreter are no leak that users can mend.
  nb::set_leak_warnings(false);
  watch_forks();
  add_failure_translator();
  bind_info(module);
  bind_encode(module);
  bind_decode(module);
  bind_batch(module);
  bind_async(module);
  bind_video(module);
  bind_device_array(module);
}
