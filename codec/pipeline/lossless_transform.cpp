// Turning, mirroring and cutting a picture by moving the blocks of its coefficients.
// SPDX-License-Identifier: MIT
#include "codec/pipeline/coefficient_coder.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "codec/base/try.hpp"

namespace zerorun {
namespace {

struct Turn {
  bool transposes = false, mirrors_x = false, mirrors_y = false;
};

/// First `a`, then `b`.
Turn combine(Turn a, const Turn& b) {
  if (b.transposes) std::swap(a.mirrors_x, a.mirrors_y);
  return {a.transposes != b.transposes, a.mirrors_x != b.mirrors_x, a.mirrors_y != b.mirrors_y};
}

constexpr Turn kUpright[8] = {{},
                              {false, true, false},
                              {false, true, true},
                              {false, false, true},
                              {true, false, false},
                              {true, true, false},
                              {true, true, true},
                              {true, false, true}};

Turn turn_of(const LosslessTransform& transform, int orientation) {
  constexpr int kTurned[] = {1, 6, 3, 8};  // the orientation that asks for the same
  const int shown = transform.rotate == Rotation::upright
                        ? orientation
                        : kTurned[static_cast<int>(transform.rotate)];
  return combine(kUpright[shown - 1],
                 {false, transform.flip == Flip::horizontal, transform.flip == Flip::vertical});
}

Status keep_luma(ColorModel model, FrameHeader& frame) {
  const auto& luma = frame.components[0];
  if (model != ColorModel::gray &&
      (model != ColorModel::ycbcr || luma.h != frame.h_max || luma.v != frame.v_max))
    return Status(Errc::pixel_format, "there is no luma of full size to keep");
  frame.components.resize(1);
  return Status::ok();
}

/// The picture is `size` samples wide or high, and is cut to `length` from `first` on.
Status crop_side(int first, int length, int mcu, int& size, std::int32_t& first_mcu) {
  if (first < 0 || length < 1 || first > size - length)
    return Status(Errc::invalid_argument, "the crop leaves the picture");
  first_mcu = first / mcu;
  size = length + first % mcu;
  return Status::ok();
}

/// Leaves out the samples behind the last whole MCU.
void trim_side(int mcu, std::int32_t first, std::int32_t whole, int& size) {
  const int kept = size / mcu;
  if (kept > 0 && first + kept == whole) size = kept * mcu;
}

/// Where the coefficients of a block go, and which change their sign.
struct Moves {
  std::array<std::uint8_t, kBlockSize> natural{}, zigzag{};  // by the zig-zag index before
  std::array<bool, kBlockSize> negates{};
};

constexpr Moves make_moves(bool transposes, bool mirrors_x, bool mirrors_y) {
  std::array<std::uint8_t, kBlockSize> zigzag_of{};
  for (std::size_t k = 0; k < kBlockSize; ++k)
    zigzag_of[kNaturalOfZigzag[k]] = static_cast<std::uint8_t>(k);
  Moves moves;
  for (std::size_t k = 0; k < kBlockSize; ++k) {
    std::size_t x = kNaturalOfZigzag[k] % 8, y = kNaturalOfZigzag[k] / 8;
    if (transposes) std::swap(x, y);
    moves.natural[k] = static_cast<std::uint8_t>(8 * y + x);
    moves.zigzag[k] = zigzag_of[8 * y + x];
    // A mirrored cosine of an odd frequency has the other sign.
    moves.negates[k] = (mirrors_x && x % 2 == 1) != (mirrors_y && y % 2 == 1);
  }
  return moves;
}

constexpr Moves kMoves[8] = {make_moves(false, false, false), make_moves(true, false, false),
                             make_moves(false, true, false),  make_moves(true, true, false),
                             make_moves(false, false, true),  make_moves(true, false, true),
                             make_moves(false, true, true),   make_moves(true, true, true)};

void move_block(const StoredBlocks& from, std::int64_t source, const Moves& moves,
                const StoredBlocks& to, std::int64_t block) {
  to.dc[block] = from.dc[source];
  if (from.nonzero[source] == 0) return;
  const std::int16_t* const in = from.ac + source * kBlockSize;
  std::int16_t* const out = to.ac + block * kBlockSize;
  std::memset(out, 0, kBlockSize * sizeof *out);
  std::uint64_t nonzero = 0;
  for (std::uint64_t left = from.nonzero[source]; left != 0; left &= left - 1) {
    const auto k = static_cast<std::size_t>(__builtin_ctzll(left));
    const std::int16_t value = in[kNaturalOfZigzag[k]];
    out[moves.natural[k]] = moves.negates[k] ? static_cast<std::int16_t>(-value) : value;
    nonzero |= std::uint64_t{1} << moves.zigzag[k];
  }
  to.nonzero[block] = nonzero;
}

}  // namespace

Result<TransformPlan> plan_transform(const FrameHeader& frame, ColorModel model,
                                     const LosslessTransform& transform, int orientation) {
  TransformPlan plan;
  FrameHeader& out = plan.frame = frame;
  if (transform.gray) ZR_TRY(keep_luma(model, out));
  const Turn turn = turn_of(transform, orientation);
  if (turn.transposes) std::swap(out.width, out.height);
  for (auto& c : out.components) {
    if (out.components.size() == 1) c.h = c.v = 1;  // its blocks lie in rows whatever these are
    if (turn.transposes) std::swap(c.h, c.v);
  }
  measure(out);
  const int mcu_width = kBlockEdge * out.h_max, mcu_height = kBlockEdge * out.v_max;
  if (transform.edges == Edges::refuse && ((turn.mirrors_x && out.width % mcu_width != 0) ||
                                           (turn.mirrors_y && out.height % mcu_height != 0)))
    return Status(Errc::invalid_argument,
                  "the edge that would move is no whole MCU; it can stay there, or be trimmed");
  plan.whole_x = out.width / mcu_width;
  plan.whole_y = out.height / mcu_height;
  if (const Region& crop = transform.crop; !(crop == Region())) {
    ZR_TRY(crop_side(crop.x, crop.width, mcu_width, out.width, plan.first_x));
    ZR_TRY(crop_side(crop.y, crop.height, mcu_height, out.height, plan.first_y));
  }
  if (transform.edges == Edges::trim && turn.mirrors_x)
    trim_side(mcu_width, plan.first_x, plan.whole_x, out.width);
  if (transform.edges == Edges::trim && turn.mirrors_y)
    trim_side(mcu_height, plan.first_y, plan.whole_y, out.height);
  measure(out);
  plan.transposes = turn.transposes;
  plan.mirrors_x = turn.mirrors_x;
  plan.mirrors_y = turn.mirrors_y;
  plan.moves_blocks = turn.transposes || turn.mirrors_x || turn.mirrors_y ||
                      out.width != frame.width || out.height != frame.height;
  return plan;
}

void transform_blocks(const TransformPlan& plan, const StoredFrame& from, ThreadPool& pool,
                      StoredFrame& to) {
  to.clear(plan.frame);
  for (std::size_t i = 0; i < plan.frame.components.size(); ++i) {
    const FrameHeader::Component& c = plan.frame.components[i];
    const StoredBlocks &in = from.blocks(i), &out = to.blocks(i);
    QuantTable quant = from.quant(i);
    for (std::size_t n = 0; n < kBlockSize && plan.transposes; ++n)
      quant[n] = from.quant(i)[n % 8 * 8 + n / 8];
    to.set_quant(i, quant);
    pool.run(c.blocks_high, [&](std::int64_t row, int) {
      std::int64_t y = row + std::int64_t{plan.first_y} * c.v;
      const std::int64_t whole_y = std::int64_t{plan.whole_y} * c.v;
      const bool mirrors_y = plan.mirrors_y && y < whole_y;
      if (mirrors_y) y = whole_y - 1 - y;
      for (std::int64_t column = 0; column < c.blocks_wide; ++column) {
        std::int64_t x = column + std::int64_t{plan.first_x} * c.h;
        const std::int64_t whole_x = std::int64_t{plan.whole_x} * c.h;
        const bool mirrors_x = plan.mirrors_x && x < whole_x;
        if (mirrors_x) x = whole_x - 1 - x;
        const std::int64_t source =
            plan.transposes ? x * in.blocks_wide + y : y * in.blocks_wide + x;
        move_block(in, source, kMoves[plan.transposes + 2 * mirrors_x + 4 * mirrors_y], out,
                   row * c.blocks_wide + column);
      }
    });
  }
}

}  // namespace zerorun
