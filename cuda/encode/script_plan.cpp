// Scans -> tiles, chunks and headers.
// SPDX-License-Identifier: MIT
#include "cuda/encode/script_plan.hpp"

#include <algorithm>

#include "codec/encode/progressive_scan.hpp"
#include "codec/syntax/header_writer.hpp"

namespace zerorun {
namespace {

/// Tables of the encoder's frames: one for the first component, another for the others.
std::uint8_t destination_of(int component) { return component == 0 ? 0 : 1; }

void add_sos(const ScanSpec& spec, std::vector<std::uint8_t>& out) {
  std::vector<SosComponent> components;
  for (int i = 0; i < spec.components; ++i) {
    const int destination = destination_of(spec.component[i]);
    // As libjpeg: a scan names only tables that it has.
    components.push_back({spec.component[i] + 1,
                          spec.is_dc() && !spec.is_refinement() ? destination : 0,
                          spec.is_dc() ? 0 : destination});
  }
  put_sos(components, spec.ss, spec.se, spec.ah, spec.al, out);
}

void place_blocks(const ScanSpec& spec, const ScanLayout& layout, CodedScan& scan) {
  const bool has_tables = spec.is_dc() && !spec.is_refinement();
  for (int i = 0; i < spec.components; ++i) {
    scan.h[i] = static_cast<std::uint8_t>(layout.component[i].h);
    scan.v[i] = static_cast<std::uint8_t>(layout.component[i].v);
    const std::uint8_t destination = destination_of(spec.component[i]);
    std::uint8_t* const end = scan.destination + scan.tables;
    if ((has_tables || !spec.is_dc()) && std::find(scan.destination, end, destination) == end)
      scan.destination[scan.tables++] = destination;
  }
  for (std::int32_t b = 0; b < layout.blocks_per_mcu; ++b) {
    McuBlock& block = scan.block[b];
    block.of_scan = layout.block_component[b];
    block.component = spec.component[block.of_scan];
    block.x = layout.block_x[b];
    block.y = layout.block_y[b];
    const std::uint8_t destination = destination_of(block.component);
    block.slot = scan.tables > 1 && destination == scan.destination[1] ? 1 : 0;
    const PreviousBlock before = previous_block(layout, b);
    block.predecessor = static_cast<std::uint8_t>(before.index);
    block.wraps = before.wraps ? 1 : 0;
  }
}

/// The scans that are counted together.
std::vector<CountJob> make_jobs(const ScanChoices& choices, std::size_t scans) {
  std::vector<CountJob> jobs;
  std::vector<bool> has_job(scans);
  const auto add = [&](std::uint8_t scan, bool begins_job) {
    if (begins_job) jobs.emplace_back();
    jobs.back().scan[jobs.back().scans++] = scan;
    has_job[scan] = true;
  };
  // The longest ones first.
  for (int c = 0; c < choices.components; ++c)
    for (int al = 0; al <= kMaxLowBits; ++al) {
      const ScanChoices::OfComponent& of = choices.component[c];
      for (int cut = 0; cut <= kAcCutCount; ++cut) add(of.low[al][cut], cut == 0);
      for (int cut = 1; cut <= kAcCutCount; ++cut) add(of.high[al][cut], false);
    }
  for (std::size_t scan = 0; scan < scans; ++scan)
    if (!has_job[scan]) add(static_cast<std::uint8_t>(scan), true);
  return jobs;
}

/// What one stream has at most.
void bound_stream(const ScanScript& candidates, ScriptPlan& plan) {
  std::uint32_t tiles = 0;
  std::uint64_t padding = 0;  // blocks of MCUs beyond the frame, which have DC alone
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const ScanSpec& spec = candidates[i];
    const bool is_all = spec.ss == 1 && spec.se == kBlockSize - 1 && spec.ah == 0 && spec.al == 0;
    // Two of AC and all refinements; of DC, each kind.
    const std::uint32_t times = is_all ? 2 + kMaxLowBits : spec.is_dc() ? 1 : 0;
    tiles += times * plan.scans[i].grid.tiles;
    plan.stream_ctas += times * plan.scans[i].ctas;
    plan.stream_chunks += times * plan.scans[i].grid.chunks;
    if (spec.is_dc()) padding += std::uint64_t{plan.scans[i].grid.tiles} * kTileBlocks;
  }
  const std::uint64_t bits = plan.blocks * std::uint64_t{kMaxProgressiveBlockBits} + 32 * padding;
  plan.words = (bits + 31) / 32 + tiles;
  constexpr std::uint32_t kDriBytes = 6, kSosBytes = 10 + 2 * kMaxComponents;
  plan.header_room =
      plan.head_bytes + kMaxScans * (kDriBytes + kSosBytes + kScanTables * (kDhtLeadBytes + 256));
}

}  // namespace

