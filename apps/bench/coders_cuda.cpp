// Our encoders on a GPU: from device and host frames, to device and host memory; and the plain
// copies that no coder on that path can beat.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <utility>

#include "apps/bench/contenders.hpp"
#include "apps/bench/copy_lane.hpp"
#include "apps/bench/cuda_frames.hpp"
#include "apps/bench/device_encode_lane.hpp"

namespace zerorun::app::bench {
namespace {

class CudaEncoders {
 public:
  CudaEncoders(const Setting& setting, int device, Contenders& out)
      : setting_(setting), device_(device), out_(out) {}

  Status add() {
    const DeviceGuard guard(device_);
    ZR_TRY(guard.status());
    auto on_device = DeviceFrames::upload(setting_.frames, device_);
    if (!on_device) return on_device.status();
    auto pinned = PinnedFrames::copy_of(setting_.frames);
    if (!pinned) return pinned.status();
    add_device_encoder("device>device", *on_device, DeviceEncodeLane::open_to_device);
    add_device_encoder("device>host", *on_device,
                       [room = setting_.reference.largest](const auto& p, const auto& frames) {
                         return DeviceEncodeLane::open_to_host(p, frames, room);
                       });
    add_host_encoders(*pinned);
    add_copies();
    return Status::ok();
  }

 private:
  EncodeParams params() const {
    EncodeParams params = encode_params(setting_.what);
    params.backend = Backend::cuda;
    params.device = device_;
    return params;
  }

  Contender contender(const char* path) const {
    Contender c;
    c.coder = "zerorun";
    c.device = fmt::format("cuda:{}", device_);
    c.path = path;
    c.parallel = setting_.selection.in_flight;
    c.ours = true;
    return c;
  }

  template <typename Open>
  void add_device_encoder(const char* path, const std::shared_ptr<DeviceFrames>& frames,
                          Open open) {
    Contender c = contender(path);
    c.drive = Drive::one_thread;
    c.open = [params = params(), frames, open] { return open(params, frames); };
    out_.push_back(std::move(c));
  }

  void add_host_encoders(const std::shared_ptr<PinnedFrames>& pinned) {
    const std::size_t room = setting_.reference.largest;
    Contender from_pinned = contender("pinned>host");
    from_pinned.open = [params = params(), pinned, room]() -> Result<std::unique_ptr<Lane>> {
      auto memory = pinned->with_room(room, pinned);
      if (!memory) return memory.status();
      return HostEncodeLane::open(params, *std::move(memory));
    };
    out_.push_back(std::move(from_pinned));
    Contender from_pageable = contender("pageable>host");
    from_pageable.open = [params = params(), room, &frames = setting_.frames] {
      return HostEncodeLane::open(params, pageable_memory(frames, room));
    };
    out_.push_back(std::move(from_pageable));
  }

  void add_copies() {
    const auto raw = static_cast<std::size_t>(setting_.frames.raw_bytes());
    const auto stream = static_cast<std::size_t>(setting_.reference.stream_bytes);
    add_copy("pinned>device", {device_, CopyLane::Way::up, raw});
    add_copy("device>pinned", {device_, CopyLane::Way::down, stream});
    add_copy("device>device", {device_, CopyLane::Way::on_device, kCeilingBytes});
  }

  void add_copy(const char* path, CopyLane::Job job) {
    Contender c = contender(path);
    c.coder = "copy";
    c.drive = Drive::one_thread;
    c.parallel = {1};
    c.ours = false;
    c.copied_bytes = job.bytes;
    c.open = [job] { return CopyLane::open(job); };
    out_.push_back(std::move(c));
  }

  /// Far larger than any cache, so that device memory is what is measured.
  static constexpr std::size_t kCeilingBytes = std::size_t{512} << 20;

  const Setting& setting_;
  int device_;
  Contenders& out_;
};

}  // namespace

void add_cuda_encoders(const Setting& setting, Contenders& out) {
  for (const int device : setting.selection.cuda)
    if (Status status = CudaEncoders(setting, device, out).add(); !status)
      setting.notes.push_back(fmt::format("zerorun cuda:{}: {}", device, status.message()));
}

}  // namespace zerorun::app::bench
