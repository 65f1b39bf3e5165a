// Ours on a GPU, from and to device and host memory; and the plain copies that nothing on those
// paths can beat.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <utility>

#include "apps/bench/measure/contenders.hpp"
#include "apps/bench/measure/copy_lane.hpp"
#include "apps/bench/measure/device_lanes.hpp"

namespace zerorun::app::bench {
namespace {

/// Far larger than any cache, so that device memory is what is measured.
constexpr std::size_t kCeilingBytes = std::size_t{512} << 20;

class CudaCoders {
 public:
  CudaCoders(const Setting& setting, int device, Contenders& out)
      : setting_(setting), device_(device), out_(out) {}

  Status add() {
    const DeviceGuard guard(device_);
    ZR_TRY(guard.status());
    auto pinned = HostData::make(setting_, HostMemory::pinned);
    if (!pinned) return pinned.status();
    auto pageable = HostData::make(setting_, HostMemory::pageable);
    if (!pageable) return pageable.status();
    const auto raw = static_cast<std::size_t>(setting_.frames.raw_bytes());
    const auto stream = static_cast<std::size_t>(setting_.reference.stream_bytes);
    const bool encode = setting_.what.operation == Operation::encode;
    if (encode) {
      ZR_TRY(add_device_encoders());
      add_host_encoders("pinned>host", *pinned);
      add_host_encoders("pageable>host", *pageable);
    } else {
      add_device_decoder("pinned>device", *pinned);
      add_device_decoder("pageable>device", *pageable);
      add_host_decoders("pinned>host", *pinned);
      add_host_decoders("pageable>host", *pageable);
    }
    add_copy("pinned>device", {device_, CopyLane::Way::up, encode ? raw : stream});
    add_copy("device>pinned", {device_, CopyLane::Way::down, encode ? stream : raw});
    add_copy("device>device", {device_, CopyLane::Way::on_device, kCeilingBytes});
    return Status::ok();
  }

 private:
  EncodeParams encoder_params() const {
    EncodeParams params = encode_params(setting_.what);
    params.backend = Backend::cuda;
    params.device = device_;
    return params;
  }
  DecodeParams decoder_params() const { return decode_params(Backend::cuda, device_); }

  Contender contender(const char* path) const {
    Contender c = our_contender(fmt::format("cuda:{}", device_), path);
    c.parallel = setting_.selection.in_flight;
    return c;
  }

  /// One object, driven by one thread, that keeps all frames under way itself.
  Contender joint_contender(const char* path) const {
    Contender c = contender(path);
    c.measure_latency = false;
    c.drive = Drive::one_thread;
    c.joint = true;
    return c;
  }

  Status add_device_encoders() {
    auto frames = DeviceFrames::upload(setting_.frames, setting_.frames.size(), device_);
    if (!frames) return frames.status();
    Contender to_device = contender("device>device");
    to_device.drive = Drive::one_thread;
    to_device.open = [params = encoder_params(), on_device = *frames](int) {
      return open_device_encoder(params, on_device);
    };
    out_.push_back(std::move(to_device));
    Contender batched = joint_contender("device>device");
    batched.coder = kBatchCoder;
    batched.parallel = setting_.selection.batches;
    batched.in_batches = true;
    batched.open = [params = encoder_params(), on_device = *frames,
                    room = setting_.reference.largest](int at_once) {
      return open_batch_encoder(params, on_device, room, static_cast<std::size_t>(at_once));
    };
    out_.push_back(std::move(batched));
    Contender to_host = contender("device>host");
    to_host.drive = Drive::one_thread;
    to_host.open = [params = encoder_params(), on_device = *frames,
                    room = setting_.reference.largest](int) {
      return open_device_encoder_to_host(params, on_device, room);
    };
    out_.push_back(std::move(to_host));
    Contender into_pinned = contender("device>pinned");
    into_pinned.drive = Drive::one_thread;
    into_pinned.open = [params = encoder_params(), on_device = *frames,
                        room = setting_.reference.largest](int) {
      return open_device_encoder_into_pinned(params, on_device, room);
    };
    out_.push_back(std::move(into_pinned));
    return Status::ok();
  }

  /// The latency by Encoder, the throughput by AsyncEncoder.
  void add_host_encoders(const char* path, const SharedHostData& data) {
    Contender alone = contender(path);
    alone.parallel.clear();
    alone.open = [params = encoder_params(), data](int) { return open_host_encoder(params, data); };
    out_.push_back(std::move(alone));
    Contender in_flight = joint_contender(path);
    in_flight.open = [params = encoder_params(), data](int lanes) {
      return open_async_encoder(params, lanes, data);
    };
    out_.push_back(std::move(in_flight));
  }

  /// A decoder a thread, each on its own stream.
  void add_device_decoder(const char* path, const SharedHostData& data) {
    Contender c = contender(path);
    c.open = [params = decoder_params(), data, &frames = setting_.frames](int) {
      return open_device_decoder(params, frames, data);
    };
    out_.push_back(std::move(c));
  }

  /// A decoder a thread, and AsyncDecoder, which has these threads itself.
  void add_host_decoders(const char* path, const SharedHostData& data) {
    Contender c = contender(path);
    c.open = [params = decoder_params(), data](int) { return open_host_decoder(params, data); };
    out_.push_back(std::move(c));
    Contender async = joint_contender(path);
    async.coder = kAsyncCoder;
    async.open = [params = decoder_params(), data](int lanes) {
      return open_async_decoder(params, lanes, data);
    };
    out_.push_back(std::move(async));
  }

  void add_copy(const char* path, CopyLane::Job job) {
    Contender c = contender(path);
    c.coder = "copy";
    c.drive = Drive::one_thread;
    c.parallel = {1};
    c.ours = false;
    c.copied_bytes = job.bytes;
    c.open = [job](int) { return CopyLane::open(job); };
    out_.push_back(std::move(c));
  }

  const Setting& setting_;
  int device_;
  Contenders& out_;
};

}  // namespace

void add_cuda_coders(const Setting& setting, Contenders& out) {
  for (const int device : setting.selection.cuda)
    if (Status status = CudaCoders(setting, device, out).add(); !status)
      setting.notes.push_back(fmt::format("zerorun cuda:{}: {}", device, status.message()));
}

}  // namespace zerorun::app::bench
