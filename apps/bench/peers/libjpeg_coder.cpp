// libjpeg-turbo by its classic interface, the only one that offers optimal tables everywhere.
// SPDX-License-Identifier: MIT
#include "apps/bench/peers/libjpeg_coder.hpp"

#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

namespace zerorun::app::bench {
namespace {

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

J_COLOR_SPACE packed_space(PixelFormat format) noexcept {
  return format == PixelFormat::bgr24 ? JCS_EXT_BGR : JCS_RGB;
}

constexpr int kMostRows = 4 * DCTSIZE;

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

}  // namespace

std::string libjpeg_version() {
#ifdef LIBJPEG_TURBO_VERSION
#define ZERORUN_TEXT(x) #x
#define ZERORUN_TEXT_OF(x) ZERORUN_TEXT(x)
  return "libjpeg-turbo " ZERORUN_TEXT_OF(LIBJPEG_TURBO_VERSION);
#else
  return "libjpeg " + std::to_string(JPEG_LIB_VERSION);
#endif
}

bool libjpeg_takes(PixelFormat format) noexcept {
  return is_planar_yuv(format) || format == PixelFormat::rgb24 || format == PixelFormat::bgr24;
}

struct LibjpegEncoder::Impl {
  jpeg_compress_struct info{};
  Errors errors{};
  Case what;
  unsigned char* stream = nullptr;
  unsigned long capacity = 0, bytes = 0;
  McuRows rows{};

  void configure(const ConstFrameView& frame) {
    const bool gray = what.sampling == Subsampling::gray;
    const bool planes = is_planar_yuv(frame.format);
    info.image_width = static_cast<JDIMENSION>(frame.width);
    info.image_height = static_cast<JDIMENSION>(frame.height);
    info.input_components = planes && gray ? 1 : 3;
    info.in_color_space = !planes ? packed_space(frame.format) : gray ? JCS_GRAYSCALE : JCS_YCbCr;
    jpeg_set_defaults(&info);
    jpeg_set_colorspace(&info, gray ? JCS_GRAYSCALE : JCS_YCbCr);
    const LumaFactors luma = luma_factors(what.sampling);
    info.comp_info[0].h_samp_factor = luma.h;
    info.comp_info[0].v_samp_factor = luma.v;
    jpeg_set_quality(&info, what.quality, TRUE);
    info.dct_method = JDCT_ISLOW;
    info.optimize_coding = static_cast<boolean>(what.huffman == HuffmanTables::optimal);
    info.raw_data_in = static_cast<boolean>(planes);
  }

  void write_rows(const ConstFrameView& frame) {
    const int v = luma_factors(what.sampling).v;
    while (info.next_scanline < info.image_height) {
      const auto line = static_cast<std::ptrdiff_t>(info.next_scanline);
      if (info.raw_data_in) {
        rows.aim(frame, line / (v * DCTSIZE), info.comp_info);
        jpeg_write_raw_data(&info, rows.planes.data(), static_cast<JDIMENSION>(v * DCTSIZE));
      } else {
        auto* row = const_cast<JSAMPROW>(frame.data[0] + line * frame.stride_bytes[0]);
        jpeg_write_scanlines(&info, &row, 1);
      }
    }
  }

