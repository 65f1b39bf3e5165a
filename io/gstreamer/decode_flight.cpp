// The images that zerorundec has in flight on several GPUs.
// SPDX-License-Identifier: MIT
#include "io/gstreamer/decode_flight.hpp"

#include <algorithm>
#include <utility>

#include "codec/base/try.hpp"
#include "io/gstreamer/video_formats.hpp"

namespace zerorun::gst {

std::unique_ptr<ImageInFlight> ImageInFlight::map(GstVideoCodecFrame* frame,
                                                  const GstVideoInfo& info) {
  std::unique_ptr<ImageInFlight> image(new ImageInFlight);
  image->frame_ = frame;
  image->input_ = gst_buffer_ref(frame->input_buffer);
  image->has_input_ = gst_buffer_map(image->input_, &image->map_, GST_MAP_READ);
  // The mapping holds a reference, so that nobody else takes the buffer.
  image->has_samples_ =
      gst_video_frame_map(&image->samples_, &info, frame->output_buffer, GST_MAP_WRITE);
  if (image->has_input_ && image->has_samples_) return image;
  image->unmap();
  image->frame_ = nullptr;  // still the caller's
  return nullptr;
}

ImageInFlight::~ImageInFlight() {
  unmap();
  if (frame_ != nullptr) gst_video_codec_frame_unref(frame_);
}

void ImageInFlight::unmap() {
  if (std::exchange(has_samples_, false)) gst_video_frame_unmap(&samples_);
  if (std::exchange(has_input_, false)) gst_buffer_unmap(input_, &map_);
  if (input_ != nullptr) gst_buffer_unref(std::exchange(input_, nullptr));
}

std::span<const std::byte> ImageInFlight::jpeg() const noexcept {
  return {reinterpret_cast<const std::byte*>(map_.data), map_.size};
}

FrameView ImageInFlight::view() const noexcept {
  return view_of(samples_, *pixel_format(GST_VIDEO_FRAME_FORMAT(&samples_)));
}

GstVideoCodecFrame* ImageInFlight::release() {
  unmap();
  return std::exchange(frame_, nullptr);
}

Result<std::unique_ptr<DecodeFlight>> DecodeFlight::create(const AsyncDecodeParams& params) {
  return guarded([&]() -> Result<std::unique_ptr<DecodeFlight>> {
    ZR_LET(decoder, AsyncDecoder::create(params));
    return std::unique_ptr<DecodeFlight>(new DecodeFlight(std::move(decoder)));
  });
}

Status DecodeFlight::submit(std::unique_ptr<ImageInFlight> image) {
  DecodeOptions options;
  options.into = image->view();
  const std::span<const std::byte> jpeg = image->jpeg();
  images_.push_back(std::move(image));
  Status status = decoder_.submit(jpeg, options);
  if (!status) images_.pop_back();
  return status;
}

std::unique_ptr<ImageInFlight> DecodeFlight::receive(DecodedFrame& out) {
  (void)decoder_.receive(out, true);
  std::unique_ptr<ImageInFlight> image = std::move(images_.front());
  images_.pop_front();
  return image;
}

void DecodeFlight::discard() {
  decoder_.discard();
  images_.clear();
}

std::vector<LostDevice> DecodeFlight::new_losses() {
  std::vector<LostDevice> lost = decoder_.lost_devices();
  const auto told = static_cast<std::ptrdiff_t>(std::exchange(told_losses_, lost.size()));
  lost.erase(lost.begin(), lost.begin() + told);
  return lost;
}

namespace {

constexpr guint kSoi = 0xD8, kEoi = 0xD9, kTem = 0x01, kRst0 = 0xD0, kRst7 = 0xD7;

/// Markers without a length (T.81 table B.1); 00 is a stuffed byte, FF a fill byte.
bool stands_alone(guint marker) noexcept {
  return marker == 0 || marker == kTem || (marker >= kRst0 && marker <= kRst7);
}

guint byte_at(GstAdapter* adapter, gsize offset) {
  guint8 byte = 0;
  gst_adapter_copy(adapter, &byte, offset, 1);
  return byte;
}

/// Offset of the next `FF xx` at or after `from`; -1 if there is none.
gssize find_marker(GstAdapter* adapter, gsize from, gsize available, guint& marker) {
  // The scan matches windows of four bytes; with FF as the third one it finds a marker at the end.
  constexpr gsize kBefore = 2;
  if (from < kBefore || available < from + 2) return -1;
  guint32 window = 0;
  const gssize at = gst_adapter_masked_scan_uint32_peek(
      adapter, 0x0000FF00, 0x0000FF00, from - kBefore, available - (from - kBefore), &window);
  marker = window & 0xFF;
  return at < 0 ? -1 : at + static_cast<gssize>(kBefore);
}

}  // namespace

JpegBoundary::Answer JpegBoundary::done(Found found, gsize bytes) noexcept {
  position_ = 0;
  return {found, bytes};
}

JpegBoundary::Answer JpegBoundary::next(GstAdapter* adapter) {
  const gsize available = gst_adapter_available(adapter);
  if (position_ == 0) {
    constexpr gsize kStartBytes = 4;  // SOI and the marker after it
    if (available < kStartBytes) return {};
    const gssize start =
        gst_adapter_masked_scan_uint32(adapter, 0xFFFFFF00, 0xFFD8FF00, 0, available);
    if (start < 0) return done(Found::garbage, available - (kStartBytes - 1));
    if (start > 0) return done(Found::garbage, static_cast<gsize>(start));
    position_ = 2;
  }
  while (position_ < available) {
    guint marker = 0;
    const gssize at = find_marker(adapter, position_, available, marker);
    if (at < 0) {
      position_ = std::max(position_, available - 1);  // the last byte may be the FF of a marker
      return {};
    }
    const auto offset = static_cast<gsize>(at);
    if (marker == 0xFF) {
      position_ = offset + 1;
    } else if (marker == kEoi) {
      return done(Found::image, offset + 2);
    } else if (marker == kSoi) {
      return done(Found::image, offset);
    } else if (stands_alone(marker)) {
      position_ = offset + 2;
    } else {
      position_ = offset;
      if (available < offset + 4) return {};
      const gsize length = byte_at(adapter, offset + 2) << 8 | byte_at(adapter, offset + 3);
      position_ = offset + 2 + std::max<gsize>(length, 2);
    }
  }
  return {};
}

GstFlowReturn next_image(JpegBoundary& boundary, GstVideoDecoder* decoder, GstAdapter* adapter,
                         bool at_eos) {
  for (;;) {
    JpegBoundary::Answer answer = boundary.next(adapter);
    if (answer.found == JpegBoundary::Found::garbage) {
      GST_DEBUG_OBJECT(decoder, "skipping %" G_GSIZE_FORMAT " bytes between images", answer.bytes);
      gst_adapter_flush(adapter, answer.bytes);
      continue;
    }
    if (answer.found == JpegBoundary::Found::need_data) {
      answer.bytes = gst_adapter_available(adapter);
      if (!at_eos || answer.bytes < 4) {
        if (at_eos) gst_adapter_clear(adapter);
        return GST_VIDEO_DECODER_FLOW_NEED_DATA;
      }
      boundary.reset();  // the image is cut short: decode what is there
    }
    gst_video_decoder_add_to_frame(decoder, static_cast<int>(answer.bytes));
    return gst_video_decoder_have_frame(decoder);
  }
}

}  // namespace zerorun::gst
