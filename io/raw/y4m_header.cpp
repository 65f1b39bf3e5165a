// The header line of YUV4MPEG2.
// SPDX-License-Identifier: MIT
#include "io/raw/y4m_header.hpp"

#include <array>
#include <charconv>
#include <optional>

#include "codec/base/try.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::io {
namespace {

struct ColourTag {
  std::string_view tag;
  PixelFormat format;
};

/// Chroma siting (jpeg, mpeg2, paldv) does not change the samples: JPEG has no field for it.
constexpr std::array kColourTags{
    ColourTag{"420jpeg", PixelFormat::yuv420p},  ColourTag{"420mpeg2", PixelFormat::yuv420p},
    ColourTag{"420paldv", PixelFormat::yuv420p}, ColourTag{"420", PixelFormat::yuv420p},
    ColourTag{"422", PixelFormat::yuv422p},      ColourTag{"444", PixelFormat::yuv444p},
    ColourTag{"440", PixelFormat::yuv440p},      ColourTag{"411", PixelFormat::yuv411p},
    ColourTag{"mono", PixelFormat::gray8},
};

Status malformed(const std::string& what) {
  return Status(Errc::bad_input, "the YUV4MPEG2 header " + what);
}

template <typename Integer>
std::optional<Integer> whole_number(std::string_view text) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string quoted(char tag, std::string_view value) {
  return "'" + std::string(1, tag) + std::string(value) + "'";
}

Status parse_size(char tag, std::string_view value, int& out) {
  const std::optional<int> number = whole_number<int>(value);
  if (!number || *number < 1 || *number > kMaxDimension)
    return malformed("has the size " + quoted(tag, value) + "; JPEG holds 1 to 65535");
  out = *number;
  return Status::ok();
}

/// "30000:1001"; 0:0 means unknown.
Status parse_ratio(char tag, std::string_view value, Rational& out) {
  const std::size_t colon = value.find(':');
  std::optional<std::int32_t> num, den;
  if (colon != std::string_view::npos) {
    num = whole_number<std::int32_t>(value.substr(0, colon));
    den = whole_number<std::int32_t>(value.substr(colon + 1));
  }
  if (!num || !den || *num < 0 || *den < 0 || ((*num == 0) != (*den == 0)))
    return malformed("has the ratio " + quoted(tag, value) + ", which is not a ratio");
  out = *num == 0 ? Rational{0, 1} : Rational{*num, *den};
  return Status::ok();
}

/// The sampling and the depth: "420p10", "mono16".
Status parse_colour(std::string_view value, Y4mHeader& header) {
  std::string_view base = value;
  header.depth_bits = 8;
  header.has_alpha = value == "444alpha";
  if (header.has_alpha) base = "444";
  const bool mono = value.starts_with("mono") && value.size() > 4;
  const std::size_t depth_at = mono ? 4 : value.find('p', 3) + 1;
  if (mono || (value.size() > 4 && value[3] == 'p' && value[4] >= '0' && value[4] <= '9')) {
    const std::optional<int> depth = whole_number<int>(value.substr(depth_at));
    if (!depth || *depth < 9 || *depth > 16)
      return malformed("has the colour space " + quoted('C', value) + ", which is not known");
    header.depth_bits = *depth;
    base = value.substr(0, mono ? 4 : 3);
  }
  for (const ColourTag& known : kColourTags) {
    if (known.tag != base) continue;
    header.format = known.format;
    return Status::ok();
  }
  return malformed("has the colour space " + quoted('C', value) + ", which is not known");
}

/// Of the extensions only the range matters. XYSCSS repeats the chroma siting.
Status parse_extension(std::string_view value, std::optional<bool>& full_range) {
  constexpr std::string_view kRange = "COLORRANGE=";
  if (!value.starts_with(kRange)) return Status::ok();
  value.remove_prefix(kRange.size());
  if (value != "FULL" && value != "LIMITED")
    return malformed("has XCOLORRANGE=" + std::string(value) + "; it is FULL or LIMITED");
  full_range = value == "FULL";
  return Status::ok();
}

Status parse_tag(std::string_view tag, Y4mHeader& header, std::optional<bool>& full_range) {
  const std::string_view value = tag.substr(1);
  switch (tag[0]) {
    case 'W':
      return parse_size('W', value, header.width);
    case 'H':
      return parse_size('H', value, header.height);
    case 'F':
      return parse_ratio('F', value, header.frame_rate);
    case 'A':
      return parse_ratio('A', value, header.sample_aspect);
    case 'C':
      return parse_colour(value, header);
    case 'X':
      return parse_extension(value, full_range);
    case 'I':
      if (value.size() != 1 || std::string_view("ptbm?").find(value[0]) == std::string_view::npos)
        return malformed("has the interlacing " + quoted('I', value) + ", which is not known");
      header.interlace = value[0];
      return Status::ok();
    default:
      return malformed("has the parameter '" + std::string(tag) + "', which is not known");
  }
}

}  // namespace

