// The frames that zerorunenc has in flight.
// SPDX-License-Identifier: MIT
#include "io/gstreamer/encode_session.hpp"

#include <new>
#include <system_error>
#include <utility>

#include "codec/base/try.hpp"
#include "io/gstreamer/video_formats.hpp"
#include "io/samples/pixel_pack.hpp"

namespace zerorun::gst {

Result<std::unique_ptr<EncodeSession>> EncodeSession::create(const AsyncEncodeParams& params,
                                                             const GstVideoInfo& info,
                                                             Deliver deliver, Lose lose) {
  return guarded([&]() -> Result<std::unique_ptr<EncodeSession>> {
    ZR_LET(coding, coding_of(info));
    ZR_LET(encoder, AsyncEncoder::create(params));
    std::unique_ptr<EncodeSession> session(
        new EncodeSession(std::move(encoder), info, std::move(deliver), std::move(lose)));
    if (coding != io::YccCoding{}) session->to_jfif_.emplace(coding);
    return session;
  });
}

EncodeSession::~EncodeSession() { discard(); }

Status EncodeSession::start_rate(const FrameSettings& settings) {
  const auto most = static_cast<std::size_t>(settings.max_frame_size);
  if (rate_ == nullptr) {
    if (GST_VIDEO_INFO_FPS_N(&info_) == 0)
      return Status(Errc::invalid_argument,
                    "bitrate needs caps with a frame rate; set one, or use max-frame-size");
    ZR_LET(made, RateControl::create({settings.bitrate, GST_VIDEO_INFO_FPS_N(&info_),
                                      GST_VIDEO_INFO_FPS_D(&info_), 0, most}));
    rate_ = std::make_shared<RateControl>(std::move(made));
    next_number_ = 0;
  } else if (settings.bitrate != rate_settings_.bitrate ||
             settings.max_frame_size != rate_settings_.max_frame_size) {
    ZR_TRY(rate_->set_rate(settings.bitrate, most));
  }
  rate_settings_ = settings;
  return Status::ok();
}

Result<SizeGoal> EncodeSession::size_of(const FrameSettings& settings, PendingFrame& pending) {
  const SizeGoal goal{0, static_cast<std::size_t>(settings.max_frame_size), settings.target_psnr,
                      settings.target_ssim};
  if (settings.bitrate == 0) {
    rate_.reset();
    return goal;
  }
  if (goal.is_of_quality())
    return Status(Errc::invalid_argument,
                  "bitrate does not go with target-psnr and target-ssim; set one to 0");
  ZR_TRY(start_rate(settings));
  ZR_LET(budget, rate_->budget(next_number_));
  pending.rate = rate_;
  pending.number = next_number_++;
  return SizeGoal{budget, 0};
}

Status EncodeSession::enqueue(const ConstFrameView& view, const SubmitOptions& options) {
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

Status EncodeSession::submit(GstVideoCodecFrame* frame, const FrameSettings& settings) try {
  PendingFrame pending;
  pending.frame.reset(frame);
  auto samples = std::make_unique<GstVideoFrame>();
  if (!gst_video_frame_map(samples.get(), &info_, frame->input_buffer, GST_MAP_READ))
    return Status(Errc::out_of_memory, "an input buffer cannot be mapped");
  pending.samples.reset(samples.release());
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  const ConstFrameView view =
      view_of(*pending.samples, *pixel_format(GST_VIDEO_INFO_FORMAT(&info_)));
  ZR_LET(size, size_of(settings, pending));
  SubmitOptions options;
  options.tag = next_tag_++;
  options.quality = settings.quality;
  options.size = size;
  options.wait = true;
  {
    const std::lock_guard lock(mutex_);
    pending_.emplace(options.tag, std::move(pending));
  }
  Status status = enqueue(view, options);
  if (status) return status;
  const PendingFrame lost = take(options.tag);
  if (lost.rate) lost.rate->coded(lost.number, 0);
  return status;
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
} catch (const std::system_error&) {
  return Status(Errc::out_of_memory, "a thread cannot be started");
}

PendingFrame EncodeSession::take(std::uint64_t tag) {
  const std::lock_guard lock(mutex_);
  auto node = pending_.extract(tag);
  return node.empty() ? PendingFrame{} : std::move(node.mapped());
}

void EncodeSession::code_in_room(const PendingFrame& pending, EncodedFrame& coded) {
  const auto code = [&]() -> Status {
    ZR_LET(room, pending.rate->room(pending.number));
    if (!spare_encoder_) {
      // The lanes have frames behind this one. All backends write the same bytes.
      EncodeParams params = encoder_.params().encode;
      params.backend = Backend::cpu;
      ZR_LET(made, Encoder::create(params));
      spare_encoder_ = std::move(made);
    }
    ZR_LET(budget, pending.rate->budget(pending.number));
    SizeGoal goal{budget, 0};
    goal.overrun_bytes = room;
    ZR_TRY(spare_encoder_->set_size(goal));
    const ConstFrameView view =
        to_jfif_ ? std::as_const(coded.frame).view()
                 : view_of(*pending.samples, *pixel_format(GST_VIDEO_INFO_FORMAT(&info_)));
    ZR_LET(report, spare_encoder_->encode(view, coded.jpeg));
    coded.report = report;
    return Status::ok();
  };
  coded.status = guarded([&]() -> Status {
    const Status status = code();
    if (status.code() != Errc::size_not_reached) return status;
    return Status(status.code(), status.detail() + "; bitrate leaves no more for this frame");
  });
}

void EncodeSession::run() {
  EncodedFrame coded;
  bool has_failed = false;
  while (encoder_.receive(coded, true) == Received::frame) {
    tell_losses();
    PendingFrame pending = take(coded.tag);
    if (pending.rate && coded.status.code() == Errc::size_not_reached && !has_failed)
      code_in_room(pending, coded);
    has_failed = has_failed || !coded.status;
    pending.samples.reset();
    if (pending.rate) pending.rate->coded(pending.number, coded.status ? coded.jpeg.size() : 0);
    const gint64 age_ns = (g_get_monotonic_time() - pending.since_us) * 1000;
    deliver_(pending.frame.release(), coded, age_ns);
    if (!to_jfif_) continue;
    const std::lock_guard lock(mutex_);
    try {
      spare_.push_back(std::move(coded.frame));
    } catch (const std::bad_alloc&) {  // the next frame makes another one
    }
  }
}

/// Nothing catches an exception of this thread: if memory runs out, the next call reports the loss.
void EncodeSession::tell_losses() noexcept try {
  const std::vector<LostDevice> lost = encoder_.lost_devices();
  for (; told_losses_ < lost.size(); ++told_losses_) lose_(lost[told_losses_]);
} catch (const std::bad_alloc&) {
}

void EncodeSession::drain() {
  encoder_.finish();
  if (thread_.joinable()) thread_.join();
  encoder_.discard();  // allows submit() again
}

void EncodeSession::discard() {
  encoder_.discard();
  drain();
  rate_.reset();  // dropped frames have no size
  const std::lock_guard lock(mutex_);
  pending_.clear();
}

}  // namespace zerorun::gst
