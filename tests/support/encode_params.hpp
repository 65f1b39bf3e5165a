// Parameters of tests: all combinations of those that decide the structure of a stream, and a
// set of choices.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>

#include "tests/support/test_frame.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {

/// Calls visit(params) for every combination of sampling, tables, restart and these qualities, and
/// stops when the test has failed.
template <typename Visit>
void for_all_params(std::initializer_list<int> qualities, const Visit& visit) {
  for (const Subsampling sampling : kAllSubsamplings)
    for (const auto huffman : {HuffmanTables::standard, HuffmanTables::optimal})
      for (const auto& restart :
           {RestartPolicy::none(), RestartPolicy::mcus(1), RestartPolicy::mcus(7),
            RestartPolicy::mcu_rows(1), RestartPolicy::automatic()})
        for (const int quality : qualities) {
          SCOPED_TRACE(testing::Message()
                       << name(sampling) << " quality " << quality << " restart " << restart.count);
          EncodeParams params;
          params.subsampling = sampling;
          params.huffman = huffman;
          params.restart = restart;
          params.quality = quality;
          visit(params);
          if (testing::Test::HasFailure()) return;
        }
}

/// For the CPU, on one thread.
inline EncodeParams cpu_params(Tune tune, Effort effort, HuffmanTables huffman) {
  EncodeParams params;
  params.backend = Backend::cpu;
  params.threads = 1;
  params.tune = tune;
  params.effort = effort;
  params.huffman = huffman;
  return params;
}

}  // namespace zerorun::test
