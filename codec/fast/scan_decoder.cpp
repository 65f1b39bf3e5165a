// One sound scan through the fast decoder's kernels.
// SPDX-License-Identifier: MIT
#include "codec/fast/scan_decoder.hpp"

#include <algorithm>
#include <cstring>

#include "codec/arith/integer.hpp"
#include "codec/syntax/marker.hpp"

namespace zerorun::fast {

ScanDecoder::ScanDecoder(CpuTarget target, int workers) : kernels_(decode_kernels(target)) {
  for (int w = 0; w < workers; ++w) {
    runs_.push_back(std::make_unique<CoefficientRun>());
    std::memset(runs_.back()->coefficient, 0, sizeof runs_.back()->coefficient);
  }
  for (DequantRows& rows : dequant_) fill_dequant_rows(quant_[0].data(), rows);
}

bool ScanDecoder::begin_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                             const SamplePlane* planes,
                             std::vector<ComponentCoefficients>* coefficients) {
  scan_ = &scan;
  planes_ = planes;
  coefficients_ = coefficients;
  if (!unstuff(data)) return false;
  fill_tables();
  place_rows();
  return true;
}

bool ScanDecoder::unstuff(std::span<const std::uint8_t> data) {
  const std::int64_t intervals = scan_->layout.intervals();
  std::uint64_t* first_byte = interval_first_byte_.reserve(intervals + 1);
  std::uint8_t* const clean =
      clean_.reserve(static_cast<std::int64_t>(data.size()) + kReadAhead + 64);
  const std::uint8_t* in = data.data();
  const std::uint8_t* const end = in + data.size();
  std::uint8_t* out = clean;
  std::int64_t interval = 0;
  first_byte[0] = 0;
  consumed_bytes_ = data.size();
  for (;;) {
    out = kernels_.unstuff(in, end, out);
    while (in < end && *in == 0xFF) ++in;  // fill bytes (T.81 B.1.1.2)
    if (in == end) break;
    const std::uint8_t code = *in++;
    if (code == 0) {
      *out++ = 0xFF;
    } else if (!marker::is_rst(code)) {
      consumed_bytes_ = static_cast<std::uint64_t>(in - 2 - data.data());
      break;
    } else {
      if (code != marker::kRst0 + interval % 8 || ++interval == intervals) return false;
      first_byte[interval] = static_cast<std::uint64_t>(out - clean);
    }
  }
  first_byte[intervals] = static_cast<std::uint64_t>(out - clean);
  std::memset(out, 0, kReadAhead);
  return interval + 1 == intervals;
}

void ScanDecoder::fill_tables() {
  const auto update = [](const HuffmanSpec& spec, auto& memory, auto& table, const auto& fill) {
    if (!memory || !(memory->spec == spec)) {
      if (!memory)
        memory.reset(new typename std::remove_reference_t<decltype(memory)>::element_type);
      memory->spec = spec;
      fill(spec, memory->table);
    }
    table = &memory->table;
  };
  for (std::size_t d = 0; d < 4; ++d) {
    if (scan_->dc[d]) update(*scan_->dc[d], dc_memory_[d], dc_[d], fill_dc_table);
    if (scan_->ac[d]) update(*scan_->ac[d], ac_memory_[d], ac_[d], fill_ac_table);
  }
  for (std::size_t i = 0; i < scan_->components.size(); ++i)
    if (quant_[i] != scan_->quant[i]) {
      quant_[i] = scan_->quant[i];
      fill_dequant_rows(quant_[i].data(), dequant_[i]);
    }
}

void ScanDecoder::place_rows() {
  const ScanLayout& layout = scan_->layout;
  std::int32_t first = 0;
  int block = 0;
  rows_ = 0;
  for (int c = 0; c < layout.components; ++c)
    for (int y = 0; y < layout.component[c].v; ++y) {
      const std::int32_t h = layout.component[c].h;
      row_[rows_++] = {first, c, y};
      for (int x = 0; x < h; ++x) place_[block++] = {first, h, x};
      first += round_up(kDecodeRunMcus * h, kernels_.group_blocks);
    }
}

