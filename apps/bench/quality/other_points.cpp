// Points of encoders that are not installed, measured elsewhere: the file of --points.
// SPDX-License-Identifier: MIT
#include "apps/bench/quality/other_points.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include <fmt/core.h>

#include "apps/common/failure.hpp"

namespace zerorun::app::bench {
namespace {

using Words = std::vector<std::string>;
/// By quality.
using Points = std::map<double, rd::Point>;
/// Of one sampling: [image][encoder].
using Images = std::map<std::string, std::map<std::string, Points>>;

Words split(const std::string& line) {
  Words words;
  std::istringstream in(line);
  for (std::string word; std::getline(in, word, '\t');) words.push_back(word);
  return words;
}

class Table {
 public:
  explicit Table(const std::string& file) : file_(file), in_(file) {
    if (!in_) fail(Exit::input, file, Status(Errc::open_failed));
    std::string line;
    std::getline(in_, line);
    columns_ = split(line);
    for (const char* wanted : {"image", "sampling", "encoder", "q", "scan_bytes"})
      if (column(wanted) == columns_.size())
        fail(Exit::input,
             fmt::format("{}: its first line has no column '{}'; --points wants a table with tabs",
                         file, wanted));
    for (line_ = 2; std::getline(in_, line); ++line_) read(split(line));
  }

  std::map<std::string, Images> samplings;
  std::vector<std::string> encoders;  ///< in the order of the file

 private:
  std::size_t column(std::string_view name) const {
    const auto found = std::find(columns_.begin(), columns_.end(), name);
    return static_cast<std::size_t>(found - columns_.begin());
  }

  double number(const std::string& text) const {
    double value = 0;
    const auto end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || at != end || !std::isfinite(value))
      fail(Exit::input, fmt::format("{}, line {}: '{}' is not a number", file_, line_, text));
    return value;
  }

  void read(const Words& words) {
    if (words.size() != columns_.size())
      fail(Exit::input, fmt::format("{}, line {}: {} columns, and the first line has {}", file_,
                                    line_, words.size(), columns_.size()));
    rd::Point point;
    point.bytes = number(words[column("scan_bytes")]);
    if (point.bytes <= 0)
      fail(Exit::input, fmt::format("{}, line {}: a scan without bytes", file_, line_));
    for (std::size_t m = 0; m < rd::kMetrics; ++m) {
      const std::size_t at = column(rd::kMetricNames[m]);
      point.scores[m] =
          at < words.size() ? number(words[at]) : std::numeric_limits<double>::quiet_NaN();
    }
    const std::string& encoder = words[column("encoder")];
    if (std::find(encoders.begin(), encoders.end(), encoder) == encoders.end())
      encoders.push_back(encoder);
    samplings[words[column("sampling")]][words[column("image")]][encoder]
             [number(words[column("q")])] = point;
  }

  std::string file_;
  std::ifstream in_;
  Words columns_;
  int line_ = 0;
};

/// Whether a point of the curve, which has one for each of the qualities, has the bytes of the
/// table's at that quality.
bool same_bytes(const std::vector<int>& qualities, const rd::Curve& curve, const Points& points) {
  int same = 0;
  for (std::size_t i = 0; i < std::min(curve.size(), qualities.size()); ++i) {
    const auto found = points.find(qualities[i]);
    if (found == points.end()) continue;
    if (found->second.bytes != curve[i].bytes) return false;
    ++same;
  }
  return same > 0;
}

/// The table's image that is picture `i` of the part; null: none.
const std::map<std::string, Points>* image_of(const std::vector<int>& qualities,
                                              const QualityPart& part, std::size_t i,
                                              const Images& images) {
  constexpr const char* kNames[] = {"turbo_std", "turbo_opt"};
  for (const auto& [name, encoders] : images)
    for (std::size_t base = 0; base < 2; ++base) {
      const auto found = encoders.find(kNames[base]);
      if (found != encoders.end() &&
          same_bytes(qualities, part.encoders[base].curves[i], found->second))
        return &encoders;
    }
  return nullptr;
}

/// The points between the lowest and the highest quality that are measured.
rd::Curve curve_of(const Points& points, const std::vector<int>& qualities) {
  rd::Curve curve;
  for (const auto& [q, point] : points)
    if (q >= qualities.front() && q <= qualities.back()) curve.push_back(point);
  return curve;
}

}  // namespace

void add_other_points(const std::string& file, QualityReport& report) {
  const Table table(file);
  for (QualityPart& part : report.parts) {
    const auto sampling = table.samplings.find(std::string(zerorun::name(part.sampling)));
    if (sampling == table.samplings.end()) continue;
    std::vector<const std::map<std::string, Points>*> images;
    for (std::size_t i = 0; i < report.pictures.size(); ++i)
      images.push_back(image_of(report.qualities, part, i, sampling->second));
    if (std::all_of(images.begin(), images.end(), [](const auto* image) { return !image; })) {
      report.notes.push_back(
          fmt::format("{}: it has none of these pictures at {} and these "
                      "qualities",
                      file, zerorun::name(part.sampling)));
      continue;
    }
    std::vector<std::string> names = {"turbo_opt"};
    for (const std::string& encoder : table.encoders)
      if (!encoder.starts_with("turbo_")) names.push_back(encoder);
    const std::size_t base = part.encoders.size();
    for (const std::string& encoder : names) {
      EncoderCurves& row = part.encoders.emplace_back();
      row.encoder = encoder;
      row.huffman = "file";
      row.base = base;
      for (const auto* image : images) {
        const bool has = image != nullptr && image->count(encoder) > 0;
        row.curves.push_back(has ? curve_of(image->at(encoder), report.qualities) : rd::Curve{});
      }
    }
  }
}

}  // namespace zerorun::app::bench
