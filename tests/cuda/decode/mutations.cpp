// Damaged streams by number.
// SPDX-License-Identifier: MIT
#include "tests/cuda/decode/mutations.hpp"

#include <cstdio>
#include <cstdlib>

#include "tests/support/coder.hpp"
#include "tests/support/damage.hpp"
#include "tests/support/random.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

Bytes coded(Content content, int width, int height, const EncodeParams& params) {
  Bytes jpeg =
      encoded_on_cpu(make_frame(content, PixelFormat::rgb24, width, height, 7).view(), params);
  if (!jpeg.empty()) return jpeg;
  std::fprintf(stderr, "a stream to damage could not be made\n");
  std::exit(2);
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
  // Mostly after the headers: damage in headers is mostly refused at once.
  const std::size_t from = random.below(8) == 0 ? 2 : source.scan;
  if (random.below(4) == 0)
    damage_markers(jpeg, random, from);
  else
    damage(jpeg, random, from);
  return jpeg;
}

}  // namespace zerorun::test
