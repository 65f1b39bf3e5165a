// inspect(): the headers of a stream.
// SPDX-License-Identifier: MIT
#include "zerorun/decoder.hpp"

#include <algorithm>

#include "codec/base/try.hpp"
#include "codec/syntax/header_parser.hpp"
#include "codec/syntax/quant_table.hpp"
#include "codec/syntax/scan_layout.hpp"

namespace zerorun {
namespace {

std::optional<Subsampling> name_subsampling(const std::vector<ComponentInfo>& c) {
  if (c.size() == 1) return Subsampling::gray;
  if (c.size() == 4 && (c[3].h != c[0].h || c[3].v != c[0].v)) return std::nullopt;
  for (const Subsampling sampling : {Subsampling::s444, Subsampling::s422, Subsampling::s420,
                                     Subsampling::s440, Subsampling::s411})
    if (has_sampling(c, luma_factors(sampling))) return sampling;
  return std::nullopt;
}

bool uses_standard_tables(const ScanHeader& scan) {
  for (std::size_t d = 0; d < 4; ++d) {
    if (scan.dc[d] && (d > 1 || !(*scan.dc[d] == standard_huffman_spec(static_cast<int>(d)))))
      return false;
    if (scan.ac[d] && (d > 1 || !(*scan.ac[d] == standard_huffman_spec(2 + static_cast<int>(d)))))
      return false;
  }
  return true;
}

/// The inks of CMYK have one table, as libjpeg writes them.
std::optional<int> quality_of(const ScanHeader& scan, ColorModel color) {
  const auto tables = std::span(scan.quant).first(scan.components.size());
  if (color == ColorModel::cmyk || color == ColorModel::inverted_cmyk)
    return std::ranges::count(tables, tables[0]) == std::ssize(tables)
               ? estimate_quality(tables[0], nullptr)
               : std::nullopt;
  return estimate_quality(tables[0], tables.size() > 1 ? &tables[1] : nullptr);
}

}  // namespace

Result<StreamInfo> inspect(std::span<const std::byte> jpeg, const StreamLimits& limits) {
  return guarded([&]() -> Result<StreamInfo> {
    HeaderParser parser(jpeg, limits);
    parser.keep_segments();
    ZR_TRY(parser.start());
    ZR_TRY(parser.next_scan().status());
    const FrameHeader& frame = parser.frame();
    const ScanHeader& scan = parser.scan();
    StreamInfo info;
    info.width = frame.width;
    info.height = frame.height;
    info.extended = frame.extended;
    info.progressive = frame.progressive;
    info.color = parser.color_model();
    for (const auto& c : frame.components)
      info.components.push_back({c.id, c.h, c.v, c.quant_table, c.width, c.height});
    info.subsampling = name_subsampling(info.components);
    info.restart_interval_mcus = scan.layout.restart_interval;
    info.has_jfif = parser.has_jfif();
    info.standard_huffman_tables = !frame.progressive && uses_standard_tables(scan);
    if (scan.components[0] == 0) info.quality = quality_of(scan, info.color);
    info.pixel_aspect_x = parser.pixel_aspect_x();
    info.pixel_aspect_y = parser.pixel_aspect_y();
    info.exif_orientation = parser.exif_orientation();
    info.segments = parser.segments();
    info.header_bytes = scan.data_offset;
    return info;
  });
}

}  // namespace zerorun
