// A stream decoded by the CPU and by CUDA, and counted.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "tests/campaign/numbered_work.hpp"
#include "tests/cuda/decode/decoder_pair.hpp"

namespace zerorun::test {

/// Adds what both made of a stream; returns how they differ, or nothing.
inline std::string counted(const Compared& both, Counts& counts) {
  const Result<DecodeReport>& report = both.report;
  if (report && report->cpu_scans > 0) ++counts.on_cpu;
  if (!both.difference.empty())
    ++counts.different;
  else if (!report)
    ++counts.refused;
  else if (report->first_problem.is_ok() && !report->is_concealed())
    ++counts.clean;
  else
    ++counts.damaged;
  if (both.difference.empty() && report && report->is_concealed()) ++counts.concealed;
  return both.difference;
}

/// One of the three outputs, which `turn` chooses: of eight streams five become planes, two a
/// frame of any format, and one coefficients.
inline Compared compared_in_turn(DecoderPair& pair, const Jpeg& jpeg, std::int64_t turn) {
  const auto which = turn % 8;
  if (which == 0) return pair.coefficients(jpeg);
  if (which < 3) return pair.frame(jpeg, kAllFormats[turn / 8 % std::int64_t{kPixelFormatCount}]);
  return pair.planes(jpeg);
}

}  // namespace zerorun::test
