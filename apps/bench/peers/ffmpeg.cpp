// FFmpeg's own Motion JPEG encoder and decoder, one thread a frame. Its quality has another scale:
// the coarsest step is taken whose PSNR is not below that of zerorun.
// SPDX-License-Identifier: MIT
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>
#include <libavutil/opt.h>
}

#include <algorithm>
#include <optional>
#include <utility>

#include "apps/bench/measure/measure.hpp"
#include "apps/common/figures.hpp"
#include "zerorun/ffmpeg.hpp"

extern "C" const char* zerorun_load_peer_ffmpeg();  // .cmake/load_at_run_time.cmake

namespace zerorun::app::bench {
namespace {

struct Free {
  void operator()(AVCodecContext* p) const { avcodec_free_context(&p); }
  void operator()(AVFrame* p) const { av_frame_free(&p); }
  void operator()(AVPacket* p) const { av_packet_free(&p); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

constexpr int kFinest = 1, kCoarsest = 31;

Status av_status(int code, const char* call) {
  if (code >= 0) return Status::ok();
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof text);
  return Status(Errc::bad_input, std::string(call) + ": " + text);
}

/// A frame that refers to the samples of the set, so that the encoder copies nothing.
Owned<AVFrame> make_av_frame(const ConstFrameView& view) {
  Owned<AVFrame> frame(av_frame_alloc());
  if (!frame) return frame;
  frame->format = ffmpeg::av_pixel_format(view.format);
  frame->color_range = AVCOL_RANGE_JPEG;
  frame->width = view.width;
  frame->height = view.height;
  for (std::size_t p = 0; p < 3 && view.data[p] != nullptr; ++p) {
    frame->data[p] = const_cast<std::uint8_t*>(view.data[p]);
    frame->linesize[p] = static_cast<int>(view.stride_bytes[p]);
    frame->buf[p] = av_buffer_create(
        frame->data[p], 1, [](void*, std::uint8_t*) {}, nullptr, AV_BUFFER_FLAG_READONLY);
  }
  return frame;
}

class FfmpegEncodeRunner final : public Runner {
 public:
  /// `scale` is FFmpeg's, 1 (finest) to 31.
  FfmpegEncodeRunner(const Setting& setting, int scale) : setting_(setting), scale_(scale) {}

  Status open() override {
    const AVCodec* codec = avcodec_find_encoder(AV_CODEC_ID_MJPEG);
    if (codec == nullptr) return Status(Errc::not_built, "this FFmpeg has no mjpeg encoder");
    const ConstFrameView like = setting_.frames.view(0);
    context_.reset(avcodec_alloc_context3(codec));
    packet_.reset(av_packet_alloc());
    if (!context_ || !packet_) return Status(Errc::out_of_memory);
    context_->width = like.width;
    context_->height = like.height;
    context_->pix_fmt = ffmpeg::av_pixel_format(like.format);
    context_->color_range = AVCOL_RANGE_JPEG;
    context_->time_base = {1, 25};
    context_->thread_count = 1;
    context_->flags |= AV_CODEC_FLAG_QSCALE;
    context_->qmin = kFinest;
    context_->global_quality = scale_ * FF_QP2LAMBDA;
    const bool optimal = setting_.what.huffman == HuffmanTables::optimal;
    av_opt_set(context_->priv_data, "huffman", optimal ? "optimal" : "default", 0);
    ZR_TRY(av_status(avcodec_open2(context_.get(), codec, nullptr), "mjpeg"));
    for (std::size_t i = 0; i < setting_.frames.size(); ++i) {
      frames_.push_back(make_av_frame(setting_.frames.view(i)));
      if (!frames_.back()) return Status(Errc::out_of_memory);
      frames_.back()->quality = context_->global_quality;
    }
    return Status::ok();
  }

  Status start(std::size_t index) override {
    av_packet_unref(packet_.get());
    frames_[index]->pts = next_pts_++;
    ZR_TRY(av_status(avcodec_send_frame(context_.get(), frames_[index].get()), "encode"));
    return av_status(avcodec_receive_packet(context_.get(), packet_.get()), "encode");
  }
  Status stream(std::vector<std::byte>& out) override {
    const auto* bytes = reinterpret_cast<const std::byte*>(packet_->data);
    out.assign(bytes, bytes + packet_->size);
    return Status::ok();
  }

