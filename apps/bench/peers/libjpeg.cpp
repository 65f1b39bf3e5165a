// libjpeg-turbo by its classic interface: every version of it offers optimal tables.
// SPDX-License-Identifier: MIT
#include "apps/bench/peers/libjpeg.hpp"

#include <cstdio>
#include <memory>
#include <utility>

#include "apps/bench/peers/libjpeg_rows.hpp"

namespace zerorun::app::bench {
namespace {

using namespace libjpeg;

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
