// Encodes by libjpeg-turbo.
// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <memory>

#include "apps/bench/peers/libjpeg.hpp"
#include "apps/bench/peers/libjpeg_rows.hpp"

namespace zerorun::app::bench {
namespace {

using namespace libjpeg;

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

}  // namespace zerorun::app::bench
