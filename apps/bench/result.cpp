// Names of what was measured.
// SPDX-License-Identifier: MIT
#include "apps/bench/result.hpp"

#include <fmt/core.h>

namespace zerorun::app::bench {

const char* name(Operation operation) noexcept {
  return operation == Operation::encode ? "encode" : "decode";
}

const char* name(Streams streams) noexcept {
  switch (streams) {
    case Streams::libjpeg:
      return "libjpeg";
    case Streams::input:
      return "input";
    case Streams::zerorun:
      break;
  }
  return "zerorun";
}

const char* name(Mode mode) noexcept {
  switch (mode) {
    case Mode::latency:
      return "latency";
    case Mode::throughput:
      return "throughput";
    case Mode::stages:
      break;
  }
  return "stages";
}

const char* name(HuffmanTables tables) noexcept {
  return tables == HuffmanTables::optimal ? "optimal" : "standard";
}

std::string Row::id() const {
  const std::string word = coder.substr(0, coder.find(' '));
  return fmt::format("{}/{}/{}/{}/{}", word, device, path, name(mode), parallel);
}

}  // namespace zerorun::app::bench
