// encode --verify: reads the output back and compares it with what was coded.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "zerorun/content.hpp"

namespace zerorun::app {

/// Keeps sixteen bytes per coded frame.
class Verifier {
 public:
  void add(std::span<const std::byte> jpeg);

  /// Reads `output` through the demultiplexer: it must hold exactly the added streams, and each
  /// must decode on the CPU without damage. Ends the command with exit code 6 otherwise.
  void check(const io::Location& output) const;

 private:
  struct Fingerprint {
    std::uint64_t hash = 0;
    std::uint32_t bytes = 0;
    friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
  };
  static Fingerprint fingerprint(std::span<const std::byte> jpeg) noexcept;

  std::vector<Fingerprint> frames_;
};

}  // namespace zerorun::app
