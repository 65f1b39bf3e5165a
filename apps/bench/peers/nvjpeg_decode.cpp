// nvJPEG's decoders: streams in host memory to device frames. Each backend decodes single images,
// with a state and a stream for each thread, and batches, which some of them need; a batch is
// divided among the threads of the CPU where the backend decodes Huffman codes there.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "apps/bench/measure/host_coders.hpp"
#include "apps/bench/measure/measure.hpp"
#include "apps/bench/peers/nvjpeg.hpp"

namespace zerorun::app::bench {
namespace {

struct NvjpegDecodeJob {
  int device;
  const NvjpegHandle* library;
  const FrameSet* like;
  SharedHostData data;
  /// Threads of the CPU that decode a batch, each a part of it with a state of its own. nvJPEG has
  /// an argument for them too, but 13.0 decodes a batch of the hybrid backends on one thread with
  /// it.
  int batch_threads;
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

/// A state of nvJPEG and the stream that it works on.
class NvjpegState {
 public:
  explicit NvjpegState(const NvjpegLibrary& api) : api_(api) {}
  NvjpegState(const NvjpegState&) = delete;
  NvjpegState& operator=(const NvjpegState&) = delete;
  ~NvjpegState() {
    if (state_ != nullptr) api_.JpegStateDestroy(state_);
  }
  Status create(nvjpegHandle_t handle) {
    ZR_NVJPEG_TRY(api_.JpegStateCreate(handle, &state_));
    return make_stream(stream_);
  }
  nvjpegJpegState_t get() const { return state_; }
  cudaStream_t stream() const { return stream_.get(); }

 private:
  const NvjpegLibrary& api_;
  nvjpegJpegState_t state_ = nullptr;
  StreamOwner stream_;
};

/// Single images, or batches that are collected until they are full; the last batch is filled up
/// with its last image.
class NvjpegDecodeRunner final : public DeviceRunner {
 public:
  /// `batch` is 0 for single images.
  NvjpegDecodeRunner(NvjpegDecodeJob job, int batch)
      : DeviceRunner(job.device), job_(std::move(job)), batch_(static_cast<std::size_t>(batch)) {}

  Status open() override {
    ZR_TRY(DeviceRunner::open());
    rooms_.resize(std::max<std::size_t>(batch_, 1));
    for (SharedDeviceFrames& room : rooms_)
      ZR_TRY(store(DeviceFrames::overlaid(*job_.like, job_.device), room));
    const auto threads = static_cast<std::size_t>(std::max(job_.batch_threads, 1));
    const std::size_t parts = std::clamp<std::size_t>(batch_, 1, threads);
    for (std::size_t part = 0; part < parts; ++part)
      ZR_TRY(parts_.emplace_back(std::make_unique<NvjpegState>(api()))->create(handle()));
    if (batch_ == 0) return Status::ok();
    for (std::size_t part = 0; part < parts; ++part)
      ZR_NVJPEG_TRY(api().DecodeBatchedInitialize(handle(), parts_[part]->get(),
                                                  static_cast<int>(end(part) - begin(part)),
                                                  job_.batch_threads, format()));
    return Status::ok();
  }

  Status start(std::size_t index) override {
    waiting_.push_back(index);
    if (batch_ == 0) return decode_single();
    return waiting_.size() == batch_ ? decode_batch() : Status::ok();
  }
  Status finish() override { return waiting_.empty() ? Status::ok() : decode_batch(); }
  Status picture(std::size_t place, const FrameView& out) override {
    const std::size_t room = batch_ == 0 ? 0 : place;
    return rooms_[room]->download(decoded_[room], out);
  }

 private:
  const NvjpegLibrary& api() const { return job_.library->api; }
  nvjpegHandle_t handle() const { return job_.library->handle; }
  nvjpegOutputFormat_t format() const { return output_format(*job_.like); }
  const unsigned char* bytes(std::size_t index) const {
    return reinterpret_cast<const unsigned char*>(job_.data->stream(index).data());
  }
  std::size_t begin(std::size_t part) const { return batch_ * part / parts_.size(); }
  std::size_t end(std::size_t part) const { return begin(part + 1); }

  static Status wait(const NvjpegState& state) {
    ZR_CUDA_TRY(cudaStreamSynchronize(state.stream()));
    return Status::ok();
  }

