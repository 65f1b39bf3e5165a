// How near streams come to the sizes that were asked for.
// SPDX-License-Identifier: MIT
#include "tests/rd/size_tally.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string_view>

#include "codec/base/try.hpp"

namespace zerorun::rd {
namespace {

using Clock = std::chrono::steady_clock;

std::size_t hash_of(const std::vector<std::byte>& bytes) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Result<std::size_t> plain_size(Encoder& encoder, const ConstFrameView& frame, int quality) {
  std::vector<std::byte> out;
  ZR_TRY(encoder.set_quality(quality));
  ZR_TRY(encoder.encode(frame, out).status());
  return out.size();
}

Result<SizeTally> try_size(Encoder& encoder, const ConstFrameView& frame, std::size_t target) {
  SizeTally tally{.streams = 1, .bits = 8.0 * static_cast<double>(target)};
  std::vector<std::byte> out;
  ZR_TRY(encoder.set_size({target, 0}));
  const auto start = Clock::now();
  const auto report = encoder.encode(frame, out);
  tally.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (!report && report.status().code() != Errc::size_not_reached) return report.status();
  if (!report) return tally;
  tally.codings = tally.most_codings = report->codings;
  tally.hash = hash_of(out);
  tally.above = out.size() > target ? 1 : 0;
  tally.within = out.size() <= target && out.size() >= target - target / 200 ? 1 : 0;
  return tally;
}

}  // namespace

void SizeTally::add(const SizeTally& other) {
  streams += other.streams;
  above += other.above;
  within += other.within;
  codings += other.codings;
  most_codings = std::max(most_codings, other.most_codings);
  seconds += other.seconds;
  bits += other.bits;
  hash = 31 * hash + other.hash;
}

Result<std::vector<SizeTally>> try_sizes(const EncodeParams& params, const ConstFrameView& frame,
                                         const SizeRange& range) {
  ZR_LET(encoder, Encoder::create(params));
  ZR_LET(least, plain_size(encoder, frame, range.least_quality));
  ZR_LET(most, plain_size(encoder, frame, range.most_quality));
  const auto low = static_cast<double>(least), high = static_cast<double>(most);
  std::vector<SizeTally> tallies;
  for (int n = 0; n < range.count; ++n) {
    const double size = low * std::pow(high / low, (n + 0.5) / range.count);
    ZR_LET(tally, try_size(encoder, frame, static_cast<std::size_t>(size)));
    tallies.push_back(tally);
  }
  return tallies;
}

}  // namespace zerorun::rd
