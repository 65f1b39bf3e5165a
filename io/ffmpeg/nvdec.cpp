// Video decoded by the GPU's own decoder (NVDEC), through libavcodec's CUDA frames.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/nvdec.hpp"

#include <string>
#include <utility>

#include "codec/base/try.hpp"
#include "io/ffmpeg/colour.hpp"

#ifdef ZERORUN_HAVE_NVDEC
extern "C" {
#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_cuda.h>
}
#endif

namespace zerorun::io::av {
namespace {

Status cannot(const std::string& why) { return Status(Errc::device_unsuitable, why); }

}  // namespace

bool is_on_device(const AVFrame& picture) noexcept { return picture.format == AV_PIX_FMT_CUDA; }

#ifdef ZERORUN_HAVE_NVDEC
namespace {

/// Depth of the samples of a surface: 8 for NV12, 10 for P010; 0 for layouts that zerorun does
/// not take from the device.
int surface_depth(AVPixelFormat format) noexcept {
  return format == AV_PIX_FMT_NV12 ? 8 : format == AV_PIX_FMT_P010 ? 10 : 0;
}

struct ReleaseBuffer {
  void operator()(AVBufferRef* p) const noexcept { av_buffer_unref(&p); }
};
using BufferPtr = std::unique_ptr<AVBufferRef, ReleaseBuffer>;

/// The driver's functions for the context that CUDA's run time uses, so that zerorun's kernels can
/// read what the decoder writes.
struct Driver {
  CUresult (*init)(unsigned) = nullptr;
  CUresult (*device_get)(CUdevice*, int) = nullptr;
  CUresult (*retain)(CUcontext*, CUdevice) = nullptr;
  CUresult (*release)(CUdevice) = nullptr;
  bool is_there = false;

  Driver() {
    void* const library = open_library("cuda", 1);
    is_there = find_function(library, "cuInit", init) &&
               find_function(library, "cuDeviceGet", device_get) &&
               find_function(library, "cuDevicePrimaryCtxRetain", retain) &&
               find_function(library, "cuDevicePrimaryCtxRelease_v2", release);
  }
  static const Driver& get() {
    static const Driver driver;
    return driver;
  }
};

void release_context(AVHWDeviceContext* context) {
  const auto device = reinterpret_cast<std::intptr_t>(context->user_opaque);
  (void)Driver::get().release(static_cast<CUdevice>(device));
}

Result<BufferPtr> open_device(int index) {
  const Driver& driver = Driver::get();
  if (!driver.is_there) return cannot("there is no libcuda.so.1");
  CUdevice device = 0;
  CUcontext context = nullptr;
  if (driver.init(0) != CUDA_SUCCESS || driver.device_get(&device, index) != CUDA_SUCCESS ||
      driver.retain(&context, device) != CUDA_SUCCESS)
    return cannot("the driver gives no context of device " + std::to_string(index));
  BufferPtr buffer(av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_CUDA));
  if (!buffer) {
    (void)driver.release(device);
    return cannot("this FFmpeg was built without CUDA");
  }
  auto* const hardware = reinterpret_cast<AVHWDeviceContext*>(buffer->data);
  static_cast<AVCUDADeviceContext*>(hardware->hwctx)->cuda_ctx = context;
  hardware->user_opaque = reinterpret_cast<void*>(static_cast<std::intptr_t>(device));
  hardware->free = release_context;
  if (const int error = av_hwdevice_ctx_init(buffer.get()); error < 0)
    return cannot("FFmpeg cannot use CUDA: " + reason(error));
  return buffer;
}

/// A decoder with CUDA frames; for AV1 it is not the one that FFmpeg prefers.
const AVCodec* find_decoder(AVCodecID id) noexcept {
  void* place = nullptr;
  while (const AVCodec* codec = av_codec_iterate(&place)) {
    if (codec->id != id || !av_codec_is_decoder(codec)) continue;
    for (int i = 0; const AVCodecHWConfig* config = avcodec_get_hw_config(codec, i); ++i)
      if (config->device_type == AV_HWDEVICE_TYPE_CUDA && config->pix_fmt == AV_PIX_FMT_CUDA &&
          (config->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX) != 0)
        return codec;
  }
  return nullptr;
}

/// FFmpeg asks again without CUDA if NVDEC refuses the stream.
AVPixelFormat choose_format(AVCodecContext* codec, const AVPixelFormat* offered) {
  for (const AVPixelFormat* format = offered; *format != AV_PIX_FMT_NONE; ++format)
    if (*format == AV_PIX_FMT_CUDA) return *format;
  return avcodec_default_get_format(codec, offered);
}

/// Keeps a picture in the decoder's memory.
struct HandedOut {
  FramePtr picture;
  DeviceSurface surface;
};

}  // namespace

