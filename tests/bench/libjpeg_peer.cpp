// libjpeg-turbo as the peer of the benchmark.
// SPDX-License-Identifier: MIT
#include "tests/bench/libjpeg_peer.hpp"

#include <array>
#include <cstdlib>

#include "tests/support/libjpeg_session.hpp"

namespace zerorun::bench {
namespace {

/// Row pointers of the next MCU row of a 4:2:0 frame.
struct McuRows {
  std::array<JSAMPROW, 16> y;
  std::array<JSAMPROW, 8> cb, cr;
  std::array<JSAMPARRAY, 3> planes{y.data(), cb.data(), cr.data()};

  template <typename View>
  void aim(const View& frame, JDIMENSION first_line) {
    const auto line = static_cast<std::ptrdiff_t>(first_line);
    const auto row = [&](std::size_t plane, std::ptrdiff_t at) {
      return const_cast<JSAMPROW>(frame.data[plane] + at * frame.stride_bytes[plane]);
    };
    for (std::ptrdiff_t i = 0; i < 16; ++i) y[static_cast<std::size_t>(i)] = row(0, line + i);
    for (std::ptrdiff_t i = 0; i < 8; ++i) {
      cb[static_cast<std::size_t>(i)] = row(1, line / 2 + i);
      cr[static_cast<std::size_t>(i)] = row(2, line / 2 + i);
    }
  }
};

}  // namespace

struct LibjpegEncoder::Impl {
  jpeg_compress_struct info{};
  test::LibjpegErrors errors{};
  PeerOptions options;
  unsigned char* stream = nullptr;
  unsigned long capacity = 0, bytes = 0;
  McuRows rows;

  void configure(const ConstFrameView& frame) {
    const bool planes = frame.format == PixelFormat::yuv420p;
    info.image_width = static_cast<JDIMENSION>(frame.width);
    info.image_height = static_cast<JDIMENSION>(frame.height);
    info.input_components = 3;
    info.in_color_space = planes ? JCS_YCbCr : JCS_RGB;
    jpeg_set_defaults(&info);  // 4:2:0
    jpeg_set_quality(&info, options.quality, TRUE);
    info.dct_method = JDCT_ISLOW;
    info.optimize_coding = static_cast<boolean>(options.optimal);
    info.restart_interval = static_cast<unsigned>(options.restart_mcus);
    info.raw_data_in = static_cast<boolean>(planes);
  }

  bool run(const ConstFrameView& frame) {
    if (setjmp(errors.jump) != 0) return false;
    // Memory for any stream at once: jpeg_mem_dest would leave a smaller block of ours behind.
    const auto need =
        static_cast<unsigned long>(frame.width) * static_cast<unsigned long>(frame.height) * 6 +
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
    while (info.next_scanline < info.image_height) {
      if (info.raw_data_in) {
        rows.aim(frame, info.next_scanline);
        jpeg_write_raw_data(&info, rows.planes.data(), 16);
      } else {
        auto* row =
            const_cast<JSAMPROW>(frame.data[0] + static_cast<std::ptrdiff_t>(info.next_scanline) *
                                                     frame.stride_bytes[0]);
        jpeg_write_scanlines(&info, &row, 1);
      }
    }
    jpeg_finish_compress(&info);
    return true;
  }
};

LibjpegEncoder::LibjpegEncoder(const PeerOptions& options) : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
  impl_->errors.attach();
  impl_->info.err = &impl_->errors.base;
  jpeg_create_compress(&impl_->info);
}
LibjpegEncoder::~LibjpegEncoder() {
  jpeg_destroy_compress(&impl_->info);
  std::free(impl_->stream);
}

std::span<const std::byte> LibjpegEncoder::encode(const ConstFrameView& frame) {
  if (!impl_->run(frame)) return {};
  return std::as_bytes(std::span(impl_->stream, impl_->bytes));
}

struct LibjpegDecoder::Impl {
  jpeg_decompress_struct info{};
  test::LibjpegErrors errors{};
  McuRows rows;

  bool run(std::span<const std::byte> jpeg, const FrameView& out) {
    if (setjmp(errors.jump) != 0) return false;
    jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(jpeg.data()),
                 static_cast<unsigned long>(jpeg.size()));
    jpeg_read_header(&info, TRUE);
    const bool planes = out.format == PixelFormat::yuv420p;
    info.dct_method = JDCT_ISLOW;
    info.raw_data_out = static_cast<boolean>(planes);
    info.out_color_space = planes ? JCS_YCbCr : JCS_RGB;
    jpeg_start_decompress(&info);
    while (info.output_scanline < info.output_height) {
      if (planes) {
        rows.aim(out, info.output_scanline);
        jpeg_read_raw_data(&info, rows.planes.data(), 16);
      } else {
        JSAMPROW row =
            out.data[0] + static_cast<std::ptrdiff_t>(info.output_scanline) * out.stride_bytes[0];
        jpeg_read_scanlines(&info, &row, 1);
      }
    }
    jpeg_finish_decompress(&info);
    return true;
  }
};

LibjpegDecoder::LibjpegDecoder() : impl_(std::make_unique<Impl>()) {
  impl_->errors.attach();
  impl_->info.err = &impl_->errors.base;
  jpeg_create_decompress(&impl_->info);
}
LibjpegDecoder::~LibjpegDecoder() { jpeg_destroy_decompress(&impl_->info); }

bool LibjpegDecoder::decode(std::span<const std::byte> jpeg, const FrameView& out) {
  return impl_->run(jpeg, out);
}

}  // namespace zerorun::bench
