// Parses the headers of arbitrary bytes.
// SPDX-License-Identifier: MIT
#include "tests/fuzz/fuzz_check.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::fuzz {
namespace {

void check_info(const StreamInfo& info, std::size_t size) {
  check(info.width >= 1 && info.width <= kMaxDimension, "the width is possible");
  check(info.height >= 1 && info.height <= kMaxDimension, "the height is possible");
  const std::size_t components = info.components.size();
  check(components == 1 || components == 3 || components == 4, "1, 3 or 4 components");
  check(has_inks(info.color) == (components == 4), "four components are inks");
  check(info.header_bytes <= size, "the headers lie inside the data");
  check(info.exif_orientation >= 1 && info.exif_orientation <= 8, "the orientation is 1 to 8");
  check(info.pixel_aspect_x >= 1 && info.pixel_aspect_y >= 1, "the pixel aspect is a ratio");
  check(!info.quality || (*info.quality >= 1 && *info.quality <= 100), "the quality is 1 to 100");
  std::size_t segment_bytes = 0;
  for (const MarkerSegment& segment : info.segments) segment_bytes += segment.payload.size();
  check(segment_bytes <= size, "segments hold no more than the data");
  for (const ComponentInfo& component : info.components) {
    check(component.h >= 1 && component.h <= 4 && component.v >= 1 && component.v <= 4,
          "sampling factors are 1 to 4");
    check(component.width >= 1 && component.width <= info.width, "components fit in the image");
    check(component.height >= 1 && component.height <= info.height, "components fit");
  }
}

}  // namespace
}  // namespace zerorun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerorun;
  const DecodeParams params = fuzz::quick_params(1);
  const auto info = inspect(fuzz::stream(data, size), params.limits);
  if (info.is_ok())
    fuzz::check_info(*info, size);
  else
    fuzz::check(!info.status().message().empty(), "an error has a sentence");
  return 0;
}
