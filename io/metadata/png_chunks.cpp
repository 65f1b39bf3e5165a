// What PNG files say of their colours and texts, and how many pixels there are in an inch or a
// centimetre, as JPEG, PNG and TIFF files tell it.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <numeric>

#include "io/metadata/metadata.hpp"
#include "io/metadata/tiff_directory.hpp"

namespace zerorun::io {
namespace {

using namespace std::string_view_literals;
using Unit = Density::Unit;

constexpr double kInch = 0.0254, kCentimetre = 0.01;     // in metres
constexpr std::size_t kUnitAt = 7, kXAt = 8, kYAt = 10;  // in JFIF's APP0, from its identifier on

}  // namespace

void PngChunks::take(ByteSpan whole) {
  constexpr std::string_view kKept[] = {"cICP", "gAMA", "cHRM", "sRGB", "tEXt", "zTXt", "iTXt"};
  if (whole.size() < 12) return;
  const ByteSpan type = part(whole, 4, 4), chunk = whole.subspan(8, whole.size() - 12);
  const auto is = [type](std::string_view name) { return starts_with(type, name); };
  const bool is_kept = std::ranges::any_of(kKept, is);
  if (!is_kept && !is("pHYs")) return;
  // As libpng does with a damaged chunk that is not critical.
  if (png_crc(whole.subspan(4, whole.size() - 8)) != number(whole, whole.size() - 4, 4, false))
    return;
  if (is("pHYs")) content_.density = density_of_png(chunk);
  if (is("sRGB")) is_srgb_ = true;
  if (is("gAMA")) gamma_ = number(chunk, 0, 4, false).value_or(0);
  for (std::size_t i = 0; is("cHRM") && chunk.size() >= 32 && i < 8; ++i)
    chroma_[i] = *number(chunk, 4 * i, 4, false);
  if (is("cICP") && chunk.size() >= 4) std::copy_n(chunk.begin(), 4, content_.cicp.begin());
  const bool is_text = is("tEXt") || is("zTXt") || is("iTXt");
  if (is_text && starts_with(chunk, "XML:com.adobe.xmp\0"sv)) return;
  if (is_text) take_text(chunk, is("zTXt"), is("iTXt"));
  if (is_kept) content_.png_chunks.insert(content_.png_chunks.end(), whole.begin(), whole.end());
}

/// tEXt: keyword and text; zTXt: the text is packed; iTXt: keyword, whether it is packed, method,
/// language, translated keyword, text (PNG 11.3.3). Packed texts of a few megabytes may be
/// gigabytes.
void PngChunks::take_text(ByteSpan chunk, bool is_packed, bool is_international) {
  const auto take_word = [&chunk] {
    const auto end = static_cast<std::size_t>(std::ranges::find(chunk, 0) - chunk.begin());
    const std::string word(chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(end));
    chunk = chunk.subspan(std::min(end + 1, chunk.size()));
    return word;
  };
  const std::string keyword = take_word();
  if (is_international && chunk.size() > 2) {
    is_packed = chunk[0] != 0;
    chunk = chunk.subspan(2);
    take_word();
    take_word();
  }
  if (is_packed) chunk = {};
  content_.texts.emplace_back(keyword, std::string(chunk.begin(), chunk.end()));
}

/// PNG, third edition, 4.3: cICP goes before iCCP, this before sRGB, and that before gAMA and cHRM.
void PngChunks::finish() {
  constexpr std::array kSrgb{31270., 32900., 64000., 33000., 30000., 60000., 15000., 6000.};
  // libpng's threshold for two gammas that look the same.
  const auto is_near = [](double a, double b) { return std::abs(a - b) <= 0.05 * b; };
  const bool is_told = content_.cicp[1] != 0 || !content_.icc.empty() || is_srgb_;
  content_.has_other_colours =
      !is_told && ((gamma_ > 0 && !is_near(gamma_, 45455)) ||
                   (chroma_[1] > 0 && !std::ranges::equal(chroma_, kSrgb, is_near)));
}

void describe_cicp(const PictureContent& content, ContainerContent& out) {
  constexpr const char* kPrimaries[] = {"",         "bt709",     "",          "",     "bt470m",
                                        "bt470bg",  "smpte170m", "smpte240m", "film", "bt2020",
                                        "smpte428", "smpte431",  "smpte432"};
  constexpr const char* kTransfers[] = {
      "",          "bt709",     "",          "",         "bt470m",       "bt470bg", "smpte170m",
      "smpte240m", "linear",    "log100",    "log316",   "iec61966-2-4", "bt1361e", "iec61966-2-1",
      "bt2020-10", "bt2020-12", "smpte2084", "smpte428", "arib-std-b67"};
  const auto [primaries, transfer, matrix, is_full] = content.cicp;
  if (primaries < std::size(kPrimaries)) out.primaries = kPrimaries[primaries];
  if (transfer < std::size(kTransfers)) out.transfer = kTransfers[transfer];
  if (primaries == 0 && transfer == 0) return;
  out.matrix = "gbr";  // the only one that PNG allows
  out.range = is_full != 0 ? "pc" : "tv";
}

Density density_of_jfif(ByteSpan app0) noexcept {
  const auto unit = number(app0, kUnitAt, 1, false);
  const auto x = number(app0, kXAt, 2, false), y = number(app0, kYAt, 2, false);
  if (!y || *unit < 1 || *unit > 2) return {};
  return {double(*x), double(*y), *unit == 1 ? Unit::inch : Unit::cm};
}

/// PNG 11.3.4.3. Programs mean an inch mostly, and round its pixels to those of a metre.
Density density_of_png(ByteSpan phys) noexcept {
  const auto x = number(phys, 0, 4, false), y = number(phys, 4, 4, false);
  const auto unit = number(phys, 8, 1, false);
  if (!unit) return {};
  if (*unit != 1) return {double(*x), double(*y), Unit::none};
  const auto in_inches = [](double per_metre) {
    const double value = per_metre * kInch, whole = std::round(value);
    return std::abs(value - whole) <= kInch / 2 ? whole : value;
  };
  return {in_inches(*x), in_inches(*y), Unit::inch};
}

void take_density(const tiff::Entry& entry, Density& density) noexcept {
  const auto top = number(entry.value, 0, 4, entry.is_little);
  const auto bottom = number(entry.value, 4, 4, entry.is_little);
  const double value = bottom && *bottom != 0 ? static_cast<double>(*top) / *bottom : 0;
  if (entry.tag == tiff::kXResolution && density.unit == Unit::none) density.unit = Unit::inch;
  if (entry.tag == tiff::kXResolution) density.x = value;
  if (entry.tag == tiff::kYResolution) density.y = value;
  const auto unit = entry.integer(entry.is_little);
  if (entry.tag == tiff::kResolutionUnit && unit)
    density.unit = *unit == 3 ? Unit::cm : *unit == 2 ? Unit::inch : Unit::none;
}

std::array<std::uint8_t, 9> png_density(const Density& density) noexcept {
  static constexpr double kMost = 0x7FFFFFFF;
  const double unit = density.unit == Unit::cm ? kCentimetre : kInch;
  const auto per_metre = [unit](double value) {
    return static_cast<std::uint32_t>(std::lround(std::min(value / unit, kMost)));
  };
  std::array<std::uint8_t, 9> phys{0, 0, 0, 0, 0, 0, 0, 0, 1};
  put_number(std::span(phys).first(4), per_metre(density.x), false);
  put_number(std::span(phys).subspan(4, 4), per_metre(density.y), false);
  return phys;
}

/// RATIONAL.
std::array<std::uint8_t, 8> tiff_density(double value, bool little) noexcept {
  constexpr std::uint32_t kParts = 1000;
  const double top = std::min(value * kParts, double{UINT32_MAX});
  std::array<std::uint8_t, 8> bytes{};
  put_number(std::span(bytes).first(4), static_cast<std::uint32_t>(std::llround(top)), little);
  put_number(std::span(bytes).last(4), kParts, little);
  return bytes;
}

bool set_jfif_density(const Density& density, std::span<std::byte> jpeg) noexcept {
  constexpr std::size_t kApp0At = 6;  // behind SOI, the marker and its length
  const auto fits = [](double value) { return value >= 0.5 && value < 65535.5; };
  const std::span<std::uint8_t> app0(reinterpret_cast<std::uint8_t*>(jpeg.data()) + kApp0At,
                                     jpeg.size() - std::min(kApp0At, jpeg.size()));
  if (!density.known() || !fits(density.x) || !fits(density.y) || app0.size() < kYAt + 2 ||
      !starts_with(app0, "JFIF\0"sv))
    return false;
  app0[kUnitAt] = density.unit == Unit::inch ? 1 : 2;
  put_number(app0.subspan(kXAt, 2), static_cast<std::uint32_t>(std::lround(density.x)), false);
  put_number(app0.subspan(kYAt, 2), static_cast<std::uint32_t>(std::lround(density.y)), false);
  return true;
}

Rational pixel_shape(const Density& density) noexcept {
  constexpr double kParts = 1000, kMost = 1e12;  // TIFF has fractions
  if (!(density.x > 0 && density.y > 0 && std::max(density.x, density.y) < kMost)) return {};
  const std::int64_t x = std::llround(density.x * kParts), y = std::llround(density.y * kParts);
  const std::int64_t common = std::max<std::int64_t>(std::gcd(x, y), 1);
  return {y / common, x / common};
}

}  // namespace zerorun::io
