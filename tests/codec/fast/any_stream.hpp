// Instruction sets, and streams for coders.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/coder.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/random.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {

/// All but scalar, which the others are compared with.
inline std::vector<InstructionSet> fast_targets() {
  std::vector<InstructionSet> sets = instruction_sets();
  sets.erase(sets.begin());
  return sets;
}

inline Content any_content(Random& random) { return kContents[random.below(std::size(kContents))]; }

/// A stream of any quality, with tables of either kind.
inline Bytes any_stream(Content content, Subsampling sampling, int width, int height,
                        Random& random, int restart_mcus = 0) {
  EncodeParams params;
  params.threads = 1;
  params.subsampling = sampling;
  params.quality = random.between(1, 100);
  params.huffman = random.below(2) == 0 ? HuffmanTables::standard : HuffmanTables::optimal;
  params.restart = restart_mcus == 0 ? RestartPolicy::none() : RestartPolicy::mcus(restart_mcus);
  return encoded_on_cpu(
      make_frame(content, planar_format(sampling), width, height, random.next()).view(), params);
}

inline std::string describe(const Status& status) {
  return status.is_ok() ? "ok" : std::string(name(status.code())) + ": " + status.message();
}

/// Everything that a caller sees of a call but the samples.
inline std::string describe(const Result<DecodeReport>& report) {
  if (!report) return describe(report.status());
  return std::to_string(report->bytes_consumed) + " bytes, " + std::to_string(report->intervals) +
         " intervals, " + std::to_string(report->concealed_intervals) + " concealed, " +
         describe(report->first_problem);
}

}  // namespace zerorun::test
