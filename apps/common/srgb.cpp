// Frames to sRGB by the profiles of their pictures.
// SPDX-License-Identifier: MIT
#include "apps/common/srgb.hpp"

#include "codec/base/try.hpp"

namespace zerorun::app {

Result<io::ProfileConverter> ToSrgb::converter(const std::vector<std::uint8_t>& icc,
                                               PixelFormat format) {
  const std::lock_guard lock(mutex_);
  if (!converter_ || icc != icc_ || format != format_) {
    ZR_LET(made, io::ProfileConverter::create(icc, format));
    converter_ = made;
    icc_ = icc;
    format_ = format;
  }
  return *converter_;
}

Status ToSrgb::convert(const io::PictureContent& content, const FrameView& frame) {
  if (content.icc.empty()) return Status::ok();
  ZR_LET(found, converter(content.icc, frame.format));
  found.convert(frame);
  return Status::ok();
}

}  // namespace zerorun::app
