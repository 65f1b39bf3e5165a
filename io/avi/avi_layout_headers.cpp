// The headers of an AVI file that is written.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>

#include "io/avi/avi_layout.hpp"
#include "io/avi/avi_tags.hpp"
#include "io/avi/riff.hpp"

namespace zerorun::io {
namespace {

constexpr std::uint32_t kHasIndex = 0x10;

class Headers {
 public:
  Headers(const SinkOptions& options, Rational rate) : options_(options), rate_(rate) {}

  std::vector<std::byte> build(const AviTotals& totals, const std::vector<AviSegment>& segments) {
    out_ = {};
    out_.open_list("RIFF", "AVI ");
    const std::size_t headers = out_.open_list("LIST", "hdrl");
    main_header(totals, segments);
    const std::size_t stream = out_.open_list("LIST", "strl");
    stream_header(totals);
    format();
    index(segments);
    properties();
    out_.close(stream);
    const std::size_t opendml = out_.open_list("LIST", "odml");
    const std::size_t extended = out_.open("dmlh");
    out_.u32(totals.chunks);
    zeros(61);
    out_.close(extended);
    out_.close(opendml);
    out_.close(headers);
    tags();
    out_.open_list("LIST", "movi");
    return out_.bytes();
  }

 private:
  void zeros(int words) {
    for (int i = 0; i < words; ++i) out_.u32(0);
  }
  auto width() const { return static_cast<std::uint32_t>(options_.width); }
  auto height() const { return static_cast<std::uint32_t>(options_.height); }

  /// AVIMAINHEADER; its count is that of the first RIFF list.
  void main_header(const AviTotals& totals, const std::vector<AviSegment>& segments) {
    const double bytes_per_second = totals.largest * rate_.value();
    const std::size_t chunk = out_.open("avih");
    out_.u32(static_cast<std::uint64_t>(std::min(4e9, 1e6 / rate_.value() + 0.5)));
    out_.u32(static_cast<std::uint64_t>(std::min(4e9, bytes_per_second)));
    out_.u32(0);
    out_.u32(segments.empty() ? 0 : kHasIndex);
    out_.u32(segments.empty() ? totals.chunks : segments[0].chunks);
    out_.u32(0);
    out_.u32(1);  // stream
    out_.u32(totals.largest);
    out_.u32(width());
    out_.u32(height());
    zeros(4);
    out_.close(chunk);
  }

  /// AVISTREAMHEADER
  void stream_header(const AviTotals& totals) {
    const std::size_t chunk = out_.open("strh");
    out_.text("vidsMJPG");
    zeros(3);
    out_.u32(static_cast<std::uint64_t>(rate_.den));
    out_.u32(static_cast<std::uint64_t>(rate_.num));
    out_.u32(0);
    out_.u32(totals.chunks);
    out_.u32(totals.largest);
    out_.u32(0xFFFFFFFF);  // quality: default
    out_.u32(0);           // samples vary in size
    out_.u32(0);
    out_.u16(width());
    out_.u16(height());
    out_.close(chunk);
  }

  /// BITMAPINFOHEADER
  void format() {
    const std::size_t chunk = out_.open("strf");
    out_.u32(40);
    out_.u32(width());
    out_.u32(height());
    out_.u16(1);
    out_.u16(24);
    out_.text("MJPG");
    out_.u32(3ull * width() * height());
    zeros(4);
    out_.close(chunk);
  }

  /// AVISUPERINDEX with places for all lists that there may be.
  void index(const std::vector<AviSegment>& segments) {
    const std::size_t chunk = out_.open("indx");
    out_.u16(4);  // words an entry
    out_.u16(0);  // of indices
    out_.u32(segments.size());
    out_.text(kAviPicture);
    zeros(3);
    for (std::size_t i = 0; i < kMostAviRiffs; ++i) {
      const AviSegment segment = i < segments.size() ? segments[i] : AviSegment();
      out_.u64(static_cast<std::uint64_t>(segment.index));
      out_.u32(static_cast<std::uint64_t>(segment.index_bytes));
      out_.u32(segment.chunks);
    }
    out_.close(chunk);
  }

  /// VideoPropHeader, for pixels that are not square.
  void properties() {
    const Rational pixel = options_.sample_aspect;
    if (!pixel.known() || pixel.num == pixel.den) return;
    const double aspect = pixel.value() * options_.width / options_.height;
    // 16 bits each: the finest fraction below that.
    std::int64_t num = pixel.num * options_.width, den = pixel.den * options_.height;
    const std::int64_t common = std::gcd(num, den);
    num /= common, den /= common;
    if (num > 0xFFFF || den > 0xFFFF) {
      den = aspect > 1 ? static_cast<std::int64_t>(0xFFFF / aspect) : 0xFFFF;
      num = static_cast<std::int64_t>(aspect * static_cast<double>(den) + 0.5);
    }
    if (num < 1 || den < 1) return;
    const std::size_t chunk = out_.open("vprp");
    zeros(2);
    out_.u32(static_cast<std::uint64_t>(rate_.value() + 0.5));
    out_.u32(width());
    out_.u32(height());
    out_.u16(static_cast<std::uint64_t>(den));
    out_.u16(static_cast<std::uint64_t>(num));
    out_.u32(width());
    out_.u32(height());
    out_.u32(1);  // field a frame, and its lines
    for (int valid = 0; valid < 2; ++valid) {
      out_.u32(height());
      out_.u32(width());
    }
    zeros(4);
    out_.close(chunk);
  }

  void tags() {
    const std::size_t list = out_.open_list("LIST", "INFO");
    const auto add = [&](std::string_view id, const std::string& text) {
      const std::size_t chunk = out_.open(id);
      out_.text(text);
      out_.number(0, 1);
      out_.close(chunk);
    };
    for (const auto& [key, value] : options_.content.tags)
      for (const AviTag& tag : kAviTags)
        if (tag.key == key) add(tag.id, value);
    // The time code is that of frame 0; a later frame has another one.
    if (!options_.content.timecode.empty() && options_.first_frame == 0)
      add(kAviTimecode, options_.content.timecode);
    out_.close(list);
  }

  const SinkOptions& options_;
  const Rational rate_;
  riff::Builder out_;
};

}  // namespace

std::vector<std::byte> avi_headers(const SinkOptions& options, Rational rate,
                                   const AviTotals& totals,
                                   const std::vector<AviSegment>& segments) {
  return Headers(options, rate).build(totals, segments);
}

}  // namespace zerorun::io
