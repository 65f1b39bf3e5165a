// What coding by libjpeg-turbo's classic interface takes both ways: errors, and rows of MCUs.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include "apps/bench/measure/coder.hpp"

namespace zerorun::app::bench::libjpeg {

/// libjpeg reports an error by a call that must not return.
struct Errors {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  char text[JMSG_LENGTH_MAX];

  void attach() {
    jpeg_std_error(&base);
    base.error_exit = [](j_common_ptr info) {
      auto* self = reinterpret_cast<Errors*>(info->err);
      self->base.format_message(info, self->text);
      std::longjmp(self->jump, 1);
    };
    base.emit_message = [](j_common_ptr info, int level) {
      if (level < 0 && info->err->num_warnings++ == 0)
        info->err->format_message(info, reinterpret_cast<Errors*>(info->err)->text);
    };
  }
};

inline J_COLOR_SPACE packed_space(PixelFormat format) noexcept {
  return format == PixelFormat::bgr24 ? JCS_EXT_BGR : JCS_RGB;
}

inline constexpr int kMostRows = 4 * DCTSIZE;

/// Row pointers of one row of MCUs of a padded planar frame.
struct McuRows {
  std::array<std::array<JSAMPROW, kMostRows>, 3> row;
  std::array<JSAMPARRAY, 3> planes{row[0].data(), row[1].data(), row[2].data()};

  /// The rows of MCU row `mcu_row`; component p has v[p] * 8 of them.
  void aim(const ConstFrameView& frame, std::ptrdiff_t mcu_row, const jpeg_component_info* info) {
    for (int p = 0; p < plane_count(frame.format); ++p) {
      const auto plane = static_cast<std::size_t>(p);
      const std::ptrdiff_t count = info[p].v_samp_factor * DCTSIZE;
      for (std::ptrdiff_t i = 0; i < count; ++i)
        row[plane][static_cast<std::size_t>(i)] = const_cast<JSAMPROW>(
            frame.data[plane] + (mcu_row * count + i) * frame.stride_bytes[plane]);
    }
  }
};

}  // namespace zerorun::app::bench::libjpeg
