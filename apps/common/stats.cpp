// --stats: a table of the frames.
// SPDX-License-Identifier: MIT
#include "apps/common/stats.hpp"

#include <fmt/core.h>

#include <cmath>

#include "apps/common/failure.hpp"
#include "apps/common/json_text.hpp"
#include "zerorun/status.hpp"

namespace zerorun::app {
namespace {

/// To three decimals: a nanosecond.
double rounded(double value) { return std::round(value * 1000.0) / 1000.0; }

/// Begins with a comma.
std::string psnr_csv(double decibels) {
  return std::isinf(decibels) ? ",inf" : fmt::format(",{:.3f}", decibels);
}

}  // namespace

StatsFile::StatsFile(const std::string& path, bool overwrite, std::string command, bool is_json,
                     bool with_psnr)
    : file_(path, overwrite),
      command_(std::move(command)),
      is_json_(is_json),
      with_psnr_(with_psnr) {
  if (!is_json_) facts_.emplace(path + ".json", overwrite);
}

std::unique_ptr<StatsFile> StatsFile::open(const std::string& path, bool overwrite,
                                           const std::string& command, bool with_psnr) {
  if (path.empty()) return nullptr;
  const bool is_json = path.ends_with(".json");
  if (!is_json && !path.ends_with(".csv"))
    fail(Exit::usage, path + ": the name of a stats file ends in .json or .csv");
  return std::unique_ptr<StatsFile>(new StatsFile(path, overwrite, command, is_json, with_psnr));
}

void StatsFile::begin(nlohmann::ordered_json header) {
  nlohmann::ordered_json head = {{"format", "zerorun-stats"},
                                 {"version", kStatsVersion},
                                 {"command", command_},
                                 {"zerorun", version()}};
  head.update(header);
  if (is_json_) {
    std::string text = json_text(head, 2);
    text.erase(text.rfind('\n'));  // without the closing brace: the frames follow
    file_.write(text + ",\n  \"frames\": [");
    return;
  }
  head_ = std::move(head);
  file_.write("index,pts,bytes,");
  file_.write(command_ + "_us");
  if (with_psnr_) file_.write(",psnr,psnr_0,psnr_1,psnr_2");
  if (command_ == "decode") file_.write(",concealed_intervals,cpu_scans");
  if (command_ == "encode") file_.write(",gpu_us,quality,thrift,codings,reached");
  file_.write("\n");
}

void StatsFile::add(const FrameRecord& record) {
  if (is_json_) {
    add_json(record);
  } else {
    add_csv(record);
  }
  first_ = false;
}

void StatsFile::add_json(const FrameRecord& record) {
  nlohmann::ordered_json row = {{"index", record.index},
                                {"pts", record.pts},
                                {"bytes", record.bytes},
                                {command_ + "_us", rounded(record.microseconds)}};
  if (record.error) add_psnr(row, *record.error);
  if (record.concealed_intervals) row["concealed_intervals"] = *record.concealed_intervals;
  if (record.gpu_microseconds) row["gpu_us"] = rounded(*record.gpu_microseconds);
  if (record.cpu_scans) row["cpu_scans"] = *record.cpu_scans;
  if (const auto& coding = record.coding) {
    row["quality"] = coding->quality ? nlohmann::json(*coding->quality) : nlohmann::json();
    row["thrift"] = coding->thrift;
    row["codings"] = coding->codings;
    if (coding->reached)  // JSON has no infinity
      row["reached"] =
          std::isinf(*coding->reached) ? nlohmann::json() : nlohmann::json(*coding->reached);
  }
  file_.write(fmt::format("{}\n    {}", first_ ? "" : ",", json_text(row)));
}

void StatsFile::add_csv(const FrameRecord& record) {
  std::string row =
      fmt::format("{},{},{},{:.3f}", record.index, record.pts, record.bytes, record.microseconds);
  if (with_psnr_ && record.error) {
    row += psnr_csv(record.error->psnr());
    for (int c = 0; c < 3; ++c)
      row += c < record.error->components ? psnr_csv(record.error->psnr(c)) : ",";
  }
  if (record.concealed_intervals) row += fmt::format(",{}", *record.concealed_intervals);
  if (record.gpu_microseconds) row += fmt::format(",{:.3f}", *record.gpu_microseconds);
  if (record.cpu_scans) row += fmt::format(",{}", *record.cpu_scans);
  if (const auto& coding = record.coding)
    row += fmt::format(",{},{},{},{}", coding->quality ? fmt::format("{}", *coding->quality) : "",
                       coding->thrift, coding->codings,
                       coding->reached ? fmt::format("{}", *coding->reached) : "");
  file_.write(row + "\n");
}

void StatsFile::finish(const nlohmann::json& summary) {
  if (is_json_) {
    file_.write("\n  ],\n  \"summary\": " + json_text(summary) + "\n}\n");
  } else {
    head_["summary"] = summary;
    facts_->write(json_text(head_, 2) + "\n");
    facts_->finish();
  }
  file_.finish();
}

}  // namespace zerorun::app
