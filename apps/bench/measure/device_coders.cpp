// zerorun's coders on GPUs, from and to device and host memory, and plain copies beside them.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/device.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "codec/base/pixel_rows.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::app::bench {

Status cuda_failure(cudaError_t error, const char* call) {
  (void)cudaGetLastError();  // otherwise the next launch would report it again
  const Errc code = error == cudaErrorMemoryAllocation ? Errc::out_of_memory : Errc::device_failure;
  const std::string text(call);  // "cudaMalloc(&data, bytes)" -> "cudaMalloc"
  return Status(code, text.substr(0, text.find('(')) + ": " + cudaGetErrorString(error));
}

Status make_stream(StreamOwner& stream) {
  cudaStream_t made = nullptr;
  ZR_CUDA_TRY(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
  stream.reset(made);
  return Status::ok();
}

Status make_event(EventOwner& event) {
  cudaEvent_t made = nullptr;
  ZR_CUDA_TRY(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
  event.reset(made);
  return Status::ok();
}

static constexpr std::size_t kPitchAlign = 256;

/// Returns when the copy is done, also from and to pageable memory.
static Status copy_frame(const ConstFrameView& from, const FrameView& to) {
  for (int p = 0; p < plane_count(from.format); ++p) {
    const auto plane = static_cast<std::size_t>(p);
    ZR_CUDA_TRY(cudaMemcpy2D(to.data[plane], static_cast<std::size_t>(to.stride_bytes[plane]),
                             from.data[plane], static_cast<std::size_t>(from.stride_bytes[plane]),
                             plane_row_bytes(from.format, p, from.width),
                             static_cast<std::size_t>(plane_rows(from.format, p, from.height)),
                             cudaMemcpyDefault));
  }
  ZR_CUDA_TRY(cudaStreamSynchronize(nullptr));
  return Status::ok();
}

static FrameView shape_of(const ConstFrameView& frame) {
  return {frame.format, frame.width, frame.height, {}, {}};
}

Result<SharedDeviceFrames> DeviceFrames::upload(const FrameSet& set, int device) {
  ZR_CUDA_TRY(cudaSetDevice(device));
  auto frames = std::make_shared<DeviceFrames>();
  for (std::size_t i = 0; i < set.size(); ++i) {
    FrameView& view = frames->views_.emplace_back(shape_of(set.view(i)));
    CudaArray<std::uint8_t>& memory = frames->memory_.emplace_back();
    ZR_TRY(memory.allocate(place_planes(view, nullptr, kPitchAlign), CudaMemory::device));
    place_planes(view, memory.data(), kPitchAlign);
    ZR_TRY(copy_frame(set.view(i), view));
  }
  return frames;
}

Result<SharedDeviceFrames> DeviceFrames::overlaid(const FrameSet& set, int device) {
  ZR_CUDA_TRY(cudaSetDevice(device));
  auto frames = std::make_shared<DeviceFrames>();
  std::size_t most = 0;
  for (std::size_t i = 0; i < set.size(); ++i)
    most = std::max(most, place_planes(frames->views_.emplace_back(shape_of(set.view(i))), nullptr,
                                       kPitchAlign));
  CudaArray<std::uint8_t>& memory = frames->memory_.emplace_back();
  ZR_TRY(memory.allocate(most, CudaMemory::device));
  for (FrameView& view : frames->views_) place_planes(view, memory.data(), kPitchAlign);
  return frames;
}

Status DeviceFrames::download(std::size_t i, const FrameView& out) const {
  return copy_frame(views_[i], out);
}

namespace {

/// Decodes streams in host memory, pinned or not, into device frames.
class DecodeRunner final : public DeviceRunner {
 public:
  /// `like` outlives the runner.
  DecodeRunner(const DecodeParams& params, const FrameSet* like, SharedHostData data)
      : DeviceRunner(params.device), params_(params), like_(like), data_(std::move(data)) {}

  Status open() override {
    ZR_TRY(DeviceRunner::open());
    ZR_TRY(store(DeviceDecoder::create(params_), decoder_));
    return store(DeviceFrames::overlaid(*like_, params_.device), frames_);
  }
  Status start(std::size_t index) override {
    last_ = index;
    return decoder_->decode(data_->stream(index), frames_->view(index), cuda_stream()).status();
  }
  Status picture(std::size_t /*place*/, const FrameView& out) override {
    return frames_->download(last_, out);
  }

 private:
  const DecodeParams params_;
  const FrameSet* const like_;
  SharedHostData data_;
  std::optional<DeviceDecoder> decoder_;
  SharedDeviceFrames frames_;
  std::size_t last_ = 0;
};

/// Plain copies over the bus and in device memory.
class CopyRunner : public DeviceRunner {
 public:
  CopyRunner(int device, CudaMemory from, CudaMemory to, std::size_t bytes)
      : DeviceRunner(device), from_memory_(from), to_memory_(to), bytes_(bytes) {}

  Status open() override {
    ZR_TRY(DeviceRunner::open());
    ZR_TRY(from_.allocate(bytes_, from_memory_));
    return to_.allocate(bytes_, to_memory_);
  }
  Status start(std::size_t) override {
    ZR_CUDA_TRY(
        cudaMemcpyAsync(to_.data(), from_.data(), bytes_, cudaMemcpyDefault, cuda_stream()));
    return Status::ok();
  }

 private:
  const CudaMemory from_memory_, to_memory_;
  const std::size_t bytes_;
  CudaArray<std::byte> from_, to_;
};

/// For a thread of its own: one copy after another.
class PacedCopyRunner final : public CopyRunner {
 public:
  using CopyRunner::CopyRunner;
  Status start(std::size_t index) override {
    ZR_TRY(CopyRunner::start(index));
    return finish();
  }
};

struct EncodeJob {
  EncodeParams params;
  SharedDeviceFrames frames;
  std::size_t room;  ///< bytes of the largest stream
};

/// Copies a coded stream from device or pinned memory to `out`.
Status read_stream(const std::byte* from, const std::size_t* size, std::size_t room,
                   std::vector<std::byte>& out) {
  std::size_t bytes = 0;
  ZR_CUDA_TRY(cudaMemcpy(&bytes, size, sizeof bytes, cudaMemcpyDefault));
  if (bytes == 0) return Status(Errc::size_not_reached);  // and the CPU has reached it
  if (bytes > room) return Status(Errc::output_too_small);
  out.resize(bytes);
  ZR_CUDA_TRY(cudaMemcpy(out.data(), from, bytes, cudaMemcpyDefault));
  return Status::ok();
}

/// Encodes into device memory, where nothing waits before finish(), or into pinned memory, which
/// the encoder's kernels write. There the runner waits for the bytes of a frame before the next
/// frame replaces them, as a caller has to.
class EncodeRunner : public DeviceRunner {
 public:
  EncodeRunner(EncodeJob job, CudaMemory out_memory, CudaMemory size_memory)
      : DeviceRunner(job.params.device),
        job_(std::move(job)),
        out_memory_(out_memory),
        size_memory_(size_memory) {}

  Status open() override {
    ZR_TRY(DeviceRunner::open());
    ZR_TRY(store(DeviceEncoder::create(job_.params), encoder_));
    ZR_TRY(out_.allocate(job_.room, out_memory_));
    return size_.allocate(1, size_memory_);
  }
  Status start(std::size_t index) override {
    if (out_memory_ == CudaMemory::pinned) ZR_TRY(finish());
    return encoder_->encode(job_.frames->view(index), out_.data(), out_.size(), size_.data(),
                            cuda_stream());
  }
  Status stream(std::vector<std::byte>& out) override {
    return read_stream(out_.data(), size_.data(), job_.room, out);
  }

 protected:
  const EncodeJob job_;
  const CudaMemory out_memory_, size_memory_;
  std::optional<DeviceEncoder> encoder_;
  CudaArray<std::byte> out_;
  CudaArray<std::size_t> size_;
};

/// Streams to pinned host memory by a copy: first the size, then exactly the bytes. By the time the
/// bytes of a frame are asked for, the other runners have enqueued theirs. The device writes the
/// size into pinned memory by itself: a copy of a few bytes would keep other streams waiting.
class ToHostRunner final : public EncodeRunner {
 public:
  explicit ToHostRunner(EncodeJob job)
      : EncodeRunner(std::move(job), CudaMemory::device, CudaMemory::pinned) {}

  Status open() override {
    ZR_TRY(EncodeRunner::open());
    ZR_TRY(host_out_.allocate(job_.room, CudaMemory::pinned));
    return make_event(size_known_);
  }
  Status start(std::size_t index) override {
    ZR_TRY(fetch());
    ZR_TRY(EncodeRunner::start(index));
    ZR_CUDA_TRY(cudaEventRecord(size_known_.get(), cuda_stream()));
    pending_ = true;
    return Status::ok();
  }
  Status finish() override {
    ZR_TRY(fetch());
    return EncodeRunner::finish();
  }
  Status stream(std::vector<std::byte>& out) override {
    return read_stream(host_out_.data(), size_.data(), job_.room, out);
  }

 private:
  /// Enqueues the copy of the stream that is in flight.
  Status fetch() {
    if (!std::exchange(pending_, false)) return Status::ok();
    ZR_CUDA_TRY(cudaEventSynchronize(size_known_.get()));
    if (*size_.data() > host_out_.size()) return Status(Errc::output_too_small);
    ZR_CUDA_TRY(cudaMemcpyAsync(host_out_.data(), out_.data(), *size_.data(),
                                cudaMemcpyDeviceToHost, cuda_stream()));
    return Status::ok();
  }

  CudaArray<std::byte> host_out_;
  EventOwner size_known_;
  bool pending_ = false;
};

/// Encodes into device memory, on a thread of its own. At most two frames are enqueued: a device
/// gets no more frames than it can code, and always has the next one.
class PacedEncodeRunner final : public EncodeRunner {
 public:
  PacedEncodeRunner(EncodeJob job, const Reference* reference)
      : EncodeRunner(std::move(job), CudaMemory::device, CudaMemory::device),
        reference_(reference) {}
  Status open() override {
    ZR_TRY(EncodeRunner::open());
    for (EventOwner& event : coded_) ZR_TRY(make_event(event));
    return check();
  }
  Status start(std::size_t index) override {
    const cudaEvent_t coded = coded_[turn_].get();
    turn_ ^= 1;
    ZR_CUDA_TRY(cudaEventSynchronize(coded));  // of the frame before the last one
    ZR_TRY(EncodeRunner::start(index));
    ZR_CUDA_TRY(cudaEventRecord(coded, cuda_stream()));
    return Status::ok();
  }

 private:
  /// Every frame once: the bench itself looks at the streams of one runner alone.
  Status check() {
    std::vector<std::byte> made;
    for (std::size_t i = 0; i < reference_->streams.size(); ++i) {
      ZR_TRY(start(i));
      ZR_TRY(finish());
      ZR_TRY(stream(made));
      if (made != reference_->streams[i]) return differs_from_cpu(i);
    }
    return Status::ok();
  }

  const Reference* const reference_;
  EventOwner coded_[2];
  std::size_t turn_ = 0;
};

/// Batches for DeviceEncoder::encode_batch(). Two encoders with a stream each: while the batch of
/// one is coded, the batch of the other is collected.
class BatchEncodeRunner final : public Runner {
 public:
  BatchEncodeRunner(EncodeJob job, int at_once)
      : job_(std::move(job)), at_once_(static_cast<std::size_t>(at_once)) {}

  Status open() override {
    ZR_TRY(attach());
    for (Side& side : sides_) {
      ZR_TRY(store(DeviceEncoder::create(job_.params), side.encoder));
      ZR_TRY(side.out.allocate(job_.room * at_once_, CudaMemory::device));
      ZR_TRY(side.sizes.allocate(at_once_, CudaMemory::device));
      ZR_TRY(make_stream(side.stream));
    }
    return Status::ok();
  }
  Status attach() override {
    ZR_CUDA_TRY(cudaSetDevice(job_.params.device));
    return Status::ok();
  }
  Status start(std::size_t index) override {
    Side& side = sides_[turn_];
    const std::size_t place = side.jobs.size();
    side.jobs.push_back({job_.frames->view(index), side.out.data() + place * job_.room, job_.room,
                         side.sizes.data() + place});
    return side.jobs.size() == at_once_ ? flush() : Status::ok();
  }
  Status finish() override {
    if (!sides_[turn_].jobs.empty()) ZR_TRY(flush());
    for (Side& side : sides_) ZR_CUDA_TRY(cudaStreamSynchronize(side.stream.get()));
    return Status::ok();
  }
  Status stream(std::vector<std::byte>& out) override {
    return read_stream(last_.out, last_.size, job_.room, out);
  }

 private:
  struct Side {
    std::optional<DeviceEncoder> encoder;
    StreamOwner stream;
    CudaArray<std::byte> out;
    CudaArray<std::size_t> sizes;
    std::vector<DeviceEncodeJob> jobs;
  };

  Status flush() {
    Side& side = sides_[turn_];
    ZR_TRY(side.encoder->encode_batch(side.jobs, side.stream.get()));
    last_ = side.jobs.back();
    side.jobs.clear();
    turn_ ^= 1;
    return Status::ok();
  }

  const EncodeJob job_;
  const std::size_t at_once_;
  Side sides_[2];
  std::size_t turn_ = 0;
  DeviceEncodeJob last_;
};

/// A coder of zerorun on a GPU, with rows for --in-flight.
Coder our_device_coder(const Setting& setting, int device, const char* path) {
  Coder coder = our_coder(fmt::format("cuda:{}", device), path);
  coder.at_once = setting.selection.in_flight;
  return coder;
}

/// The same for one runner in one thread that keeps all frames in flight by itself.
Coder our_joint_coder(const Setting& setting, int device, const char* path) {
  Coder coder = our_device_coder(setting, device, path);
  coder.measure_latency = false;
  coder.drive = Drive::one_thread;
  coder.joint = true;
  return coder;
}

/// A coder of several devices: a runner each, with a thread of its own, which belong to the devices
/// in turn. `at_once` counts all frames: --in-flight for each device.
Coder our_team_coder(const Setting& setting, const std::vector<int>& devices, const char* path) {
  Coder coder = our_coder(fmt::format("cuda:{}", fmt::join(devices, ",")), path);
  coder.measure_latency = false;
  for (const int n : setting.selection.in_flight)
    coder.at_once.push_back(n * static_cast<int>(devices.size()));
  return coder;
}

/// Runners of runner_for(device), for the devices in turn.
template <typename RunnerFor>
OpenRunner in_turn(const std::vector<int>& devices, RunnerFor runner_for) {
  auto opened = std::make_shared<std::size_t>(0);
  return [=](int at_once) { return runner_for(devices[(*opened)++ % devices.size()])(at_once); };
}

Status add_device_encoders(const Setting& setting, int device, Coders& coders) {
  EncodeJob job{encode_params(setting.what, Backend::cuda, device), nullptr,
                setting.reference.largest};
  ZR_TRY(store(DeviceFrames::upload(setting.frames, device), job.frames));
  const auto add = [&](const char* path, OpenRunner open) {
    Coder& coder = coders.emplace_back(our_device_coder(setting, device, path));
    coder.drive = Drive::one_thread;
    coder.open = std::move(open);
  };
  add("device>device", runner_of<EncodeRunner>(job, CudaMemory::device, CudaMemory::device));
  Coder& batch = coders.emplace_back(our_joint_coder(setting, device, "device>device"));
  batch.name = "zerorun-batch";
  batch.at_once = setting.selection.batches;
  batch.in_batches = true;
  batch.open = joint_runner_of<BatchEncodeRunner>(job);
  add("device>host", runner_of<ToHostRunner>(job));
  add("device>pinned", runner_of<EncodeRunner>(job, CudaMemory::pinned, CudaMemory::pinned));
  return Status::ok();
}

Status add_team_encoder(const Setting& setting, const std::vector<int>& devices, Coders& coders) {
  std::map<int, EncodeJob> jobs;
  for (const int device : devices) {
    EncodeJob job{encode_params(setting.what, Backend::cuda, device), nullptr,
                  setting.reference.largest};
    ZR_TRY(store(DeviceFrames::upload(setting.frames, device), job.frames));
    jobs.emplace(device, std::move(job));
  }
  Coder& coder = coders.emplace_back(our_team_coder(setting, devices, "device>device"));
  coder.open = in_turn(devices, [reference = &setting.reference, jobs](int device) {
    return runner_of<PacedEncodeRunner>(jobs.at(device), reference);
  });
  return Status::ok();
}

/// Bytes of the copy in device memory: far more than any cache holds.
constexpr std::size_t kCopyBytes = std::size_t{512} << 20;

void add_copy(const Setting& setting, int device, const char* path, CudaMemory from, CudaMemory to,
              std::size_t bytes, Coders& coders) {
  Coder& coder = coders.emplace_back(our_device_coder(setting, device, path));
  coder.name = "copy";
  coder.drive = Drive::one_thread;
  coder.at_once = {1};
  coder.ours = false;
  coder.copied_bytes = bytes;
  coder.open = runner_of<CopyRunner>(device, from, to, bytes);
}

/// The latency by Encoder, the throughput by AsyncEncoder.
void add_host_encoders(const Setting& setting, int device, const char* path,
                       const SharedHostData& data, Coders& coders) {
  const EncodeParams params = encode_params(setting.what, Backend::cuda, device);
  Coder& alone = coders.emplace_back(our_device_coder(setting, device, path));
  alone.at_once.clear();
  alone.open = host_encoder(params, data);
  coders.emplace_back(our_joint_coder(setting, device, path)).open = async_encoder(params, data);
}

/// A decoder for each thread, and AsyncDecoder, which has these threads itself.
void add_host_decoders(const Setting& setting, int device, const char* path,
                       const SharedHostData& data, Coders& coders) {
  const DecodeParams params = decode_params(Backend::cuda, device);
  coders.emplace_back(our_device_coder(setting, device, path)).open = host_decoder(params, data);
  Coder& async = coders.emplace_back(our_joint_coder(setting, device, path));
  async.name = kAsyncCoder;
  async.open = async_decoder(params, data);
}

Status add_coders(const Setting& setting, int device, Coders& coders) {
  ZR_CUDA_TRY(cudaSetDevice(device));
  SharedHostData pinned, pageable;
  ZR_TRY(store(HostData::make(setting, HostMemory::pinned), pinned));
  ZR_TRY(store(HostData::make(setting, HostMemory::pageable), pageable));
  auto up = static_cast<std::size_t>(setting.frames.raw_bytes());
  auto down = static_cast<std::size_t>(setting.reference.stream_bytes);
  if (setting.what.encodes()) {
    ZR_TRY(add_device_encoders(setting, device, coders));
    add_host_encoders(setting, device, "pinned>host", pinned, coders);
    add_host_encoders(setting, device, "pageable>host", pageable, coders);
  } else {
    std::swap(up, down);
    const DecodeParams params = decode_params(Backend::cuda, device);
    coders.emplace_back(our_device_coder(setting, device, "pinned>device")).open =
        runner_of<DecodeRunner>(params, &setting.frames, pinned);
    coders.emplace_back(our_device_coder(setting, device, "pageable>device")).open =
        runner_of<DecodeRunner>(params, &setting.frames, pageable);
    add_host_decoders(setting, device, "pinned>host", pinned, coders);
    add_host_decoders(setting, device, "pageable>host", pageable, coders);
  }
  const auto on_device = CudaMemory::device, on_host = CudaMemory::pinned;
  add_copy(setting, device, "pinned>device", on_host, on_device, up, coders);
  add_copy(setting, device, "device>pinned", on_device, on_host, down, coders);
  add_copy(setting, device, "device>device", on_device, on_device, kCopyBytes, coders);
  return Status::ok();
}

/// Copies on all devices of a team at the same time. No row of the team can be faster.
void add_team_copy(const Setting& setting, const std::vector<int>& devices, const char* path,
                   CudaMemory from, CudaMemory to, std::size_t bytes, Coders& coders) {
  Coder& coder = coders.emplace_back(our_team_coder(setting, devices, path));
  coder.name = "copy";
  coder.ours = false;
  coder.copied_bytes = bytes;
  coder.at_once = {2 * static_cast<int>(devices.size())};
  coder.open = in_turn(
      devices, [=](int device) { return runner_of<PacedCopyRunner>(device, from, to, bytes); });
}

void add_team_decoder(const Setting& setting, const std::vector<int>& devices,
                      const SharedHostData& pinned, Coders& coders) {
  Coder& coder = coders.emplace_back(our_team_coder(setting, devices, "pinned>device"));
  const FrameSet* const like = &setting.frames;
  coder.open = in_turn(devices, [=](int device) {
    return runner_of<DecodeRunner>(decode_params(Backend::cuda, device), like, pinned);
  });
}

/// AsyncEncoder or AsyncDecoder with all devices.
void add_team_async(const Setting& setting, const std::vector<int>& devices, const char* path,
                    const SharedHostData& data, Coders& coders) {
  Coder& coder = coders.emplace_back(our_team_coder(setting, devices, path));
  coder.drive = Drive::one_thread;
  coder.joint = true;
  const bool encode = setting.what.encodes();
  if (!encode) coder.name = kAsyncCoder;
  coder.open = encode ? async_encoder(encode_params(setting.what, Backend::cuda), data, devices)
                      : async_decoder(decode_params(Backend::cuda, 0), data, devices);
}

Status add_team(const Setting& setting, const std::vector<int>& devices, Coders& coders) {
  ZR_CUDA_TRY(cudaSetDevice(devices[0]));
  SharedHostData pinned;
  ZR_TRY(store(HostData::make(setting, HostMemory::pinned), pinned));
  auto up = static_cast<std::size_t>(setting.frames.raw_bytes());
  auto down = static_cast<std::size_t>(setting.reference.stream_bytes);
  if (setting.what.encodes()) {
    ZR_TRY(add_team_encoder(setting, devices, coders));
  } else {
    std::swap(up, down);
    add_team_decoder(setting, devices, pinned, coders);
  }
  add_team_async(setting, devices, "pinned>host", pinned, coders);
  const auto on_device = CudaMemory::device, on_host = CudaMemory::pinned;
  add_team_copy(setting, devices, "pinned>device", on_host, on_device, up, coders);
  add_team_copy(setting, devices, "device>pinned", on_device, on_host, down, coders);
  return Status::ok();
}

// The steps of the product's kernels, one after another.

/// Encodes every frame once and compares the streams with those of the CPU.
Result<RunSteps> open_fused_encoder(const Setting& setting, int device) {
  std::shared_ptr<StepEncoder> encoder;
  SharedDeviceFrames frames;
  auto out = std::make_shared<CudaArray<std::byte>>();
  ZR_TRY(store(DeviceFrames::upload(setting.frames, device), frames));
  ZR_TRY(store(
      make_step_encoder(StepWay::cuda_fused, encode_params(setting.what, Backend::cuda, device),
                        setting.frames.view(0)),
      encoder));
  ZR_TRY(out->allocate(setting.reference.largest, CudaMemory::device));
  const auto encode = [=](std::size_t index, std::vector<StepTime>& steps) {
    return encoder->encode(frames->view(index), {out->data(), out->size()}, steps);
  };
  std::vector<StepTime> unused;
  for (std::size_t i = 0; i < setting.frames.size(); ++i) {
    const auto size = encode(i, unused);
    if (!size) return size.status();
    const std::vector<std::byte>& wanted = setting.reference.streams[i];
    std::vector<std::byte> made(wanted.size());
    ZR_CUDA_TRY(cudaMemcpy(made.data(), out->data(), made.size(), cudaMemcpyDeviceToHost));
    if (*size != wanted.size() || made != wanted) return differs_from_cpu(i);
  }
  return RunSteps([encode](std::size_t index, std::vector<StepTime>& steps) {
    return encode(index, steps).status();
  });
}

/// Decodes every stream once and compares the samples with those of the CPU.
Result<RunSteps> open_fused_decoder(const Setting& setting, int device) {
  std::shared_ptr<StepDecoder> decoder;
  SharedHostData data;
  SharedDeviceFrames frames;
  ZR_TRY(store(HostData::make(setting, HostMemory::pinned), data));
  ZR_TRY(store(DeviceFrames::overlaid(setting.frames, device), frames));
  ZR_TRY(
      store(make_step_decoder(StepWay::cuda_fused, decode_params(Backend::cuda, device)), decoder));
  const RunSteps decode = [=](std::size_t index, std::vector<StepTime>& steps) {
    return decoder->decode(data->stream(index), frames->view(index), steps);
  };
  std::vector<StepTime> unused;
  PaddedFrame decoded;
  for (std::size_t i = 0; i < setting.frames.size(); ++i) {
    ZR_TRY(decode(i, unused));
    const ConstFrameView wanted = reference_picture(setting.frames, setting.reference, i);
    ZR_TRY(decoded.reshape(wanted.format, wanted.width, wanted.height));
    ZR_TRY(frames->download(i, decoded.view()));
    if (!same_samples(wanted, std::as_const(decoded).view())) return differs_from_cpu(i);
  }
  return decode;
}

}  // namespace

Status add_cuda_coders(const Setting& setting, Coders& coders) {
  for (const int device : setting.selection.cuda)
    if (Status status = add_coders(setting, device, coders); !status)
      setting.notes.push_back(fmt::format("zerorun cuda:{}: {}", device, status.message()));
  return Status::ok();
}

Status add_cuda_teams(const Setting& setting, Coders& coders) {
  for (const std::vector<int>& devices : setting.selection.teams)
    if (Status status = add_team(setting, devices, coders); !status)
      setting.notes.push_back(
          fmt::format("zerorun cuda:{}: {}", fmt::join(devices, ","), status.message()));
  return Status::ok();
}

Status add_fused_steps(const Setting& setting, Coders& coders) {
  for (const int device : setting.selection.cuda) {
    const bool encode = setting.what.encodes();
    Coder& coder = coders.emplace_back();
    coder.name = "zerorun-fused";
    coder.device = fmt::format("cuda:{}", device);
    coder.path = encode ? "device>device" : "pinned>device";
    coder.open_steps = [&setting, encode, device] {
      return encode ? open_fused_encoder(setting, device) : open_fused_decoder(setting, device);
    };
  }
  return Status::ok();
}

}  // namespace zerorun::app::bench
