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

namespace {

constexpr int kOrientation = 0x0112, kExifDirectory = 0x8769;
constexpr int kPixelWidth = 0xA002, kPixelHeight = 0xA003;
constexpr int kShort = 3, kLong = 4;

/// The TIFF structure of an EXIF APP1 payload.
template <typename Byte>
class Tiff {
 public:
  explicit Tiff(std::span<Byte> app1) {
    if (app1.size() < 6 + 8) return;
    const std::span<Byte> bytes = app1.subspan(6);
    little_ = bytes[0] == 'I';
    if (bytes[0] != bytes[1] || (bytes[0] != 'I' && bytes[0] != 'M')) return;
    bytes_ = bytes;
    if (number(2, 2) != 42) bytes_ = {};
  }

  std::uint64_t number(std::size_t at, std::size_t count) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i)
      value = value << 8 | bytes_[at + (little_ ? count - 1 - i : i)];
    return value;
  }
  void put(std::size_t at, std::size_t count, std::uint64_t value) const {
    for (std::size_t i = 0; i < count; ++i, value >>= 8)
      bytes_[at + (little_ ? i : count - 1 - i)] = static_cast<Byte>(value);
  }
  /// The place of the entry of a tag, of any type if `type` is 0, in the first directory; 0: there
  /// is none.
  std::size_t find(int tag, int type = 0) const {
    return bytes_.empty() ? 0 : find_in(number(4, 4), tag, type);
  }
  /// In the directory at `place`.
  std::size_t find_in(std::uint64_t place, int tag, int type = 0) const {
    if (place > bytes_.size() - 2) return 0;
    const auto directory = static_cast<std::size_t>(place);
    std::size_t at = directory + 2;
    for (std::uint64_t left = number(directory, 2); left > 0; --left, at += 12) {
      if (at + 12 > bytes_.size()) return 0;
      if (number(at, 2) == static_cast<unsigned>(tag) &&
          (type == 0 || number(at + 2, 2) == static_cast<unsigned>(type)))
        return at;
    }
    return 0;
  }

 private:
  std::span<Byte> bytes_;
  bool little_ = false;
};

}  // namespace

int read_exif_orientation(std::span<const std::uint8_t> app1) {
  const Tiff tiff(app1);
  const std::size_t at = tiff.find(kOrientation, kShort);
  if (at == 0) return 1;
  const std::uint64_t value = tiff.number(at + 8, 2);
  return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
}

void reset_exif_orientation(std::span<std::uint8_t> app1) {
  const Tiff tiff(app1);
  if (const std::size_t at = tiff.find(kOrientation, kShort); at != 0) tiff.put(at + 8, 2, 1);
}

void set_exif_size(std::span<std::uint8_t> app1, int width, int height) {
  const Tiff tiff(app1);
  const std::size_t link = tiff.find(kExifDirectory);
  if (link == 0) return;
  const std::uint64_t directory = tiff.number(link + 8, 4);
  for (const int tag : {kPixelWidth, kPixelHeight}) {
    const std::size_t at = tiff.find_in(directory, tag);
    if (at == 0) continue;
    tiff.put(at + 2, 2, kLong);
    tiff.put(at + 4, 4, 1);
    tiff.put(at + 8, 4, static_cast<std::uint64_t>(tag == kPixelWidth ? width : height));
  }
}

}  // namespace zerorun
