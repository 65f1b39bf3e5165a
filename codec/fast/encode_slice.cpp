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

std::uint64_t bits_so_far(const BitState& state, const SliceBits& out) {
  return static_cast<std::uint64_t>(state.out - out.bytes) * 8 +
         static_cast<std::uint64_t>(64 - state.free);
}

/// Behind an interval, or the part of one.
void end_interval(BitState& state, bool is_part, std::int64_t interval, SliceBits& out) {
  out.bits = bits_so_far(state, out);
  flush(state, is_part ? 0 : ~std::uint64_t{0});
  if (!is_part) out.interval_bytes[interval] = static_cast<std::uint64_t>(state.out - out.bytes);
}

}  // namespace

void code_slice(const FrameCoding& frame, SliceRange slice, bool is_part, const CodeTables& tables,
                BlockRun& run, SliceBits& out) {
  BitState state{out.bytes, 0, 64};
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
  BitState state{out.bytes, 0, 64};
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

std::uint8_t last_bits(const std::uint8_t* bytes, std::uint64_t bits, std::uint64_t count) {
  const std::uint64_t first = bits - count;
  const std::uint32_t two =
      static_cast<std::uint32_t>(bytes[first / 8] << 8 | bytes[first / 8 + 1]);
  return static_cast<std::uint8_t>((two << first % 8 >> 8) & (0xFF00u >> count));
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
