// No sample depends on what memory held before (R15): fresh decoders whose device and pinned memory
// is full of 0xAA or of 0x55, and one that has just shown another picture, give what the CPU gives.
// So do encoders, of which the last kept a picture before.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "tests/campaign/device_batch.hpp"
#include "tests/campaign/device_campaign.hpp"
#include "tests/campaign/numbered_work.hpp"
#include "tests/campaign/streams.hpp"
#include "tests/cuda/decode/mutations.hpp"
#include "tests/faults/wrapped_cudart.hpp"
#include "tests/support/test_data.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

constexpr int kFills[] = {0xAA, 0x55};

/// Their bytes are the CPU's. A picture of another format and size for each number.
class EncoderPoisoner {
 public:
  std::string check(std::int64_t number, Counts& counts) {
    const auto format = kAllFormats[number % std::int64_t{kPixelFormatCount}];
    const int edge = 1 + static_cast<int>(number);
    const TestFrame frame = make_frame(Content::photo, format, edge, 2 * edge, 1);
    Bytes expected, found;
    std::string text = coded(cpu_, frame, expected);
    for (const int fill : kFills) {
      wrapped::fill_new_memory(fill);
      auto fresh = Encoder::create(encode_params(Backend::cuda));
      text += coded(fresh, frame, found);
      if (found != expected) text += "other bytes over " + std::to_string(fill);
    }
    wrapped::fill_new_memory(-1);
    text += coded(kept_, secret_, found);
    text += coded(kept_, frame, found);
    if (found != expected) text += "other bytes after the secret picture";
    ++(text.empty() ? counts.clean : counts.different);
    return text;
  }

 private:
  static EncodeParams encode_params(Backend backend) {
    EncodeParams params;
    params.backend = backend;
    params.threads = 1;
    params.huffman = HuffmanTables::optimal;
    return params;
  }
  static std::string coded(Result<Encoder>& encoder, const TestFrame& frame, Bytes& out) {
    out.clear();
    const Status status = encoder ? encoder->encode(frame.view(), out).status() : encoder.status();
    return status ? "" : status.message();
  }

  TestFrame secret_ = make_frame(Content::noise, PixelFormat::rgb24, 640, 480, 9);
  Result<Encoder> cpu_ = Encoder::create(encode_params(Backend::cpu)),
                  kept_ = Encoder::create(encode_params(Backend::cuda));
};

constexpr std::int64_t kMutations = 2000, kPictures = 160;
constexpr std::int64_t kMaxPixelsOfFrames = std::int64_t{1} << 24;

Decoder decoder_of(Backend backend) {
  DecodeParams params;
  params.backend = backend;
  params.threads = 1;
  auto decoder = Decoder::create(params);
  if (decoder) return *std::move(decoder);
  std::fprintf(stderr, "%s\n", decoder.status().message().c_str());
  std::exit(2);
}

/// What a decoder makes of a stream.
struct Shown {
  Result<DecodeReport> planes_report, frame_report;
  std::vector<ComponentPlane> planes;
  std::vector<std::uint8_t> frame;
};

/// `fill` is in the caller's frame before; the decoder shows the `secret`, if any, before each
/// call.
Shown shown(Decoder& decoder, const Bytes& jpeg, std::uint8_t fill, const Bytes* secret = nullptr) {
  std::vector<ComponentPlane> hidden, planes;
  const auto show_secret = [&] {
    if (secret != nullptr && !decoder.decode_planes(*secret, hidden)) std::abort();
  };
  show_secret();
  auto planes_report = decoder.decode_planes(jpeg, planes);
  Shown out{planes_report, planes_report, std::move(planes), {}};
  const auto info = inspect(jpeg);
  if (!info || std::int64_t{info->width} * info->height > kMaxPixelsOfFrames) return out;
  TestFrame frame(PixelFormat::rgb24, info->width, info->height, Layout::tight, fill);
  show_secret();
  out.frame_report = decoder.decode(jpeg, frame.view());
  if (out.frame_report) out.frame = frame.packed();
  return out;
}

