// What a JPEG stream says about itself, read from its headers alone.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "zerorun/encoder.hpp"
#include "zerorun/export.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun {

/// Colour space of the components, by libjpeg's rules (JFIF, Adobe APP14, component ids).
enum class ColorModel : std::uint8_t { gray, ycbcr, rgb };

struct ComponentInfo {
  int id = 0;                 ///< Ci
  int h = 1, v = 1;           ///< sampling factors Hi, Vi
  int quant_table = 0;        ///< Tqi
  int width = 0, height = 0;  ///< samples, T.81 A.1.1
};

/// Limits that are checked before memory is allocated.
struct StreamLimits {
  std::int64_t max_pixels = std::int64_t{1} << 27;
  int max_scans = 100;
  std::int64_t max_header_bytes = std::int64_t{64} << 20;  ///< all marker segments of an image

  /// Every size that a header can name: for inspect(), which takes no memory for pixels, and for
  /// streams that the caller has made or looked at before.
  static constexpr StreamLimits any_size() {
    StreamLimits limits;
    limits.max_pixels = std::int64_t{65535} * 65535;
    return limits;
  }
};

struct StreamInfo {
  int width = 0, height = 0;
  bool extended = false;  ///< SOF1 instead of SOF0
  ColorModel color = ColorModel::ycbcr;
  std::vector<ComponentInfo> components;
  std::optional<Subsampling> subsampling;  ///< unset for factors that have no such name
  int restart_interval_mcus = 0;           ///< as of the first scan; 0 = none
  int index_group_mcus = 0;  ///< MCUs of an entry of the scan index (EncodeParams::index); 0 = none
  bool has_jfif = false;
  bool standard_huffman_tables = false;  ///< the first scan uses Annex K.3 (or sends no table)
  std::optional<int> quality;  ///< libjpeg's scale, if the tables are K.1/K.2 scaled by it
  int pixel_aspect_x = 1, pixel_aspect_y = 1;
  int exif_orientation = 1;  ///< 1..8; 1 where there is none
  /// APPn and COM, in order, without those of a scan index, which would be wrong in any other
  /// stream.
  std::vector<MarkerSegment> segments;
  std::size_t header_bytes = 0;  ///< offset of the first entropy-coded byte
};

/// Reads the headers up to the first scan. Decodes no sample and allocates no frame.
/// Errors: the 2xx and 3xx codes, too_many_pixels, too_much_header. Thread-safe.
ZERORUN_API Result<StreamInfo> inspect(std::span<const std::byte> jpeg,
                                       const StreamLimits& limits = {});

}  // namespace zerorun