 private:
  const Setting& setting_;
  const int scale_;
  Owned<AVCodecContext> context_;
  Owned<AVPacket> packet_;
  std::vector<Owned<AVFrame>> frames_;
  std::int64_t next_pts_ = 0;
};

/// PSNR of the first frame at a scale.
Result<double> psnr_at(const Setting& setting, int scale) {
  FfmpegEncodeRunner runner(setting, scale);
  std::vector<std::byte> jpeg;
  ZR_TRY(runner.open());
  ZR_TRY(runner.start(0));
  ZR_TRY(runner.stream(jpeg));
  std::optional<Decoder> decoder;
  ZR_TRY(store(Decoder::create(decode_params(Backend::cpu)), decoder));
  Frame decoded;
  const ConstFrameView source = setting.frames.view(0);
  ZR_TRY(decoder->decode(jpeg, source.format, decoded).status());
  return squared_error(source, std::as_const(decoded).view()).psnr();
}

/// The coarsest scale at least as good as zerorun's streams; the finest if none is.
Result<int> scale_like_ours(const Setting& setting) {
  int good = kFinest, bad = kCoarsest + 1;
  while (bad - good > 1) {
    const int middle = (good + bad) / 2;
    const auto psnr = psnr_at(setting, middle);
    if (!psnr) return psnr.status();
    (*psnr >= setting.reference.psnr ? good : bad) = middle;
  }
  return good;
}

using SharedPackets = std::shared_ptr<const std::vector<Owned<AVPacket>>>;

/// The streams with the padding that FFmpeg wants, for all runners.
Result<SharedPackets> make_packets(const Reference& reference) {
  std::vector<Owned<AVPacket>> packets;
  for (const auto& jpeg : reference.streams) {
    packets.emplace_back(av_packet_alloc());
    if (!packets.back() || av_new_packet(packets.back().get(), static_cast<int>(jpeg.size())))
      return Status(Errc::out_of_memory);
    std::copy(jpeg.begin(), jpeg.end(), reinterpret_cast<std::byte*>(packets.back()->data));
  }
  return std::make_shared<const std::vector<Owned<AVPacket>>>(std::move(packets));
}

class FfmpegDecodeRunner final : public Runner {
 public:
  explicit FfmpegDecodeRunner(SharedPackets packets) : packets_(std::move(packets)) {}

  Status open() override {
    const AVCodec* codec = avcodec_find_decoder(AV_CODEC_ID_MJPEG);
    if (codec == nullptr) return Status(Errc::not_built, "this FFmpeg has no mjpeg decoder");
    context_.reset(avcodec_alloc_context3(codec));
    frame_.reset(av_frame_alloc());
    if (!context_ || !frame_) return Status(Errc::out_of_memory);
    context_->thread_count = 1;
    return av_status(avcodec_open2(context_.get(), codec, nullptr), "mjpeg");
  }

  Status start(std::size_t index) override {
    ZR_TRY(av_status(avcodec_send_packet(context_.get(), (*packets_)[index].get()), "decode"));
    return av_status(avcodec_receive_frame(context_.get(), frame_.get()), "decode");
  }
  Status picture(std::size_t /*place*/, const FrameView& out) override {
    const auto view = ffmpeg::frame_view(*frame_, ffmpeg::ColourCheck::ignore);
    if (!view) return view.status();
    if (view->format != out.format)
      return Status(Errc::pixel_format, "FFmpeg's frame has another layout");
    copy_samples(*view, out);
    return Status::ok();
  }

 private:
  Owned<AVCodecContext> context_;
  Owned<AVFrame> frame_;
  SharedPackets packets_;
};

}  // namespace

Status add_ffmpeg(const Setting& setting, Coders& coders) {
  if (const char* error = zerorun_load_peer_ffmpeg())
    return leave_out(setting, std::string("FFmpeg: ") + error);
  const bool encode = setting.what.encodes();
  const PixelFormat pixels = setting.what.pixels;
  const bool encodable = pixels == PixelFormat::yuv420p || pixels == PixelFormat::yuv422p ||
                         pixels == PixelFormat::yuv444p;
  if (!is_planar_yuv(pixels) || (encode && !encodable))
    return leave_out(setting, "FFmpeg: it does not take this pixel format");
  Coder& coder = coders.emplace_back();
  coder.name = std::string("FFmpeg ") + av_version_info();
  coder.at_once = setting.selection.threads;
  // Scale and packets are made when the first runner opens: rows without FFmpeg need not wait.
  if (encode) {
    coder.open = [&setting,
                  scale = std::make_shared<int>(0)](int) -> Result<std::unique_ptr<Runner>> {
      if (*scale == 0) ZR_TRY(store(scale_like_ours(setting), *scale));
      auto runner = std::make_unique<FfmpegEncodeRunner>(setting, *scale);
      ZR_TRY(runner->open());
      return std::unique_ptr<Runner>(std::move(runner));
    };
  } else {
    coder.open = [&setting, packets = std::make_shared<SharedPackets>()](
                     int) -> Result<std::unique_ptr<Runner>> {
      if (!*packets) ZR_TRY(store(make_packets(setting.reference), *packets));
      return runner_of<FfmpegDecodeRunner>(*packets)(1);
    };
  }
  return Status::ok();
}

}  // namespace zerorun::app::bench
