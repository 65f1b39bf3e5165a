// nvJPEG, loaded when it is asked for: the program runs where it is not installed.
// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <fmt/core.h>
#include <nvjpeg.h>

#include <algorithm>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "apps/bench/measure/device.hpp"
#include "apps/bench/measure/measure.hpp"

/// Returns from the function with a Status if the nvJPEG call fails.
#define ZR_NVJPEG_TRY(call)                                           \
  do {                                                                \
    if (const nvjpegStatus_t zr_status = (call); zr_status != 0)      \
      return ::zerorun::app::bench::nvjpeg_failure(zr_status, #call); \
  } while (false)

namespace zerorun::app::bench {

namespace {

/// The functions that the benchmark calls, without the prefix nvjpeg.
#define ZR_NVJPEG_FUNCTIONS(X)         \
  X(GetProperty);                      \
  X(CreateEx);                         \
  X(EncoderStateCreate);               \
  X(EncoderStateDestroy);              \
  X(EncoderParamsCreate);              \
  X(EncoderParamsDestroy);             \
  X(EncoderParamsSetQuality);          \
  X(EncoderParamsSetOptimizedHuffman); \
  X(EncoderParamsSetSamplingFactors);  \
  X(EncodeYUV);                        \
  X(EncodeImage);                      \
  X(EncodeRetrieveBitstream);          \
  X(JpegStateCreate);                  \
  X(JpegStateDestroy);                 \
  X(Decode);                           \
  X(DecodeBatchedInitialize);          \
  X(DecodeBatched)

struct NvjpegLibrary {
#define ZR_NVJPEG_MEMBER(name) decltype(&::nvjpeg##name) name
  ZR_NVJPEG_FUNCTIONS(ZR_NVJPEG_MEMBER);
#undef ZR_NVJPEG_MEMBER

  /// "nvJPEG 13.0.1"
  std::string version() const {
    int major = 0, minor = 0, patch = 0;
    GetProperty(MAJOR_VERSION, &major);
    GetProperty(MINOR_VERSION, &minor);
    GetProperty(PATCH_LEVEL, &patch);
    return fmt::format("nvJPEG {}.{}.{}", major, minor, patch);
  }
};

/// device_failure, naming the call.
Status nvjpeg_failure(nvjpegStatus_t status, const char* call) {
  return Status(Errc::device_failure,
                fmt::format("{} returned {}", call, static_cast<int>(status)));
}

struct NvjpegHandle {
  const NvjpegLibrary& api;
  nvjpegHandle_t handle;
  nvjpegStatus_t status;

  /// The library's handle of a backend for a device. The first call makes it and keeps it until the
  /// process ends, for all cases: a row of one frame took 1.7 s when each made those of all
  /// backends anew, and takes 0.6 (H200). Not thread-safe. Errors: not_built, when no libnvjpeg.so
  /// of this toolkit's major version is found.
  static Result<const NvjpegHandle*> of(int device, nvjpegBackend_t backend);
};

void* open_library() {
  const std::string file = fmt::format("libnvjpeg.so.{}", NVJPEG_VER_MAJOR);
  for (const std::string& path : {file, std::string(ZERORUN_CUDA_LIBRARY_DIR) + "/" + file})
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  return nullptr;
}

bool load(void* handle, NvjpegLibrary& library) {
  const auto find = [handle](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    return function != nullptr;
  };
  bool complete = true;
#define ZR_NVJPEG_FIND(name) complete &= find("nvjpeg" #name, library.name)
  ZR_NVJPEG_FUNCTIONS(ZR_NVJPEG_FIND);
#undef ZR_NVJPEG_FIND
  return complete;
}

Result<const NvjpegHandle*> NvjpegHandle::of(int device, nvjpegBackend_t backend) {
  static const NvjpegLibrary* const library = []() -> const NvjpegLibrary* {
    static NvjpegLibrary functions{};
    void* const opened = open_library();  // kept to the end of the process
    return opened != nullptr && load(opened, functions) ? &functions : nullptr;
  }();
  if (library == nullptr)
    return Status(Errc::not_built, fmt::format("libnvjpeg.so.{} was not found", NVJPEG_VER_MAJOR));
  static std::map<std::pair<int, nvjpegBackend_t>, NvjpegHandle> made;
  ZR_CUDA_TRY(cudaSetDevice(device));
  const auto [place, is_new] =
      made.try_emplace({device, backend}, *library, nullptr, NVJPEG_STATUS_SUCCESS);
  NvjpegHandle& kept = place->second;
  if (is_new) kept.status = library->CreateEx(backend, nullptr, nullptr, 0, &kept.handle);
  if (kept.status != NVJPEG_STATUS_SUCCESS) return nvjpeg_failure(kept.status, "nvjpegCreateEx");
  return &kept;
}

/// A frame in device memory as nvJPEG wants it.
nvjpegImage_t nvjpeg_image(const FrameView& frame) noexcept {
  nvjpegImage_t image{};
  for (int p = 0; p < plane_count(frame.format); ++p) {
    const auto plane = static_cast<std::size_t>(p);
    image.channel[p] = frame.data[plane];
    image.pitch[p] = static_cast<std::size_t>(frame.stride_bytes[plane]);
  }
  return image;
}

// nvJPEG's encoder: device frames to streams in pinned host memory. Each runner has its own state,
// parameters and stream, and a thread.

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

// nvJPEG's decoders: streams in host memory to device frames. Each backend decodes single images,
// with a state and a stream for each thread, and batches, which some of them need; a batch is
// divided among the threads of the CPU where the backend decodes Huffman codes there.

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

}  // namespace

Status add_nvjpeg(const Setting& setting, Coders& coders) {
  if (!is_planar_or_rgb(setting.what.pixels))
    return leave_out(setting, "nvJPEG: it does not take this pixel format");
  for (const int device : setting.selection.cuda)
    ZR_TRY(setting.what.encodes() ? add_nvjpeg_encoder(setting, device, coders)
                                  : add_nvjpeg_decoders(setting, device, coders));
  return Status::ok();
}

}  // namespace zerorun::app::bench