Status make_script_plan(const ScriptShape& shape, std::span<const std::uint8_t> head,
                        ScriptPlan& plan) {
  plan = {};
  plan.parts.assign(head.begin(), head.end());
  plan.head_bytes = static_cast<std::uint32_t>(head.size());
  ComponentSpec specs[kMaxComponents];
  specs[0].h = shape.luma.h;
  specs[0].v = shape.luma.v;
  const auto layout_of = [&](const int* components, int count) {
    return make_scan_layout(shape.width, shape.height, specs, shape.components, components, count,
                            0);
  };
  for (int c = 0; c < shape.components; ++c) {
    const ScanLayout alone = layout_of(&c, 1);
    const ScanLayout::Component& component = alone.component[0];
    plan.component[c] = {plan.blocks, static_cast<std::uint32_t>(component.blocks_wide),
                         static_cast<std::uint32_t>(component.blocks_high)};
    plan.blocks += plan.component[c].blocks_wide * plan.component[c].blocks_high;
  }
  const ScanScript candidates = candidate_scans(shape.components, true);
  plan.choices = find_choices(shape.components, candidates);
  plan.jobs = make_jobs(plan.choices, candidates.size());
  plan.levels = 1;
  for (const ScanSpec& spec : candidates) {
    CodedScan scan{};
    int in_scan[kMaxDecodedComponents];
    std::copy_n(spec.component, spec.components, in_scan);
    ScanLayout layout = layout_of(in_scan, spec.components);
    layout.restart_interval =
        shape.restart_rows > 0 ? shape.restart_rows * layout.mcus_wide : shape.restart_interval;
    if (layout.restart_interval > 65535)
      return Status(Errc::invalid_argument,
                    "a scan has more than 65535 MCUs in a restart interval");
    scan.grid = make_tile_grid(layout);
    scan.ss = spec.ss, scan.se = spec.se, scan.ah = spec.ah, scan.al = spec.al;
    scan.components = spec.components;
    scan.restart_interval = static_cast<std::uint32_t>(layout.restart_interval);
    if (!spec.is_dc())
      plan.levels = std::max<std::uint32_t>(plan.levels, std::max(spec.al, spec.ah) + 1);
    place_blocks(spec, layout, scan);
    scan.first_tile = plan.tiles;
    scan.first_chunk = plan.chunks;
    scan.ctas = ceil_div(scan.grid.tiles, std::uint32_t{kScanWarps});
    scan.sos_at = static_cast<std::uint32_t>(plan.parts.size());
    add_sos(spec, plan.parts);
    scan.sos_bytes = static_cast<std::uint32_t>(plan.parts.size()) - scan.sos_at;
    plan.tiles += scan.grid.tiles;
    plan.chunks += scan.grid.chunks;
    plan.scans.push_back(scan);
  }
  for (std::size_t j = 0; j < plan.jobs.size(); ++j) {
    const CountJob& job = plan.jobs[j];
    for (std::uint8_t band = 0; band < job.scans; ++band) {
      CodedScan& scan = plan.scans[job.scan[band]];
      scan.job = static_cast<std::uint8_t>(j);
      scan.in_job = band;
    }
    plan.first_cta[j] = plan.job_ctas;
    plan.job_ctas += plan.scans[job.scan[0]].ctas;
  }
  std::fill(plan.first_cta + plan.jobs.size(), plan.first_cta + kMaxJobs + 1, plan.job_ctas);
  bound_stream(candidates, plan);
  return Status::ok();
}

}  // namespace zerorun
