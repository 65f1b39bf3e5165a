// The header of a PNM image, and the numbers of its text kinds.
// SPDX-License-Identifier: MIT
#include "io/pnm_header.hpp"

#include <string>

#include "codec/base/try.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::io {
namespace {

constexpr int kMaxValue = 65535;

bool is_blank(int c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

Status malformed(const ByteReader& reader, const std::string& what) {
  if (!reader.error()) return reader.error();
  return Status(Errc::bad_input, "'" + reader.name() + "': the PNM header " + what);
}

int peek_byte(ByteReader& reader) {
  const std::span<const std::byte> one = reader.peek(1);
  return one.empty() ? -1 : static_cast<int>(one[0]);
}

/// Reads up to the first byte of the samples.
Result<PnmHeader> read_header(ByteReader& reader) {
  const int p = reader.get(), digit = reader.get();
  if (p != 'P' || digit < '1' || digit > '6')
    return malformed(reader, "does not start with P1 to P6");
  PnmHeader header;
  header.kind = digit - '0';
  if (!is_blank(peek_byte(reader)) && peek_byte(reader) != '#')
    return malformed(reader, "does not start with P1 to P6");
  header.width = read_number(reader);
  header.height = read_number(reader);
  if (header.width < 1 || header.height < 1)
    return malformed(reader, "has no usable size; JPEG holds 1x1 to 65535x65535");
  header.max_value = header.is_bitmap() ? 1 : read_number(reader);
  if (header.max_value < 1) return malformed(reader, "has no maximum from 1 to 65535");
  if (std::int64_t{header.width} * header.height > StreamLimits{}.max_pixels)
    return Status(Errc::too_many_pixels, "'" + reader.name() + "' says " +
                                             std::to_string(header.width) + "x" +
                                             std::to_string(header.height));
  // Exactly one blank: the first sample of a binary image may look like another one.
  if (!header.is_text() && !is_blank(reader.get()))
    return malformed(reader, "does not end in a blank");
  return header;
}

}  // namespace

void skip_blanks(ByteReader& reader) {
  for (;;) {
    int c = peek_byte(reader);
    if (c == '#') {
      do c = reader.get();
      while (c >= 0 && c != '\n');
    } else if (is_blank(c)) {
      reader.consume(1);
    } else {
      return;
    }
  }
}

int read_number(ByteReader& reader) {
  skip_blanks(reader);
  int value = -1;
  for (int c = peek_byte(reader); c >= '0' && c <= '9'; c = peek_byte(reader)) {
    value = (value < 0 ? 0 : value) * 10 + (c - '0');
    if (value > kMaxValue) return -1;
    reader.consume(1);
  }
  return value;
}

int read_bit(ByteReader& reader) {
  skip_blanks(reader);
  const int c = peek_byte(reader);
  if (c != '0' && c != '1') return -1;
  reader.consume(1);
  return c - '0';
}

Status pnm_cut_short(const ByteReader& reader) {
  if (!reader.error()) return reader.error();
  return Status(Errc::bad_input, "'" + reader.name() + "': the PNM image is cut short");
}

Result<PnmHeader> read_pnm_header(ByteReader& reader) {
  ZR_LET(header, read_header(reader));
  const std::uint64_t need = header.is_text() ? std::uint64_t{1} : header.sample_bytes();
  if (need > reader.remaining()) return pnm_cut_short(reader);
  return header;
}

}  // namespace zerorun::io
