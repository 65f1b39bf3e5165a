// Damaged streams by number.
// SPDX-License-Identifier: MIT
#include "tests/cuda/decode/mutations.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "tests/support/random.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

Bytes coded(Content content, int width, int height, EncodeParams params) {
  params.backend = Backend::cpu;
  const TestFrame frame = make_frame(content, PixelFormat::rgb24, width, height, 7);
  auto encoder = Encoder::create(params);
  Bytes jpeg;
  if (encoder && encoder->encode(frame.view(), jpeg)) return jpeg;
  std::fprintf(stderr, "a stream to damage could not be made\n");
  std::exit(2);
}

/// Offsets of the RSTm codes behind the headers.
std::vector<std::size_t> restart_codes(const Bytes& jpeg, std::size_t scan) {
  std::vector<std::size_t> out;
  for (std::size_t i = scan; i + 1 < jpeg.size(); ++i)
    if (jpeg[i] == std::byte{0xFF} && (jpeg[i + 1] & std::byte{0xF8}) == std::byte{0xD0})
      out.push_back(i + 1);
  return out;
}

std::ptrdiff_t offset(std::size_t at) { return static_cast<std::ptrdiff_t>(at); }

/// Exchanges two markers, or moves one next to another.
void move_markers(Bytes& jpeg, std::size_t scan, Random& random) {
  const auto codes = restart_codes(jpeg, scan);
  if (codes.size() < 2) return;
  const auto one = static_cast<std::size_t>(random.below(static_cast<int>(codes.size()) - 1));
  const std::size_t other =
      random.below(2) == 0 ? one + 1
                           : static_cast<std::size_t>(random.below(static_cast<int>(codes.size())));
  if (random.below(2) == 0) return std::swap(jpeg[codes[one]], jpeg[codes[other]]);
  // Before the other one, and away from its own place.
  const std::byte marker[] = {std::byte{0xFF}, jpeg[codes[one]]};
  const auto remove = [&](std::size_t code) {
    jpeg.erase(jpeg.begin() + offset(code) - 1, jpeg.begin() + offset(code) + 1);
  };
  const auto insert = [&](std::size_t code) {
    jpeg.insert(jpeg.begin() + offset(code) - 1, std::begin(marker), std::end(marker));
  };
  if (one < other) {
    insert(codes[other]);
    remove(codes[one]);
  } else {
    remove(codes[one]);
    insert(codes[other]);
  }
}

void damage(Bytes& jpeg, std::size_t scan, Random& random) {
  if (jpeg.size() < 4) return;
  const int last = static_cast<int>(jpeg.size()) - 1;
  // Mostly after the headers: damage in headers is mostly refused at once.
  const int from = random.below(8) == 0 ? 2 : std::min(static_cast<int>(scan), last);
  const auto at = static_cast<std::size_t>(random.between(from, last));
  const auto few = random.between(1, 8);
  switch (random.below(9)) {
    case 0:
    case 1:
      jpeg[at] ^= static_cast<std::byte>(1 << random.below(8));
      break;
    case 2:
      jpeg[at] = static_cast<std::byte>(random.byte());
      break;
    case 3:
      jpeg[at] = std::byte{0xFF};
      break;
    case 4:
      jpeg.resize(at);
      break;
    case 5:
      for (int i = 0; i < few; ++i)
        jpeg.insert(jpeg.begin() + offset(at), static_cast<std::byte>(random.byte()));
      break;
    case 6:
      jpeg.erase(jpeg.begin() + offset(at),
                 jpeg.begin() + std::min(offset(at) + few, offset(jpeg.size())));
      break;
    case 7: {
      const std::byte marker[] = {std::byte{0xFF}, static_cast<std::byte>(0xD0 + random.below(10))};
      jpeg.insert(jpeg.begin() + offset(at), std::begin(marker), std::end(marker));
      break;
    }
    default:
      move_markers(jpeg, scan, random);
  }
}

}  // namespace

std::vector<MutationSource> mutation_sources() {
  struct Kind {
    Subsampling sampling;
    HuffmanTables huffman;
    int restart;  ///< MCUs; 0: none
    int width, height, quality;
    Content content;
  };
  using enum HuffmanTables;
  constexpr Kind kKinds[] = {
      {Subsampling::s420, standard, 0, 160, 120, 90, Content::photo},
      {Subsampling::s420, optimal, 3, 100, 75, 75, Content::photo},
      {Subsampling::s422, standard, 1, 64, 48, 85, Content::photo},
      {Subsampling::s422, optimal, 0, 97, 61, 95, Content::noise},
      {Subsampling::s444, standard, 5, 48, 40, 90, Content::photo},
      {Subsampling::s444, optimal, 0, 33, 70, 50, Content::gradient},
      {Subsampling::s440, standard, 0, 80, 64, 95, Content::photo},
      {Subsampling::s411, optimal, 2, 130, 50, 90, Content::photo},
      {Subsampling::gray, standard, 4, 120, 90, 100, Content::checker},
      {Subsampling::gray, optimal, 0, 16, 16, 100, Content::extreme},
  };
  std::vector<MutationSource> out;
  for (const Kind& kind : kKinds) {
    EncodeParams params;
    params.subsampling = kind.sampling;
    params.huffman = kind.huffman;
    params.restart = kind.restart == 0 ? RestartPolicy::none() : RestartPolicy::mcus(kind.restart);
    params.quality = kind.quality;
    out.emplace_back(coded(kind.content, kind.width, kind.height, params));
  }
  return out;
}

Bytes mutation(const std::vector<MutationSource>& sources, std::int64_t number) {
  const MutationSource& source = sources[static_cast<std::size_t>(number) % sources.size()];
  Random random(static_cast<std::uint64_t>(number) + 1);
  Bytes jpeg = source.jpeg;
  for (int n = random.between(1, 3); n > 0; --n) damage(jpeg, source.scan, random);
  return jpeg;
}

}  // namespace zerorun::test