Result<CodecPtr> open_nvdec(const AVStream& stream, int device) {
  const AVCodec* const decoder = find_decoder(stream.codecpar->codec_id);
  if (decoder == nullptr)
    return cannot(std::string("FFmpeg decodes no ") + avcodec_get_name(stream.codecpar->codec_id) +
                  " by NVDEC");
  ZR_LET(hardware, open_device(device));
  CodecPtr codec(avcodec_alloc_context3(decoder));
  if (!codec) return Status(Errc::out_of_memory);
  int error = avcodec_parameters_to_context(codec.get(), stream.codecpar);
  codec->hw_device_ctx = hardware.release();
  codec->get_format = choose_format;
  codec->extra_hw_frames = SurfacePool::kMost;
  codec->thread_count = 1;  // NVDEC works on several pictures by itself
  codec->pkt_timebase = stream.time_base;
  if (error >= 0) error = avcodec_open2(codec.get(), decoder, nullptr);
  if (error < 0) return cannot(reason(error));
  return codec;
}

Result<FramePtr> download(const AVFrame& picture) {
  FramePtr host(av_frame_alloc());
  if (!host) return Status(Errc::out_of_memory);
  int error = av_hwframe_transfer_data(host.get(), &picture, 0);
  if (error >= 0) error = av_frame_copy_props(host.get(), &picture);
  if (error >= 0) {
    host->crop_left = picture.crop_left;
    host->crop_top = picture.crop_top;
    error = av_frame_apply_cropping(host.get(), AV_FRAME_CROP_UNALIGNED);
  }
  if (error < 0) return Status(Errc::device_failure, "a picture of NVDEC: " + reason(error));
  return host;
}

std::shared_ptr<const DeviceSurface> SurfacePool::hand_out(const AVFrame& picture) {
  if (*out_ >= kMost || picture.hw_frames_ctx == nullptr) return nullptr;
  const auto* const frames =
      reinterpret_cast<const AVHWFramesContext*>(picture.hw_frames_ctx->data);
  const int depth = surface_depth(frames->sw_format);
  if (depth == 0 || picture.crop_left % 2 != 0 || picture.crop_top % 2 != 0) return nullptr;
  const auto coding = coding_of(picture, false, depth);
  FramePtr kept(av_frame_clone(&picture));
  if (!coding || !kept) return nullptr;
  auto made = std::make_unique<HandedOut>();
  made->picture = std::move(kept);
  ++*out_;
  const std::shared_ptr<HandedOut> held(made.release(), [out = out_](HandedOut* done) {
    delete done;
    --*out;
  });
  // Cropping at the right and at the bottom has been subtracted from the size.
  const auto left = static_cast<std::ptrdiff_t>(picture.crop_left);
  const auto top = static_cast<std::ptrdiff_t>(picture.crop_top);
  const std::ptrdiff_t left_bytes = left * (depth > 8 ? 2 : 1);
  held->surface = {picture.width - static_cast<int>(left),
                   picture.height - static_cast<int>(top),
                   picture.data[0] + top * picture.linesize[0] + left_bytes,
                   picture.data[1] + top / 2 * picture.linesize[1] + left_bytes,
                   picture.linesize[0],
                   picture.linesize[1],
                   YccToJfif(*coding).terms()};
  return {held, &held->surface};
}
#else
Result<CodecPtr> open_nvdec(const AVStream&, int) {
  return cannot("zerorun was built without CUDA");
}
Result<FramePtr> download(const AVFrame&) { return cannot("zerorun was built without CUDA"); }
std::shared_ptr<const DeviceSurface> SurfacePool::hand_out(const AVFrame&) { return nullptr; }
#endif

}  // namespace zerorun::io::av
