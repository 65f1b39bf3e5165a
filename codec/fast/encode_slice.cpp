// A slice of a scan through the fast encoder's kernels, run by run, and the tables that code it.
// SPDX-License-Identifier: MIT
#include "codec/fast/encode_slice.hpp"

#include <algorithm>

#include "codec/arith/symbol.hpp"

namespace zerorun::fast {
namespace {

void transform(const FrameCoding& frame, std::int64_t mcu, int mcus, BlockRun& run) {
  const ScanLayout& layout = *frame.layout;
  frame.kernels->transform_run({&layout,
                                frame.plane,
                                frame.quant,
                                static_cast<std::int32_t>(mcu % layout.mcus_wide),
                                static_cast<std::int32_t>(mcu / layout.mcus_wide),
                                mcus,
                                &run,
                                frame.tune,
                                {frame.dc[0], frame.dc[1]}});
}

/// Predictions at the start of a slice: 0, or the DCs of the MCU before it.
Predictions predict(const FrameCoding& frame, std::int64_t first_mcu, BlockRun& run) {
  Predictions predictions{};
  const ScanLayout& layout = *frame.layout;
  if (first_mcu % layout.interval_mcus() == 0) return predictions;
  transform(frame, first_mcu - 1, 1, run);
  for (int i = 0; i < layout.blocks_per_mcu; ++i)
    predictions.dc[layout.block_component[i]] = run.zz[i][0];
  return predictions;
}

/// Where the interval of an MCU ends in the slice.
std::int64_t end_of_interval(const FrameCoding& frame, SliceRange slice, std::int64_t mcu) {
  const std::int64_t interval = frame.layout->interval_mcus();
  return std::min((mcu / interval + 1) * interval, slice.first_mcu + slice.mcu_count);
}

/// Calls code(mcus, predictions) for MCUs that stand transformed in `run`, and interval_ended()
/// after each interval, or the part of one.
template <typename Code, typename End>
void for_each_run(const FrameCoding& frame, SliceRange slice, BlockRun& run, const Code& code,
                  const End& interval_ended) {
  const ScanLayout& layout = *frame.layout;
  Predictions predictions = predict(frame, slice.first_mcu, run);
  for (std::int64_t mcu = slice.first_mcu, end = mcu + slice.mcu_count; mcu < end;) {
    const std::int64_t row_end = (mcu / layout.mcus_wide + 1) * layout.mcus_wide;
    const std::int64_t interval_end = end_of_interval(frame, slice, mcu);
    const std::int64_t stop = std::min({mcu + kRunMcus, row_end, interval_end});
    const auto mcus = static_cast<int>(stop - mcu);
    transform(frame, mcu, mcus, run);
    code(mcus, predictions);
    mcu = stop;
    if (mcu != interval_end) continue;
    interval_ended();
    predictions = {};
  }
}

/// Behind an interval, or the part of one.
void end_interval(BitState& state, bool is_part, std::int64_t interval, SliceBits& out) {
  out.bits = state.bits_since(out.bytes);
  state.flush(is_part ? 0 : ~std::uint64_t{0});
  if (!is_part) out.interval_bytes[interval] = static_cast<std::uint64_t>(state.out - out.bytes);
}

std::uint32_t make_entry(std::uint32_t bits, int length) {
  return bits << kLengthBits | static_cast<std::uint32_t>(length);
}

/// Entries of table t for the values -offset..count - offset - 1 behind a run.
void fill_direct(const HuffmanEncodeTables& tables, int t, int run, int offset, int count,
                 std::uint32_t* out) {
  for (int i = 0; i < count; ++i) {
    const Symbol symbol = make_symbol(run, i - offset, t);
    const int s = symbol.rrrrssss, ssss = s & 15;
    out[i] = make_entry(tables.code[t][s] << ssss | symbol.appended, tables.bits[t][s] + ssss);
  }
}

}  // namespace

void fill_code_tables(const std::array<HuffmanSpec, kEncodeTables>& specs, CodeTables& out) {
  HuffmanEncodeTables tables;
  for (int t = 0; t < kEncodeTables; ++t)
    fill_encode_table(specs[static_cast<std::size_t>(t)], t, tables);
  for (int t = 0; t < kEncodeTables; ++t)
    for (int s = 0; s < 256; ++s)
      out.entry[kTokenLong + t * 256 + s] =
          make_entry(tables.code[t][s], tables.bits[t][s] + (s & 15));
  for (int t = 0; t < 2; ++t) {
    fill_direct(tables, t, 0, kDirectDiffOffset, kDirectDiffs,
                out.entry + kTokenDc + t * kDirectDiffs);
    std::uint32_t* const ac = out.entry + t * kTokensPerTable;
    for (int run = 0; run < 16; ++run)
      fill_direct(tables, 2 + t, run, kDirectOffset, kDirectValues, ac + run * kDirectValues);
    for (int s = 0; s < 256; ++s)
      ac[kTokenSymbol + s] = make_entry(tables.code[2 + t][s], tables.bits[2 + t][s]);
  }
}

void add_symbol_counts(const TokenCounts& tokens, SymbolCounts& out) {
  for (int t = 0; t < 2; ++t) {
    const std::uint32_t* const dc = tokens.count + kTokenDc + t * kDirectDiffs;
    for (int i = 0; i < kDirectDiffs; ++i) out.count[t][category(i - kDirectDiffOffset)] += dc[i];
    const std::uint32_t* const ac = tokens.count + t * kTokensPerTable;
    for (int i = 0; i < kTokenSymbol; ++i) {
      const int value = i % kDirectValues - kDirectOffset;
      out.count[2 + t][i / kDirectValues << 4 | category(value)] += ac[i];
    }
    for (int s = 0; s < 256; ++s) out.count[2 + t][s] += ac[kTokenSymbol + s];
  }
  for (int t = 0; t < kEncodeTables; ++t)
    for (int s = 0; s < 256; ++s) out.count[t][s] += tokens.count[kTokenLong + t * 256 + s];
}

void code_slice(const FrameCoding& frame, SliceRange slice, bool is_part, const CodeTables& tables,
                BlockRun& run, SliceBits& out) {
  BitState state{out.bytes};
  std::int64_t interval = 0;
  for_each_run(
      frame, slice, run,
      [&](int mcus, Predictions& predictions) {
        frame.kernels->code_run(*frame.layout, run, mcus, tables, predictions, state);
      },
      [&] { end_interval(state, is_part, interval++, out); });
}

void tokenise_slice(const FrameCoding& frame, SliceRange slice, BlockRun& run,
                    std::vector<std::uint16_t>& tokens, std::uint64_t* first_token,
                    TokenCounts& counts) {
  const ScanLayout& layout = *frame.layout;
  std::size_t size = 0;
  *first_token++ = 0;
  for_each_run(
      frame, slice, run,
      [&](int mcus, Predictions& predictions) {
        const auto most = static_cast<std::size_t>(mcus * layout.blocks_per_mcu * kMaxBlockTokens);
        if (tokens.size() < size + most) tokens.resize(size + size / 2 + most);
        const std::uint16_t* const end = frame.kernels->tokens_of_run(
            layout, run, mcus, predictions, tokens.data() + size, counts);
        size = static_cast<std::size_t>(end - tokens.data());
      },
      [&] { *first_token++ = size; });
}

void code_slice_tokens(const FrameCoding& frame, SliceRange slice, const std::uint16_t* tokens,
                       const std::uint64_t* first_token, bool is_part, const CodeTables& tables,
                       SliceBits& out) {
  BitState state{out.bytes};
  std::int64_t interval = 0;
  for (std::int64_t mcu = slice.first_mcu, end = mcu + slice.mcu_count; mcu < end; ++interval) {
    frame.kernels->code_tokens(tokens + first_token[interval], tokens + first_token[interval + 1],
                               tables, state);
    end_interval(state, is_part, interval, out);
    mcu = end_of_interval(frame, slice, mcu);
  }
}

void store_slice(const FrameCoding& frame, SliceRange slice, BlockRun& run,
                 const StoredBlocks* blocks) {
  const ScanLayout& layout = *frame.layout;
  std::int64_t mcu = slice.first_mcu;
  for_each_run(
      frame, slice, run,
      [&](int mcus, Predictions&) {
        int index = 0;
        for (const std::int64_t end = mcu + mcus; mcu < end; ++mcu)
          for (std::int32_t i = 0; i < layout.blocks_per_mcu; ++i, ++index)
            store_block(layout, mcu, i, run.zz[index], run.nonzero[index], blocks);
      },
      [] {});
}

}  // namespace zerorun::fast
