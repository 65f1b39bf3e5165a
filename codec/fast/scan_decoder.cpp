// One scan through the fast decoder's kernels, as far as it is sound.
// SPDX-License-Identifier: MIT
#include "codec/fast/scan_decoder.hpp"

#include <algorithm>
#include <cstring>

#include "codec/arith/integer.hpp"

namespace zerorun::fast {
namespace {

BitSource source_at(const std::uint8_t* bytes, std::uint64_t bit) {
  const std::uint8_t* const at = bytes + bit / 8;
  const int used = static_cast<int>(bit % 8);
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return {at + 7, __builtin_bswap64(word) << used, 56 - used};
}

/// The MCUs for a run from `at` that hardly goes beyond `stop`, if they take as many bits as those
/// since `start`.
std::int32_t mcus_before(std::uint64_t stop, const McuStart& start, const McuStart& at) {
  if (at.mcu == start.mcu) return 1;
  const std::uint64_t done = at.bit - start.bit + 1;
  const auto mcus = static_cast<std::uint64_t>(at.mcu - start.mcu) * (stop - at.bit) / (2 * done);
  return static_cast<std::int32_t>(std::clamp<std::uint64_t>(mcus, 1, kDecodeRunMcus));
}

}  // namespace

ScanDecoder::ScanDecoder(CpuTarget target, int workers)
    : kernels_(decode_kernels(target)), unstuffer_(kernels_) {
  for (int w = 0; w < workers; ++w) {
    runs_.push_back(std::make_unique<CoefficientRun>());
    std::memset(runs_.back()->coefficient, 0, sizeof runs_.back()->coefficient);
  }
  for (DequantRows& rows : dequant_) fill_dequant_rows(quant_[0].data(), rows);
}

void ScanDecoder::begin_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                             const SamplePlane* planes,
                             std::vector<ComponentCoefficients>* coefficients, int jobs) {
  scan_ = &scan;
  planes_ = planes;
  coefficients_ = coefficients;
  unstuffer_.cut(data, jobs);
}

void ScanDecoder::join_bytes() {
  unstuffer_.join();
  fill_tables();
  place_rows();
}

namespace {

/// Fills `memory` if it is not filled for `spec` already.
template <typename Memory, typename Fill>
auto* table_for(const HuffmanSpec& spec, Memory& memory, const Fill& fill) {
  if (!memory || !(memory->spec == spec)) {
    if (!memory) memory.reset(new typename Memory::element_type);
    memory->spec = spec;
    fill(spec, memory->table);
  }
  return &memory->table;
}

}  // namespace

void ScanDecoder::fill_tables() {
  for (std::size_t d = 0; d < 4; ++d) {
    if (scan_->dc[d]) dc_[d] = table_for(*scan_->dc[d], dc_memory_[d], fill_dc_table);
    if (scan_->ac[d]) ac_[d] = table_for(*scan_->ac[d], ac_memory_[d], fill_ac_table);
  }
  for (std::size_t i = 0; i < scan_->components.size(); ++i)
    if (quant_[i] != scan_->quant[i]) {
      quant_[i] = scan_->quant[i];
      fill_dequant_rows(quant_[i].data(), dequant_[i]);
    }
}

