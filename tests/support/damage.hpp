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

/// One to four changes of restart markers behind byte `from`: one is lost, doubled, gets another
/// number or is a marker of another kind; one comes where none belongs; the data before one are
/// lost, or come twice. Without markers it is damage() alone.
inline void damage_markers(std::vector<std::byte>& jpeg, Random& random, std::size_t from) {
  const auto any_rst = [&] { return static_cast<std::byte>(0xD0 + random.below(8)); };
  for (int n = random.between(1, 4); n > 0; --n) {
    std::vector<std::ptrdiff_t> places;
    for (std::size_t i = from; i + 1 < jpeg.size(); ++i)
      if (jpeg[i] == std::byte{0xFF} && (jpeg[i + 1] & std::byte{0xF8}) == std::byte{0xD0})
        places.push_back(static_cast<std::ptrdiff_t>(i));
    if (places.empty()) return damage(jpeg, random, from);
    const auto pick = static_cast<std::size_t>(random.below(static_cast<int>(places.size())));
    const auto marker = jpeg.begin() + places[pick];
    const auto before = pick == 0 ? jpeg.begin() + static_cast<std::ptrdiff_t>(from)
                                  : jpeg.begin() + places[pick - 1] + 2;
    switch (random.below(8)) {
      case 0:
        jpeg.erase(marker, marker + 2);
        break;
      case 1:
        jpeg.insert(marker, {std::byte{0xFF}, marker[1]});
        break;
      case 2:
        marker[1] = static_cast<std::byte>(0xC0 + random.below(0x40));
        break;
      case 3: {
        const int at = random.below(static_cast<int>(jpeg.size() - from));
        const auto place = jpeg.begin() + static_cast<std::ptrdiff_t>(from) + at;
        jpeg.insert(place, {std::byte{0xFF}, any_rst()});
        break;
      }
      case 4:
        jpeg.erase(before, marker + (random.below(2) == 0 ? 2 : 0));
        break;
      case 5: {
        const std::vector<std::byte> again(before, marker + 2);
        jpeg.insert(marker + 2, again.begin(), again.end());
        break;
      }
      case 6:
        damage(jpeg, random, from);
        break;
      default:
        marker[1] = any_rst();
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
