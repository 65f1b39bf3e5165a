// The promise "never ok with wrong samples", for one stream.
// SPDX-License-Identifier: MIT
#include "tests/campaign/judge.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "tests/support/libjpeg_decode.hpp"
#include "tests/support/page_end_buffer.hpp"
#include "tests/support/resources.hpp"

namespace zerorun::test {
namespace {

constexpr Feed kFeed = Feed::pieces_of_64_bytes;

Decoder make_decoder(std::int64_t max_pixels) {
  // libjpeg's vector IDCT and its C code differ for coefficients that no encoder makes.
  setenv("JSIMD_FORCENONE", "1", 1);
  DecodeParams params;
  params.backend = Backend::cpu;
  params.threads = 1;
  params.limits.max_pixels = max_pixels;
  auto decoder = Decoder::create(params);
  if (!decoder.is_ok()) {
    std::fprintf(stderr, "%s\n", decoder.status().message().c_str());
    std::exit(2);
  }
  return *std::move(decoder);
}

template <typename T, typename Equal>
bool all_equal(const std::vector<T>& a, const std::vector<T>& b, Equal equal) {
  return std::ranges::equal(a, b, equal);
}

}  // namespace

Judge::Judge(std::int64_t max_pixels) : decoder_(make_decoder(max_pixels)) {}

Verdict Judge::because(Verdict verdict, std::string reason) {
  reason_ = std::move(reason);
  return verdict;
}

Verdict Judge::judge(std::span<const std::byte> jpeg, Counts& counts, bool is_cut) {
  Verdict verdict = verdict_of(jpeg, counts);
  if (is_cut && verdict == Verdict::exact) verdict = wrong("nothing is named as missing");
  ++(verdict == Verdict::refused   ? counts.refused
     : verdict == Verdict::damaged ? counts.damaged
     : verdict == Verdict::exact   ? counts.clean
                                   : counts.different);
  return verdict;
}

Verdict Judge::verdict_of(std::span<const std::byte> jpeg, Counts& counts) {
  const PageEndBuffer input(jpeg);
  const double begin = process_seconds();
  const auto report = decoder_.decode_planes(input.bytes(), our_planes_);
  seconds_ = process_seconds() - begin;
  if (!report.is_ok())
    return report.status().message().empty() ? wrong("an error without a sentence")
                                             : because(Verdict::refused, report.status().message());
  if (report->bytes_consumed > jpeg.size()) return wrong("more is consumed than there is");
  if (!report->first_problem.is_ok()) {
    counts.concealed += report->is_concealed() ? 1 : 0;
    return because(Verdict::damaged, report->first_problem.message());
  }
  if (report->is_concealed()) return wrong("concealed, and no problem is named");
  return compare(input.bytes());
}

bool Judge::libjpeg_is_content(std::span<const std::byte> jpeg) {
  return libjpeg_planes(jpeg, their_planes_, kFeed).clean();
}

bool Judge::same_samples() const {
  return all_equal(our_planes_, their_planes_,
                   [](const ComponentPlane& a, const ComponentPlane& b) {
                     return a.width == b.width && a.height == b.height && a.samples == b.samples;
                   });
}

Verdict Judge::compare(std::span<const std::byte> jpeg) {
  const LibjpegVerdict verdict = libjpeg_planes(jpeg, their_planes_, kFeed);
  if (!verdict.delivered) return wrong("libjpeg refuses it: " + verdict.text);
  if (same_samples()) return Verdict::exact;
  const auto report = decoder_.decode_coefficients(jpeg, ours_);
  libjpeg_coefficients(jpeg, theirs_, kFeed);
  const bool same_coefficients =
      report.is_ok() &&
      all_equal(ours_, theirs_, [](const auto& a, const auto& b) { return a.values == b.values; });
  return wrong(std::string("the samples differ, the coefficients ") +
               (same_coefficients ? "do not" : "do, too") +
               (verdict.warnings > 0 ? "; libjpeg warns: " + verdict.text : ""));
}

}  // namespace zerorun::test
