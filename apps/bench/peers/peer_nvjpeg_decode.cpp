// nvJPEG's decoders: streams in host memory to device frames. Each backend by single images,
// with a state and a stream for each thread, and by batches, which some of them need.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "apps/bench/measure/device_lanes.hpp"
#include "apps/bench/peers/peer_nvjpeg.hpp"

namespace zerorun::app::bench {
namespace {

struct NvjpegDecodeJob {
  int device;
  std::shared_ptr<NvjpegHandle> library;
  const FrameSet& like;
  SharedHostData data;
  int batch_threads;  ///< of the CPU, for a batch
};

/// One format serves a whole batch, whose samplings may differ.
nvjpegOutputFormat_t output_format(const FrameSet& set) noexcept {
  const auto is_gray = [](const PaddedFrame& frame) {
    return frame.view().format == PixelFormat::gray8;
  };
  if (std::all_of(set.frames.begin(), set.frames.end(), is_gray)) return NVJPEG_OUTPUT_Y;
  switch (set.view(0).format) {
    case PixelFormat::rgb24:
      return NVJPEG_OUTPUT_RGBI;
    case PixelFormat::bgr24:
      return NVJPEG_OUTPUT_BGRI;
    default:
      return NVJPEG_OUTPUT_YUV;
  }
}

/// What both kinds of lanes have: a state, a stream, device frames.
class NvjpegDecodeLane : public DecodeLane {
 public:
  explicit NvjpegDecodeLane(NvjpegDecodeJob job) : job_(std::move(job)) {}
  ~NvjpegDecodeLane() override {
    if (state_ != nullptr) api().JpegStateDestroy(state_);
  }

  Status attach() override {
    ZR_CUDA_TRY(cudaSetDevice(job_.device));
    return Status::ok();
  }

 protected:
  Status open() {
    const DeviceGuard guard(job_.device);
    ZR_TRY(guard.status());
    ZR_TRY(queue_.create());
    ZR_NVJPEG_TRY(api().JpegStateCreate(handle(), &state_));
    return Status::ok();
  }
  Status add_frame() {
    auto room = DeviceFrames::overlaid(job_.like, job_.device);
    if (!room) return room.status();
    rooms_.push_back(*std::move(room));
    return Status::ok();
  }
  const NvjpegLibrary& api() const { return job_.library->api; }
  nvjpegHandle_t handle() const { return job_.library->handle; }
  nvjpegOutputFormat_t format() const { return output_format(job_.like); }
  const unsigned char* bytes(std::size_t index) const {
    return reinterpret_cast<const unsigned char*>(job_.data->stream(index).data());
  }

  NvjpegDecodeJob job_;
  Stream queue_;
  nvjpegJpegState_t state_ = nullptr;
  std::vector<SharedDeviceFrames> rooms_;  // one an image of a batch
};

class SingleLane final : public NvjpegDecodeLane {
 public:
  using NvjpegDecodeLane::NvjpegDecodeLane;
  Status open() {
    ZR_TRY(NvjpegDecodeLane::open());
    return add_frame();
  }

  Status start(std::size_t index) override {
    last_ = index;
    nvjpegImage_t image = nvjpeg_image(rooms_[0]->view(index));
    ZR_NVJPEG_TRY(api().Decode(handle(), state_, bytes(index), job_.data->stream(index).size(),
                               format(), &image, queue_.get()));
    // The state is used again for the next image.
    return finish();
  }
  Status finish() override {
    ZR_CUDA_TRY(cudaStreamSynchronize(queue_.get()));
    return Status::ok();
  }
  Status picture(std::size_t /*place*/, const FrameView& out) override {
    return rooms_[0]->download(last_, out);
  }

 private:
  std::size_t last_ = 0;
};

/// Collects images until a batch is full; the last batch is filled up with its last image.
class BatchLane final : public NvjpegDecodeLane {
 public:
  BatchLane(NvjpegDecodeJob job, int size)
      : NvjpegDecodeLane(std::move(job)), size_(static_cast<std::size_t>(size)) {}
  Status open() {
    ZR_TRY(NvjpegDecodeLane::open());
    for (std::size_t i = 0; i < size_; ++i) ZR_TRY(add_frame());
    ZR_NVJPEG_TRY(api().DecodeBatchedInitialize(handle(), state_, static_cast<int>(size_),
                                                job_.batch_threads, format()));
    return Status::ok();
  }

