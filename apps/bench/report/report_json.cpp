// Everything that was measured, sample by sample.
// SPDX-License-Identifier: MIT
#include "apps/bench/report/report.hpp"
#include "apps/bench/measure/statistics.hpp"

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
          {"huffman", name(what.huffman)},
          {"restart", what.restart},
          {"index", what.index},
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

Json row_json(const Row& row) {
  Json json = {{"id", row.id()},
               {"coder", row.coder},
               {"device", row.device},
               {"path", row.path},
               {"mode", name(row.mode)},
               {"at_once", row.parallel},
               {"at_once_unit", row.parallel_unit},
               {"input_bytes", row.input_bytes}};
  json.update(summary_json(row));
  if (row.stream_bytes > 0) {
    json["stream_bytes"] = row.stream_bytes;
  }
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

}  // namespace

nlohmann::ordered_json report_json(const Report& report) {
  Json machine = Json::object(), cases = Json::array();
  for (const auto& [key, value] : report.machine) machine[key] = value;
  for (const CaseResult& result : report.cases) {
    Json entry = case_json(result.what);
    entry["notes"] = result.notes;
    entry["command"] = result.command;
    entry["rows"] = Json::array();
    for (const Row& row : result.rows) entry["rows"].push_back(row_json(row));
    cases.push_back(std::move(entry));
  }
  Json primitives = Json::array();
  for (const PrimitiveRow& row : report.primitives) primitives.push_back(primitive_json(row));
  return {{"format", "zerorun-bench"}, {"version", kReportVersion},
          {"command", report.command}, {"machine", std::move(machine)},
          {"cases", std::move(cases)}, {"primitives", std::move(primitives)}};
}

}  // namespace zerorun::app::bench
