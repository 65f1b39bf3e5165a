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

/// Where an interval and its groups end.
class Ends {
 public:
  Ends(const FrameCoding& frame, SliceRange slice)
      : interval_(frame.layout->interval_mcus()),
        group_(frame.group_mcus == 0 ? interval_ : frame.group_mcus),
        end_(slice.first_mcu + slice.mcu_count) {}

  std::int64_t of_interval(std::int64_t mcu) const {
    return std::min((mcu / interval_ + 1) * interval_, end_);
  }
  std::int64_t of_group(std::int64_t mcu) const {
    const std::int64_t first = mcu / interval_ * interval_;
    return std::min(first + ((mcu - first) / group_ + 1) * group_, of_interval(mcu));
  }

 private:
  std::int64_t interval_, group_, end_;
};

/// Calls code(first, mcus, predictions) for MCUs that stand transformed in `run`, group_ended()
/// after each group, and interval_ended() after each interval whose end lies in the slice.
template <typename Code, typename GroupEnd, typename End>
void for_each_run(const FrameCoding& frame, SliceRange slice, BlockRun& run, const Code& code,
                  const GroupEnd& group_ended, const End& interval_ended) {
  const ScanLayout& layout = *frame.layout;
  const Ends ends(frame, slice);
  Predictions predictions = predict(frame, slice.first_mcu, run);
  for (std::int64_t mcu = slice.first_mcu, end = mcu + slice.mcu_count; mcu < end;) {
    const std::int64_t row_end = (mcu / layout.mcus_wide + 1) * layout.mcus_wide;
    const std::int64_t interval_end = ends.of_interval(mcu), first = mcu;
    const std::int64_t stop = std::min({mcu + kRunMcus, row_end, interval_end});
    transform(frame, mcu, static_cast<int>(stop - mcu), run);
    while (mcu < stop) {
      const std::int64_t group_end = ends.of_group(mcu), next = std::min(stop, group_end);
      code(static_cast<int>(mcu - first), static_cast<int>(next - mcu), predictions);
      mcu = next;
      if (mcu == group_end) group_ended();
    }
    if (mcu != interval_end) continue;
    interval_ended();
    predictions = {};
  }
}

/// DC of all blocks, and AC that are not 0.
std::uint32_t count_pairs(const ScanLayout& layout, const BlockRun& run, int first, int mcus) {
  std::uint32_t pairs = 0;
  for (int b = first * layout.blocks_per_mcu; b < (first + mcus) * layout.blocks_per_mcu; ++b)
    pairs += static_cast<std::uint32_t>(std::popcount(run.nonzero[b] | 1));
  return pairs;
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
  std::uint64_t group_start = 0;
  std::uint32_t pairs = 0;
  std::int64_t group = 0, interval = 0;
  const bool indexed = out.entries != nullptr;
  for_each_run(
      frame, slice, run,
      [&](int first, int mcus, Predictions& predictions) {
        frame.kernels->code_run(*frame.layout, run, first, mcus, tables, predictions, state);
        if (indexed) pairs += count_pairs(*frame.layout, run, first, mcus);
      },
      [&] {
        if (!indexed) return;
        const std::uint64_t now = bits_so_far(state, out);
        out.entries[group++] = {static_cast<std::uint16_t>(now - group_start),
                                static_cast<std::uint16_t>(pairs)};
        group_start = now;
        pairs = 0;
      },
      [&] {
        end_interval(state, is_part, interval++, out);
        group_start = bits_so_far(state, out);
      });
}

void tokenise_slice(const FrameCoding& frame, SliceRange slice, BlockRun& run,
                    std::vector<std::uint16_t>& tokens, std::uint64_t* first_token,
                    IndexEntry* entries, TokenCounts& counts) {
  const ScanLayout& layout = *frame.layout;
  std::size_t size = 0;
  std::uint32_t pairs = 0;
  *first_token++ = 0;
  for_each_run(
      frame, slice, run,
      [&](int first, int mcus, Predictions& predictions) {
        const auto most = static_cast<std::size_t>(mcus * layout.blocks_per_mcu * kMaxBlockTokens);
        if (tokens.size() < size + most) tokens.resize(size + size / 2 + most);
        const std::uint16_t* const end = frame.kernels->tokens_of_run(
            layout, run, first, mcus, predictions, tokens.data() + size, counts);
        size = static_cast<std::size_t>(end - tokens.data());
        if (entries != nullptr) pairs += count_pairs(layout, run, first, mcus);
      },
      [&] {
        *first_token++ = size;
        if (entries != nullptr) (entries++)->pairs = static_cast<std::uint16_t>(pairs);
        pairs = 0;
      },
      [] {});
}

void code_slice_tokens(const FrameCoding& frame, SliceRange slice, const std::uint16_t* tokens,
                       const std::uint64_t* first_token, bool is_part, const CodeTables& tables,
                       SliceBits& out) {
  BitState state{out.bytes, 0, 64};
  const Ends ends(frame, slice);
  std::int64_t group = 0, interval = 0;
  for (std::int64_t mcu = slice.first_mcu, end = mcu + slice.mcu_count; mcu < end; ++group) {
    const std::uint64_t before = bits_so_far(state, out);
    frame.kernels->code_tokens(tokens + first_token[group], tokens + first_token[group + 1], tables,
                               state);
    if (out.entries != nullptr)
      out.entries[group].bits = static_cast<std::uint16_t>(bits_so_far(state, out) - before);
    const std::int64_t interval_end = ends.of_interval(mcu);
    mcu = ends.of_group(mcu);
    if (mcu == interval_end) end_interval(state, is_part, interval++, out);
  }
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
