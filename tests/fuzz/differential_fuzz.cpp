// What zerorun delivers as good has the coefficients that libjpeg-turbo gives for the same bytes.
// SPDX-License-Identifier: MIT
#include <vector>

#include "tests/fuzz/fuzz_check.hpp"
#include "tests/support/libjpeg_decode.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerorun;
  const auto jpeg = fuzz::stream(data, size);
  static Decoder decoder = *Decoder::create(fuzz::quick_params(1));
  std::vector<ComponentCoefficients> ours, theirs;
  const auto report = decoder.decode_coefficients(jpeg, ours);
  if (!report.is_ok() || report->is_concealed()) return 0;
  const auto verdict = test::libjpeg_coefficients(jpeg, theirs, test::Feed::pieces_of_64_bytes);
  // Where zerorun names a problem and conceals nothing, libjpeg may have stumbled over it.
  if (!report->first_problem.is_ok() && !verdict.clean()) return 0;
  fuzz::check(verdict.delivered, "libjpeg-turbo decodes what is good");
  fuzz::check(ours.size() == theirs.size(), "as many components");
  for (std::size_t c = 0; c < ours.size(); ++c)
    fuzz::check(ours[c].values == theirs[c].values, "the same coefficients");
  return 0;
}