std::string differs(const Shown& expected, const Shown& found) {
  std::string text = difference(expected.planes_report, found.planes_report) +
                     difference(expected.frame_report, found.frame_report);
  const auto same = [](const ComponentPlane& a, const ComponentPlane& b) {
    return a.samples == b.samples;
  };
  if (expected.planes_report && !std::ranges::equal(expected.planes, found.planes, same))
    text += "other samples of planes; ";
  if (expected.frame != found.frame) text += "other samples of the frame; ";
  return text;
}

/// Noise with large coefficients, larger than most pictures that follow.
Bytes secret() {
  EncodeParams params;
  params.backend = Backend::cpu;
  params.subsampling = Subsampling::s444;
  params.quality = 100;
  auto encoder = Encoder::create(params);
  Bytes jpeg;
  (void)encoder->encode(make_frame(Content::noise, PixelFormat::rgb24, 640, 480, 9).view(), jpeg);
  return jpeg;
}

class Poisoner {
 public:
  explicit Poisoner(const Bytes& secret) : secret_(secret) {}

  std::string check(const Bytes& jpeg, Counts& counts) {
    const Shown expected = shown(cpu_, jpeg, 0);
    std::string text;
    for (const int fill : kFills) {
      wrapped::fill_new_memory(fill);
      Decoder fresh = decoder_of(Backend::cuda);
      const std::string found =
          differs(expected, shown(fresh, jpeg, static_cast<std::uint8_t>(fill)));
      if (!found.empty()) text += "over " + std::to_string(fill) + ": " + found;
    }
    wrapped::fill_new_memory(-1);
    const Shown after = shown(kept_, jpeg, 0xFF, &secret_);
    const std::string found = differs(expected, after);
    if (!found.empty()) text += "after the secret picture: " + found;
    (void)counted({text, after.planes_report}, counts);
    return text;
  }

 private:
  const Bytes& secret_;
  Decoder cpu_ = decoder_of(Backend::cpu), kept_ = decoder_of(Backend::cuda);
};

/// The steps: files, damaged streams, pictures to encode.
class Steps {
 public:
  explicit Steps(const Folders& folders) : sources_(mutation_sources()) {
    for (const auto& folder : folders)
      std::ranges::copy(files_below(folder), std::back_inserter(files_));
    for (NamedStream& stream : forty_streams()) sources_.emplace_back(std::move(stream.jpeg));
  }
  std::int64_t streams() const { return std::ssize(files_) + kMutations; }
  std::int64_t all() const { return streams() + kPictures; }

  NamedStream stream(std::int64_t step) const {
    const std::int64_t number = step - std::ssize(files_);
    if (number >= 0) return {"mutation " + std::to_string(number), mutation(sources_, number)};
    const auto& file = files_[static_cast<std::size_t>(step)];
    return {file.string(), read_file(file)};
  }

 private:
  std::vector<std::filesystem::path> files_;
  std::vector<MutationSource> sources_;
};

}  // namespace

int poisoned(const DeviceRun& run, const Folders& folders) {
  const Steps steps(folders);
  const Bytes hidden = secret();
  std::atomic<bool> has_begun{false};
  NumberedWork work(run.plan(steps.all()));
  const int result = work.run([&]() -> NumberedWork::Step {
    const auto decoders = std::make_shared<Poisoner>(hidden);
    const auto encoders = std::make_shared<EncoderPoisoner>();
    return [&, decoders, encoders](std::int64_t step, Counts& counts) {
      has_begun = true;
      const std::int64_t picture = step - steps.streams();
      const NamedStream stream =
          picture >= 0 ? NamedStream{"picture " + std::to_string(picture), {}} : steps.stream(step);
      const std::string text =
          picture >= 0 ? encoders->check(picture, counts) : decoders->check(stream.jpeg, counts);
      if (!text.empty()) work.tell(stream.name + ": " + text, stream.jpeg);
    };
  });
  const long filled = wrapped::filled();
  std::printf("%s; %ld allocations of device and pinned memory were filled in this run\n",
              work.text().c_str(), filled);
  // Without them the figure would say nothing.
  return has_device_memory() && has_begun && filled == 0 ? 1 : result;
}

}  // namespace zerorun::test
