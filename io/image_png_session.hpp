// How libpng's functions end after an error, for reading and writing PNG.
// SPDX-License-Identifier: MIT
#pragma once

#include <png.h>

#include <csetjmp>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace zerorun::io::libpng {

/// libpng leaves its functions by longjmp, so that what has a destructor lives outside of those
/// that call it.
struct Session {
  std::jmp_buf back;
  char error[128] = "";
  std::span<const std::byte> input;
  std::vector<std::byte>* output = nullptr;
  bool out_of_memory = false;
};

inline Session& session_of(png_structp png) {
  return *static_cast<Session*>(png_get_error_ptr(png));
}

[[noreturn]] inline void leave(png_structp png, png_const_charp message) {
  Session& session = session_of(png);
  std::strncpy(session.error, message, sizeof session.error - 1);
  std::longjmp(session.back, 1);
}

inline void ignore(png_structp, png_const_charp) {}

}  // namespace zerorun::io::libpng
