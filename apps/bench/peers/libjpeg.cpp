// libjpeg-turbo, memory to memory with objects kept between frames: a peer, and the decoder that
// checks streams. Planes go in and out raw (jpeg_write_raw_data), RGB by scanlines; JDCT_ISLOW.
// SPDX-License-Identifier: MIT
#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include <jpeglib.h>

#include "apps/bench/measure/measure.hpp"

namespace zerorun::app::bench {
namespace {

// Its classic interface: every version of it offers optimal tables.

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

class LibjpegDecodeObject final : public LibjpegDecoder {
 public:
  LibjpegDecodeObject() {
    errors_.attach();
    info_.err = &errors_.base;
    jpeg_create_decompress(&info_);
  }
  ~LibjpegDecodeObject() override { jpeg_destroy_decompress(&info_); }

  Status decode(std::span<const std::byte> jpeg, const FrameView& out) override {
    return run(jpeg, out) ? Status::ok() : Status(Errc::bad_huffman_code, errors_.text);
  }

 private:
  void read_rows(const FrameView& out) {
    const int v = info_.comp_info[0].v_samp_factor;
    while (info_.output_scanline < info_.output_height) {
      const auto line = static_cast<std::ptrdiff_t>(info_.output_scanline);
      if (info_.raw_data_out) {
        rows_.aim(out, line / (v * DCTSIZE), info_.comp_info);
        jpeg_read_raw_data(&info_, rows_.planes.data(), static_cast<JDIMENSION>(v * DCTSIZE));
      } else {
        JSAMPROW row = out.data[0] + line * out.stride_bytes[0];
        jpeg_read_scanlines(&info_, &row, 1);
      }
    }
  }

  /// Factors of 2x2, 1x2, 1x2 are 4:2:2 as well as 2x1, 1x1, 1x1.
  bool sampling_fits(PixelFormat format) const {
    if (info_.num_components != plane_count(format)) return false;
    const LumaFactors luma = luma_factors(native_subsampling(format));
    for (int p = 1; p < info_.num_components; ++p)
      if (info_.comp_info[0].h_samp_factor != luma.h * info_.comp_info[p].h_samp_factor ||
          info_.comp_info[0].v_samp_factor != luma.v * info_.comp_info[p].v_samp_factor)
        return false;
    return true;
  }

  bool shape_fits(const FrameView& out) const {
    return info_.image_width == static_cast<JDIMENSION>(out.width) &&
           info_.image_height == static_cast<JDIMENSION>(out.height) &&
           (!is_planar_yuv(out.format) || sampling_fits(out.format));
  }

  bool run(std::span<const std::byte> jpeg, const FrameView& out) {
    if (setjmp(errors_.jump) != 0) {
      jpeg_abort_decompress(&info_);
      return false;
    }
    errors_.base.num_warnings = 0;
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(jpeg.data()),
                 static_cast<unsigned long>(jpeg.size()));
    jpeg_read_header(&info_, TRUE);
    if (!shape_fits(out)) {
      std::snprintf(errors_.text, sizeof errors_.text, "another size or sampling than was coded");
      jpeg_abort_decompress(&info_);
      return false;
    }
    info_.dct_method = JDCT_ISLOW;
    info_.raw_data_out = static_cast<boolean>(is_planar_yuv(out.format));
    if (!info_.raw_data_out) info_.out_color_space = packed_space(out.format);
    jpeg_start_decompress(&info_);
    read_rows(out);
    jpeg_finish_decompress(&info_);
    return errors_.base.num_warnings == 0;
  }

  jpeg_decompress_struct info_{};
  Errors errors_{};
  McuRows rows_{};
};

class LibjpegDecodeRunner final : public Runner {
 public:
  explicit LibjpegDecodeRunner(const Setting& setting)
      : streams_(setting.reference.streams), like_(setting.frames) {}

  Status start(std::size_t index) override {
    const ConstFrameView like = like_.view(index);
    ZR_TRY(frame_.reshape(like.format, like.width, like.height));
    return decoder_.decode(streams_[index], frame_.view());
  }
  Status picture(std::size_t /*place*/, const FrameView& out) override {
    copy_samples(std::as_const(frame_).view(), out);
    return Status::ok();
  }

 private:
  LibjpegDecodeObject decoder_;
  const std::vector<std::vector<std::byte>>& streams_;
  const FrameSet& like_;
  PaddedFrame frame_;
};

/// The frames are padded to whole MCUs (PaddedFrame).
class LibjpegEncodeRunner final : public Runner {
 public:
  LibjpegEncodeRunner(const Case& what, const FrameSet& frames) : what_(what), frames_(frames) {
    errors_.attach();
    info_.err = &errors_.base;
    jpeg_create_compress(&info_);
  }
  ~LibjpegEncodeRunner() override {
    jpeg_destroy_compress(&info_);
    std::free(stream_);
  }

