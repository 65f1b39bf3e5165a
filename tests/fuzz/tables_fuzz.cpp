// The CPU's fast decoder against the reference stages: the same samples, coefficients and report
// with every instruction set that the machine has.
// SPDX-License-Identifier: MIT
#include <vector>

#include "tests/fuzz/fuzz_check.hpp"

namespace zerorun::fuzz {
namespace {

/// A decoder for each instruction set, the reference first.
std::vector<Decoder> make_decoders(int threads, ChromaUpsampling upsampling) {
  std::vector<Decoder> out;
  for (const InstructionSet set : instruction_sets()) {
    DecodeParams params = quick_params(threads);
    params.upsampling = upsampling;
    params.instruction_set = set;
    out.push_back(*Decoder::create(params));
  }
  return out;
}

void compare(const Result<DecodeReport>& got, const Result<DecodeReport>& wanted) {
  check(got.status() == wanted.status(), "every instruction set ends alike");
  check(!got.is_ok() || same(*got, *wanted), "and gives the same report");
}

void compare_planes(std::vector<Decoder>& decoders, std::span<const std::byte> jpeg) {
  static std::vector<ComponentPlane> wanted, planes;
  const auto report = decoders[0].decode_planes(jpeg, wanted);
  for (std::size_t d = 1; d < decoders.size(); ++d) {
    const auto again = decoders[d].decode_planes(jpeg, planes);
    compare(again, report);
    for (std::size_t c = 0; report.is_ok() && c < wanted.size(); ++c)
      check(planes[c].samples == wanted[c].samples, "and the same samples");
  }
}

void compare_coefficients(std::vector<Decoder>& decoders, std::span<const std::byte> jpeg) {
  static std::vector<ComponentCoefficients> wanted, coefficients;
  const auto report = decoders[0].decode_coefficients(jpeg, wanted);
  for (std::size_t d = 1; d < decoders.size(); ++d) {
    const auto again = decoders[d].decode_coefficients(jpeg, coefficients);
    compare(again, report);
    for (std::size_t c = 0; report.is_ok() && c < wanted.size(); ++c)
      check(coefficients[c].values == wanted[c].values, "and the same coefficients");
  }
}

void compare_frames(std::vector<Decoder>& decoders, std::span<const std::byte> jpeg,
                    PixelFormat format) {
  const auto info = inspect(jpeg, decoders[0].params().limits);
  if (!info.is_ok()) return;
  Picture wanted(format, info->width, info->height, 0xAA);
  const auto report = decoders[0].decode(jpeg, wanted.view);
  for (std::size_t d = 1; d < decoders.size(); ++d) {
    Picture picture(format, info->width, info->height, 0xAA);
    compare(decoders[d].decode(jpeg, picture.view), report);
    check(!report.is_ok() || picture.memory == wanted.memory, "and the same picture");
  }
}

}  // namespace
}  // namespace zerorun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerorun;
  static auto fancy = fuzz::make_decoders(1, ChromaUpsampling::fancy);
  static auto nearest = fuzz::make_decoders(2, ChromaUpsampling::nearest);
  const auto jpeg = fuzz::stream(data, size);
  // The input chooses: three of eight take planes, one coefficients, the others a pixel format.
  const unsigned choice =
      size == 0 ? 0 : data[size / 2] + data[size / 3] + unsigned{data[size - 1]};
  auto& decoders = choice % 16 == 15 ? nearest : fancy;
  if (choice % 8 < 3)
    fuzz::compare_planes(decoders, jpeg);
  else if (choice % 8 == 3)
    fuzz::compare_coefficients(decoders, jpeg);
  else
    fuzz::compare_frames(decoders, jpeg,
                         static_cast<PixelFormat>(choice / 8 % (kPixelFormatCount + 1)));
  return 0;
}
