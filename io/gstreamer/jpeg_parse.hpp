// Finds where an image ends in bytes that come in pieces (T.81 Annex B markers).
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <gst/base/gstadapter.h>
#include <gst/video/gstvideodecoder.h>

namespace zerorun::gst {

/// Looks at every byte once, however small the pieces. Skips marker segments by their length, so
/// that a thumbnail in an APPn does not end the image.
class JpegBoundary {
 public:
  enum class Found { need_data, garbage, image };
  struct Answer {
    Found found = Found::need_data;
    gsize bytes = 0;  ///< of the garbage before an image, or of the image, from the adapter's start
  };

  /// An image without EOI ends before the next SOI. The caller removes the bytes of the answer from
  /// the adapter before the next call.
  Answer next(GstAdapter* adapter);

  void reset() noexcept { position_ = 0; }

 private:
  Answer done(Found found, gsize bytes) noexcept;

  gsize position_ = 0;  ///< from the adapter's start; 0: no SOI yet
};

/// GstVideoDecoder::parse(): hands on the next image, whose end `boundary` finds.
GstFlowReturn next_image(JpegBoundary& boundary, GstVideoDecoder* decoder, GstAdapter* adapter,
                         bool at_eos);

}  // namespace zerorun::gst
