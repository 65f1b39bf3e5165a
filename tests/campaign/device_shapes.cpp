// CUDA's bytes are the CPU's: for frames of eight sizes in all formats, coded in every way that has
// kernels of its own, few and small, for compute-sanitizer (R14); for every size from 1x1 to 64x64
// in five samplings, with and without restart intervals, frames of the host one by one and batches
// in device memory (R17).
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>

#include "tests/campaign/device_batch.hpp"
#include "tests/campaign/device_campaign.hpp"
#include "tests/campaign/streams.hpp"

namespace zerorun::test {
namespace {

struct Size {
  int width, height;
};
/// One sample, one block, blocks and MCUs that are not whole, several tiles, several chunks, and
/// more columns or rows than the others have.
constexpr Size kSizes[] = {{1, 1},   {8, 8},    {17, 9},  {33, 31},
                           {64, 64}, {255, 16}, {9, 260}, {321, 240}};

std::vector<EncodeParams> all_ways() {
  std::vector<EncodeParams> ways;
  for (const HuffmanTables huffman :
       {HuffmanTables::standard, HuffmanTables::optimal, HuffmanTables::trained})
    for (const Tune tune : kAllTunes)
      for (const Effort effort : kAllEfforts) {
        EncodeParams way;
        way.huffman = huffman;
        way.tune = tune;
        way.effort = effort;
        ways.push_back(way);
      }
  const auto add = [&](auto set) {
    for (const HuffmanTables huffman : {HuffmanTables::standard, HuffmanTables::optimal}) {
      EncodeParams way;
      way.huffman = huffman;
      set(way);
      ways.push_back(way);
    }
  };
  add([](EncodeParams& way) { way.restart = RestartPolicy::none(); });
  add([](EncodeParams& way) { way.restart = RestartPolicy::mcus(3); });
  add([](EncodeParams& way) { way.restart = RestartPolicy::mcu_rows(1); });
  add([](EncodeParams& way) { way.quality = 100; });
  add([](EncodeParams& way) { way.size.target_bytes = 900; });
  return ways;
}

/// A way on both backends, and in a batch.
class Coder {
 public:
  explicit Coder(EncodeParams params) {
    params.threads = 1;
    params.backend = Backend::cpu;
    cpu_ = std::make_unique<Result<Encoder>>(Encoder::create(params));
    params.backend = Backend::cuda;
    cuda_ = std::make_unique<Result<Encoder>>(Encoder::create(params));
    if (has_device_memory()) batch_ = std::make_unique<DeviceBatch>(params);
  }
  bool ready() const { return *cpu_ && *cuda_; }

  /// Empty if both have the same bytes, or fail alike. A target may be too small for a frame.
  std::string compare(const TestFrame& frame, Bytes& expected) {
    Bytes found;
    const Status by_cpu = (*cpu_)->encode(frame.view(), expected).status();
    const Status by_cuda = (*cuda_)->encode(frame.view(), found).status();
    if (by_cpu.code() != by_cuda.code()) return by_cpu.message() + " / " + by_cuda.message();
    if (by_cpu.is_ok() && found != expected) return "other bytes";
    if (!by_cpu.is_ok() || batch_ == nullptr) return "";
    std::vector<Bytes> batch;
    const std::string failure = batch_->encode(std::array{&frame, &frame}, batch);
    if (!failure.empty()) return failure;
    return batch[0] == expected && batch[1] == expected ? "" : "other bytes in a batch";
  }

 private:
  std::unique_ptr<Result<Encoder>> cpu_, cuda_;
  std::unique_ptr<DeviceBatch> batch_;
};

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

int every_shape(const DeviceRun& run, std::int64_t count, std::int64_t first) {
  const std::vector<EncodeParams> ways = all_ways();
  constexpr auto kFormatCount = static_cast<std::int64_t>(std::size(kAllFormats));
  NumberedWork work(run.plan(std::min(count, every_shape_count() - first)));
  const int result = work.run([&]() -> NumberedWork::Step {
    auto coders = std::make_shared<std::vector<Coder>>();
    for (const EncodeParams& way : ways) {
      coders->emplace_back(way);
      if (!coders->back().ready()) return {};
    }
    return [&work, first, coders](std::int64_t step, Counts& counts) {
      const Size size = kSizes[(first + step) / kFormatCount];
      const PixelFormat format = kAllFormats[(first + step) % kFormatCount];
      const TestFrame frame = make_frame(Content::photo, format, size.width, size.height,
                                         static_cast<std::uint64_t>(step));
      for (std::size_t way = 0; way < coders->size(); ++way) {
        Bytes expected;
        const std::string text = (*coders)[way].compare(frame, expected);
        ++(text.empty() ? counts.clean : counts.different);
        if (!text.empty())
          work.tell(std::to_string(size.width) + "x" + std::to_string(size.height) + " " +
                        std::string(name(format)) + ", way " + std::to_string(way) + ": " + text,
                    expected);
      }
    };
  });
  std::printf("%s\n", work.text().c_str());
  return result;
}

std::int64_t every_shape_count() {
  return static_cast<std::int64_t>(std::size(kSizes) * std::size(kAllFormats));
}

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