void ScanDecoder::fill_count_cycle() {
  if (!count_memory_) count_memory_ = std::make_unique<CountMemory>();
  const ScanLayout& layout = scan_->layout;
  const auto fill = [&](std::uint32_t number, const HuffmanSpec& spec, const auto& fill_table) {
    if (count_memory_->spec[number] == spec) return;
    count_memory_->spec[number] = spec;
    fill_table(spec, count_memory_->table[number]);
  };
  cycle_.blocks = layout.blocks_per_mcu;
  for (int i = 0; i < cycle_.blocks; ++i) {
    const int c = layout.block_component[i];
    const std::uint32_t dc = layout.component[c].dc_table, ac = layout.component[c].ac_table;
    fill(dc, *scan_->dc[dc], fill_dc_count_table);
    fill(4 + ac, *scan_->ac[ac], fill_ac_count_table);
    const auto shift = static_cast<std::uint64_t>(16 * c);
    CountCycle::Place* const at = cycle_.place + 2 * i;
    const CountCycle::Place* const next = cycle_.before((i + 1) % cycle_.blocks);
    at[0] = {count_memory_->table[dc].step, {at + 1, next}, shift, &dc_[dc]->symbols};
    at[1] = {count_memory_->table[4 + ac].step, {at + 1, next}, shift, &ac_[ac]->symbols};
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

bool ScanDecoder::decode_mcus(McuStart& at, std::int64_t last, std::uint64_t stop,
                              std::uint64_t end_bit, int worker) {
  const ScanLayout& layout = scan_->layout;
  CoefficientRun& run = *runs_[static_cast<std::size_t>(worker)];
  std::copy_n(place_, kMaxBlocksPerMcu, run.place);
  const std::uint8_t* const bytes = unstuffer_.bytes();
  BitSource source = source_at(bytes, at.bit);
  const McuStart start = at;
  while (at.mcu < last && at.bit < stop) {
    const auto mcu_x = static_cast<std::int32_t>(at.mcu % layout.mcus_wide);
    const auto mcu_y = static_cast<std::int32_t>(at.mcu / layout.mcus_wide);
    auto mcus = static_cast<std::int32_t>(std::min(
        {std::int64_t{kDecodeRunMcus}, last - at.mcu, std::int64_t{layout.mcus_wide - mcu_x}}));
    if (stop < end_bit) mcus = std::min(mcus, mcus_before(stop, start, at));
    for (int r = 0; r < rows_; ++r) {
      const std::int32_t blocks =
          round_up(mcus * layout.component[row_[r].component].h, kernels_.group_blocks);
      std::memset(run.coefficient + std::ptrdiff_t{row_[r].first} * kBlockSize, 0,
                  static_cast<std::size_t>(blocks) * kBlockSize * sizeof(std::int16_t));
    }
    McuStart next = at;
    if (!kernels_.decode_run(
            {&layout, dc_, ac_, mcus, bytes + end_bit / 8, &source, next.dc, &run}))
      return false;
    next.bit = static_cast<std::uint64_t>((source.next - bytes) * 8 - source.available);
    if (next.bit > end_bit) return false;
    output_run(mcu_x, mcu_y, mcus, run);
    next.mcu += mcus;
    at = next;
  }
  return true;
}

int ScanDecoder::cut_interval(const IntervalState& interval, int threads) {
  fill_count_cycle();
  parts_.cut(kernels_, cycle_, unstuffer_.bytes(), interval, threads);
  part_ends_.resize(static_cast<std::size_t>(parts_.parts()));
  return 1 + parts_.count_jobs();
}

void ScanDecoder::find_parts(int job, int worker) {
  if (job > 0) return parts_.count(job - 1);
  part_ends_[0] = parts_.start(0);
  first_sound_ =
      decode_mcus(part_ends_[0], parts_.end_mcu(), parts_.stop(0), parts_.end_bit(), worker);
}

int ScanDecoder::join_parts() {
  parts_.join(part_ends_[0], first_sound_);
  return parts_.parts() - 1;
}

void ScanDecoder::decode_part(int job, int worker) {
  const int part = parts_.parts() - 1 - job;
  McuStart& at = part_ends_[static_cast<std::size_t>(part)];
  at = parts_.start(part);
  const std::int64_t last = job == 0 ? parts_.end_mcu() : parts_.start(part + 1).mcu;
  decode_mcus(at, last, parts_.end_bit() + 1, parts_.end_bit(), worker);
}

McuStart ScanDecoder::end_of_parts() const {
  McuStart at = part_ends_[0];
  for (int part = 1; part < parts_.parts() && at == parts_.start(part); ++part)
    at = part_ends_[static_cast<std::size_t>(part)];
  return at;
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