std::uint64_t Y4mHeader::plane_bytes(int plane) const noexcept {
  const int like = plane == 3 ? 0 : plane;
  const std::uint64_t samples = static_cast<std::uint64_t>(plane_row_bytes(format, like, width)) *
                                static_cast<std::uint64_t>(plane_rows(format, like, height));
  return samples * (depth_bits > 8 ? 2 : 1);
}

std::uint64_t Y4mHeader::frame_bytes() const noexcept {
  std::uint64_t total = has_alpha ? plane_bytes(3) : 0;
  for (int plane = 0; plane < plane_count(format); ++plane) total += plane_bytes(plane);
  return total;
}

Result<Y4mHeader> parse_y4m_header(std::string_view line) {
  constexpr std::string_view kMagic = "YUV4MPEG2";
  if (!line.starts_with(kMagic)) return malformed("does not start with YUV4MPEG2");
  line.remove_prefix(kMagic.size());
  if (!line.empty() && line[0] != ' ') return malformed("does not start with YUV4MPEG2");
  Y4mHeader header;
  std::optional<bool> full_range;
  while (!line.empty()) {
    const std::size_t blank = line.find(' ');
    const std::string_view tag = line.substr(0, blank);
    line.remove_prefix(blank == std::string_view::npos ? line.size() : blank + 1);
    if (tag.empty()) continue;
    ZR_TRY(parse_tag(tag, header, full_range));
  }
  if (header.width == 0) return malformed("has no width (W)");
  if (header.height == 0) return malformed("has no height (H)");
  if (std::int64_t{header.width} * header.height > StreamLimits{}.max_pixels)
    return Status(Errc::too_many_pixels, "the YUV4MPEG2 header says " +
                                             std::to_string(header.width) + "x" +
                                             std::to_string(header.height));
  if (!header.sample_aspect.known()) header.sample_aspect = {1, 1};
  // As FFmpeg (5.1, tried) does: without XCOLORRANGE, YCbCr is limited range and grey full range.
  // C420jpeg is limited, too: it tells only the chroma siting, and FFmpeg writes it for limited
  // video of unknown siting.
  header.full_range = full_range.value_or(header.format == PixelFormat::gray8);
  return header;
}

std::string write_y4m_header(const Y4mHeader& header) {
  const auto ratio = [](const Rational& r) {
    return std::to_string(r.num) + ":" + std::to_string(r.num == 0 ? 0 : r.den);
  };
  std::string_view colour = "mono";
  // FFmpeg 5.1 does not read "440". It is written all the same: any other tag needs resampling.
  for (const ColourTag& known : kColourTags)
    if (known.format == header.format) {
      colour = known.tag;
      break;
    }
  return "YUV4MPEG2 W" + std::to_string(header.width) + " H" + std::to_string(header.height) +
         " F" + ratio(header.frame_rate) + " I" + header.interlace + " A" +
         ratio(header.sample_aspect) + " C" + std::string(colour) + " XCOLORRANGE=FULL\n";
}

}  // namespace zerorun::io
