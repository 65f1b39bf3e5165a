// Codes arbitrary streams again without loss: what is taken has the coefficients of before, in
// every form, and a transform and its opposite give them back.
// SPDX-License-Identifier: MIT
#include <vector>

#include "tests/fuzz/fuzz_check.hpp"
#include "zerorun/transcoder.hpp"

namespace zerorun::fuzz {
namespace {

using Bytes = std::vector<std::byte>;

struct Made {
  Bytes stream;
  TranscodeReport report;
};

/// Empty if the stream is refused.
Made transcode(std::span<const std::byte> jpeg, TranscodeParams params) {
  const DecodeParams quick = quick_params(1);
  params.threads = 1;
  params.limits = quick.limits;
  auto transcoder = Transcoder::create(params);
  check(transcoder.is_ok(), "the parameters are accepted");
  Made made;
  const auto report = transcoder->transcode(jpeg, made.stream);
  if (!report) {
    check(report.status().code() != Errc::verify_mismatch, "the new stream is equal");
    check(!report.status().message().empty(), "an error has a sentence");
    return {};
  }
  made.report = *report;
  return made;
}

}  // namespace
}  // namespace zerorun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerorun;
  const auto jpeg = fuzz::stream(data, size);
  TranscodeParams params;
  params.optimize = true;
  const fuzz::Made small = fuzz::transcode(jpeg, params);
  if (small.stream.empty()) return 0;
  fuzz::check(small.stream.size() <= size, "the stream is not larger");
  const auto before = fuzz::coefficients(jpeg);
  fuzz::check(before.has_value(), "what was taken has no damage");
  fuzz::check(fuzz::are_equal(before, fuzz::coefficients(small.stream)), "optimal tables");
  params.scans = size % 2 == 0 ? ScanChoice::progressive : ScanChoice::baseline;
  params.restart_interval = static_cast<int>(size / 2 % 5);
  params.verify = true;
  const fuzz::Made other = fuzz::transcode(jpeg, params);
  if (!other.stream.empty()) {
    fuzz::check(fuzz::are_equal(before, fuzz::coefficients(other.stream)), "other scans");
    const auto info = inspect(other.stream, StreamLimits::any_size());
    fuzz::check(info && info->progressive == (size % 2 == 0), "the kind of scans");
    fuzz::check(info->restart_interval_mcus == params.restart_interval, "the restart interval");
  }
  // A turn and its opposite, where no edge stays behind.
  params.transform.rotate = static_cast<Rotation>(1 + size % 3);
  params.transform.edges = Edges::refuse;
  const fuzz::Made turned = fuzz::transcode(jpeg, params);
  if (turned.stream.empty()) return 0;
  params.transform.rotate = static_cast<Rotation>(3 - size % 3);
  const fuzz::Made back = fuzz::transcode(turned.stream, params);
  if (!back.stream.empty())
    fuzz::check(fuzz::are_equal(before, fuzz::coefficients(back.stream)), "turned and turned back");
  return 0;
}
