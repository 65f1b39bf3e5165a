// The last step before a decoded picture is written.
// SPDX-License-Identifier: MIT
#include "apps/decode/picture_finish.hpp"

#include <utility>

#include "codec/base/try.hpp"
#include "zerorun/convert.hpp"

namespace zerorun::app {

/// A container says it for all frames; otherwise each picture says it for itself.
int PictureFinish::orientation(const io::PictureContent& content) const {
  const bool is_picture = info_.container.find("image") != std::string::npos;
  const int by_container = io::orientation_of(info_.rotation_degrees, info_.mirrored);
  if (!is_picture && by_container != 1) return by_container;
  return content.orientation;
}

io::PictureContent PictureFinish::content_of(DecodeJob& job) {
  if (job.picture.content) return *job.picture.content;
  if (job.jpeg().empty()) return {};
  return io::picture_content(std::span<const std::byte>(job.jpeg()));
}

Status PictureFinish::convert_colours(DecodeJob& job) {
  if (options_.icc != IccMode::convert) return Status::ok();
  return to_srgb_.convert(content_of(job), job.frame().view());
}

Result<ConstFrameView> PictureFinish::finish(DecodeJob& job) {
  io::PictureContent content = content_of(job);
  content.orientation = orientation(content);
  if (options_.icc != IccMode::keep || !options_.copy_metadata) content.icc.clear();
  if (!options_.copy_metadata) {
    content.exif.clear();
    content.xmp.clear();
  }
  if (!content.empty()) had_content_ = true;
  ConstFrameView view = std::as_const(job.frame()).view();
  if (options_.autorotate && content.orientation != 1) {
    ZR_TRY(io::orient(view, content.orientation, job.turned));
    view = std::as_const(job.turned).view();
    content.orientation = 1;
  }
  content.exif = io::oriented_exif(content);
  job.out.content = std::make_shared<io::PictureContent>(std::move(content));
  return view;
}

}  // namespace zerorun::app
