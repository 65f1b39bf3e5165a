// Names of what was measured.
// SPDX-License-Identifier: MIT
#include "apps/bench/result.hpp"

#include <fmt/core.h>

namespace zerorun::app::bench {

const char* name(Operation operation) noexcept {
  return operation == Operation::encode ? "encode" : "decode";
}

const char* name(Mode mode) noexcept { return mode == Mode::latency ? "latency" : "throughput"; }

const char* name(HuffmanTables tables) noexcept {
  return tables == HuffmanTables::optimal ? "optimal" : "standard";
}

std::string Row::id() const {
  const std::string word = coder.substr(0, coder.find(' '));
  return fmt::format("{}/{}/{}/{}/{}", word, device, path, name(mode), parallel);
}

}  // namespace zerorun::app::bench
