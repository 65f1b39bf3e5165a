// What the APPn segments say about an image.
// SPDX-License-Identifier: MIT
#include <cstring>
#include <string_view>

#include "codec/syntax/bytes.hpp"
#include "codec/syntax/header_parser.hpp"
#include "codec/syntax/marker.hpp"

namespace zerorun {
namespace {

bool starts_with(std::span<const std::uint8_t> bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

}  // namespace

void HeaderParser::read_app(std::uint8_t code, Bytes payload) {
  if (keep_segments_)
    segments_.push_back({code, std::vector<std::uint8_t>(payload.begin(), payload.end())});
  using std::string_view_literals::operator""sv;
  if (code == marker::kApp0 && starts_with(payload, "JFIF\0"sv) && payload.size() >= 14) {
    has_jfif_ = true;
    const int x = be16(payload, 8), y = be16(payload, 10);
    if (x > 0 && y > 0) {
      // Without a unit they are the aspect ratio. With one they are densities: a pixel that is
      // twice as dense is half as wide.
      aspect_x_ = payload[7] == 0 ? x : y;
      aspect_y_ = payload[7] == 0 ? y : x;
    }
  } else if (code == marker::kApp1 && starts_with(payload, "Exif\0\0"sv)) {
    orientation_ = read_exif_orientation(payload);
  } else if (code == marker::kApp14 && starts_with(payload, "Adobe"sv) && payload.size() >= 12) {
    adobe_transform_ = payload[11];
    adobe_pos_ = marker_pos_;
    if (color_model_) check_transform();
  }
}

/// Four components have transform 0 or 2, all others 0 or 1.
void HeaderParser::check_transform() {
  const int other = frame_->components.size() == 4 ? 2 : 1;
  if (!adobe_transform_ || *adobe_transform_ == 0 || *adobe_transform_ == other) return;
  note_problem(
      Status(Errc::bad_marker, "Adobe colour transform " + std::to_string(*adobe_transform_))
          .at_byte(static_cast<std::int64_t>(adobe_pos_)));
}

ColorModel HeaderParser::color_model() const {
  return color_model_ ? *color_model_ : model_by_headers();
}

ColorModel HeaderParser::model_by_headers() const {
  if (frame_->components.size() == 1) return ColorModel::gray;
  if (frame_->components.size() == 4) {  // libjpeg's rule; only Adobe's segment counts
    if (!adobe_transform_) return ColorModel::cmyk;
    return *adobe_transform_ == 0 ? ColorModel::inverted_cmyk : ColorModel::ycck;
  }
  if (has_jfif_) return ColorModel::ycbcr;  // libjpeg's order: JFIF, then Adobe, then the ids
  if (adobe_transform_) return *adobe_transform_ == 0 ? ColorModel::rgb : ColorModel::ycbcr;
  const auto& c = frame_->components;
  return c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B' ? ColorModel::rgb : ColorModel::ycbcr;
}

int read_exif_orientation(std::span<const std::uint8_t> app1) {
  if (app1.size() < 6 + 8) return 1;
  const auto tiff = app1.subspan(6);
  const bool little = tiff[0] == 'I';
  if (tiff[0] != tiff[1] || (tiff[0] != 'I' && tiff[0] != 'M')) return 1;
  const auto u16 = [&](std::size_t at) {
    return little ? tiff[at] | tiff[at + 1] << 8 : tiff[at] << 8 | tiff[at + 1];
  };
  const auto u32 = [&](std::size_t at) {
    const auto low = static_cast<std::uint64_t>(u16(little ? at : at + 2));
    const auto high = static_cast<std::uint64_t>(u16(little ? at + 2 : at));
    return high << 16 | low;
  };
  const std::uint64_t ifd = u32(4);
  if (u16(2) != 42 || ifd > tiff.size() - 2) return 1;
  const auto entries = static_cast<std::uint64_t>(u16(static_cast<std::size_t>(ifd)));
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::uint64_t at = ifd + 2 + 12 * i;
    if (at + 12 > tiff.size()) return 1;
    const auto entry = static_cast<std::size_t>(at);
    if (u16(entry) != 0x0112 || u16(entry + 2) != 3) continue;  // Orientation, SHORT
    const int value = u16(entry + 8);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

}  // namespace zerorun
