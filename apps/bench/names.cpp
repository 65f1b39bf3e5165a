// The words of reports and of the command line.
// SPDX-License-Identifier: MIT
#include "apps/bench/result.hpp"

namespace zerorun::app::bench {

const char* name(Operation operation) noexcept {
  return operation == Operation::encode ? "encode" : "decode";
}
const char* name(Streams streams) noexcept {
  return streams == Streams::libjpeg ? "libjpeg" : streams == Streams::input ? "input" : "zerorun";
}
const char* name(Mode mode) noexcept {
  constexpr const char* kNames[] = {"latency", "throughput", "stages", "whole"};
  return kNames[static_cast<std::size_t>(mode)];
}
const char* name(HuffmanTables tables) noexcept {
  return tables == HuffmanTables::optimal   ? "optimal"
         : tables == HuffmanTables::trained ? "trained"
                                            : "standard";
}

}  // namespace zerorun::app::bench
