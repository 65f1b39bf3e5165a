// The results of `bench --exact-size` as text, JSON and CSV.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include "apps/bench/report/text_table.hpp"
#include "apps/bench/sizes/sizes.hpp"

namespace zerorun::app::bench {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

/// Numbers of a mean stream.
struct Mean {
  double within_percent, codings, milliseconds;
};
Mean mean_of(const rd::SizeTally& tally) {
  const auto streams = static_cast<double>(tally.streams);
  return {100.0 * static_cast<double>(tally.within) / streams,
          static_cast<double>(tally.codings) / streams, 1000.0 * tally.seconds / streams};
}

Cells mode_cells(const SizesRow& row) {
  return {row.device, std::string(zerorun::name(row.what.sampling)),
          std::string(zerorun::name(row.what.tune)), std::string(zerorun::name(row.what.effort)),
          name(row.what.huffman)};
}

/// `target`: its number from 1 on; 0: all of them.
Cells cells(const SizesReport& report, const SizesRow& row, std::size_t target) {
  const rd::SizeTally tally = target == 0 ? row.all() : row.targets[target - 1];
  const Mean mean = mean_of(tally);
  Cells cells = target == 0 ? mode_cells(row) : Cells(5);
  const double pictures = target == 0 ? report.range.count : 1;
  for (const std::string& cell :
       {target == 0 ? "all" : fmt::format("{}", target),
        fmt::format("{:.2f}", tally.bits / report.pixels / pictures),
        fmt::format("{}", tally.streams), fmt::format("{}", tally.above),
        fmt::format("{:.2f} %", mean.within_percent), fmt::format("{:.1f}", mean.codings),
        fmt::format("{}", tally.most_codings), fmt::format("{:.3f}", mean.milliseconds)})
    cells.push_back(cell);
  return cells;
}

Json tally_json(const SizesReport& report, const rd::SizeTally& tally, double targets) {
  const Mean mean = mean_of(tally);
  return {{"bits_per_pixel", tally.bits / report.pixels / targets},
          {"streams", tally.streams},
          {"above", tally.above},
          {"within", tally.within},
          {"codings", mean.codings},
          {"most_codings", tally.most_codings},
          {"milliseconds", mean.milliseconds}};
}

}  // namespace

std::string sizes_text(const SizesReport& report, bool every_row) {
  TextTable table({{"device", 0, true},
                   {"sampling", 3, true},
                   {"tune", 0, true},
                   {"effort", 2, true},
                   {"tables", 0, true},
                   {"target", every_row ? 0 : 5},
                   {"bits/px", 4},
                   {"streams"},
                   {"above"},
                   {"within 0.5 %"},
                   {"codings"},
                   {"most", 1},
                   {"ms/frame"}});
  for (const SizesRow& row : report.rows) {
    table.add(cells(report, row, 0));
    for (std::size_t i = 1; every_row && i <= row.targets.size(); ++i)
      table.add(cells(report, row, i));
  }
  return fmt::format(
             "{} picture{}, {} sizes each, in equal ratios from that of quality {} to that of "
             "{}\n\n",
             report.pictures, report.pictures == 1 ? "" : "s", report.range.count,
             report.range.least_quality, report.range.most_quality) +
         table.text();
}

Json sizes_json(const SizesReport& report) {
  Json json = {{"format", "zerorun-sizes"}, {"version", 1}, {"command", report.command}};
  for (const auto& [name, value] : report.machine) json["machine"][name] = value;
  json["pictures"] = report.pictures;
  json["qualities"] = {report.range.least_quality, report.range.most_quality};
  for (const SizesRow& row : report.rows) {
    Json one = {{"device", row.device},
                {"subsampling", zerorun::name(row.what.sampling)},
                {"tune", zerorun::name(row.what.tune)},
                {"effort", zerorun::name(row.what.effort)},
                {"tables", name(row.what.huffman)}};
    one.update(tally_json(report, row.all(), report.range.count));
    for (const rd::SizeTally& tally : row.targets)
      one["targets"].push_back(tally_json(report, tally, 1));
    json["rows"].push_back(std::move(one));
  }
  return json;
}

std::string sizes_csv(const SizesReport& report) {
  std::string text =
      "device,subsampling,tune,effort,tables,target,bits_per_pixel,streams,above,within,codings,"
      "most_codings,milliseconds\n";
  for (const SizesRow& row : report.rows)
    for (std::size_t i = 0; i < row.targets.size(); ++i) {
      const rd::SizeTally& tally = row.targets[i];
      const Mean mean = mean_of(tally);
      for (const std::string& cell : mode_cells(row)) text += cell + ",";
      text += fmt::format("{},{:.5f},{},{},{},{:.3f},{},{:.4f}\n", i + 1,
                          tally.bits / report.pixels, tally.streams, tally.above, tally.within,
                          mean.codings, tally.most_codings, mean.milliseconds);
    }
  return text;
}

}  // namespace zerorun::app::bench
