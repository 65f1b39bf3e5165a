// Undamaged scans of random symbols.
// SPDX-License-Identifier: MIT
#include "tests/cuda/decode/random_scan.hpp"

#include <algorithm>

#include "codec/arith/symbol.hpp"

namespace zerorun::test {
namespace {

struct Codeword {
  std::uint32_t code, bits;
  std::uint8_t symbol;
};

std::vector<Codeword> codewords_of(const zerorun::HuffmanSpec& spec) {
  std::vector<Codeword> out;
  std::uint32_t code = 0;
  for (std::uint32_t length = 1; length <= kMaxCodeBits; ++length, code <<= 1)
    for (int i = 0; i < spec.bits[length]; ++i)
      out.push_back({code++, length, spec.values[out.size()]});
  return out;
}

void put_random(WrittenBits& writer, Random& random, const Codeword& codeword) {
  const std::uint32_t ssss = codeword.symbol & 15;
  writer.put(codeword.code, codeword.bits);
  writer.put(static_cast<std::uint32_t>(random.next()) & ((1u << ssss) - 1), ssss);
}

/// Symbols of a block at random: all that the tables have, up to a whole block.
void put_block(WrittenBits& writer, Random& random, const std::vector<Codeword>& dc,
               const std::vector<Codeword>& ac) {
  const auto any_of = [&](const std::vector<Codeword>& codewords) -> const Codeword& {
    return codewords[static_cast<std::size_t>(random.below(static_cast<int>(codewords.size())))];
  };
  put_random(writer, random, any_of(dc));
  const auto end_of_block =
      std::ranges::find(ac, kEob, [](const Codeword& codeword) { return codeword.symbol; });
  for (int k = 1, tries = random.between(1, 80); k < kBlockSize; --tries) {
    const Codeword& next = tries > 0 ? any_of(ac) : *end_of_block;
    const int run = next.symbol >> 4;
    const bool ends = (next.symbol & 15) == 0 && run != 15;
    if (!ends && k + run >= kBlockSize) continue;
    put_random(writer, random, next);
    if (ends) return;
    k += run + 1;
  }
}

}  // namespace

CleanScan random_scan(Random& random) {
  const auto sample = sample_tables();
  ComponentSpec specs[kMaxComponents] = {
      {random.between(1, 2), random.between(1, 4), 0, 0}, {1, 1, 1, 1}, {1, 1, 1, 0}};
  const int components = random.below(3) == 0 ? 1 : 3;
  const int all[] = {0, 1, 2};
  CleanScan scan;
  scan.header.layout = make_scan_layout(random.between(1, 90), random.between(1, 90), specs,
                                        components, all, components, random.below(9));
  std::vector<Codeword> dc[2], ac[2];
  for (std::size_t t = 0; t < 2; ++t) {
    const TablePair& pair =
        sample[static_cast<std::size_t>(random.below(static_cast<int>(sample.size())))];
    scan.header.dc[t] = pair.dc;
    scan.header.ac[t] = pair.ac;
    dc[t] = codewords_of(pair.dc);
    ac[t] = codewords_of(pair.ac);
  }
  const ScanLayout& layout = scan.header.layout;
  WrittenBits writer;
  for (std::int64_t mcu = 0; mcu < layout.mcus(); ++mcu) {
    if (mcu % layout.interval_mcus() == 0) {
      writer.pad();
      scan.interval_first.push_back(static_cast<std::uint32_t>(writer.bytes.size()));
    }
    for (std::int32_t b = 0; b < layout.blocks_per_mcu; ++b) {
      const auto& component = layout.component[layout.block_component[b]];
      put_block(writer, random, dc[component.dc_table], ac[component.ac_table]);
    }
  }
  writer.pad();
  scan.interval_first.push_back(static_cast<std::uint32_t>(writer.bytes.size()));
  scan.bytes = std::move(writer.bytes);
  return scan;
}

}  // namespace zerorun::test
