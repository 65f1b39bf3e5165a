// zerorun::DeviceEncoder on device frames, each runner on a stream of its own.
// SPDX-License-Identifier: MIT
#include <map>
#include <optional>
#include <utility>

#include "apps/bench/measure/device.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::app::bench {
namespace {

struct EncodeJob {
  EncodeParams params;
  SharedDeviceFrames frames;
  std::size_t room;  ///< bytes of the largest stream
};

/// Copies a stream of device or pinned memory to `out`.
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

/// Streams to device memory: nothing waits before finish(). Or to pinned memory, written there by
/// the encoder's kernels: the runner waits for a frame's bytes before the next frame replaces them,
/// as a caller who wants them must do.
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

/// Streams to device memory for a thread of its own. Two frames at most are enqueued, so that no
/// device takes more frames than it can code, and that it always has the next one.
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

}  // namespace

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

}  // namespace zerorun::app::bench