  Status start(std::size_t index) override {
    return run(frames_.view(index)) ? Status::ok() : Status(Errc::invalid_frame, errors_.text);
  }
  Status stream(std::vector<std::byte>& out) override {
    const auto* bytes = reinterpret_cast<const std::byte*>(stream_);
    out.assign(bytes, bytes + bytes_);
    return Status::ok();
  }

 private:
  void configure(const ConstFrameView& frame) {
    const bool gray = what_.sampling == Subsampling::gray;
    const bool planes = is_planar_yuv(frame.format);
    info_.image_width = static_cast<JDIMENSION>(frame.width);
    info_.image_height = static_cast<JDIMENSION>(frame.height);
    info_.input_components = planes && gray ? 1 : 3;
    info_.in_color_space = !planes ? packed_space(frame.format) : gray ? JCS_GRAYSCALE : JCS_YCbCr;
    jpeg_set_defaults(&info_);
    jpeg_set_colorspace(&info_, gray ? JCS_GRAYSCALE : JCS_YCbCr);
    const LumaFactors luma = luma_factors(what_.sampling);
    info_.comp_info[0].h_samp_factor = luma.h;
    info_.comp_info[0].v_samp_factor = luma.v;
    jpeg_set_quality(&info_, what_.quality, TRUE);
    info_.dct_method = JDCT_ISLOW;
    info_.optimize_coding = static_cast<boolean>(what_.huffman == HuffmanTables::optimal);
    if (what_.progressive) jpeg_simple_progression(&info_);
    info_.raw_data_in = static_cast<boolean>(planes);
  }

  void write_rows(const ConstFrameView& frame) {
    const int v = luma_factors(what_.sampling).v;
    while (info_.next_scanline < info_.image_height) {
      const auto line = static_cast<std::ptrdiff_t>(info_.next_scanline);
      if (info_.raw_data_in) {
        rows_.aim(frame, line / (v * DCTSIZE), info_.comp_info);
        jpeg_write_raw_data(&info_, rows_.planes.data(), static_cast<JDIMENSION>(v * DCTSIZE));
      } else {
        auto* row = const_cast<JSAMPROW>(frame.data[0] + line * frame.stride_bytes[0]);
        jpeg_write_scanlines(&info_, &row, 1);
      }
    }
  }

  bool run(const ConstFrameView& frame) {
    if (setjmp(errors_.jump) != 0) {
      jpeg_abort_compress(&info_);
      return false;
    }
    // Room for any stream from the start: jpeg_mem_dest would replace a smaller block without
    // freeing it.
    const unsigned long need = static_cast<unsigned long>(frame.width + 32) *
                                   static_cast<unsigned long>(frame.height + 32) * 6 +
                               65536;
    if (capacity_ < need) {
      std::free(stream_);
      stream_ = static_cast<unsigned char*>(std::malloc(need));
      capacity_ = need;
    }
    bytes_ = capacity_;
    jpeg_mem_dest(&info_, &stream_, &bytes_);
    configure(frame);
    jpeg_start_compress(&info_, TRUE);
    write_rows(frame);
    jpeg_finish_compress(&info_);
    return true;
  }

  const Case what_;
  const FrameSet& frames_;
  jpeg_compress_struct info_{};
  Errors errors_{};
  unsigned char* stream_ = nullptr;
  unsigned long capacity_ = 0, bytes_ = 0;
  McuRows rows_{};
};

}  // namespace

std::unique_ptr<Runner> make_libjpeg_encoder(const Case& what, const FrameSet& frames) {
  return std::make_unique<LibjpegEncodeRunner>(what, frames);
}

std::string libjpeg_version() {
#ifdef LIBJPEG_TURBO_VERSION
#define ZERORUN_TEXT(x) #x
#define ZERORUN_TEXT_OF(x) ZERORUN_TEXT(x)
  return "libjpeg-turbo " ZERORUN_TEXT_OF(LIBJPEG_TURBO_VERSION);
#else
  return "libjpeg " + std::to_string(JPEG_LIB_VERSION);
#endif
}

std::unique_ptr<LibjpegDecoder> make_libjpeg_decoder() {
  return std::make_unique<LibjpegDecodeObject>();
}

/// One thread a frame.
Status add_libjpeg(const Setting& setting, Coders& coders) {
  if (!is_planar_or_rgb(setting.what.pixels))
    return leave_out(setting, "libjpeg-turbo: it does not take this pixel format");
  Coder& coder = coders.emplace_back();
  coder.name = libjpeg_version();
  coder.at_once = setting.selection.threads;
  coder.open = [&setting](int) -> Result<std::unique_ptr<Runner>> {
    if (setting.what.encodes()) return make_libjpeg_encoder(setting.what, setting.frames);
    return std::unique_ptr<Runner>(std::make_unique<LibjpegDecodeRunner>(setting));
  };
  return Status::ok();
}

}  // namespace zerorun::app::bench
