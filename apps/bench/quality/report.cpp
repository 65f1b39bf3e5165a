// The results of `bench --curves` as text, JSON, CSV and a page.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "apps/bench/quality/quality.hpp"

namespace zerorun::app::bench {
namespace {

constexpr rd::Metric kShown[] = {rd::psnr, rd::ssim, rd::ms_ssim, rd::psnr_hvs_m, rd::ssimulacra2};

std::string percent(double value, int width) {
  return std::isnan(value) ? fmt::format("{:>{}}", "-", width)
                           : fmt::format("{:>{}.1f}", value, width);
}

std::string line(const std::string& encoder, std::size_t width, const std::string& huffman,
                 const rd::Scores& saved, const std::string& least) {
  constexpr int kWidths[] = {7, 7, 9, 12, 13};
  std::string text = fmt::format("{:<{}} {:<8}", encoder, width, huffman);
  for (std::size_t i = 0; i < std::size(kShown); ++i) text += percent(saved[kShown[i]], kWidths[i]);
  return text + least + "\n";
}

/// Rows of encoders that have a curve; those that others are compared with have none of their own.
template <typename Visit>
void for_each_row(const QualityPart& part, const Visit& visit) {
  for (std::size_t e = 0; e < part.encoders.size(); ++e) {
    const EncoderCurves& encoder = part.encoders[e];
    const bool empty = std::all_of(encoder.curves.begin(), encoder.curves.end(),
                                   [](const rd::Curve& curve) { return curve.empty(); });
    if (encoder.base != e && e > 0 && !empty) visit(encoder);
  }
}

/// Of the column of names: no name is cut.
std::size_t name_width(const QualityReport& report, const QualityPart& part, bool every_row) {
  std::size_t width = 34;
  for_each_row(
      part, [&](const EncoderCurves& encoder) { width = std::max(width, encoder.encoder.size()); });
  if (every_row)
    for (const QualityPicture& picture : report.pictures)
      width = std::max(width, picture.name.size() + 2);
  return width;
}

std::string part_text(const QualityReport& report, const QualityPart& part, bool every_row) {
  const std::size_t width = name_width(report, part, every_row);
  std::string text = fmt::format(
      "{}, {} picture{}, quality {} to {}: percent of the scan's bytes that are saved at equal\n"
      "quality, beside {} with the same kind of Huffman tables\n"
      "(trained ones beside standard ones, as both take one pass)\n\n",
      zerorun::name(part.sampling), report.pictures.size(), report.pictures.size() == 1 ? "" : "s",
      report.qualities.front(), report.qualities.back(), part.encoders[0].encoder);
  text += fmt::format("{:<{}} {:<8}{:>7}{:>7}{:>9}{:>12}{:>13}{:>7}\n", "encoder", width, "tables",
                      "PSNR", "SSIM", "MS-SSIM", "PSNR-HVS-M", "SSIMULACRA2", "least");
  for_each_row(part, [&](const EncoderCurves& encoder) {
    const Savings saved = savings_of(part, encoder);
    text += line(encoder.encoder, width, encoder.huffman, saved.mean, percent(saved.least, 7));
    for (std::size_t i = 0; every_row && i < report.pictures.size(); ++i)
      if (!encoder.curves[i].empty())
        text += line("  " + report.pictures[i].name, width, "", saved.pictures[i], "");
  });
  return text + "\n";
}

using Json = nlohmann::ordered_json;

Json scores_json(const rd::Scores& scores) {
  Json json;
  for (std::size_t m = 0; m < rd::kMetrics; ++m) {
    const std::string name(rd::kMetricNames[m]);
    if (std::isfinite(scores[m]))
      json[name] = scores[m];
    else
      json[name] = nullptr;
  }
  return json;
}

Json encoder_json(const QualityReport& report, const QualityPart& part,
                  const EncoderCurves& encoder) {
  const Savings saved = savings_of(part, encoder);
  Json json = {{"encoder", encoder.encoder},
               {"tables", encoder.huffman},
               {"beside", part.encoders[encoder.base].encoder},
               {"beside_tables", part.encoders[encoder.base].huffman},
               {"saved_percent", scores_json(saved.mean)}};
  for (std::size_t i = 0; i < encoder.curves.size(); ++i) {
    Json points = Json::array();
    for (const rd::Point& point : encoder.curves[i]) {
      Json one = {{"scan_bytes", point.bytes}};
      one.update(scores_json(point.scores));
      points.push_back(std::move(one));
    }
    json["pictures"].push_back({{"picture", report.pictures[i].name},
                                {"saved_percent", scores_json(saved.pictures[i])},
                                {"points", std::move(points)}});
  }
  return json;
}

}  // namespace

std::string quality_text(const QualityReport& report, bool every_row) {
  std::string text;
  for (const QualityPart& part : report.parts) text += part_text(report, part, every_row);
  for (const MeterTime& meter : report.meters)
    text += fmt::format("metrics on {}: {:.2f} ms a picture (median of {})\n", meter.device,
                        meter.median_ms, meter.pictures);
  for (const std::string& note : report.notes) text += note + "\n";
  return text;
}

Json quality_json(const QualityReport& report) {
  Json json = {{"format", "zerorun-quality"}, {"version", 1}, {"command", report.command}};
  for (const auto& [name, value] : report.machine) json["machine"][name] = value;
  json["qualities"] = report.qualities;
  json["notes"] = report.notes;
  for (const MeterTime& meter : report.meters)
    json["meters"].push_back(
        {{"device", meter.device}, {"pictures", meter.pictures}, {"median_ms", meter.median_ms}});
  for (const QualityPicture& picture : report.pictures)
    json["pictures"].push_back(
        {{"name", picture.name}, {"width", picture.width}, {"height", picture.height}});
  for (const QualityPart& part : report.parts) {
    Json encoders = Json::array();
    for (const EncoderCurves& encoder : part.encoders)
      encoders.push_back(encoder_json(report, part, encoder));
    json["parts"].push_back(
        {{"subsampling", zerorun::name(part.sampling)}, {"encoders", std::move(encoders)}});
  }
  return json;
}

std::string quality_csv(const QualityReport& report) {
  std::string text = "picture,subsampling,encoder,tables,scan_bytes";
  for (const auto name : rd::kMetricNames) text += fmt::format(",{}", name);
  text += "\n";
  for (const QualityPart& part : report.parts)
    for (const EncoderCurves& encoder : part.encoders)
      for (std::size_t i = 0; i < encoder.curves.size(); ++i)
        for (const rd::Point& point : encoder.curves[i]) {
          text += fmt::format("\"{}\",{},\"{}\",{},{}", report.pictures[i].name,
                              zerorun::name(part.sampling), encoder.encoder, encoder.huffman,
                              point.bytes);
          for (const double score : point.scores)
            text += std::isfinite(score) ? fmt::format(",{:.5f}", score) : std::string(",");
          text += "\n";
        }
  return text;
}

std::string quality_html(const QualityReport& report) {
  return page_with(kQualityPage, quality_json(report).dump());
}

}  // namespace zerorun::app::bench
