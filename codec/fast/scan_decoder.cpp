// One scan through the fast decoder's kernels, as far as it is sound.
// SPDX-License-Identifier: MIT
#include "codec/fast/scan_decoder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "codec/arith/host_device.hpp"
#include "codec/base/marker.hpp"

namespace zerorun::fast {
namespace {

/// The kernel may store this many bytes after its output.
constexpr std::size_t kSpare = 64;

}  // namespace

void Unstuffer::cut(std::span<const std::uint8_t> data, int jobs) {
  data_ = data;
  count_ = static_cast<std::size_t>(jobs);
  if (pieces_.size() < count_) pieces_.resize(count_);
  clean_.reserve(static_cast<std::int64_t>(data.size() + kReadAhead + kSpare));
  std::uint8_t* const apart =
      count_ == 1 ? nullptr
                  : apart_.reserve(static_cast<std::int64_t>(data.size() + count_ * kSpare));
  std::size_t from = 0;
  for (std::size_t p = 0; p < count_; ++p) {
    std::size_t to = data.size() * (p + 1) / count_;
    // A piece does not begin behind an FF, which may belong to a marker or a stuffed byte.
    to = std::max(to, from);
    while (to > 0 && to < data.size() && data[to - 1] == 0xFF) ++to;
    pieces_[p].begin = data.data() + from;
    pieces_[p].end = data.data() + to;
    pieces_[p].out = p == 0 ? clean_.data() : apart + from + p * kSpare;
    from = to;
  }
  last_ = jobs - 1;
}

void Unstuffer::unstuff(int job) {
  if (job > last_) return;
  Piece& piece = pieces_[static_cast<std::size_t>(job)];
  piece.markers.clear();
  piece.scan_end = nullptr;
  const std::uint8_t* in = piece.begin;
  std::uint8_t* out = piece.out;
  for (;;) {
    out = kernels_.unstuff(in, piece.end, out);
    while (in < piece.end && *in == 0xFF) ++in;  // fill bytes (T.81 B.1.1.2)
    if (in == piece.end) break;
    const std::uint8_t code = *in++;
    if (code == 0) {
      *out++ = 0xFF;
    } else if (marker::is_rst(code)) {
      piece.markers.push_back({static_cast<std::uint64_t>(out - piece.out),
                               static_cast<std::uint64_t>(in - data_.data()), code});
    } else {
      piece.scan_end = in - 2;
      for (int last = last_; job < last && !last_.compare_exchange_weak(last, job);) continue;
      break;
    }
  }
  piece.clean = static_cast<std::uint64_t>(out - piece.out);
}

void Unstuffer::join() {
  std::uint64_t clean = 0;
  segments_.assign(1, {0, 0, 0});
  count_ = static_cast<std::size_t>(last_) + 1;
  for (std::size_t p = 0; p < count_; ++p) {
    Piece& piece = pieces_[p];
    for (const Marker& marker : piece.markers) {
      segments_.back().marker = marker.code;
      segments_.push_back({clean + marker.clean, marker.source, 0});
    }
    piece.place = clean;
    clean += piece.clean;
  }
  const std::uint8_t* const end = pieces_[count_ - 1].scan_end;
  consumed_bytes_ = end == nullptr ? data_.size() : static_cast<std::uint64_t>(end - data_.data());
  segments_.push_back({clean, consumed_bytes_, 0});
  std::memset(clean_.data() + clean, 0, kReadAhead);
}

void Unstuffer::move(int job) {
  if (static_cast<std::size_t>(job) >= count_) return;
  const Piece& piece = pieces_[static_cast<std::size_t>(job)];
  std::memcpy(clean_.data() + piece.place, piece.out, piece.clean);
}

namespace {

/// Walks from guesses begin this many MCUs before a cut, or this many bits if those are more, and
/// should meet at the cut. How many of 199 cuts of pictures of 3840x2160 had a wrong start:
///
///   bits before the cut | photos q75, q90; a ramp | text | noise | time of a search
///   8 Ki                |                       0 |   23 |    78 |            11 us
///   32 Ki (31, 14 MCUs) |                       0 |    0 |     2 |            39 us
constexpr std::uint64_t kWarmMcus = 32, kWarmBits = 8192;

/// In the time in which one thread decodes kDecodeUnits bits, another counts the MCUs of
/// kCountUnits bits. The walks of a 4K photo at q90 take 1.72 ms for bits whose decoding takes 6.44
/// (3.7 times as long).
constexpr std::uint64_t kDecodeUnits = 2, kCountUnits = 7;

}  // namespace

void IntervalParts::cut(const DecodeKernels& kernels, const CountCycle& cycle,
                        const std::uint8_t* bytes, const IntervalState& interval, int threads) {
  kernels_ = &kernels;
  cycle_ = &cycle;
  bytes_ = bytes;
  interval_ = interval;
  // While one thread decodes the first part, each of the others counts kCountWalks parts; then
  // every thread decodes as much as one has counted.
  constexpr std::uint64_t kFirst = kCountWalks * kDecodeUnits;
  const std::uint64_t counted = kCountWalks * static_cast<std::uint64_t>(threads - 1);
  const std::uint64_t units =
      kFirst + kCountWalks * kCountUnits * static_cast<std::uint64_t>(threads);
  const std::uint64_t bits = interval.end_bit - interval.at.bit;
  const auto mcus = static_cast<std::uint64_t>(interval.end_mcu - interval.at.mcu);
  // A search should not take longer than the decoding that it makes parallel.
  warm_bits_ = std::min(std::max(kWarmBits, bits / mcus * kWarmMcus), bits / 8);
  walks_.clear();
  for (std::uint64_t cut = 0; cut <= counted + 1; ++cut)
    walks_.push_back({0, interval.at.bit + bits / units * (kFirst + kCountUnits * cut)});
  parts_ = static_cast<int>(walks_.size());
  starts_.assign(walks_.size(), McuStart());
  starts_[0] = interval.at;
}

void IntervalParts::run(CountWalk* walks, int count) const {
  kernels_->count_mcus({cycle_, bytes_, interval_.end_bit, walks, count});
}

void IntervalParts::count(int job) {
  CountWalk* const walks = &walks_[static_cast<std::size_t>(1 + job * kCountWalks)];
  for (int w = 0; w < kCountWalks; ++w) {
    const std::uint64_t cut = walks[w - 1].stop;
    const std::uint64_t from = std::max(cut, interval_.at.bit + warm_bits_) - warm_bits_;
    // A start behind the next cut does not fit, which join() finds out.
    walks[w].begin = std::min(interval_.end_bit,
                              kernels_->find_mcu(*cycle_, bytes_, interval_.end_bit, from, cut));
  }
  run(walks, kCountWalks);
}

bool IntervalParts::pass_part(std::size_t part, McuStart& at) {
  CountWalk& walk = walks_[part];
  if (!walk.sound || walk.begin != at.bit) {
    walk.begin = at.bit;
    run(&walk, 1);
  }
  if (!walk.sound) return false;
  at.bit = walk.end;
  at.mcu += walk.mcus;
  for (int c = 0; c < kMaxDecodedComponents; ++c) {
    // The sums of the components stand in one number: a negative one borrows from the next.
    const auto sum = static_cast<std::int16_t>(walk.diffs);
    walk.diffs = (walk.diffs - static_cast<std::uint64_t>(std::int64_t{sum})) >> 16;
    at.dc[c] = static_cast<std::int16_t>(at.dc[c] + sum);
  }
  return true;
}

void IntervalParts::join(const McuStart& first_end, bool goes_on) {
  parts_ = 1;
  McuStart at = first_end;
  while (goes_on && at.mcu < interval_.end_mcu) {
    const auto part = static_cast<std::size_t>(parts_++);
    starts_[part] = at;
    goes_on = part + 1 < walks_.size() && pass_part(part, at);
  }
}

namespace {

/// The MCUs for a run from `at` that hardly goes beyond `stop`, if they take as many bits as those
/// since `start`.
std::int32_t mcus_before(std::uint64_t stop, const McuStart& start, const McuStart& at) {
  if (at.mcu == start.mcu) return 1;
  const std::uint64_t done = at.bit - start.bit + 1;
  const auto mcus = static_cast<std::uint64_t>(at.mcu - start.mcu) * (stop - at.bit) / (2 * done);
  return static_cast<std::int32_t>(std::clamp<std::uint64_t>(mcus, 1, kDecodeRunMcus));
}

}  // namespace

ScanDecoder::ScanDecoder(InstructionSet target, int workers)
    : kernels_(decode_kernels(target)),
      starts_(static_cast<std::size_t>(workers)),
      unstuffer_(kernels_) {
  for (int w = 0; w < workers; ++w) {
    runs_.push_back(std::make_unique<CoefficientRun>());
    std::memset(runs_.back()->coefficient, 0, sizeof runs_.back()->coefficient);
  }
  for (DequantRows& rows : dequant_) fill_dequant_rows(quant_[0].data(), rows);
}

void ScanDecoder::begin_scan(const ScanHeader& scan, std::span<const std::uint8_t> data,
                             const SamplePlane* planes, const StoredBlocks* stored, int jobs) {
  scan_ = &scan;
  planes_ = planes;
  stored_ = stored;
  constexpr int kDcAlone = 3;
  dc_alone_ = 0;
  for (std::size_t i = 0; i < scan.components.size() && stored == nullptr; ++i)
    if (planes[scan.components[i]].view.shrink == kDcAlone) dc_alone_ |= 1u << i;
  unstuffer_.cut(data, jobs);
}

void ScanDecoder::join_bytes() {
  unstuffer_.join();
  fill_tables();
  place_rows();
  if (dc_alone_ != 0) fill_count_cycle();
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
  const auto fill = [&](std::uint32_t number, const auto& cached, const auto& fill_table) {
    if (count_memory_->spec[number] == cached.spec) return;
    count_memory_->spec[number] = cached.spec;
    fill_table(cached.table.symbols, count_memory_->table[number]);
  };
  cycle_.blocks = layout.blocks_per_mcu;
  for (int i = 0; i < cycle_.blocks; ++i) {
    const int c = layout.block_component[i];
    const std::uint32_t dc = layout.component[c].dc_table, ac = layout.component[c].ac_table;
    fill(dc, *dc_memory_[dc], fill_dc_count_table);
    fill(4 + ac, *ac_memory_[ac], fill_ac_count_table);
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

std::int64_t ScanDecoder::pass_mcus(const McuStart& at, std::int64_t last, std::uint64_t end_bit,
                                    int worker) {
  // Few enough for the cache, and no more than these are passed behind a region.
  constexpr std::uint64_t kMostBits = 2 << 20, kLeastBits = 64 << 10;
  const std::uint64_t bits = std::min(end_bit - at.bit, kMostBits);
  const std::size_t parts = bits < kLeastBits ? 1 : kCountWalks;
  const std::uint64_t step = bits / parts;
  const auto blocks = static_cast<std::uint64_t>((last - at.mcu) * cycle_.blocks);
  const std::uint64_t room = std::bit_ceil(std::min(2 * blocks, step) + 2 * kMaxBlocksPerMcu);
  std::uint64_t* const starts =
      starts_[static_cast<std::size_t>(worker)].reserve(static_cast<std::int64_t>(parts * room));
  const std::uint8_t* const bytes = unstuffer_.bytes();
  CountWalk walks[kCountWalks];
  for (std::size_t w = 0; w < parts; ++w) {
    std::uint64_t begin = at.bit + w * step;
    // Behind the last MCU up to 7 bits fill its byte.
    const std::uint64_t stop = std::min(begin + step, std::max<std::uint64_t>(end_bit, 7) - 7);
    const std::uint64_t warm = std::min(kWarmBits, step / 4);
    if (w > 0) begin = kernels_.find_mcu(cycle_, bytes, end_bit, begin - warm, begin);
    walks[w] = {.begin = std::min(begin, end_bit), .stop = stop, .starts = starts + w * room};
  }
  kernels_.count_mcus({&cycle_, bytes, end_bit, walks, static_cast<int>(parts), room - 1});
  std::int64_t mcus = 0;
  std::uint64_t bit = at.bit;
  // Up to a wrong guess, or to a fault.
  for (std::size_t w = 0; w < parts && walks[w].begin == bit; ++w) {
    const auto passed = static_cast<std::uint64_t>(walks[w].mcus * cycle_.blocks);
    if (passed + kMaxBlocksPerMcu >= room) break;  // it wrote starts in the next MCU, too
    std::memmove(starts + mcus * cycle_.blocks, walks[w].starts, (passed + 1) * sizeof *starts);
    mcus += walks[w].mcus;
    if (!walks[w].sound) break;
    bit = walks[w].end;
  }
  return std::min(mcus, last - at.mcu);
}

bool ScanDecoder::decode_mcus(McuStart& at, std::int64_t last, std::uint64_t stop,
                              std::uint64_t end_bit, int worker) {
  const ScanLayout& layout = scan_->layout;
  CoefficientRun& run = *runs_[static_cast<std::size_t>(worker)];
  std::copy_n(place_, kMaxBlocksPerMcu, run.place);
  const std::uint8_t* const bytes = unstuffer_.bytes();
  ByteWindow source = ByteWindow::at(bytes, at.bit);
  const McuStart start = at;
  std::int64_t passed = at.mcu, first_passed = 0;
  while (at.mcu < last && at.bit < stop) {
    const auto mcu_x = static_cast<std::int32_t>(at.mcu % layout.mcus_wide);
    const auto mcu_y = static_cast<std::int32_t>(at.mcu / layout.mcus_wide);
    auto mcus = static_cast<std::int32_t>(std::min(
        {std::int64_t{kDecodeRunMcus}, last - at.mcu, std::int64_t{layout.mcus_wide - mcu_x}}));
    if (stop < end_bit) mcus = std::min(mcus, mcus_before(stop, start, at));
    const std::uint64_t* starts = nullptr;
    if (dc_alone_ != 0 && at.mcu == passed) {
      first_passed = at.mcu;
      passed += pass_mcus(at, last, std::min(stop, end_bit), worker);
    }
    if (at.mcu < passed) {
      mcus = static_cast<std::int32_t>(std::min<std::int64_t>(mcus, passed - at.mcu));
      starts = starts_[static_cast<std::size_t>(worker)].data() +
               (at.mcu - first_passed) * layout.blocks_per_mcu;
    }
    for (int r = 0; r < rows_; ++r) {
      if (starts != nullptr && (dc_alone_ >> row_[r].component & 1) != 0) continue;
      const std::int32_t blocks =
          round_up(mcus * layout.component[row_[r].component].h, kernels_.group_blocks);
      std::memset(run.coefficient + std::ptrdiff_t{row_[r].first} * kBlockSize, 0,
                  static_cast<std::size_t>(blocks) * kBlockSize * sizeof(std::int16_t));
    }
    McuStart next = at;
    if (!kernels_.decode_run({&layout, dc_, ac_, mcus, bytes + end_bit / 8, &source, next.dc, &run,
                              starts, bytes, dc_alone_}))
      return false;
    next.bit = source.position(bytes);
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
  const std::uint64_t end_bit = job == 0 ? parts_.end_bit() : parts_.start(part + 1).bit;
  decode_mcus(at, last, end_bit + 1, end_bit, worker);
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
    if (stored_ == nullptr) {
      output_samples(row, x, y, blocks, run);
      continue;
    }
    const StoredBlocks& out = stored_[scan_->components[static_cast<std::size_t>(row.component)]];
    kernels_.store_row({&run, row.first, blocks, &out, std::int64_t{y} * out.blocks_wide + x});
  }
}

void ScanDecoder::output_samples(const Row& row, std::int32_t x, std::int32_t y,
                                 std::int32_t blocks, const CoefficientRun& run) const {
  const SamplePlane& plane = planes_[scan_->components[static_cast<std::size_t>(row.component)]];
  if (plane.view.data == nullptr) return;
  const PlaneView& view = plane.view;
  const std::int32_t edge = kBlockEdge >> view.shrink, y0 = (y - view.block_y) * edge;
  if (y0 < 0 || y0 >= view.height) return;
  const std::int32_t end = std::min(x + blocks, view.block_x + ceil_div(view.width, edge));
  if (end <= view.block_x) return;
  const std::int32_t group = kernels_.group_blocks;
  TransformRowArgs args{&run,       row.first,         0, &dequant_[row.component],
                        nullptr,    view.stride_bytes, 0, plane.rows - y0,
                        view.shrink};
  if (const std::int32_t before = view.block_x - x; before > 0) {
    // The plane begins in this run: whole groups are left out, and the rest of one apart.
    args.first += before / group * group;
    x += before / group * group;
    if (x < view.block_x && x < end) args.first += output_first(args, x, end, y0, view);
    x = round_up(before, group) + view.block_x - before;
  }
  if (x >= end) return;
  args.blocks = end - x;
  const std::int32_t x0 = (x - view.block_x) * edge;
  args.out = view.data + y0 * view.stride_bytes + x0;
  args.columns = plane.columns - x0;
  kernels_.transform_row(args);
}

/// The group in which the plane begins; returns its blocks.
std::int32_t ScanDecoder::output_first(TransformRowArgs args, std::int32_t x, std::int32_t end,
                                       std::int32_t y0, const PlaneView& view) const {
  constexpr int kWidth = 4 * kBlockEdge;  // of the widest group
  std::uint8_t samples[kBlockEdge * kWidth];
  const std::int32_t edge = kBlockEdge >> view.shrink, outside = (view.block_x - x) * edge;
  args.blocks = std::min(kernels_.group_blocks, end - x);
  args.out = samples;
  args.stride = args.columns = kWidth;
  args.rows = kBlockEdge;
  kernels_.transform_row(args);
  const auto columns = static_cast<std::size_t>(std::min(args.blocks * edge - outside, view.width));
  for (std::int32_t y = 0; y < std::min(edge, view.height - y0); ++y)
    std::memcpy(view.data + (y0 + y) * view.stride_bytes, samples + y * kWidth + outside, columns);
  return kernels_.group_blocks;
}

void ScanDecoder::transform_row(const StoredBlocks& blocks, std::int32_t row,
                                const DequantRows& dequant, const SamplePlane& plane,
                                int worker) const {
  constexpr std::int32_t kRunBlocks =
      64;  // transformed together: they stay in the first-level cache
  CoefficientRun& run = *runs_[static_cast<std::size_t>(worker)];
  const std::int32_t group = kernels_.group_blocks;
  const PlaneView& view = plane.view;
  const std::int32_t edge = kBlockEdge >> view.shrink;
  const std::int64_t y0 = std::int64_t{row} * edge;
  const std::int32_t wide = ceil_div(view.width, edge);
  for (std::int32_t x = 0; x < wide; x += kRunBlocks) {
    const std::int32_t count = std::min(kRunBlocks, wide - x);
    const std::int64_t first =
        std::int64_t{row + view.block_y} * blocks.blocks_wide + view.block_x + x;
    for (std::int32_t b = 0; b < count; ++b) {
      const std::int64_t block = first + b;
      std::int16_t* const out =
          run.coefficient + std::ptrdiff_t{b / group * group} * kBlockSize + b % group * kBlockEdge;
      const std::uint64_t nonzero = blocks.nonzero[block];
      const std::int16_t* const in = blocks.ac + block * kBlockSize;
      for (int y = 0; y < kBlockEdge; ++y)
        if (nonzero == 0)
          std::memset(out + y * group * kBlockEdge, 0, kBlockEdge * sizeof *out);
        else
          std::memcpy(out + y * group * kBlockEdge, in + y * kBlockEdge, kBlockEdge * sizeof *out);
      out[0] = blocks.dc[block];
      run.extent[b] = static_cast<std::uint8_t>(64 - __builtin_clzll(nonzero | 1));
    }
    const std::int64_t x0 = std::int64_t{x} * edge;
    kernels_.transform_row({&run, 0, count, &dequant, view.data + y0 * view.stride_bytes + x0,
                            view.stride_bytes, plane.columns - static_cast<std::int32_t>(x0),
                            plane.rows - static_cast<std::int32_t>(y0), view.shrink});
  }
}

}  // namespace zerorun::fast