  bool run(const ConstFrameView& frame) {
    if (setjmp(errors.jump) != 0) {
      jpeg_abort_compress(&info);
      return false;
    }
    // Room for any stream at once: jpeg_mem_dest would leave a smaller block of ours behind.
    const unsigned long need = static_cast<unsigned long>(frame.width + 32) *
                                   static_cast<unsigned long>(frame.height + 32) * 6 +
                               65536;
    if (capacity < need) {
      std::free(stream);
      stream = static_cast<unsigned char*>(std::malloc(need));
      capacity = need;
    }
    bytes = capacity;
    jpeg_mem_dest(&info, &stream, &bytes);
    configure(frame);
    jpeg_start_compress(&info, TRUE);
    write_rows(frame);
    jpeg_finish_compress(&info);
    return true;
  }
};

LibjpegEncoder::LibjpegEncoder(const Case& what) : impl_(std::make_unique<Impl>()) {
  impl_->what = what;
  impl_->errors.attach();
  impl_->info.err = &impl_->errors.base;
  jpeg_create_compress(&impl_->info);
}

LibjpegEncoder::~LibjpegEncoder() {
  jpeg_destroy_compress(&impl_->info);
  std::free(impl_->stream);
}

Status LibjpegEncoder::encode(const ConstFrameView& frame, std::span<const std::byte>& stream) {
  if (!impl_->run(frame)) return Status(Errc::invalid_frame, impl_->errors.text);
  stream = std::as_bytes(std::span(impl_->stream, impl_->bytes));
  return Status::ok();
}

struct LibjpegDecoder::Impl {
  jpeg_decompress_struct info{};
  Errors errors{};
  McuRows rows{};

  void read_rows(const FrameView& out) {
    const int v = info.comp_info[0].v_samp_factor;
    while (info.output_scanline < info.output_height) {
      const auto line = static_cast<std::ptrdiff_t>(info.output_scanline);
      if (info.raw_data_out) {
        rows.aim(out, line / (v * DCTSIZE), info.comp_info);
        jpeg_read_raw_data(&info, rows.planes.data(), static_cast<JDIMENSION>(v * DCTSIZE));
      } else {
        JSAMPROW row = out.data[0] + line * out.stride_bytes[0];
        jpeg_read_scanlines(&info, &row, 1);
      }
    }
  }

  /// Factors of 2x2, 1x2, 1x2 are 4:2:2 as well as 2x1, 1x1, 1x1.
  bool sampling_fits(PixelFormat format) const {
    if (info.num_components != plane_count(format)) return false;
    const LumaFactors luma = luma_factors(native_subsampling(format));
    for (int p = 1; p < info.num_components; ++p)
      if (info.comp_info[0].h_samp_factor != luma.h * info.comp_info[p].h_samp_factor ||
          info.comp_info[0].v_samp_factor != luma.v * info.comp_info[p].v_samp_factor)
        return false;
    return true;
  }

  bool shape_fits(const FrameView& out) const {
    return info.image_width == static_cast<JDIMENSION>(out.width) &&
           info.image_height == static_cast<JDIMENSION>(out.height) &&
           (!is_planar_yuv(out.format) || sampling_fits(out.format));
  }

  bool run(std::span<const std::byte> jpeg, const FrameView& out) {
    if (setjmp(errors.jump) != 0) {
      jpeg_abort_decompress(&info);
      return false;
    }
    errors.base.num_warnings = 0;
    jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(jpeg.data()),
                 static_cast<unsigned long>(jpeg.size()));
    jpeg_read_header(&info, TRUE);
    if (!shape_fits(out)) {
      std::snprintf(errors.text, sizeof errors.text, "another size or sampling than was coded");
      jpeg_abort_decompress(&info);
      return false;
    }
    info.dct_method = JDCT_ISLOW;
    info.raw_data_out = static_cast<boolean>(is_planar_yuv(out.format));
    if (!info.raw_data_out) info.out_color_space = packed_space(out.format);
    jpeg_start_decompress(&info);
    read_rows(out);
    jpeg_finish_decompress(&info);
    return errors.base.num_warnings == 0;
  }
};

LibjpegDecoder::LibjpegDecoder() : impl_(std::make_unique<Impl>()) {
  impl_->errors.attach();
  impl_->info.err = &impl_->errors.base;
  jpeg_create_decompress(&impl_->info);
}

LibjpegDecoder::~LibjpegDecoder() { jpeg_destroy_decompress(&impl_->info); }

Status LibjpegDecoder::decode(std::span<const std::byte> jpeg, const FrameView& out) {
  if (!impl_->run(jpeg, out)) return Status(Errc::bad_huffman_code, impl_->errors.text);
  return Status::ok();
}

}  // namespace zerorun::app::bench