  /// Waits, since the state is used again for the next image.
  Status decode_single() {
    decoded_.swap(waiting_);
    waiting_.clear();
    const std::size_t index = decoded_[0];
    nvjpegImage_t image = nvjpeg_image(rooms_[0]->view(index));
    const NvjpegState& state = *parts_[0];
    ZR_NVJPEG_TRY(api().Decode(handle(), state.get(), bytes(index), job_.data->stream(index).size(),
                               format(), &image, state.stream()));
    return wait(state);
  }

  Status decode_batch() {
    waiting_.resize(batch_, waiting_.back());
    decoded_.swap(waiting_);
    waiting_.clear();
    if (parts_.size() == 1) return decode_part(0);
    return in_threads(parts_.size(), [this](std::size_t part) -> Status {
      ZR_TRY(attach());
      return decode_part(part);
    });
  }

  Status decode_part(std::size_t part) {
    std::vector<const unsigned char*> data;
    std::vector<std::size_t> lengths;
    std::vector<nvjpegImage_t> images;
    for (std::size_t i = begin(part); i < end(part); ++i) {
      data.push_back(bytes(decoded_[i]));
      lengths.push_back(job_.data->stream(decoded_[i]).size());
      images.push_back(nvjpeg_image(rooms_[i]->view(decoded_[i])));
    }
    const NvjpegState& state = *parts_[part];
    ZR_NVJPEG_TRY(api().DecodeBatched(handle(), state.get(), data.data(), lengths.data(),
                                      images.data(), state.stream()));
    return wait(state);
  }

  const NvjpegDecodeJob job_;
  const std::size_t batch_;
  std::vector<std::unique_ptr<NvjpegState>> parts_;  // of a batch, in order; one for single images
  std::vector<SharedDeviceFrames> rooms_;            // one for each image of a batch
  std::vector<std::size_t> waiting_, decoded_;  // indices of the next batch and of the last one
};

struct BackendName {
  nvjpegBackend_t backend;
  const char* name;
};
constexpr BackendName kBackends[] = {{NVJPEG_BACKEND_DEFAULT, "default"},
                                     {NVJPEG_BACKEND_HYBRID, "hybrid"},
                                     {NVJPEG_BACKEND_GPU_HYBRID, "gpu_hybrid"},
                                     {NVJPEG_BACKEND_HARDWARE, "hardware"}};

void add_path(const Setting& setting, const BackendName& backend, const char* path,
              const NvjpegDecodeJob& job, Coders& coders) {
  const std::string version = job.library->api.version();
  Coder coder;
  coder.name = fmt::format("nvJPEG-{}{}", backend.name, version.substr(version.find(' ')));
  coder.codec = "nvJPEG";
  coder.device = fmt::format("cuda:{}", job.device);
  coder.path = path;
  coder.at_once = setting.selection.peer_threads;
  coder.open = runner_of<NvjpegDecodeRunner>(job, 0);
  coders.push_back(coder);
  coder.name.insert(coder.name.find(' '), "-batched");
  coder.measure_latency = false;
  coder.drive = Drive::one_thread;
  coder.at_once = setting.selection.peer_batches;
  coder.joint = true;
  coder.in_batches = true;
  coder.open = joint_runner_of<NvjpegDecodeRunner>(job);
  coders.push_back(coder);
}

}  // namespace

Status add_nvjpeg_decoders(const Setting& setting, int device, Coders& coders) {
  ZR_CUDA_TRY(cudaSetDevice(device));
  SharedHostData pinned, pageable;
  ZR_TRY(store(HostData::make(setting, HostMemory::pinned), pinned));
  ZR_TRY(store(HostData::make(setting, HostMemory::pageable), pageable));
  const auto& threads = setting.selection.peer_threads;
  const int batch_threads = *std::max_element(threads.begin(), threads.end());
  for (const BackendName& backend : kBackends) {
    // The engine of the hardware has a queue of its own; one thread keeps it busy.
    const int parts = backend.backend == NVJPEG_BACKEND_HARDWARE ? 1 : batch_threads;
    NvjpegDecodeJob job{device, nullptr, &setting.frames, pinned, parts};
    if (Status status = store(NvjpegHandle::of(device, backend.backend), job.library); !status) {
      setting.notes.push_back(fmt::format("nvJPEG-{}: {}", backend.name, status.message()));
      continue;
    }
    add_path(setting, backend, "pinned>device", job, coders);
    job.data = pageable;
    add_path(setting, backend, "pageable>device", job, coders);
  }
  return Status::ok();
}

}  // namespace zerorun::app::bench
