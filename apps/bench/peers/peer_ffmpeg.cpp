// The peer FFmpeg: its own Motion JPEG encoder and decoder, one thread a frame. Its quality has
// another scale, so the coarsest one is taken whose PSNR is that of zerorun or better.
// SPDX-License-Identifier: MIT
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>
#include <libavutil/opt.h>
}

#include <utility>

#include "apps/bench/measure/contenders.hpp"
#include "apps/common/psnr.hpp"
#include "codec/base/try.hpp"
#include "zerorun/ffmpeg.hpp"

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

class FfmpegEncodeLane final : public EncodeLane {
 public:
  explicit FfmpegEncodeLane(const Setting& setting) : setting_(setting) {}

  /// `scale` is FFmpeg's, 1 (finest) to 31.
  Status open(int scale) {
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
    context_->global_quality = scale * FF_QP2LAMBDA;
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
    Status status = av_status(avcodec_send_frame(context_.get(), frames_[index].get()), "encode");
    if (!status) return status;
    return av_status(avcodec_receive_packet(context_.get(), packet_.get()), "encode");
  }
  Status finish() override { return Status::ok(); }
  Status stream(std::vector<std::byte>& out) override {
    const auto* bytes = reinterpret_cast<const std::byte*>(packet_->data);
    out.assign(bytes, bytes + packet_->size);
    return Status::ok();
  }

 private:
  const Setting& setting_;
  Owned<AVCodecContext> context_;
  Owned<AVPacket> packet_;
  std::vector<Owned<AVFrame>> frames_;
  std::int64_t next_pts_ = 0;
};

/// PSNR of the first frame at a scale.
Result<double> psnr_at(const Setting& setting, int scale) {
  FfmpegEncodeLane lane(setting);
  std::vector<std::byte> jpeg;
  ZR_TRY(lane.open(scale));
  ZR_TRY(lane.start(0));
  ZR_TRY(lane.stream(jpeg));
  auto decoder = Decoder::create(decode_params(Backend::cpu));
  if (!decoder) return decoder.status();
  Frame decoded;
  const ConstFrameView source = setting.frames.view(0);
  if (const auto report = decoder->decode(jpeg, source.format, decoded); !report)
    return report.status();
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

/// The streams with the padding that FFmpeg wants, for all lanes.
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

class FfmpegDecodeLane final : public DecodeLane {
 public:
  explicit FfmpegDecodeLane(SharedPackets packets) : packets_(std::move(packets)) {}

  Status open() {
    const AVCodec* codec = avcodec_find_decoder(AV_CODEC_ID_MJPEG);
    if (codec == nullptr) return Status(Errc::not_built, "this FFmpeg has no mjpeg decoder");
    context_.reset(avcodec_alloc_context3(codec));
    frame_.reset(av_frame_alloc());
    if (!context_ || !frame_) return Status(Errc::out_of_memory);
    context_->thread_count = 1;
    return av_status(avcodec_open2(context_.get(), codec, nullptr), "mjpeg");
  }

  Status start(std::size_t index) override {
    Status status =
        av_status(avcodec_send_packet(context_.get(), (*packets_)[index].get()), "decode");
    if (!status) return status;
    return av_status(avcodec_receive_frame(context_.get(), frame_.get()), "decode");
  }
  Status finish() override { return Status::ok(); }
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

Result<std::unique_ptr<Lane>> open_decoder(SharedPackets packets) {
  auto lane = std::make_unique<FfmpegDecodeLane>(std::move(packets));
  ZR_TRY(lane->open());
  return std::unique_ptr<Lane>(std::move(lane));
}

Result<std::unique_ptr<Lane>> open_encoder(const Setting& setting, int scale) {
  auto lane = std::make_unique<FfmpegEncodeLane>(setting);
  ZR_TRY(lane->open(scale));
  return std::unique_ptr<Lane>(std::move(lane));
}

}  // namespace

void add_ffmpeg(const Setting& setting, Contenders& out) {
  if (!setting.selection.peers) return;
  const bool encode = setting.what.operation == Operation::encode;
  const PixelFormat pixels = setting.what.pixels;
  if (!is_planar_yuv(pixels) ||
      (encode && pixels != PixelFormat::yuv420p && pixels != PixelFormat::yuv422p &&
       pixels != PixelFormat::yuv444p)) {
    setting.notes.push_back("FFmpeg: it does not take this pixel format");
    return;
  }
  Contender c;
  c.coder = std::string("FFmpeg ") + av_version_info();
  c.device = "cpu";
  c.path = "host>host";
  c.parallel = setting.selection.threads;
  // Found and made when the first lane opens: nobody waits for it who left FFmpeg out.
  auto scale = std::make_shared<int>(0);
  auto packets = std::make_shared<SharedPackets>();
  c.open = [&setting, encode, scale, packets](int) -> Result<std::unique_ptr<Lane>> {
    if (!encode) {
      if (!*packets) {
        auto made = make_packets(setting.reference);
        if (!made) return made.status();
        *packets = *std::move(made);
      }
      return open_decoder(*packets);
    }
    if (*scale == 0) {
      const auto found = scale_like_ours(setting);
      if (!found) return found.status();
      *scale = *found;
    }
    return open_encoder(setting, *scale);
  };
  out.push_back(std::move(c));
}

}  // namespace zerorun::app::bench
