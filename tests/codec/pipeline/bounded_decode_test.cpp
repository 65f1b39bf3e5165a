// Streams of a few bytes that tell of a large image, or send a component again and again: the work
// that they make is counted in blocks, not in seconds.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <atomic>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "codec/arith/host_device.hpp"
#include "codec/base/marker.hpp"
#include "codec/pipeline/cpu_choice.hpp"
#include "codec/pipeline/decode_walk.hpp"
#include "codec/pipeline/stage_table.hpp"
#include "codec/syntax/header_writer.hpp"
#include "tests/support/jpeg_segments.hpp"

namespace zerorun::test {
namespace {

std::atomic<std::int64_t> decoded_blocks, transformed_blocks;

Status count_decoded(const HuffmanDecodeArgs& args, Exec& exec) {
  for (std::int64_t c = 0; c < args.cursor_count; ++c) decoded_blocks += args.cursors[c].blocks;
  return cpu_stages().huffman_decode(args, exec);
}
Status count_transformed(const DequantIdctArgs& args, Exec& exec) {
  transformed_blocks += args.mcu_count * args.layout.blocks_per_mcu;
  return cpu_stages().dequant_idct(args, exec);
}

const StageTable& counting_stages() {
  static const StageTable stages = [] {
    StageTable table = cpu_stages();
    table.huffman_decode = count_decoded;
    table.dequant_idct = count_transformed;
    return table;
  }();
  return stages;
}

struct Scan {
  std::vector<int> components;  ///< ids
  std::vector<std::uint8_t> data;
};

/// Its DC symbols 0 and 8 are the codes 0 and 10, EOB is 0. So a block of the value before is 00,
/// and one that adds `d` >= 128 is 10, the 8 bits of d, 0.
Bytes stream(int width, int height, int components, int restart_mcus,
             const std::vector<Scan>& scans) {
  std::vector<std::uint8_t> out{0xFF, marker::kSoi};
  QuantTable quant;
  quant.fill(1);
  put_dqt(0, quant, out);
  std::vector<SofComponent> frame;
  for (int c = 1; c <= components; ++c) frame.push_back({c, 1, 1, 0});
  put_sof(marker::kSof0, width, height, frame, out);
  zerorun::HuffmanSpec dc, ac;
  dc.bits[1] = dc.bits[2] = ac.bits[1] = 1;
  dc.values[1] = 8;
  put_dht({0, 0}, dc, out);
  put_dht({1, 0}, ac, out);
  put_dri(restart_mcus, out);
  for (const Scan& scan : scans) {
    std::vector<SosComponent> header;
    for (const int id : scan.components) header.push_back({id, 0, 0});
    put_sos(header, 0, 63, 0, 0, out);
    out.insert(out.end(), scan.data.begin(), scan.data.end());
  }
  out.insert(out.end(), {0xFF, marker::kEoi});
  const auto bytes = std::as_bytes(std::span(out));
  return {bytes.begin(), bytes.end()};
}

struct Decoded {
  DecodeReport report;
  std::vector<ComponentPlane> planes;
};

Decoded decode(DecodePipeline& pipeline, const Bytes& jpeg) {
  Decoded out;
  const auto report = walk_image(
      pipeline, {}, jpeg,
      [&](const HeaderParser& parser) {
        return pipeline.begin_planes(parser.frame(), nullptr, false);
      },
      [&](const HeaderParser&) { return pipeline.finish_planes(out.planes); });
  EXPECT_TRUE(report.is_ok()) << report.status().message();
  if (report.is_ok()) out.report = *report;
  return out;
}

Decoded count(const Bytes& jpeg) {
  decoded_blocks = transformed_blocks = 0;
  return decode(*make_cpu_decode_pipeline(2, counting_stages()), jpeg);
}

/// 4 bytes hold 16 blocks. A slice is looked at as a whole, but only what it holds is transformed.
constexpr int kSliceBlocks = 512, kMostBlocks = 16 + kMaxBlocksPerMcu;

TEST(BoundedDecode, AnImageOfAFewBytesIsNotDecodedBlockByBlock) {
  for (const int restart_mcus : {0, 1, 5000}) {
    SCOPED_TRACE(restart_mcus);
    const Decoded out = count(stream(4096, 4096, 3, restart_mcus, {{{1, 2, 3}, {0, 0, 0, 0}}}));
    EXPECT_GT(transformed_blocks, 0);
    EXPECT_LE(transformed_blocks, kMostBlocks);
    EXPECT_LE(decoded_blocks, kSliceBlocks);
    const std::int64_t mcus = 512 * 512;
    EXPECT_EQ(out.report.intervals, restart_mcus == 0 ? 1 : ceil_div(mcus, restart_mcus));
    EXPECT_EQ(out.report.first_problem.code(),
              restart_mcus != 0 ? Errc::restart_out_of_order : Errc::truncated);
    for (const ComponentPlane& plane : out.planes)
      EXPECT_EQ(plane.samples, std::vector<std::uint8_t>(std::size_t{4096} * 4096, 128));
  }
}

TEST(BoundedDecode, AComponentThatIsSentAgainAndAgainCostsItsBytes) {
  for (const int restart_mcus : {0, 1}) {
    const std::vector<Scan> scans(99, {{1}, {0, 0, 0, 0}});
    const Decoded out = count(stream(4096, 4096, 3, restart_mcus, scans));
    EXPECT_LE(transformed_blocks, 99 * kMostBlocks);
    EXPECT_LE(decoded_blocks, 99 * kSliceBlocks);
    EXPECT_EQ(out.report.first_problem.code(),
              restart_mcus != 0 ? Errc::restart_out_of_order : Errc::truncated);
  }
}

/// Restart intervals with one byte each: as many blocks as bytes allow.
TEST(BoundedDecode, EmptyIntervalsCostTheirBytes) {
  std::vector<std::uint8_t> data;
  for (int i = 0; i < 200; ++i)
    data.insert(data.end(), {0, 0xFF, static_cast<std::uint8_t>(0xD0 + i % 8)});
  const Decoded out = count(stream(4096, 4096, 1, 512, {{{1}, data}}));
  EXPECT_LE(transformed_blocks, 201 * 5);
  EXPECT_EQ(out.report.concealed_intervals, 512);
}

/// The last scan of a component says what it is, to its end: also where that scan has no data.
TEST(BoundedDecode, TheLastScanOfAComponentCounts) {
  const std::vector<std::uint8_t> brighter{0b10110000, 0b00000000};  // +192, then nothing
  const Scan whole{{1}, {0b10111111, 0b11000000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
  const Scan cut{{1}, brighter};
  const Scan both{{1, 2}, {0b10111100, 0b00010110, 0}};
  const Scan second{{2}, {0b10100000, 0}};
  const std::vector<std::vector<Scan>> streams{{whole, cut}, {cut, whole},   {both, cut},
                                               {cut, both},  {both, second}, {both, second, cut}};
  for (const int restart_mcus : {0, 3, 64})
    for (const auto& scans : streams) {
      const auto pipeline = make_cpu_decode_pipeline(2, cpu_stages());
      const auto fast = make_chosen_decode_pipeline(2, InstructionSet::best);
      const Decoded all = decode(*pipeline, stream(64, 64, 3, restart_mcus, scans));
      const Decoded quick = decode(*fast, stream(64, 64, 3, restart_mcus, scans));
      for (int id = 1; id <= 3; ++id) {
        const auto c = static_cast<std::size_t>(id - 1);
        EXPECT_EQ(all.planes[c].samples, quick.planes[c].samples);
        const Scan* last = nullptr;
        for (const Scan& scan : scans)
          if (std::ranges::find(scan.components, id) != scan.components.end()) last = &scan;
        if (last == nullptr) continue;
        const Decoded alone = decode(*pipeline, stream(64, 64, 3, restart_mcus, {*last}));
        EXPECT_EQ(all.planes[c].samples, alone.planes[c].samples) << "component " << id;
      }
    }
}

}  // namespace
}  // namespace zerorun::test
