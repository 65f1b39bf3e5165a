// The last step before a decoded picture is written: turned upright, in sRGB, with its metadata.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

#include "apps/common/content_options.hpp"
#include "apps/common/content.hpp"
#include "apps/decode/decode_input.hpp"

namespace zerorun::app {

/// For pictures alone: planes and YUV4MPEG2 are written as they are stored. Thread-safe.
class PictureFinish {
 public:
  PictureFinish(const ContentOptions& options, const io::SourceInfo& info)
      : options_(options), info_(info) {}

  /// Converts the job's frame to sRGB where --icc asks for it. Errors: bad_input (the profile).
  Status convert_colours(DecodeJob& job);
  /// Sets the content of job.out; returns what has to be written: the job's frame, or job.turned.
  Result<ConstFrameView> finish(DecodeJob& job);
  /// True if a picture had EXIF, XMP or a profile to be kept.
  bool had_content() const noexcept { return had_content_; }

 private:
  static io::PictureContent content_of(DecodeJob& job);
  int orientation(const io::PictureContent& content) const;

  const ContentOptions options_;
  const io::SourceInfo info_;
  ToSrgb to_srgb_;
  std::atomic<bool> had_content_ = false;
};

}  // namespace zerorun::app
