// What zerorun delivers as good has the coefficients that libjpeg-turbo gives for the same bytes,
// and its pixels at 1, 1/2, 1/4 or 1/8.
// SPDX-License-Identifier: MIT
#include <vector>

#include "tests/fuzz/fuzz_check.hpp"
#include "tests/support/libjpeg_decode.hpp"

namespace zerorun::fuzz {
namespace {

/// No sample of a block with this sum of magnitudes leaves the range in which libjpeg's vector code
/// and its C code agree: no weight of the inverse DCT is above 1/4.
constexpr int kCalmPeak = 1500;

void compare_pixels(std::span<const std::byte> jpeg, int scale) {
  static Decoder decoder = *Decoder::create(quick_params(1));
  check(decoder.select(scale).is_ok(), "the scale is known");
  const auto info = inspect(jpeg, decoder.params().limits);
  if (!info || info->components.size() == 4 || !info->subsampling) return;
  const ImageSize size = scaled_size(info->width, info->height, scale);
  Picture ours(PixelFormat::rgb24, size.width, size.height, 0xAA);
  check(decoder.decode(jpeg, ours.view).is_ok(), "what gives coefficients gives pixels");
  test::Pixels theirs;
  const auto verdict =
      test::libjpeg_pixels(jpeg, test::PixelOutput::rgb, true, theirs, static_cast<unsigned>(scale),
                           test::Feed::pieces_of_64_bytes);
  if (!verdict.delivered) return;  // grey to RGB and factors that libjpeg does not enlarge
  check(theirs.width == size.width && theirs.height == size.height, "the same size");
  check(theirs.samples == ours.memory, "the same pixels");
}

}  // namespace
}  // namespace zerorun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerorun;
  const auto jpeg = fuzz::stream(data, size);
  static Decoder decoder = *Decoder::create(fuzz::quick_params(1));
  std::vector<ComponentCoefficients> ours, theirs;
  const auto report = decoder.decode_coefficients(jpeg, ours);
  if (!report.is_ok() || report->is_concealed()) return 0;
  int peak = 0;
  const auto verdict =
      test::libjpeg_coefficients(jpeg, theirs, test::Feed::pieces_of_64_bytes, &peak);
  // Where zerorun names a problem and conceals nothing, libjpeg may have stumbled over it.
  if (!report->first_problem.is_ok() && !verdict.clean()) return 0;
  fuzz::check(verdict.delivered, "libjpeg-turbo decodes what is good");
  fuzz::check(ours.size() == theirs.size(), "as many components");
  for (std::size_t c = 0; c < ours.size(); ++c)
    fuzz::check(ours[c].values == theirs[c].values, "the same coefficients");
  if (verdict.clean() && peak <= fuzz::kCalmPeak)
    fuzz::compare_pixels(jpeg, 1 << (size == 0 ? 0 : data[size / 2]) % 4);
  return 0;
}
