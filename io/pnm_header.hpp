// The text header of PBM, PGM and PPM (netpbm), read number by number with checks.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "io/byte_reader.hpp"
#include "zerorun/status.hpp"

namespace zerorun::io {

struct PnmHeader {
  int kind = 6;  ///< the digit after P: 1..3 are text, 4..6 binary; 1, 4 bits, 2, 5 grey, 3, 6 RGB
  int width = 0, height = 0;
  int max_value = 255;  ///< 1 to 65535

  bool is_text() const noexcept { return kind <= 3; }
  bool is_bitmap() const noexcept { return kind == 1 || kind == 4; }
  int channels() const noexcept { return kind == 3 || kind == 6 ? 3 : 1; }
  std::uint64_t row_bytes() const noexcept;  ///< of the binary kinds
};

/// Reads up to the first byte of the samples. Errors: bad_input, too_many_pixels, read_failed.
Result<PnmHeader> read_pnm_header(ByteReader& reader);

/// The next number of a text image or header; -1 if there is none or it is over 65535.
int read_pnm_number(ByteReader& reader);
/// The next 0 or 1 of a text bitmap, where blanks between digits are optional; else -1.
int read_pnm_bit(ByteReader& reader);
/// Leaves the reader at the next byte that is no blank (and belongs to no comment).
void skip_pnm_blanks(ByteReader& reader);

}  // namespace zerorun::io
