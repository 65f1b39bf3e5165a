// The metadata of a source's pictures in the JPEG streams of `zerorun encode`.
// SPDX-License-Identifier: MIT
#include "apps/encode/encode_content.hpp"

#include "apps/common/outputs.hpp"
#include "zerorun/convert.hpp"

namespace zerorun::app {

EncodeContent::EncodeContent(const EncodeOptions& options, const io::SourceInfo& info,
                             const io::Location& output)
    : options_(options), output_is_container_(is_container(output)) {
  const bool is_picture = info.container.find("image") != std::string::npos;
  orientation_ = io::orientation_of(info.rotation_degrees, info.mirrored);
  is_said_by_container_ = !is_picture && orientation_ != 1;
  const std::string kind = output_kind(output);
  output_turns_ = output_is_container_ && kind != "avi" && kind != "mkv" && kind != "matroska";
}

io::PictureContent EncodeContent::chosen(const io::PictureContent& content) const {
  io::PictureContent kept = content;
  if (!options_.content.copy_metadata) {
    kept.exif.clear();
    kept.xmp.clear();
  }
  if (options_.content.icc != IccMode::keep || !options_.content.copy_metadata) kept.icc.clear();
  if (is_said_by_container_ && !output_is_container_) kept.orientation = orientation_;
  // MOV and MP4 say it themselves: once is enough.
  if (output_turns_ && kept.orientation == orientation_) kept.orientation = 1;
  if (!options_.exif.empty()) {
    kept.exif.clear();
    kept.orientation = 1;
  }
  return kept;
}

std::vector<MarkerSegment> EncodeContent::segments_of(const EncodeJob& job,
                                                      std::string* too_long) const {
  static const io::PictureContent kNothing;
  return io::jpeg_segments(chosen(job.in.content ? *job.in.content : kNothing), too_long);
}

std::size_t EncodeContent::bytes_of(const EncodeJob& job) const {
  std::string too_long;
  std::size_t bytes = 0;
  for (const MarkerSegment& segment : segments_of(job, &too_long))
    bytes += 4 + segment.payload.size();  // marker and length
  return bytes;
}

void EncodeContent::add_to(EncodeJob& job) {
  std::string too_long;
  const auto segments = segments_of(job, &too_long);
  if (!segments.empty()) io::insert_segments(segments, job.jpeg);
  if (too_long.empty()) return;
  const std::lock_guard lock(mutex_);
  left_out_ = too_long;
}

std::string EncodeContent::left_out() const {
  const std::lock_guard lock(mutex_);
  return left_out_;
}

}  // namespace zerorun::app
