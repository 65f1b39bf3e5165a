// Decodes arbitrary bytes into every kind of output.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <vector>

#include "tests/fuzz/fuzz_check.hpp"

namespace zerorun::fuzz {
namespace {

constexpr PixelFormat kFormats[] = {PixelFormat::gray8,  PixelFormat::yuv420p, PixelFormat::yuv444p,
                                    PixelFormat::nv12,   PixelFormat::yuyv,    PixelFormat::rgb24,
                                    PixelFormat::xbgr32, PixelFormat::cmyk32};

/// Small pictures: with 65,536 pixels a core takes 750 inputs of a corpus a second, and not 3,000.
/// Of 2,752 edges of the code those inputs then miss 8.
DecodeParams small_params(int threads) {
  DecodeParams params = quick_params(threads);
  params.limits.max_pixels = 1 << 14;
  return params;
}

void decode_formats(Decoder& decoder, std::span<const std::byte> jpeg,
                    const Result<DecodeReport>& expected, PixelFormat format) {
  const auto info = inspect(jpeg, decoder.params().limits);
  if (!info.is_ok()) return;
  Picture a(format, info->width, info->height, 0xAA), b(format, info->width, info->height, 0x55);
  const auto first = decoder.decode(jpeg, a.view);
  const auto second = decoder.decode(jpeg, b.view);
  check(first.status() == second.status(), "two calls end alike");
  if (!first.is_ok()) {
    check(!expected.is_ok() || first.status().code() == Errc::pixel_format,
          "a stream that gives planes gives pixels, or is refused as pixel_format");
    return;
  }
  check(a.memory == b.memory, "every sample is defined by the stream");
  check(expected.is_ok() && same(*first, *expected), "pixels and planes have one report");
}

/// A part of the picture at a scale has the samples of the whole picture at that scale. Damage that
/// the decoder jumps over it does not find, so that only good pictures are compared.
void compare_region(std::span<const std::byte> jpeg, std::uint32_t choice) {
  static Decoder whole = *Decoder::create(small_params(1));
  static Decoder part = *Decoder::create(small_params(2));
  const auto info = inspect(jpeg, whole.params().limits);
  if (!info.is_ok()) return;
  const int scale = 1 << choice % 4;
  const ImageSize size = scaled_size(info->width, info->height, scale);
  const auto at = [&](int shift, int count) {
    return static_cast<int>(choice >> shift & 63) % count;
  };
  Region region{at(2, size.width), at(8, size.height), 0, 0};
  region.width = 1 + at(14, size.width - region.x);
  region.height = 1 + at(20, size.height - region.y);
  const PixelFormat format = choice >> 26 & 1 ? PixelFormat::rgb24 : PixelFormat::yuv444p;
  check(whole.select(scale).is_ok() && part.select(scale, region).is_ok(), "both can be asked for");
  Picture all(format, size.width, size.height, 0xAA);
  Picture some(format, region.width, region.height, 0x55);
  const auto report = whole.decode(jpeg, all.view);
  const auto partial = part.decode(jpeg, some.view);
  if (!report.is_ok() || report->is_concealed()) return;
  check(partial.is_ok() && !partial->is_concealed(), "a part of a good picture is good");
  const std::size_t bytes = format == PixelFormat::rgb24 ? 3 : 1;
  for (int plane = 0; plane < plane_count(format); ++plane)
    for (int y = 0; y < region.height; ++y) {
      const auto p = static_cast<std::size_t>(plane);
      const std::uint8_t* from = all.view.data[p] + (region.y + y) * all.view.stride_bytes[p] +
                                 static_cast<std::size_t>(region.x) * bytes;
      const std::uint8_t* got = some.view.data[p] + y * some.view.stride_bytes[p];
      check(std::equal(got, got + static_cast<std::size_t>(region.width) * bytes, from),
            "a region has the samples of the picture");
    }
}

/// Three threads give the result of one.
void compare_threads(std::span<const std::byte> jpeg, const Result<DecodeReport>& report,
                     const std::vector<ComponentPlane>& planes) {
  static Decoder three = *Decoder::create(small_params(3));
  std::vector<ComponentPlane> again;
  const auto other = three.decode_planes(jpeg, again);
  check(report.status() == other.status(), "the threads do not change the status");
  if (!report.is_ok()) return;
  check(same(*report, *other), "the threads do not change the report");
  for (std::size_t c = 0; c < planes.size(); ++c)
    check(planes[c].samples == again[c].samples, "nor the samples");
}

}  // namespace
}  // namespace zerorun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerorun;
  const auto jpeg = fuzz::stream(data, size);
  const std::uint8_t choice = size == 0 ? 0 : data[size / 2];
  static Decoder one = *Decoder::create(fuzz::small_params(1));
  std::vector<ComponentPlane> planes;
  const auto report = one.decode_planes(jpeg, planes);
  if (choice % 4 == 0) fuzz::compare_threads(jpeg, report, planes);
  if (report.is_ok()) {
    fuzz::check(report->bytes_consumed <= size, "no more is consumed than there is");
    fuzz::check(report->concealed_intervals <= report->intervals, "concealed intervals exist");
    fuzz::check(!report->is_concealed() || !report->first_problem.is_ok(), "damage has a reason");
  } else {
    fuzz::check(!report.status().message().empty(), "an error has a sentence");
  }
  std::vector<ComponentCoefficients> coefficients;
  const auto raw = one.decode_coefficients(jpeg, coefficients);
  fuzz::check(raw.status() == report.status(), "coefficients and planes end alike");
  std::uint32_t part = 2166136261u;  // FNV-1a: the region follows from the whole stream
  for (std::size_t at = 0; at < size; ++at) part = (part ^ data[at]) * 16777619u;
  fuzz::compare_region(jpeg, part);
  fuzz::decode_formats(one, jpeg, report, fuzz::kFormats[choice % std::size(fuzz::kFormats)]);
  return 0;
}
