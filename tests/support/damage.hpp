// Damage to streams, for tests and for fuzzing without libFuzzer.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdlib>
#include <vector>

#include "tests/support/random.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::test {

/// One to four changes behind byte `from`: bytes, bits, bytes more or fewer, a cut, a piece copied
/// to another place.
inline void damage(std::vector<std::byte>& jpeg, Random& random, std::size_t from) {
  for (int n = random.between(1, 4); n > 0 && jpeg.size() > from + 2; --n) {
    const auto room = static_cast<int>(jpeg.size() - from);
    const std::size_t at = from + static_cast<std::size_t>(random.below(room));
    const auto place = jpeg.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random.below(12)) {
      case 0:
        jpeg.insert(place, static_cast<std::byte>(random.byte()));
        break;
      case 1:
        jpeg.erase(place);
        break;
      case 2:
        jpeg.resize(at + 1);
        break;
      case 3:
        *place = std::byte{0xFF};
        break;
      case 4:
        *place = std::byte{0xFF};
        if (at + 1 < jpeg.size()) place[1] = static_cast<std::byte>(0xD0 + random.below(10));
        break;
      case 5:
        *place = std::byte{0};
        break;
      case 6:
        for (std::size_t i = at; i < jpeg.size() && i < at + 8; ++i)
          jpeg[i] = jpeg[from + (i * 7) % (jpeg.size() - from)];
        break;
      case 7:
        *place = static_cast<std::byte>(random.byte());
        break;
      default:
        *place ^= static_cast<std::byte>(1 << random.below(8));
    }
  }
}

/// One of the streams, damaged; mostly in the coded data: headers are the parser's, which all
/// decoders share.
inline std::vector<std::byte> damaged_one(const std::vector<std::vector<std::byte>>& streams,
                                          Random& random) {
  std::vector<std::byte> jpeg =
      streams[static_cast<std::size_t>(random.below(static_cast<int>(streams.size())))];
  const auto info = inspect(jpeg);
  const bool anywhere = !info || random.below(4) == 0;
  damage(jpeg, random, anywhere ? 2 : info->header_bytes);
  return jpeg;
}

/// Executions of a test of damaged streams: ZERORUN_MUTATIONS, or the usual number.
inline int mutations(int usual) {
  const char* wanted = std::getenv("ZERORUN_MUTATIONS");
  return wanted != nullptr ? std::atoi(wanted) : usual;
}

}  // namespace zerorun::test
