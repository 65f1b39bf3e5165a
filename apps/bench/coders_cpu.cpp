// Encoders on the CPU: ours with one frame on several threads and with frames side by side, and
// libjpeg-turbo.
// SPDX-License-Identifier: MIT
#include "apps/bench/contenders.hpp"
#include "apps/bench/host_encode_lane.hpp"
#include "apps/bench/libjpeg_coder.hpp"

namespace zerorun::app::bench {
namespace {

class LibjpegEncodeLane final : public EncodeLane {
 public:
  LibjpegEncodeLane(const Case& what, const FrameSet& frames) : encoder_(what), frames_(frames) {}

  Status start(std::size_t index) override { return encoder_.encode(frames_.view(index), stream_); }
  Status finish() override { return Status::ok(); }
  Status stream(std::vector<std::byte>& out) override {
    out.assign(stream_.begin(), stream_.end());
    return Status::ok();
  }

 private:
  LibjpegEncoder encoder_;
  const FrameSet& frames_;
  std::span<const std::byte> stream_;
};

}  // namespace

HostMemory pageable_memory(const FrameSet& frames, std::size_t stream_bytes) {
  HostMemory memory;
  for (std::size_t i = 0; i < frames.size(); ++i) memory.frames.push_back(frames.view(i));
  auto out = std::make_shared<std::vector<std::byte>>(stream_bytes);
  memory.out = *out;
  memory.owner = std::move(out);
  return memory;
}

void add_cpu_encoders(const Setting& setting, Contenders& out) {
  if (!setting.selection.cpu) return;
  const FrameSet& frames = setting.frames;
  const std::size_t room = setting.reference.largest;
  const auto open_with = [&setting, &frames, room](int threads) {
    return [&setting, &frames, room, threads] {
      EncodeParams params = encode_params(setting.what);
      params.backend = Backend::cpu;
      params.threads = threads;
      return HostEncodeLane::open(params, pageable_memory(frames, room));
    };
  };
  for (const int threads : setting.selection.threads) {
    Contender c;
    c.coder = "zerorun";
    c.device = "cpu";
    c.path = "host>host";
    c.latency_threads = threads;
    c.ours = true;
    c.open = open_with(threads);
    out.push_back(std::move(c));
  }
  Contender side_by_side;
  side_by_side.coder = "zerorun";
  side_by_side.device = "cpu";
  side_by_side.path = "host>host";
  side_by_side.measure_latency = false;
  side_by_side.parallel = setting.selection.threads;
  side_by_side.ours = true;
  side_by_side.open = open_with(1);
  out.push_back(std::move(side_by_side));
}

void add_libjpeg_encoders(const Setting& setting, Contenders& out) {
  if (!setting.selection.peers) return;
  if (libjpeg_version().empty()) {
    setting.notes.push_back("libjpeg-turbo: this build was made without it");
    return;
  }
  if (!libjpeg_takes(setting.frames.view(0).format)) {
    setting.notes.push_back("libjpeg-turbo: it does not read this pixel format");
    return;
  }
  Contender c;
  c.coder = libjpeg_version();
  c.device = "cpu";
  c.path = "host>host";
  c.parallel = setting.selection.threads;
  c.open = [&setting]() -> Result<std::unique_ptr<Lane>> {
    return std::unique_ptr<Lane>(std::make_unique<LibjpegEncodeLane>(setting.what, setting.frames));
  };
  out.push_back(std::move(c));
}

}  // namespace zerorun::app::bench
