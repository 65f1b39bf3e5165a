// `zerorun bench --exact-size`: codes pictures to sizes.
// SPDX-License-Identifier: MIT
#include "apps/bench/sizes/sizes.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

#include <fmt/core.h>

#include "apps/bench/quality/frames.hpp"
#include "apps/common/failure.hpp"

namespace zerorun::app::bench {
namespace {

std::vector<SizesRow> rows_of(const Options& options, const Selection& selection) {
  std::vector<std::string> devices;
  if (selection.cpu) devices.push_back("cpu");
  for (const int device : selection.cuda) devices.push_back(fmt::format("cuda:{}", device));
  std::vector<SizesRow> rows;
  for (const std::string& device : devices)
    for (const Case& what : cases_of(options, options.inputs[0])) {
      const bool is_there = std::any_of(rows.begin(), rows.end(), [&](const SizesRow& row) {
        return row.device == device && row.what == what;
      });
      if (!is_there) rows.push_back({device, what, {}});
    }
  return rows;
}

EncodeParams params_of(const SizesRow& row, const Selection& selection) {
  const bool on_cpu = row.device == "cpu";
  EncodeParams params = encode_params(row.what, on_cpu ? Backend::cpu : Backend::cuda,
                                      on_cpu ? 0 : std::stoi(row.device.substr(5)));
  params.threads = selection.threads.front();
  return params;
}

}  // namespace

rd::SizeTally SizesRow::all() const {
  rd::SizeTally sum;
  for (const rd::SizeTally& tally : targets) sum.add(tally);
  return sum;
}

void choose_sizes(const CLI::App& command, Options& options) {
  refuse_beside(
      "--exact-size", command,
      {"--operation", "--pixels", "--streams", "--mixed", "--megapixels", "--html", "--curves",
       "--files", "--primitives", "--contents", "--compare", "--target-size"});
  options.operations = {"encode"};
  options.pixels = {"rgb24"};
  if (command.count("--huffman") == 0) options.tables = {"standard", "optimal"};
  if (command.count("--tunes") == 0) options.tunes = {"exact", "photo"};
  if (command.count("--quality") == 0) options.qualities = {20, 97};
  std::sort(options.qualities.begin(), options.qualities.end());
  if (options.qualities.size() != 2 || options.qualities[0] == options.qualities[1])
    fail(Exit::usage,
         "--exact-size goes from the size of one quality to that of another: --quality 20,97");
}

SizesReport measure_sizes(const Options& options, const Selection& selection) {
  SizesReport report;
  report.range.least_quality = options.qualities[0];
  report.range.most_quality = options.qualities[1];
  Options one = options;  // the qualities are no cases
  one.qualities.resize(1);
  report.rows = rows_of(one, selection);
  for (const std::string& input : options.inputs)
    for (const FrameSet& picture : load_pictures(options, input)) {
      tell(fmt::format("{} {}", input, ++report.pictures));
      report.pixels += static_cast<double>(picture.view(0).width) * picture.view(0).height;
      for (SizesRow& row : report.rows) {
        const auto tallies =
            value_or_fail(rd::try_sizes(params_of(row, selection), picture.view(0), report.range),
                          Exit::failed, input);
        row.targets.resize(tallies.size());
        for (std::size_t i = 0; i < tallies.size(); ++i) row.targets[i].add(tallies[i]);
      }
    }
  return report;
}

}  // namespace zerorun::app::bench
