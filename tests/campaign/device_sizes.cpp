// Every size from 1x1 to 64x64 in five samplings, with and without restart intervals: CUDA's bytes
// are the CPU's (R17), for frames of the host one by one and for batches in device memory.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "tests/campaign/streams.hpp"
#include "tests/campaign/device_batch.hpp"
#include "tests/campaign/device_campaign.hpp"

namespace zerorun::test {
namespace {

constexpr int kFormatCount = std::size(kSizeFormats);

EncodeParams params_of(Backend backend, const RestartPolicy& restart) {
  EncodeParams params;
  params.backend = backend;
  params.threads = 1;
  params.restart = restart;
  return params;
}

/// The encoders of one thread for one kind of restart intervals.
class Coders {
 public:
  explicit Coders(const RestartPolicy& restart)
      : cpu_(Encoder::create(params_of(Backend::cpu, restart))),
        cuda_(Encoder::create(params_of(Backend::cuda, restart))) {
    if (has_device_memory()) batch_.emplace(params_of(Backend::cuda, restart));
  }
  bool ready() const { return cpu_ && cuda_; }

  /// All heights of a width; `what` names them in findings.
  void check(NumberedWork& work, PixelFormat format, int width, const std::string& what,
             Counts& counts) {
    make_frames(format, width);
    std::vector<Bytes> expected(frames_.size()), batch;
    std::string failure = batch_ ? batch_->encode(pointers_, batch) : "";
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      std::string text = failure + one(frames_[i], expected[i]);
      if (batch_ && failure.empty() && batch[i] != expected[i]) text += "other bytes in a batch";
      ++(text.empty() ? counts.clean : counts.different);
      if (!text.empty())
        work.tell(what + ", height " + std::to_string(i + 1) + ": " + text, expected[i]);
    }
  }

 private:
  void make_frames(PixelFormat format, int width) {
    frames_.clear();
    pointers_.clear();
    for (int height = 1; height <= kEdge; ++height)
      frames_.push_back(
          make_frame(Content::noise, format, width, height, static_cast<std::uint64_t>(height)));
    for (const TestFrame& frame : frames_) pointers_.push_back(&frame);
  }

  std::string one(const TestFrame& frame, Bytes& expected) {
    Bytes found;
    const auto by_cpu = cpu_->encode(frame.view(), expected);
    const auto by_cuda = cuda_->encode(frame.view(), found);
    if (!by_cpu || !by_cuda) return by_cpu.status().message() + by_cuda.status().message();
    return found == expected ? "" : "other bytes";
  }

  Result<Encoder> cpu_, cuda_;
  std::optional<DeviceBatch> batch_;
  std::vector<TestFrame> frames_;
  std::vector<const TestFrame*> pointers_;
};

}  // namespace

int every_size(const DeviceRun& run) {
  NumberedWork work(run.plan(std::int64_t{kEdge} * kFormatCount));
  const int result = work.run([&]() -> NumberedWork::Step {
    const auto plain = std::make_shared<Coders>(RestartPolicy::none());
    const auto restarting = std::make_shared<Coders>(RestartPolicy::mcus(3));
    if (!plain->ready() || !restarting->ready()) return {};
    return [&work, plain, restarting](std::int64_t step, Counts& counts) {
      const int width = 1 + static_cast<int>(step / kFormatCount);
      const PixelFormat format = kSizeFormats[step % kFormatCount];
      const std::string what = "width " + std::to_string(width) + " " + std::string(name(format));
      plain->check(work, format, width, what, counts);
      restarting->check(work, format, width, what + " with restarts", counts);
    };
  });
  std::printf("%s%s\n", work.text().c_str(),
              has_device_memory() ? ", one by one and in batches" : "");
  return result;
}

}  // namespace zerorun::test
