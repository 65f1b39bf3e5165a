// Stage by stage times of the staged CUDA encoder and decoder, by CUDA events, at 1080p and 4K. The
// numbers are printed, never compared with a constant.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "codec/core/encode_setup.hpp"
#include "codec/syntax/header_parser.hpp"
#include "cuda/staged_decode_pipeline.hpp"
#include "cuda/staged_encoder.hpp"
#include "tests/support/test_data.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::test {
namespace {

constexpr int kWarmUp = 5, kRounds = 101;

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + kRounds / 2, values.end());
  return values[kRounds / 2];
}

/// Records an event in front of each stage and adds up what passed between them.
class StageTimes {
 public:
  explicit StageTimes(cudaStream_t stream) : stream_(stream) {}

  Status mark(const char* stage) {
    if (used_ == events_.size()) {
      events_.emplace_back();
      names_.emplace_back();
      ZR_TRY(events_.back().create(cudaEventDefault));
    }
    names_[used_] = stage;
    ZR_CUDA_TRY(cudaEventRecord(events_[used_++].get(), stream_));
    return Status::ok();
  }

  /// The stream is idle. `keep` is false while warming up.
  Status finish_round(bool keep) {
    double total = 0;
    for (std::size_t i = 0; i + 1 < used_; ++i) {
      float milliseconds = 0;
      ZR_CUDA_TRY(cudaEventElapsedTime(&milliseconds, events_[i].get(), events_[i + 1].get()));
      total += milliseconds;
      if (!keep) continue;
      if (times_.find(names_[i]) == times_.end()) order_.push_back(names_[i]);
      times_[names_[i]].push_back(milliseconds * 1e3);
    }
    if (keep) total_.push_back(total * 1e3);
    used_ = 0;
    return Status::ok();
  }

  void print() const {
    for (const std::string& stage : order_)
      std::printf("  %-18s %9.1f us\n", stage.c_str(), median(times_.at(stage)));
    std::printf("  %-18s %9.1f us\n", "all stages", median(total_));
  }

 private:
  cudaStream_t stream_;
  std::vector<Event> events_;
  std::vector<std::string> names_;
  std::size_t used_ = 0;
  std::vector<std::string> order_;
  std::map<std::string, std::vector<double>> times_;
  std::vector<double> total_;
};

Status upload(const ConstFrameView& frame, DeviceBuffer<std::uint8_t> (&planes)[3],
              ConstFrameView& on_device) {
  on_device = {frame.format, frame.width, frame.height, {}, {}};
  for (int p = 0; p < plane_count(frame.format); ++p) {
    const auto plane = static_cast<std::size_t>(p);
    const std::size_t row = plane_row_bytes(frame.format, p, frame.width);
    const std::size_t pitch = (row + 127) / 128 * 128;
    const auto rows = static_cast<std::size_t>(plane_rows(frame.format, p, frame.height));
    ZR_TRY(planes[p].reserve(static_cast<std::int64_t>(pitch * rows)));
    ZR_CUDA_TRY(cudaMemcpy2D(planes[p].data(), pitch, frame.data[plane],
                             static_cast<std::size_t>(frame.stride_bytes[plane]), row, rows,
                             cudaMemcpyHostToDevice));
    on_device.data[plane] = planes[p].data();
    on_device.stride_bytes[plane] = static_cast<std::ptrdiff_t>(pitch);
  }
  return Status::ok();
}

Status time_stages(const EncodeParams& params, const ConstFrameView& frame) {
  const auto setup = make_encode_setup(params, frame.format, frame.width, frame.height);
  if (!setup) return setup.status();
  DeviceBuffer<std::uint8_t> planes[3];
  ConstFrameView on_device;
  ZR_TRY(upload(frame, planes, on_device));
  Stream stream;
  ZR_TRY(stream.create());
  StagedEncoder encoder;
  StageTimes times(stream.get());
  for (int round = -kWarmUp; round < kRounds; ++round) {
    ZR_TRY(encoder.enqueue(*setup, on_device, stream.get(),
                           [&](const char* stage) { return times.mark(stage); }));
    ZR_CUDA_TRY(cudaStreamSynchronize(stream.get()));
    ZR_TRY(times.finish_round(round >= 0));
  }
  times.print();
  return Status::ok();
}

Status time_host_frames(EncodeParams params, const ConstFrameView& frame) {
  params.backend = Backend::cuda;
  auto encoder = Encoder::create(params);
  if (!encoder) return encoder.status();
  std::vector<std::byte> jpeg;
  std::vector<double> times;
  for (int round = -kWarmUp; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    if (const auto report = encoder->encode(frame, jpeg); !report) return report.status();
    const std::chrono::duration<double, std::micro> passed =
        std::chrono::steady_clock::now() - start;
    if (round >= 0) times.push_back(passed.count());
  }
  std::printf("  %-18s %9.1f us  (%zu bytes)\n", "host to host", median(times), jpeg.size());
  return Status::ok();
}

