// The peer nvJPEG: device frames to streams in pinned host memory, each lane with its own state,
// parameters and stream, driven by its own thread.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <utility>

#include "apps/bench/contenders.hpp"
#include "apps/bench/cuda_frames.hpp"
#include "apps/bench/nvjpeg_library.hpp"

namespace zerorun::app::bench {
namespace {

/// A library handle of one device; shared by all lanes.
class NvjpegHandle {
 public:
  explicit NvjpegHandle(const NvjpegLibrary& library) : api(library) {}
  ~NvjpegHandle() {
    if (handle != nullptr) api.Destroy(handle);
  }
  NvjpegHandle(const NvjpegHandle&) = delete;
  NvjpegHandle& operator=(const NvjpegHandle&) = delete;

  const NvjpegLibrary& api;
  nvjpegHandle_t handle = nullptr;
};

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
    ZR_TRY(stream_.create());
    ZR_TRY(out_.reserve(static_cast<std::int64_t>(job_.room)));
    const cudaStream_t queue = stream_.get();
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
    const cudaStream_t queue = stream_.get();
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

  Status enqueue(const ConstFrameView& frame) {
    nvjpegImage_t image{};
    for (int p = 0; p < plane_count(frame.format); ++p) {
      const auto plane = static_cast<std::size_t>(p);
      image.channel[p] = const_cast<unsigned char*>(frame.data[plane]);
      image.pitch[p] = static_cast<std::size_t>(frame.stride_bytes[plane]);
    }
    if (is_planar_yuv(frame.format)) {
      ZR_NVJPEG_TRY(api().EncodeYUV(handle(), state_, params_, &image, sampling(), frame.width,
                                    frame.height, stream_.get()));
    } else {
      const auto order = frame.format == PixelFormat::rgb24 ? NVJPEG_INPUT_RGBI : NVJPEG_INPUT_BGRI;
      ZR_NVJPEG_TRY(api().EncodeImage(handle(), state_, params_, &image, order, frame.width,
                                      frame.height, stream_.get()));
    }
    return Status::ok();
  }

  NvjpegJob job_;
  Stream stream_;
  PinnedBuffer<unsigned char> out_;
  nvjpegEncoderState_t state_ = nullptr;
  nvjpegEncoderParams_t params_ = nullptr;
  std::size_t bytes_ = 0;
};

Status add_for_device(const Setting& setting, int device, Contenders& out) {
  const auto library = nvjpeg_library();
  if (!library) return library.status();
  const DeviceGuard guard(device);
  ZR_TRY(guard.status());
  auto handle = std::make_shared<NvjpegHandle>(**library);
  ZR_NVJPEG_TRY(handle->api.CreateSimple(&handle->handle));
  auto frames = DeviceFrames::upload(setting.frames, device);
  if (!frames) return frames.status();
  Contender c;
  c.coder = (*library)->version();
  c.device = fmt::format("cuda:{}", device);
  c.path = "device>host";
  c.parallel = setting.selection.peer_threads;
  // Its tables and padding may cost some more bytes than ours.
  const std::size_t room = setting.reference.largest * 2 + 65536;
  c.open = [job = NvjpegJob{setting.what, device, room, handle,
                            *std::move(frames)}]() -> Result<std::unique_ptr<Lane>> {
    auto lane = std::make_unique<NvjpegEncodeLane>(job);
    ZR_TRY(lane->open());
    return std::unique_ptr<Lane>(std::move(lane));
  };
  out.push_back(std::move(c));
  return Status::ok();
}

bool takes(PixelFormat format) noexcept {
  return is_planar_yuv(format) || format == PixelFormat::rgb24 || format == PixelFormat::bgr24;
}

}  // namespace

void add_nvjpeg_encoders(const Setting& setting, Contenders& out) {
  if (!setting.selection.peers) return;
  for (const int device : setting.selection.cuda) {
    const Status status = takes(setting.frames.view(0).format)
                              ? add_for_device(setting, device, out)
                              : Status(Errc::pixel_format, "nvJPEG does not read it");
    if (!status) setting.notes.push_back("nvJPEG: " + status.message());
  }
}

}  // namespace zerorun::app::bench