  Status start(std::size_t index) override {
    waiting_.push_back(index);
    return waiting_.size() == size_ ? decode() : Status::ok();
  }
  Status finish() override { return waiting_.empty() ? Status::ok() : decode(); }
  Status picture(std::size_t place, const FrameView& out) override {
    return rooms_[place]->download(decoded_[place], out);
  }

 private:
  Status decode() {
    waiting_.resize(size_, waiting_.back());
    std::vector<const unsigned char*> data;
    std::vector<std::size_t> lengths;
    std::vector<nvjpegImage_t> images;
    for (std::size_t i = 0; i < size_; ++i) {
      data.push_back(bytes(waiting_[i]));
      lengths.push_back(job_.data->stream(waiting_[i]).size());
      images.push_back(nvjpeg_image(rooms_[i]->view(waiting_[i])));
    }
    decoded_.swap(waiting_);
    waiting_.clear();
    ZR_NVJPEG_TRY(api().DecodeBatched(handle(), state_, data.data(), lengths.data(), images.data(),
                                      queue_.get()));
    ZR_CUDA_TRY(cudaStreamSynchronize(queue_.get()));
    return Status::ok();
  }

  std::size_t size_;
  std::vector<std::size_t> waiting_, decoded_;  // indices of the batch to come and of the last one
};

struct BackendName {
  nvjpegBackend_t backend;
  const char* name;
};
constexpr BackendName kBackends[] = {{NVJPEG_BACKEND_DEFAULT, "default"},
                                     {NVJPEG_BACKEND_HYBRID, "hybrid"},
                                     {NVJPEG_BACKEND_GPU_HYBRID, "gpu_hybrid"},
                                     {NVJPEG_BACKEND_HARDWARE, "hardware"}};
template <typename LaneType, typename... Args>
Result<std::unique_ptr<Lane>> open_lane(Args... args) {
  auto lane = std::make_unique<LaneType>(args...);
  ZR_TRY(lane->open());
  return std::unique_ptr<Lane>(std::move(lane));
}

void add_path(const Setting& setting, const BackendName& backend, const char* path,
              const NvjpegDecodeJob& job, Contenders& out) {
  const std::string version = job.library->api.version();
  Contender single;
  single.coder = fmt::format("nvJPEG-{}{}", backend.name, version.substr(version.find(' ')));
  single.device = fmt::format("cuda:{}", job.device);
  single.path = path;
  single.parallel = setting.selection.peer_threads;
  single.open = [job](int) { return open_lane<SingleLane>(job); };
  Contender batched = single;
  batched.coder.insert(batched.coder.find(' '), "-batched");
  batched.measure_latency = false;
  batched.drive = Drive::one_thread;
  batched.parallel = setting.selection.peer_batches;
  batched.joint = true;
  batched.in_batches = true;
  batched.open = [job](int size) { return open_lane<BatchLane>(job, size); };
  out.push_back(std::move(single));
  out.push_back(std::move(batched));
}

}  // namespace

Status add_nvjpeg_decoders(const Setting& setting, int device, Contenders& out) {
  const DeviceGuard guard(device);
  ZR_TRY(guard.status());
  const auto pinned = HostData::make(setting, HostMemory::pinned);
  if (!pinned) return pinned.status();
  const auto pageable = HostData::make(setting, HostMemory::pageable);
  if (!pageable) return pageable.status();
  const auto& threads = setting.selection.peer_threads;
  const int batch_threads = *std::max_element(threads.begin(), threads.end());
  for (const BackendName& backend : kBackends) {
    auto library = NvjpegHandle::create(backend.backend);
    if (!library) {
      setting.notes.push_back(
          fmt::format("nvJPEG-{}: {}", backend.name, library.status().message()));
      continue;
    }
    const NvjpegDecodeJob job{device, *library, setting.frames, *pinned, batch_threads};
    add_path(setting, backend, "pinned>device", job, out);
    add_path(setting, backend, "pageable>device",
             {device, *library, setting.frames, *pageable, batch_threads}, out);
  }
  return Status::ok();
}

}  // namespace zerorun::app::bench
