// Small files and frames in one order after another, by 1, 2 and 8 coders side by side: samples,
// reports and bytes are the same each time (R16).
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "tests/campaign/device_batch.hpp"
#include "tests/campaign/device_campaign.hpp"
#include "tests/campaign/streams.hpp"
#include "tests/support/random.hpp"
#include "tests/support/test_data.hpp"

namespace zerorun::test {
namespace {

constexpr int kRepeats = 100;
constexpr std::uintmax_t kSmallBytes = 20000;

/// A stream, and what every decoder must make of it every time.
struct Expected {
  std::string name;
  Bytes jpeg;
  std::vector<ComponentPlane> planes;
  Result<DecodeReport> report;
};

DecodeParams decode_params(Backend backend) {
  DecodeParams params;
  params.backend = backend;
  params.threads = 1;
  params.limits.max_pixels = kMaxCampaignPixels;
  return params;
}

EncodeParams encode_params(Backend backend) {
  EncodeParams params;
  params.backend = backend;
  params.threads = 1;
  return params;
}

/// Small files, whole and damaged, and what the CPU makes of them.
std::vector<Expected> streams_to_repeat(const Folders& folders) {
  std::vector<NamedStream> streams = forty_streams();
  for (const auto& folder : folders)
    for (const auto& file : files_below(folder))
      if (std::filesystem::file_size(file) <= kSmallBytes)
        streams.push_back({file.string(), read_file(file)});
  auto cpu = Decoder::create(decode_params(Backend::cpu));
  std::vector<Expected> out;
  for (NamedStream& stream : streams) {
    std::vector<ComponentPlane> planes;
    auto report = cpu->decode_planes(stream.jpeg, planes);
    out.push_back(
        {std::move(stream.name), std::move(stream.jpeg), std::move(planes), std::move(report)});
  }
  return out;
}

struct ExpectedStream {
  TestFrame frame;
  Bytes jpeg;
};

std::vector<ExpectedStream> frames_to_repeat() {
  auto cpu = Encoder::create(encode_params(Backend::cpu));
  std::vector<ExpectedStream> out;
  for (int i = 0; i < 48; ++i) {
    // Four of each shape follow each other, which a batch codes together.
    const int shape = i / 4;
    TestFrame frame =
        make_frame(i % 2 == 0 ? Content::photo : Content::noise, kAllFormats[shape % 16],
                   8 + 13 * shape, 5 + 17 * shape, static_cast<std::uint64_t>(i));
    Bytes jpeg;
    (void)cpu->encode(frame.view(), jpeg);
    out.push_back({std::move(frame), std::move(jpeg)});
  }
  return out;
}

std::vector<std::size_t> shuffled(std::size_t count, Random& random) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(random.below(static_cast<int>(i) + 1));
    order[i] = std::exchange(order[at], i);
  }
  return order;
}

/// One coder of each kind.
class Repeater {
 public:
  Repeater(NumberedWork& work, const std::vector<Expected>& streams,
           const std::vector<ExpectedStream>& frames)
      : work_(work), streams_(streams), frames_(frames) {
    if (has_device_memory()) batch_.emplace(encode_params(Backend::cuda));
  }
  bool ready() const { return decoder_ && encoder_; }

  void repeat(std::int64_t step, Counts& counts) {
    Random random(static_cast<std::uint64_t>(step));
    const auto frame_order = shuffled(frames_.size(), random);
    std::size_t next = 0;
    for (const std::size_t i : shuffled(streams_.size(), random)) {
      decode(streams_[i], counts);
      if (next < frames_.size()) encode(frames_[frame_order[next++]], counts);
    }
    if (batch_) encode_batch(frame_order, counts);
  }

 private:
  void decode(const Expected& expected, Counts& counts) {
    const auto report = decoder_->decode_planes(expected.jpeg, planes_);
    std::string text = difference(expected.report, report);
    const auto same = [](const ComponentPlane& a, const ComponentPlane& b) {
      return a.samples == b.samples;
    };
    if (report && !std::ranges::equal(expected.planes, planes_, same)) text += "other samples";
    count(expected.name, text, expected.jpeg, counts);
  }

  void encode(const ExpectedStream& expected, Counts& counts) {
    Bytes jpeg;
    const auto report = encoder_->encode(expected.frame.view(), jpeg);
    count("encode",
          !report                 ? report.status().message()
          : jpeg == expected.jpeg ? ""
                                  : "other bytes",
          expected.jpeg, counts);
  }

  void encode_batch(const std::vector<std::size_t>& order, Counts& counts) {
    std::vector<const TestFrame*> frames;
    for (const std::size_t i : order) frames.push_back(&frames_[i].frame);
    std::vector<Bytes> jpegs;
    const std::string failure = batch_->encode(frames, jpegs);
    for (std::size_t n = 0; n < order.size(); ++n) {
      const Bytes& expected = frames_[order[n]].jpeg;
      count("batch",
            !failure.empty()       ? failure
            : jpegs[n] == expected ? ""
                                   : "other bytes",
            expected, counts);
    }
  }

  void count(const std::string& name, const std::string& text, const Bytes& jpeg, Counts& counts) {
    ++(text.empty() ? counts.clean : counts.different);
    if (!text.empty()) work_.tell(name + ": " + text, jpeg);
  }

  NumberedWork& work_;
  const std::vector<Expected>& streams_;
  const std::vector<ExpectedStream>& frames_;
  Result<Decoder> decoder_ = Decoder::create(decode_params(Backend::cuda));
  Result<Encoder> encoder_ = Encoder::create(encode_params(Backend::cuda));
  std::optional<DeviceBatch> batch_;
  std::vector<ComponentPlane> planes_;
};

}  // namespace

int repeated(const DeviceRun& run, const Folders& folders) {
  const std::vector<Expected> streams = streams_to_repeat(folders);
  const std::vector<ExpectedStream> frames = frames_to_repeat();
  int worst = 0;
  std::string reached;
  for (const int coders : {1, 2, 8}) {
    WorkPlan plan = run.plan(kRepeats, 1, coders);
    plan.minutes /= 3;
    plan.state.append(".").append(std::to_string(coders));
    NumberedWork work(plan);
    const int result = work.run([&]() -> NumberedWork::Step {
      const auto repeater = std::make_shared<Repeater>(work, streams, frames);
      if (!repeater->ready()) return {};
      return [repeater](std::int64_t step, Counts& counts) { repeater->repeat(step, counts); };
    });
    worst = worst == 1 || result == 0 ? worst : result;
    reached += std::to_string(coders) + " side by side: " + work.text() + "; ";
  }
  std::printf("%s%zu files, %zu frames\n", reached.c_str(), streams.size(), frames.size());
  return worst;
}

}  // namespace zerorun::test
