// Geometry of scans.
// SPDX-License-Identifier: MIT
#include "codec/syntax/scan_layout.hpp"

#include <span>

namespace zerorun {

ScanLayout make_scan_layout(int width, int height, const ComponentSpec* frame_components,
                            int frame_component_count, const int* scan_components,
                            int scan_component_count, int restart_interval) {
  const MaxFactors max =
      max_factors(std::span(frame_components, static_cast<std::size_t>(frame_component_count)));
  ScanLayout layout{};
  layout.components = scan_component_count;
  layout.restart_interval = restart_interval;
  const bool interleaved = scan_component_count > 1;
  for (int i = 0; i < scan_component_count; ++i) {
    const ComponentSpec& spec = frame_components[scan_components[i]];
    ScanLayout::Component& component = layout.component[i];
    component.width = component_extent(width, spec.h, max.h);
    component.height = component_extent(height, spec.v, max.v);
    component.blocks_wide = ceil_div(component.width, 8);
    component.blocks_high = ceil_div(component.height, 8);
    component.h = interleaved ? spec.h : 1;  // T.81 A.2.2: one component is never interleaved
    component.v = interleaved ? spec.v : 1;
    component.dc_table = spec.dc_table;
    component.ac_table = spec.ac_table;
    for (int y = 0; y < component.v; ++y)
      for (int x = 0; x < component.h; ++x) {
        layout.block_component[layout.blocks_per_mcu] = static_cast<std::uint8_t>(i);
        layout.block_x[layout.blocks_per_mcu] = static_cast<std::uint8_t>(x);
        layout.block_y[layout.blocks_per_mcu] = static_cast<std::uint8_t>(y);
        ++layout.blocks_per_mcu;
      }
  }
  if (interleaved) {
    layout.mcus_wide = ceil_div(width, 8 * max.h);
    layout.mcus_high = ceil_div(height, 8 * max.v);
  } else {
    layout.mcus_wide = layout.component[0].blocks_wide;
    layout.mcus_high = layout.component[0].blocks_high;
  }
  return layout;
}

}  // namespace zerorun
