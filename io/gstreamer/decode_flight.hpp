// The images that zerorundec has in flight on several GPUs.
// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include <gst/video/gstvideodecoder.h>
#include <cstddef>
#include <gst/base/gstadapter.h>

#include "zerorun/async.hpp"

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

/// A codec frame with its stream and its picture, both mapped. Owns references and mappings.
class ImageInFlight {
 public:
  /// Takes the reference to the frame. Null where the stream or the picture cannot be mapped.
  static std::unique_ptr<ImageInFlight> map(GstVideoCodecFrame* frame, const GstVideoInfo& info);
  ImageInFlight(const ImageInFlight&) = delete;
  ImageInFlight& operator=(const ImageInFlight&) = delete;
  ~ImageInFlight();

  std::span<const std::byte> jpeg() const noexcept;
  FrameView view() const noexcept;
  /// Ends the mappings and hands the reference to the frame over.
  GstVideoCodecFrame* release();

 private:
  ImageInFlight() = default;
  void unmap();

  GstVideoCodecFrame* frame_ = nullptr;
  GstBuffer* input_ = nullptr;
  GstMapInfo map_{};
  GstVideoFrame samples_{};
  bool has_input_ = false, has_samples_ = false;
};

/// AsyncDecoder with the images that it works on. One thread.
class DecodeFlight {
 public:
  /// Errors: those of AsyncDecoder::create().
  static Result<std::unique_ptr<DecodeFlight>> create(const AsyncDecodeParams& params);
  /// Drops what is in flight.
  ~DecodeFlight() { discard(); }

  bool is_full() const { return decoder_.in_flight() == decoder_.depth(); }
  bool is_empty() const { return decoder_.in_flight() == 0; }
  Status submit(std::unique_ptr<ImageInFlight> image);
  /// Waits for the oldest image; there is one. `out` has its status and report.
  std::unique_ptr<ImageInFlight> receive(DecodedFrame& out);
  void discard();
  /// The devices that failed since the last call.
  std::vector<LostDevice> new_losses();

 private:
  explicit DecodeFlight(AsyncDecoder decoder) : decoder_(std::move(decoder)) {}

  AsyncDecoder decoder_;
  std::deque<std::unique_ptr<ImageInFlight>> images_;  // oldest first
  std::size_t told_losses_ = 0;
};

}  // namespace zerorun::gst
