// Frames of eight sizes in all formats, coded in every way that has kernels of its own: CUDA's
// bytes are the CPU's. Few and small, for compute-sanitizer (R14).
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <utility>

#include "tests/campaign/device_batch.hpp"
#include "tests/campaign/device_campaign.hpp"

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

}  // namespace zerorun::test
