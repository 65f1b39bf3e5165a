// The frames that zerorunenc has in flight.
// SPDX-License-Identifier: MIT
#include "io/gstreamer/encode_session.hpp"

#include <new>
#include <system_error>
#include <utility>

#include "codec/base/try.hpp"
#include "io/gstreamer/video_formats.hpp"
#include "io/pixel_pack.hpp"

namespace zerorun::gst {

Result<PendingFrame> PendingFrame::map(GstVideoCodecFrame* frame, const GstVideoInfo& info) {
  GstVideoFrame samples;
  if (gst_video_frame_map(&samples, &info, frame->input_buffer, GST_MAP_READ))
    return PendingFrame(frame, samples);
  gst_video_codec_frame_unref(frame);
  return Status(Errc::out_of_memory, "an input buffer cannot be mapped");
}

PendingFrame::PendingFrame(PendingFrame&& other) noexcept
    : frame_(std::exchange(other.frame_, nullptr)),
      samples_(other.samples_),
      mapped_(std::exchange(other.mapped_, false)),
      since_us_(other.since_us_) {}

PendingFrame::~PendingFrame() {
  unmap();
  if (frame_ != nullptr) gst_video_codec_frame_unref(frame_);
}

void PendingFrame::unmap() noexcept {
  if (mapped_) gst_video_frame_unmap(&samples_);
  mapped_ = false;
}

GstVideoCodecFrame* PendingFrame::release() noexcept {
  unmap();
  return std::exchange(frame_, nullptr);
}

Result<std::unique_ptr<EncodeSession>> EncodeSession::create(const AsyncEncodeParams& params,
                                                             const GstVideoInfo& info,
                                                             Deliver deliver) {
  return guarded([&]() -> Result<std::unique_ptr<EncodeSession>> {
    ZR_LET(coding, coding_of(info));
    ZR_LET(encoder, AsyncEncoder::create(params));
    std::unique_ptr<EncodeSession> session(
        new EncodeSession(std::move(encoder), info, std::move(deliver)));
    if (coding != io::YccCoding{}) session->to_jfif_.emplace(coding);
    return session;
  });
}

EncodeSession::~EncodeSession() { discard(); }

Status EncodeSession::enqueue(std::uint64_t tag, const ConstFrameView& view, int quality) {
  SubmitOptions options;
  options.tag = tag;
  options.quality = quality;
  options.wait = true;
  if (!to_jfif_) return encoder_.submit(view, options);
  Frame converted;
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      converted = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  ZR_TRY(convert(view, converted));
  return encoder_.submit(std::move(converted), options);
}

Status EncodeSession::convert(const ConstFrameView& in, Frame& out) {
  const PixelFormat planar = planar_format(native_subsampling(in.format));
  ZR_TRY(out.reshape(planar, in.width, in.height));
  ConstFrameView source = in;
  if (!is_planar_yuv(in.format)) {
    ZR_TRY(planes_.reshape(planar, in.width, in.height));
    io::unpack_yuv(in, planes_.view());
    source = planes_.view();
  }
  to_jfif_->convert({source.data, source.stride_bytes}, out.view());
  return Status::ok();
}

Status EncodeSession::submit(GstVideoCodecFrame* frame, int quality) try {
  ZR_LET(mapped, PendingFrame::map(frame, info_));
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  const ConstFrameView view =
      view_of(mapped.samples(), *pixel_format(GST_VIDEO_INFO_FORMAT(&info_)));
  const std::uint64_t tag = next_tag_++;
  {
    const std::lock_guard lock(mutex_);
    pending_.emplace(tag, std::move(mapped));
  }
  Status status = enqueue(tag, view, quality);
  if (!status) take(tag);
  return status;
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
} catch (const std::system_error&) {
  return Status(Errc::out_of_memory, "a thread cannot be started");
}

std::optional<PendingFrame> EncodeSession::take(std::uint64_t tag) {
  const std::lock_guard lock(mutex_);
  auto node = pending_.extract(tag);
  if (node.empty()) return std::nullopt;
  return std::move(node.mapped());
}

void EncodeSession::run() {
  EncodedFrame coded;
  while (encoder_.receive(coded, true) == Received::frame) {
    std::optional<PendingFrame> pending = take(coded.tag);
    const std::int64_t age_ns = pending->age_ns();
    deliver_(pending->release(), coded, age_ns);
    if (!to_jfif_) continue;
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(coded.frame));
  }
}

void EncodeSession::drain() {
  encoder_.finish();
  if (thread_.joinable()) thread_.join();
  encoder_.discard();  // allows submit() again
}

void EncodeSession::discard() {
  encoder_.discard();
  drain();
  const std::lock_guard lock(mutex_);
  pending_.clear();
}

}  // namespace zerorun::gst
