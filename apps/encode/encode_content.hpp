// The metadata of a source's pictures in the JPEG streams of `zerorun encode`.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "apps/encode/encode_options.hpp"
#include "apps/encode/encode_worker.hpp"

namespace zerorun::app {

/// Each picture has its own EXIF, so the segments go in when the stream is coded. Thread-safe.
class EncodeContent {
 public:
  EncodeContent(const EncodeOptions& options, const io::SourceInfo& info,
                const io::Location& output);

  /// Inserts the segments of the frame's picture into job.jpeg.
  void add_to(EncodeJob& job);
  /// Bytes that add_to() adds.
  std::size_t bytes_of(const EncodeJob& job) const;
  /// What was too long for a segment; empty if nothing was.
  std::string left_out() const;

 private:
  /// The content for the stream of a picture. Options and the container override the picture's own.
  io::PictureContent chosen(const io::PictureContent& content) const;
  std::vector<MarkerSegment> segments_of(const EncodeJob& job, std::string* too_long) const;

  const EncodeOptions& options_;
  int orientation_ = 1;  // of the video or the first picture
  bool is_said_by_container_ = false;
  bool output_turns_ = false, output_is_container_ = false;
  mutable std::mutex mutex_;
  std::string left_out_;
};

}  // namespace zerorun::app
