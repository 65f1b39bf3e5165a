// A slice of a scan through the fast encoder's kernels, run by run.
// SPDX-License-Identifier: MIT
#include "codec/fast/encode_slice.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace zerorun::fast {
namespace {

std::uint64_t big_endian(std::uint64_t x) {
  return std::endian::native == std::endian::little ? __builtin_bswap64(x) : x;
}

std::uint64_t load(const std::uint8_t* in) {
  std::uint64_t word;
  std::memcpy(&word, in, sizeof word);
  return big_endian(word);
}

void store(std::uint64_t word, std::uint8_t* out) {
  word = big_endian(word);
  std::memcpy(out, &word, sizeof word);
}

/// Stores what is pending, filled up with `filling` (0 or all ones); the next bits start on a byte.
void flush(BitState& state, std::uint64_t filling) {
  if (state.free < 64) {
    const std::uint64_t word =
        state.pending << state.free | (filling & ((std::uint64_t{1} << state.free) - 1));
    store(word, state.out);
    state.out += (64 - state.free + 7) / 8;
  }
  state.pending = 0;
  state.free = 64;
}

void transform(const FrameCoding& frame, std::int64_t mcu, int mcus, BlockRun& run) {
  const ScanLayout& layout = *frame.layout;
  frame.kernels->transform_run({&layout, frame.plane, frame.quant,
                                static_cast<std::int32_t>(mcu % layout.mcus_wide),
                                static_cast<std::int32_t>(mcu / layout.mcus_wide), mcus, &run});
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

/// Calls code(mcus, predictions) for runs of MCUs that stand transformed in `run`, and
/// interval_ended() behind each interval that the slice reaches the end of.
template <typename Code, typename End>
void for_each_run(const FrameCoding& frame, SliceRange slice, BlockRun& run, const Code& code,
                  const End& interval_ended) {
  const ScanLayout& layout = *frame.layout;
  const std::int64_t interval = layout.interval_mcus(), end = slice.first_mcu + slice.mcu_count;
  Predictions predictions = predict(frame, slice.first_mcu, run);
  for (std::int64_t mcu = slice.first_mcu; mcu < end;) {
    const std::int64_t row_end = (mcu / layout.mcus_wide + 1) * layout.mcus_wide;
    const std::int64_t interval_end = (mcu / interval + 1) * interval;
    const std::int64_t stop = std::min({mcu + kRunMcus, row_end, interval_end, end});
    transform(frame, mcu, static_cast<int>(stop - mcu), run);
    code(static_cast<int>(stop - mcu), predictions);
    mcu = stop;
    if (mcu != interval_end && mcu != end) continue;
    interval_ended();
    predictions = {};
  }
}

}  // namespace

void code_slice(const FrameCoding& frame, SliceRange slice, bool is_part, const CodeTables& tables,
                BlockRun& run, SliceBits& out) {
  BitState state{out.bytes, 0, 64};
  std::uint64_t* interval_bytes = out.interval_bytes;
  for_each_run(
      frame, slice, run,
      [&](int mcus, Predictions& predictions) {
        frame.kernels->code_run(*frame.layout, run, mcus, tables, predictions, state);
      },
      [&] {
        out.bits = static_cast<std::uint64_t>(state.out - out.bytes) * 8 +
                   static_cast<std::uint64_t>(64 - state.free);
        flush(state, is_part ? 0 : ~std::uint64_t{0});
        if (!is_part) *interval_bytes++ = static_cast<std::uint64_t>(state.out - out.bytes);
      });
}

std::uint16_t* tokenise_slice(const FrameCoding& frame, SliceRange slice, BlockRun& run,
                              std::uint16_t* tokens, std::uint64_t* first_token,
                              TokenCounts& counts) {
  std::uint16_t* out = tokens;
  *first_token++ = 0;
  for_each_run(
      frame, slice, run,
      [&](int mcus, Predictions& predictions) {
        out = frame.kernels->tokens_of_run(*frame.layout, run, mcus, predictions, out, counts);
      },
      [&] { *first_token++ = static_cast<std::uint64_t>(out - tokens); });
  return out;
}

void code_slice_tokens(const EncodeKernels& kernels, const std::uint16_t* tokens,
                       const std::uint64_t* first_token, std::int64_t intervals, bool is_part,
                       const TokenCodes& codes, SliceBits& out) {
  BitState state{out.bytes, 0, 64};
  for (std::int64_t i = 0; i < intervals; ++i) {
    kernels.code_tokens(tokens + first_token[i], tokens + first_token[i + 1], codes, state);
    out.bits = static_cast<std::uint64_t>(state.out - out.bytes) * 8 +
               static_cast<std::uint64_t>(64 - state.free);
    flush(state, is_part ? 0 : ~std::uint64_t{0});
    if (!is_part) out.interval_bytes[i] = static_cast<std::uint64_t>(state.out - out.bytes);
  }
}

void BitJoiner::append(const std::uint8_t* in, std::uint64_t bits) {
  const int used = static_cast<int>(bits_ % 8);  // bits of the byte at hand
  std::uint8_t* out = out_ + bits_ / 8;
  bits_ += bits;
  if (used == 0) {
    std::memcpy(out, in, (bits + 7) / 8);
    return;
  }
  // 56 bits a step, behind those of the byte at hand.
  std::uint64_t held = std::uint64_t{*out} >> (8 - used);
  for (std::uint64_t done = 0; done < bits; done += 56, in += 7, out += 7) {
    const std::uint64_t next = load(in) >> 8;
    store((held << 56 | next) << (8 - used), out);
    held = next & ((std::uint64_t{1} << used) - 1);
  }
}

std::uint64_t BitJoiner::finish() {
  const int used = static_cast<int>(bits_ % 8);
  if (used != 0) out_[bits_ / 8] |= static_cast<std::uint8_t>(0xFF >> used);
  return (bits_ + 7) / 8;
}

}  // namespace zerorun::fast
