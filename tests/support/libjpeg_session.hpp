// Turns libjpeg's errors into return values; used by the two oracle files only.
// SPDX-License-Identifier: MIT
#pragma once

#include <csetjmp>
#include <cstdio>
#include <string>

#include <jpeglib.h>

namespace zerorun::test {

/// longjmp skips destructors, so code under setjmp owns nothing.
struct LibjpegErrors {
  jpeg_error_mgr base;  // first, so that libjpeg's pointer to it is a pointer to this
  std::jmp_buf jump;
  int warnings;
  char text[JMSG_LENGTH_MAX];

  void attach() {
    jpeg_std_error(&base);
    warnings = 0;
    text[0] = '\0';
    base.error_exit = [](j_common_ptr info) {
      auto* self = reinterpret_cast<LibjpegErrors*>(info->err);
      (*info->err->format_message)(info, self->text);
      std::longjmp(self->jump, 1);
    };
    base.emit_message = [](j_common_ptr info, int level) {
      auto* self = reinterpret_cast<LibjpegErrors*>(info->err);
      if (level >= 0) return;
      if (self->warnings++ == 0) (*info->err->format_message)(info, self->text);
    };
    base.output_message = [](j_common_ptr) {};
  }
};

}  // namespace zerorun::test
