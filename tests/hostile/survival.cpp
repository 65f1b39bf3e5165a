// Decodes a stream that may be damaged in every way, and checks that all results agree.
// SPDX-License-Identifier: MIT
#include "tests/hostile/survival.hpp"

#include <gtest/gtest.h>

#include "tests/support/page_end_buffer.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

constexpr std::int64_t kMaxPixelsForFormats = 4'000'000;  // keeps the pixel checks fast

Decoder make_decoder(int threads, bool strict = false) {
  DecodeParams params;
  params.backend = Backend::cpu;
  params.threads = threads;
  params.strict = strict;
  auto decoder = Decoder::create(params);
  EXPECT_TRUE(decoder.is_ok()) << decoder.status().message();
  return *std::move(decoder);
}

bool same_report(const DecodeReport& a, const DecodeReport& b) {
  return a.bytes_consumed == b.bytes_consumed && a.intervals == b.intervals &&
         a.concealed_intervals == b.concealed_intervals && a.first_problem == b.first_problem;
}

bool same_values(const std::vector<ComponentCoefficients>& a,
                 const std::vector<ComponentCoefficients>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t c = 0; c < a.size(); ++c)
    if (a[c].values != b[c].values) return false;
  return true;
}

/// The stream defines every sample: the former contents of the frame do not show.
void check_formats(std::span<const std::byte> jpeg, const Outcome& outcome,
                   const std::string& label) {
  const auto info = inspect(jpeg);
  if (!info.is_ok() || std::int64_t{info->width} * info->height > kMaxPixelsForFormats) return;
  Decoder decoder = make_decoder(1);
  for (const PixelFormat format :
       {PixelFormat::rgb24, PixelFormat::yuv420p, PixelFormat::gray8, PixelFormat::cmyk32}) {
    TestFrame a(format, info->width, info->height, Layout::padded, 0xAA);
    TestFrame b(format, info->width, info->height, Layout::padded, 0x55);
    const auto first = decoder.decode(jpeg, a.view());
    const auto second = decoder.decode(jpeg, b.view());
    EXPECT_EQ(first.status(), second.status()) << label;
    if (first.is_ok()) {
      EXPECT_TRUE(a.packed() == b.packed()) << label << " as " << name(format);
      EXPECT_TRUE(same_report(*first, outcome.report)) << label << " as " << name(format);
    }
  }
}

void check_strict(std::span<const std::byte> jpeg, const Outcome& outcome,
                  const std::string& label) {
  std::vector<ComponentCoefficients> coefficients;
  const auto strict = make_decoder(1, true).decode_coefficients(jpeg, coefficients);
  EXPECT_EQ(strict.is_ok(), outcome.clean()) << label << ": " << strict.status().message();
  if (!strict.is_ok()) {
    EXPECT_FALSE(strict.status().message().empty()) << label;
    EXPECT_TRUE(!outcome.delivered() ||
                strict.status().code() == outcome.report.first_problem.code())
        << label << ": " << strict.status().message();
  }
}

}  // namespace

Outcome survive(std::span<const std::byte> jpeg, const std::string& label) {
  const PageEndBuffer input(jpeg);
  Outcome outcome;
  {
    Decoder decoder = make_decoder(1);
    const PeakMemory memory;
    const double start = process_seconds();
    const auto report = decoder.decode_planes(input.bytes(), outcome.planes);
    outcome.seconds = process_seconds() - start;
    outcome.memory_bytes = memory.growth_bytes();
    EXPECT_LE(outcome.seconds, time_limit(kMaxSeconds)) << label;
    EXPECT_LE(outcome.memory_bytes, kMaxMemoryBytes) << label;
    outcome.status = report.status();
    if (report.is_ok()) outcome.report = *report;
  }
  for (const int threads : {1, 3}) {
    Decoder decoder = make_decoder(threads);
    std::vector<ComponentCoefficients> coefficients;
    const auto report = decoder.decode_coefficients(input.bytes(), coefficients);
    EXPECT_EQ(report.status(), outcome.status)
        << label << ", threads " << threads << ": " << report.status().message() << " - "
        << outcome.status.message();
    if (!report.is_ok()) continue;
    EXPECT_TRUE(same_report(*report, outcome.report)) << label << ", threads " << threads;
    if (threads == 1)
      outcome.coefficients = std::move(coefficients);
    else
      EXPECT_TRUE(same_values(coefficients, outcome.coefficients)) << label;
  }
  if (!outcome.delivered()) {
    EXPECT_FALSE(outcome.status.message().empty()) << label;
  }
  check_strict(input.bytes(), outcome, label);
  check_formats(input.bytes(), outcome, label);
  return outcome;
}

}  // namespace zerorun::test
