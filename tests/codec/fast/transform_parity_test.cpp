// The inverse transforms of every instruction set against the reference stage, on blocks that reach
// the ends of all ranges. encode_parity_test.cpp does the same for the forward ones.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "codec/fast/decode_kernels.hpp"
#include "codec/pipeline/stage_table.hpp"
#include "tests/codec/fast/any_stream.hpp"
#include "tests/support/random.hpp"
#include "tests/support/resources.hpp"

namespace zerorun::test {
namespace {

#ifdef ZERORUN_HAVE_HIGHWAY

constexpr int kMost = 24;  // blocks of a call: several vectors, and a part of one
static_assert(kMost <= fast::kDecodeRunMcus);

/// A row of `blocks` grey blocks.
ScanLayout row_layout(int blocks) {
  const ComponentSpec spec{};
  const int only = 0;
  return make_scan_layout(blocks * kBlockEdge, kBlockEdge, &spec, 1, &only, 1, 0);
}

using Block = std::array<std::int16_t, kBlockSize>;  // natural order

/// What fast::DecodeKernels::decode_run says of a block.
std::uint8_t extent_of(const Block& block) {
  int extent = 1;
  bool wide = false;
  for (int k = 1; k < kBlockSize; ++k) {
    const int value = block[kNaturalOfZigzag[static_cast<unsigned>(k)]];
    if (value != 0) extent = k + 1;
    wide |= value < -1023 || value > 1023;
  }
  return wide ? fast::kWideBlock : static_cast<std::uint8_t>(extent);
}

/// Up to kMost blocks side by side.
void compare_inverse(std::span<const Block> blocks, int q) {
  const int count = static_cast<int>(blocks.size()), width = count * kBlockEdge;
  DequantTables tables;
  for (auto& table : tables.table) std::fill_n(table, kBlockSize, static_cast<std::uint16_t>(q));
  const auto size = static_cast<std::size_t>(width) * kBlockEdge;
  std::vector<std::uint8_t> wanted(size), got(size);
  DequantIdctArgs args{row_layout(count), &tables, 0, count, blocks[0].data(), {}};
  args.plane[0] = {wanted.data(), width, width, kBlockEdge};
  Exec exec;
  ASSERT_TRUE(cpu_stages().dequant_idct(args, exec));

  const auto dequant = std::make_unique<fast::DequantRows>();
  fast::fill_dequant_rows(tables.table[0], *dequant);
  const auto run = std::make_unique<fast::CoefficientRun>();
  for (const InstructionSet target : fast_targets()) {
    const fast::DecodeKernels& kernels = fast::decode_kernels(target);
    const int group = kernels.group_blocks;
    std::fill_n(run->coefficient, std::size(run->coefficient), std::int16_t{0});
    for (int b = 0; b < count; ++b) {
      const Block& block = blocks[static_cast<std::size_t>(b)];
      run->extent[b] = extent_of(block);
      for (int y = 0; y < kBlockEdge; ++y)
        std::copy_n(block.begin() + y * kBlockEdge, kBlockEdge,
                    run->coefficient + b / group * group * kBlockSize + y * kBlockEdge * group +
                        b % group * kBlockEdge);
    }
    std::fill(got.begin(), got.end(), std::uint8_t{0xA5});
    kernels.transform_row(
        {run.get(), 0, count, dequant.get(), got.data(), width, width, kBlockEdge});
    for (std::size_t i = 0; i < size; ++i)
      ASSERT_EQ(got[i], wanted[i])
          << name(target) << " block " << static_cast<int>(i) % width / kBlockEdge;
  }
}

void compare_all_inverse(const std::vector<Block>& blocks, int q) {
  for (std::size_t from = 0; from < blocks.size();) {
    const std::size_t count = std::min<std::size_t>(blocks.size() - from, 1 + from % kMost);
    compare_inverse(std::span(blocks).subspan(from, count), q);
    if (testing::Test::HasFatalFailure()) FAIL() << "factor " << q << ", from block " << from;
    from += count;
  }
}

TEST(FastTransform, EveryDcEqualsTheReference) {
  std::vector<Block> blocks;
  for (int dc = -32768; dc <= 32767; dc += kSanitized ? 13 : 1)
    blocks.emplace_back()[0] = static_cast<std::int16_t>(dc);
  for (const int q : {1, 2, 255, 32767, 32768, 65535}) {
    compare_all_inverse(blocks, q);
    if (HasFatalFailure()) return;
  }
}

/// Damage moves the DC of blocks that an encoder has made, as far as 16 bits go.
TEST(FastTransform, EveryDcBesideAcEqualsTheReference) {
  Random random(5);
  for (const int q : {1, 3, 31, 255, 32767, 65535}) {
    std::vector<Block> blocks;
    for (int dc = -32768; dc <= 32767; dc += random.between(1, kSanitized ? 40 : 6)) {
      blocks.emplace_back()[0] = static_cast<std::int16_t>(dc);
      for (int n = random.below(12); n >= 0; --n)
        blocks.back()[static_cast<std::size_t>(random.between(1, random.below(2) == 0 ? 9 : 63))] =
            static_cast<std::int16_t>(random.between(-40, 40));
    }
    compare_all_inverse(blocks, q);
    if (HasFatalFailure()) return;
  }
}

TEST(FastTransform, InverseEqualsTheReference) {
  std::vector<Block> ends;
  for (std::size_t at = 0; at < kBlockSize; ++at)
    for (const int value : {-32768, -32767, -1024, -1023, -1, 1, 1023, 1024, 32766, 32767})
      ends.emplace_back()[at] = static_cast<std::int16_t>(value);
  for (const int q : {1, 8, 255, 32767}) {
    compare_all_inverse(ends, q);
    if (HasFatalFailure()) return;
  }
  Random random(3);
  for (int round = 0; round < 1500; ++round) {
    std::vector<Block> blocks(static_cast<std::size_t>(random.between(1, kMost)));
    const int most_bits = round % 2 == 0 ? 16 : 11;  // 16: mostly blocks that no encoder makes
    for (Block& block : blocks) {
      block.fill(0);
      const int density = random.between(1, 64), bits = random.between(1, most_bits);
      const int low = -(1 << (bits - 1)), high = (1 << (bits - 1)) - 1;
      const bool ends_only = random.below(2) == 0;
      for (auto& value : block)
        if (random.below(64) < density)
          value = static_cast<std::int16_t>(ends_only ? (random.below(2) == 0 ? low : high)
                                                      : random.between(low, high));
    }
    const int q = round % 3 == 0 ? 1 : random.between(1, round % 3 == 1 ? 255 : 65535);
    compare_inverse(blocks, q);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

#endif

}  // namespace
}  // namespace zerorun::test
