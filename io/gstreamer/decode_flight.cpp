// The images that zerorundec has in flight on several GPUs.
// SPDX-License-Identifier: MIT
#include "io/gstreamer/decode_flight.hpp"

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

}  // namespace zerorun::gst
