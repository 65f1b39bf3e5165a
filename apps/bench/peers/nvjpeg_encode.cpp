// nvJPEG's encoder: device frames to streams in pinned host memory. Each runner has its own state,
// parameters and stream, and a thread.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <utility>

#include "apps/bench/peers/nvjpeg.hpp"

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
  const NvjpegHandle* library;
  SharedDeviceFrames frames;
};

class NvjpegEncodeRunner final : public DeviceRunner {
 public:
  explicit NvjpegEncodeRunner(NvjpegJob job) : DeviceRunner(job.device), job_(std::move(job)) {}
  ~NvjpegEncodeRunner() override {
    if (params_ != nullptr) api().EncoderParamsDestroy(params_);
    if (state_ != nullptr) api().EncoderStateDestroy(state_);
  }

  Status open() override {
    ZR_TRY(DeviceRunner::open());
    ZR_TRY(out_.allocate(job_.room, CudaMemory::pinned));
    const cudaStream_t queue = cuda_stream();
    ZR_NVJPEG_TRY(api().EncoderStateCreate(handle(), &state_, queue));
    ZR_NVJPEG_TRY(api().EncoderParamsCreate(handle(), &params_, queue));
    ZR_NVJPEG_TRY(api().EncoderParamsSetQuality(params_, job_.what.quality, queue));
    const int optimal = job_.what.huffman == HuffmanTables::optimal ? 1 : 0;
    ZR_NVJPEG_TRY(api().EncoderParamsSetOptimizedHuffman(params_, optimal, queue));
    ZR_NVJPEG_TRY(api().EncoderParamsSetSamplingFactors(params_, sampling(), queue));
    return finish();
  }

  Status start(std::size_t index) override {
    ZR_TRY(enqueue(job_.frames->view(index)));
    const cudaStream_t queue = cuda_stream();
    ZR_NVJPEG_TRY(api().EncodeRetrieveBitstream(handle(), state_, nullptr, &bytes_, queue));
    if (bytes_ > out_.size()) return Status(Errc::output_too_small);
    ZR_NVJPEG_TRY(api().EncodeRetrieveBitstream(handle(), state_, out_.data(), &bytes_, queue));
    return finish();
  }
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
                                    frame.height, cuda_stream()));
    } else {
      const auto order = frame.format == PixelFormat::rgb24 ? NVJPEG_INPUT_RGBI : NVJPEG_INPUT_BGRI;
      ZR_NVJPEG_TRY(api().EncodeImage(handle(), state_, params_, &image, order, frame.width,
                                      frame.height, cuda_stream()));
    }
    return Status::ok();
  }

  NvjpegJob job_;
  CudaArray<unsigned char> out_;
  nvjpegEncoderState_t state_ = nullptr;
  nvjpegEncoderParams_t params_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace

Status add_nvjpeg_encoder(const Setting& setting, int device, Coders& coders) {
  // Its tables and padding may take more bytes than zerorun's.
  NvjpegJob job{setting.what, device, setting.reference.largest * 2 + 65536, nullptr, nullptr};
  ZR_TRY(store(DeviceFrames::upload(setting.frames, device), job.frames));
  ZR_TRY(store(NvjpegHandle::of(device, NVJPEG_BACKEND_DEFAULT), job.library));
  Coder& coder = coders.emplace_back();
  coder.name = job.library->api.version();
  coder.device = fmt::format("cuda:{}", device);
  coder.path = "device>host";
  coder.at_once = setting.selection.peer_threads;
  coder.open = runner_of<NvjpegEncodeRunner>(job);
  return Status::ok();
}

}  // namespace zerorun::app::bench
