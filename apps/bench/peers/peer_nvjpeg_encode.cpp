// The peer nvJPEG: device frames to streams in pinned host memory, each lane with its own state,
// parameters and stream, driven by its own thread.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <utility>

#include "apps/bench/measure/cuda_frames.hpp"
#include "apps/bench/peers/peer_nvjpeg.hpp"

namespace zerorun::app::bench {
namespace {

nvjpegChromaSubsampling_t nvjpeg_sampling(Subsampling sampling) noexcept {
  switch (sampling) {
    case Subsampling::s444:
      return NVJPEG_CSS_444;
    case Subsampling::s422:
      return NVJPEG_CSS_422;
    case Subsampling::s440:
      return NVJPEG_CSS_440;
    case Subsampling::s411:
      return NVJPEG_CSS_411;
    case Subsampling::gray:
      return NVJPEG_CSS_GRAY;
    case Subsampling::s420:
      break;
  }
  return NVJPEG_CSS_420;
}

struct NvjpegJob {
  Case what;
  int device;
  std::size_t room;  ///< of a stream
  std::shared_ptr<NvjpegHandle> library;
  std::shared_ptr<DeviceFrames> frames;
};

class NvjpegEncodeLane final : public EncodeLane {
 public:
  explicit NvjpegEncodeLane(NvjpegJob job) : job_(std::move(job)) {}
  ~NvjpegEncodeLane() override {
    if (params_ != nullptr) api().EncoderParamsDestroy(params_);
    if (state_ != nullptr) api().EncoderStateDestroy(state_);
  }

  Status open() {
    const DeviceGuard guard(job_.device);
    ZR_TRY(guard.status());
    ZR_TRY(queue_.create());
    ZR_TRY(out_.reserve(static_cast<std::int64_t>(job_.room)));
    const cudaStream_t queue = queue_.get();
    ZR_NVJPEG_TRY(api().EncoderStateCreate(handle(), &state_, queue));
    ZR_NVJPEG_TRY(api().EncoderParamsCreate(handle(), &params_, queue));
    ZR_NVJPEG_TRY(api().EncoderParamsSetQuality(params_, job_.what.quality, queue));
    const int optimal = job_.what.huffman == HuffmanTables::optimal ? 1 : 0;
    ZR_NVJPEG_TRY(api().EncoderParamsSetOptimizedHuffman(params_, optimal, queue));
    ZR_NVJPEG_TRY(api().EncoderParamsSetSamplingFactors(params_, sampling(), queue));
    ZR_CUDA_TRY(cudaStreamSynchronize(queue));
    return Status::ok();
  }

  Status attach() override {
    ZR_CUDA_TRY(cudaSetDevice(job_.device));
    return Status::ok();
  }

  Status start(std::size_t index) override {
    ZR_TRY(enqueue(job_.frames->view(index)));
    const cudaStream_t queue = queue_.get();
    ZR_NVJPEG_TRY(api().EncodeRetrieveBitstream(handle(), state_, nullptr, &bytes_, queue));
    if (bytes_ > static_cast<std::size_t>(out_.capacity())) return Status(Errc::output_too_small);
    ZR_NVJPEG_TRY(api().EncodeRetrieveBitstream(handle(), state_, out_.data(), &bytes_, queue));
    ZR_CUDA_TRY(cudaStreamSynchronize(queue));
    return Status::ok();
  }
  Status finish() override { return Status::ok(); }
  Status stream(std::vector<std::byte>& out) override {
    const auto* bytes = reinterpret_cast<const std::byte*>(out_.data());
    out.assign(bytes, bytes + bytes_);
    return Status::ok();
  }

 private:
  const NvjpegLibrary& api() const { return job_.library->api; }
  nvjpegHandle_t handle() const { return job_.library->handle; }
  nvjpegChromaSubsampling_t sampling() const { return nvjpeg_sampling(job_.what.sampling); }

  Status enqueue(const FrameView& frame) {
    const nvjpegImage_t image = nvjpeg_image(frame);
    if (is_planar_yuv(frame.format)) {
      ZR_NVJPEG_TRY(api().EncodeYUV(handle(), state_, params_, &image, sampling(), frame.width,
                                    frame.height, queue_.get()));
    } else {
      const auto order = frame.format == PixelFormat::rgb24 ? NVJPEG_INPUT_RGBI : NVJPEG_INPUT_BGRI;
      ZR_NVJPEG_TRY(api().EncodeImage(handle(), state_, params_, &image, order, frame.width,
                                      frame.height, queue_.get()));
    }
    return Status::ok();
  }

  NvjpegJob job_;
  Stream queue_;
  PinnedBuffer<unsigned char> out_;
  nvjpegEncoderState_t state_ = nullptr;
  nvjpegEncoderParams_t params_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace

Status add_nvjpeg_encoder(const Setting& setting, int device, Contenders& out) {
  const DeviceGuard guard(device);
  ZR_TRY(guard.status());
  auto library = NvjpegHandle::create(NVJPEG_BACKEND_DEFAULT);
  if (!library) return library.status();
  auto frames = DeviceFrames::upload(setting.frames, setting.frames.size(), device);
  if (!frames) return frames.status();
  Contender c;
  c.coder = (*library)->api.version();
  c.device = fmt::format("cuda:{}", device);
  c.path = "device>host";
  c.parallel = setting.selection.peer_threads;
  // Its tables and padding may cost some more bytes than ours.
  const std::size_t room = setting.reference.largest * 2 + 65536;
  c.open = [job = NvjpegJob{setting.what, device, room, *std::move(library), *std::move(frames)}](
               int) -> Result<std::unique_ptr<Lane>> {
    auto lane = std::make_unique<NvjpegEncodeLane>(job);
    ZR_TRY(lane->open());
    return std::unique_ptr<Lane>(std::move(lane));
  };
  out.push_back(std::move(c));
  return Status::ok();
}

}  // namespace zerorun::app::bench
