// The files of --json, --csv and --html: everything that was measured, sample by sample.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <string_view>

#include "apps/bench/result.hpp"
#include "apps/bench/report/report.hpp"
#include "apps/common/figures.hpp"

namespace zerorun::app::bench {
namespace {

using Json = nlohmann::ordered_json;

Json case_json(const Case& what) {
  return {{"operation", name(what.operation)},
          {"input", what.input},
          {"width", what.width},
          {"height", what.height},
          {"frames", what.frames},
          {"pixels", zerorun::name(what.pixels)},
          {"subsampling", zerorun::name(what.sampling)},
          {"quality", what.quality},
          {"target_size", what.target_size},
          {"huffman", name(what.huffman)},
          {"progressive", what.progressive},
          {"tune", zerorun::name(what.tune)},
          {"effort", zerorun::name(what.effort)},
          {"restart", what.restart},
          {"streams", name(what.streams)},
          {"mixed", what.mixed},
          {"least_megapixels", what.least_megapixels},
          {"most_megapixels", what.most_megapixels}};
}

Json summary_json(const Row& row) {
  const Summary s = summarise(row.microseconds);
  return {{"min_us", s.min},
          {"median_us", s.median},
          {"mean_us", s.mean},
          {"p95_us", s.p95},
          {"p99_us", s.p99},
          {"max_us", s.max},
          {"jitter_us", s.jitter},
          {"median_low_us", s.median_low},
          {"median_high_us", s.median_high},
          {"frames_per_second", 1e6 / s.median},
          {"input_gb_per_second", row.input_bytes / s.median / 1e3}};
}

Json whole_json(const WholeWay& way, double median_us) {
  Json json = {{"cpu_seconds", way.cpu_seconds}};
  if (way.floor_us > 0) {
    json["floor"] = way.floor;
    json["floor_us"] = way.floor_us;
    json["floor_percent"] = 100 * way.floor_us / median_us;
  }
  if (way.wall_step.empty()) return json;
  json["start_seconds"] = way.start_seconds;
  json["wall"] = way.wall_step;
  json["sentence"] = way.wall;
  for (const auto& [step, percent] : way.steps) json["steps"][step] = percent;
  return json;
}

Json energy_json(const FrameEnergy& energy) {
  return {{"source", energy.source},
          {"joules", energy.joules},
          {"above_idle_joules", energy.above_idle_joules},
          {"watts", energy.watts},
          {"idle_watts", energy.idle_watts},
          {"seconds", energy.seconds}};
}

Json row_json(const Row& row) {
  Json json = {{"id", row.id()},           {"coder", row.coder},
               {"device", row.device},     {"path", row.path},
               {"mode", name(row.mode)},   {"at_once", row.at_once},
               {"at_once_unit", row.unit}, {"input_bytes", row.input_bytes}};
  json.update(summary_json(row));
  if (row.stream_bytes > 0) json["stream_bytes"] = row.stream_bytes;
  if (row.psnr > 0) {
    json["psnr_db"] = row.psnr;
    json["check"] = row.check;
  }
  if (!row.stages.empty()) {
    Json stages = Json::array();
    for (const StageTime& stage : row.stages)
      stages.push_back({{"stage", stage.stage}, {"median_us", stage.microseconds}});
    json["stages"] = std::move(stages);
  }
  if (row.whole) json["whole"] = whole_json(*row.whole, summarise(row.microseconds).median);
  if (row.energy) json["energy"] = energy_json(*row.energy);
  json["frames_per_sample"] = row.frames_per_sample;
  json["samples_us"] = row.microseconds;
  json["command"] = row.command;
  return json;
}

Json primitive_json(const PrimitiveRow& row) {
  const Summary s = summarise(row.microseconds);
  return {{"id", row.id()},
          {"primitive", row.primitive},
          {"form", row.form},
          {"data", row.data},
          {"input_bytes", row.input_bytes},
          {"traffic_bytes", row.traffic_bytes},
          {"min_us", s.min},
          {"median_us", s.median},
          {"median_low_us", s.median_low},
          {"median_high_us", s.median_high},
          {"input_gb_per_second", row.input_bytes / s.median / 1e3},
          {"samples_us", row.microseconds}};
}

/// RFC 4180.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

}  // namespace

nlohmann::ordered_json report_json(const Report& report) {
  Json machine = Json::object(), cases = Json::array();
  for (const auto& [key, value] : report.machine) machine[key] = value;
  for (const CaseResult& result : report.cases) {
    Json entry = case_json(result.what);
    entry["verdict"] = sentences(result);
    entry["warnings"] = warnings(result);
    entry["notes"] = result.notes;
    entry["command"] = result.command;
    entry["rows"] = Json::array();
    for (const Row& row : result.rows) entry["rows"].push_back(row_json(row));
    cases.push_back(std::move(entry));
  }
  Json primitives = Json::array();
  for (const PrimitiveRow& row : report.primitives) primitives.push_back(primitive_json(row));
  return {{"format", "zerorun-bench"},          {"version", kReportVersion},
          {"command", report.command},          {"machine", std::move(machine)},
          {"warnings", report.warnings},        {"cases", std::move(cases)},
          {"primitives", std::move(primitives)}};
}

/// One line a sample.
std::string report_csv(const Report& report) {
  std::string text =
      "operation,input,width,height,pixels,subsampling,quality,target_size,huffman,progressive,"
      "tune,effort,"
      "restart,streams,coder,device,path,mode,at_once,min_us,median_us,p95_us,p99_us,max_us,jitter_"
      "us,frames_per_second,"
      "input_gb_per_second,stream_bytes,psnr_db,sample,sample_us\n";
  for (const CaseResult& result : report.cases) {
    const Case& c = result.what;
    const std::string case_text =
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}", name(c.operation), quoted(c.input),
                    c.width, c.height, zerorun::name(c.pixels), zerorun::name(c.sampling),
                    c.quality, c.target_size, name(c.huffman), c.progressive, zerorun::name(c.tune),
                    zerorun::name(c.effort), c.restart, name(c.streams));
    for (const Row& row : result.rows) {
      const Summary s = summarise(row.microseconds);
      const std::string start = fmt::format(
          "{},{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{:.4f},{:.1f},{}",
          case_text, quoted(row.coder), row.device, row.path, name(row.mode), row.at_once, s.min,
          s.median, s.p95, s.p99, s.max, s.jitter, 1e6 / s.median, row.input_bytes / s.median / 1e3,
          row.stream_bytes, row.psnr > 0 ? fmt::format("{:.3f}", row.psnr) : "");
      for (std::size_t i = 0; i < row.microseconds.size(); ++i)
        text += fmt::format("{},{},{:.3f}\n", start, i, row.microseconds[i]);
    }
  }
  return text;
}

std::string report_html(const Report& report) {
  std::string page = kReportPage, json = json_text(report_json(report));
  // A browser ends a script at "</", even inside a string.
  for (std::size_t at = 0; (at = json.find('<', at)) != std::string::npos;)
    json.replace(at, 1, "\\u003c");
  static constexpr std::string_view kPlace = "@REPORT@";
  return page.replace(page.find(kPlace), kPlace.size(), json);
}

}  // namespace zerorun::app::bench