bool ScanDecoder::decode_interval(std::int64_t interval, int worker) {
  const ScanLayout& layout = scan_->layout;
  CoefficientRun& run = *runs_[static_cast<std::size_t>(worker)];
  std::copy_n(place_, kMaxBlocksPerMcu, run.place);
  BitSource source{clean_.data() + interval_first_byte_.data()[interval], 0, 0};
  const std::uint8_t* const end = clean_.data() + interval_first_byte_.data()[interval + 1];
  // Bits of the interval that are not consumed yet; negative: too many were.
  const auto bits_left = [&] { return (end - source.next) * 8 + source.available; };
  std::int16_t dc_carry[kMaxComponents] = {};
  const std::int64_t last = std::min((interval + 1) * layout.interval_mcus(), layout.mcus());
  for (std::int64_t mcu = interval * layout.interval_mcus(); mcu < last;) {
    const auto mcu_x = static_cast<std::int32_t>(mcu % layout.mcus_wide);
    const auto mcu_y = static_cast<std::int32_t>(mcu / layout.mcus_wide);
    const auto mcus = static_cast<std::int32_t>(std::min(
        {std::int64_t{kDecodeRunMcus}, last - mcu, std::int64_t{layout.mcus_wide - mcu_x}}));
    for (int r = 0; r < rows_; ++r) {
      const std::int32_t blocks =
          round_up(mcus * layout.component[row_[r].component].h, kernels_.group_blocks);
      std::memset(run.coefficient + std::ptrdiff_t{row_[r].first} * kBlockSize, 0,
                  static_cast<std::size_t>(blocks) * kBlockSize * sizeof(std::int16_t));
    }
    if (!kernels_.decode_run({&layout, dc_, ac_, mcus, end, &source, dc_carry, &run}) ||
        bits_left() < 0)
      return false;
    output_run(mcu_x, mcu_y, mcus, run);
    mcu += mcus;
  }
  return bits_left() < 8;
}

void ScanDecoder::output_run(std::int32_t mcu_x, std::int32_t mcu_y, std::int32_t mcus,
                             const CoefficientRun& run) const {
  for (int r = 0; r < rows_; ++r) {
    const Row& row = row_[r];
    const auto& component = scan_->layout.component[row.component];
    const std::int32_t x = mcu_x * component.h, y = mcu_y * component.v + row.y;
    if (y >= component.blocks_high) continue;
    const std::int32_t blocks = std::min(mcus * component.h, component.blocks_wide - x);
    if (coefficients_ != nullptr)
      output_coefficients(row, x, y, blocks, run);
    else
      output_samples(row, x, y, blocks, run);
  }
}

void ScanDecoder::output_samples(const Row& row, std::int32_t x, std::int32_t y,
                                 std::int32_t blocks, const CoefficientRun& run) const {
  const SamplePlane& plane = planes_[scan_->components[static_cast<std::size_t>(row.component)]];
  if (plane.view.data == nullptr) return;
  const std::int32_t x0 = x * kBlockEdge, y0 = y * kBlockEdge;
  kernels_.transform_row({&run, row.first, blocks, &dequant_[row.component],
                          plane.view.data + y0 * plane.view.stride_bytes + x0,
                          plane.view.stride_bytes, plane.columns - x0, plane.rows - y0});
}

void ScanDecoder::output_coefficients(const Row& row, std::int32_t x, std::int32_t y,
                                      std::int32_t blocks, const CoefficientRun& run) const {
  auto& out = (*coefficients_)[static_cast<std::size_t>(
      scan_->components[static_cast<std::size_t>(row.component)])];
  const std::int32_t group = kernels_.group_blocks;
  for (std::int32_t b = 0; b < blocks; ++b) {
    const std::int16_t* in = run.coefficient +
                             std::ptrdiff_t{row.first + b / group * group} * kBlockSize +
                             b % group * kBlockEdge;
    std::int16_t* to = out.values.data() + (std::int64_t{y} * out.blocks_wide + x + b) * kBlockSize;
    for (int i = 0; i < kBlockEdge; ++i)
      std::copy_n(in + i * group * kBlockEdge, kBlockEdge, to + i * kBlockEdge);
  }
}

}  // namespace zerorun::fast
