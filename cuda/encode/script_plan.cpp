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

void place_blocks(const ScanSpec& spec, const ScanLayout& layout, ScanPlan& scan) {
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

ScanChoices find_choices(int components, const ScanScript& candidates) {
  const auto number = [&](int component, int count, int ss, int se, int ah, int al) {
    ScanSpec spec;
    spec.components = static_cast<std::uint8_t>(count);
    for (int i = 0; i < count; ++i) spec.component[i] = static_cast<std::uint8_t>(component + i);
    spec.ss = static_cast<std::uint8_t>(ss), spec.se = static_cast<std::uint8_t>(se);
    spec.ah = static_cast<std::uint8_t>(ah), spec.al = static_cast<std::uint8_t>(al);
    const auto at = std::find(candidates.begin(), candidates.end(), spec);
    return at == candidates.end() ? ScanChoices::kNoScan
                                  : static_cast<std::uint8_t>(at - candidates.begin());
  };
  constexpr int kLast = kBlockSize - 1;
  ScanChoices choices{};
  choices.components = static_cast<std::uint8_t>(components);
  for (int c = 0; c < components; ++c) {
    ScanChoices::OfComponent& of = choices.component[c];
    of.dc = number(c, 1, 0, 0, 0, 0);
    for (int al = 0; al <= kMaxLowBits; ++al) {
      for (std::size_t cut = 0; cut < kBandCuts.size(); ++cut) {
        const int last = kBandCuts[cut];
        of.low[al][cut] = number(c, 1, 1, last > 0 ? last : kLast, 0, al);
        of.high[al][cut] = number(c, 1, last + 1, kLast, 0, al);
      }
      of.refining[al] = number(c, 1, 1, kLast, al + 1, al);
    }
  }
  choices.all_dc = components > 1 ? number(0, components, 0, 0, 0, 0) : ScanChoices::kNoScan;
  choices.chroma_dc =
      components > 2 ? number(1, components - 1, 0, 0, 0, 0) : ScanChoices::kNoScan;
  return choices;
}

/// What one stream has at most.
void bound_stream(const ScanScript& script, ScriptPlan& plan) {
  std::uint32_t tiles = 0;
  std::uint64_t padding = 0;  // blocks of MCUs beyond the frame, which have DC alone
  const auto add = [&](const ScanPlan& scan, std::uint32_t times) {
    tiles += times * scan.grid.tiles;
    plan.stream_ctas += times * scan.ctas;
    plan.stream_chunks += times * scan.grid.chunks;
    if (scan.is_dc()) padding += std::uint64_t{scan.grid.tiles} * kTileBlocks;
  };
  for (std::size_t i = 0; i < script.size(); ++i) {
    if (!plan.is_searched) {
      add(plan.scans[i], 1);
    } else if (script[i].is_dc()) {
      add(plan.scans[i], 1);  // of each kind, where it has one or two
    } else if (script[i].ah == 0 && script[i].al == 0 && script[i].se == kBlockSize - 1 &&
               script[i].ss == 1) {
      add(plan.scans[i], 2 + kMaxLowBits);
    }
  }
  const std::uint64_t bits = plan.blocks * std::uint64_t{kMaxProgressiveBlockBits} + 32 * padding;
  plan.words = (bits + 31) / 32 + tiles;
  const std::size_t scans = plan.is_searched ? 3 + kMaxComponents * (2 + kMaxLowBits)
                                             : script.size();
  constexpr std::uint32_t kDriBytes = 6, kSosBytes = 10 + 2 * kMaxComponents;
  plan.header_room = plan.head_bytes +
                     static_cast<std::uint32_t>(scans) *
                         (kDriBytes + kSosBytes + kScanTables * (kDhtLeadBytes + 256));
}

}  // namespace

Status make_script_plan(const ScriptShape& shape, std::span<const std::uint8_t> head,
                        ScriptPlan& plan) {
  plan = {};
  plan.is_searched = shape.is_searched;
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
  const ScanScript script = shape.is_searched
                                ? candidate_scans(shape.components, true)
                                : simple_progression(shape.components, shape.components == 3);
  if (shape.is_searched) plan.choices = find_choices(shape.components, script);
  plan.levels = 1;
  for (const ScanSpec& spec : script) {
    ScanPlan scan{};
    int in_scan[kMaxDecodedComponents];
    std::copy_n(spec.component, spec.components, in_scan);
    ScanLayout layout = layout_of(in_scan, spec.components);
    layout.restart_interval = shape.restart_rows > 0 ? shape.restart_rows * layout.mcus_wide
                                                     : shape.restart_interval;
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
    plan.first_cta[plan.scans.size()] = plan.ctas;
    plan.order.scan[plan.scans.size()] = static_cast<std::uint8_t>(plan.scans.size());
    plan.tiles += scan.grid.tiles;
    plan.chunks += scan.grid.chunks;
    plan.ctas += scan.ctas;
    plan.scans.push_back(scan);
  }
  plan.order.scans = static_cast<std::uint32_t>(plan.scans.size());
  std::fill(plan.first_cta + plan.scans.size(), plan.first_cta + kMaxScans + 1, plan.ctas);
  bound_stream(script, plan);
  return Status::ok();
}

}  // namespace zerorun