/// The first scan of `jpeg`, from host bytes to component planes on the device.
Status time_decode_stages(std::span<const std::byte> jpeg) {
  Stream stream;
  ZR_TRY(stream.create());
  StagedDecodePipeline pipeline(0);
  ZR_TRY(pipeline.create());
  const cudaStream_t queue = stream.get();
  pipeline.work_on(&queue, nullptr, nullptr);
  StageTimes times(queue);
  pipeline.observe([&](const char* step) { return times.mark(step); });
  for (int round = -kWarmUp; round < kRounds; ++round) {
    HeaderParser parser(jpeg, {});
    ZR_TRY(parser.start());
    if (const auto found = parser.next_scan(); !found) return found.status();
    ZR_TRY(pipeline.begin_planes(parser.frame(), nullptr, false));
    const auto scan = std::as_bytes(jpeg.subspan(parser.scan().data_offset));
    ScanOutcome outcome;
    ZR_TRY(pipeline.decode_scan(
        parser.scan(), {reinterpret_cast<const std::uint8_t*>(scan.data()), scan.size()}, outcome));
    if (!outcome.problem) return outcome.problem;
    ZR_TRY(times.finish_round(round >= 0));
  }
  times.print();
  return Status::ok();
}

Status time_decode_to_host(std::span<const std::byte> jpeg, PixelFormat format) {
  DecodeParams params;
  params.backend = Backend::cuda;
  auto decoder = Decoder::create(params);
  if (!decoder) return decoder.status();
  Frame frame;
  std::vector<double> times;
  for (int round = -kWarmUp; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    if (const auto report = decoder->decode(jpeg, format, frame); !report) return report.status();
    const std::chrono::duration<double, std::micro> passed =
        std::chrono::steady_clock::now() - start;
    if (round >= 0) times.push_back(passed.count());
  }
  std::printf("  %-18s %9.1f us\n", "host to host", median(times));
  return Status::ok();
}

Status time_decode(const std::string& what, const ConstFrameView& frame) {
  for (const bool restarts : {true, false}) {
    EncodeParams params;
    params.backend = Backend::cpu;
    params.restart = restarts ? RestartPolicy::automatic() : RestartPolicy::none();
    auto encoder = Encoder::create(params);
    if (!encoder) return encoder.status();
    std::vector<std::byte> jpeg;
    if (const auto report = encoder->encode(frame, jpeg); !report) return report.status();
    std::printf("decode %s, %s %dx%d, quality %d, restart %s, %zu bytes\n", what.c_str(),
                std::string(name(frame.format)).c_str(), frame.width, frame.height, params.quality,
                restarts ? "auto" : "none", jpeg.size());
    ZR_TRY(time_decode_stages(jpeg));
    ZR_TRY(time_decode_to_host(jpeg, frame.format));
  }
  return Status::ok();
}

Status time_frame(const std::string& what, const ConstFrameView& frame) {
  for (const HuffmanTables tables : {HuffmanTables::standard, HuffmanTables::optimal}) {
    EncodeParams params;
    params.huffman = tables;
    std::printf("encode %s, %s %dx%d, quality %d, %s tables\n", what.c_str(),
                std::string(name(frame.format)).c_str(), frame.width, frame.height, params.quality,
                tables == HuffmanTables::optimal ? "optimal" : "standard");
    ZR_TRY(time_stages(params, frame));
    ZR_TRY(time_host_frames(params, frame));
  }
  return time_decode(what, frame);
}

Status time_photo() {
  if (!test_data()) return Status::ok();
  const auto path = *test_data() / "photos4k" / "street.jpg";
  if (!std::filesystem::exists(path)) return Status::ok();
  DecodeParams params;
  params.backend = Backend::cpu;
  auto decoder = Decoder::create(params);
  if (!decoder) return decoder.status();
  Frame frame;
  if (const auto report = decoder->decode(read_file(path), PixelFormat::yuv420p, frame); !report)
    return report.status();
  return time_frame("photo street.jpg", frame.view());
}

Status run() {
  for (const auto& [width, height] : {std::pair{1920, 1080}, std::pair{3840, 2160}})
    for (const PixelFormat format : {PixelFormat::yuv420p, PixelFormat::rgb24})
      ZR_TRY(time_frame("synthetic photo",
                        make_frame(Content::photo, format, width, height, 1).view()));
  return time_photo();
}

}  // namespace
}  // namespace zerorun::test

int main() {
  if (const auto cuda = zerorun::resolve_backend(zerorun::Backend::cuda); !cuda) {
    std::printf("skipped: %s\n", cuda.status().message().c_str());
    return 0;
  }
  const zerorun::Status status = zerorun::test::run();
  if (!status) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status ? 0 : 1;
}
