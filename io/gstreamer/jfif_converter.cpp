// Frames of other YCbCr codings to what JPEG means by its samples.
// SPDX-License-Identifier: MIT
#include "io/gstreamer/jfif_converter.hpp"

#include "codec/base/try.hpp"
#include "io/pixel_pack.hpp"

namespace zerorun::gst {

Status JfifConverter::convert(const ConstFrameView& in, Frame& out) {
  const PixelFormat planar = planar_format(native_subsampling(in.format));
  ZR_TRY(out.reshape(planar, in.width, in.height));
  ConstFrameView source = in;
  if (!is_planar_yuv(in.format)) {
    ZR_TRY(planes_.reshape(planar, in.width, in.height));
    io::unpack_yuv(in, planes_.view());
    source = planes_.view();
  }
  tables_->convert({source.data, source.stride_bytes}, out.view());
  return Status::ok();
}

}  // namespace zerorun::gst
