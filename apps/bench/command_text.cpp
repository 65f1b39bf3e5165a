// The commands that measure the same again, with every default spelled out.
// SPDX-License-Identifier: MIT
#include "apps/bench/command_text.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <vector>

namespace zerorun::app::bench {
namespace {

template <typename T>
std::string join(const std::vector<T>& values, const char* separator = ",") {
  return fmt::format("{}", fmt::join(values, separator));
}

std::string devices_text(const Selection& selection) {
  std::string text = selection.cpu ? "cpu" : "";
  for (const int device : selection.cuda)
    text += fmt::format("{}cuda:{}", text.empty() ? "" : ",", device);
  for (const std::vector<int>& team : selection.teams)
    text += fmt::format("{}cuda:{}", text.empty() ? "" : ",", join(team));
  return text;
}

std::string goal_text(const Options& options) {
  return options.target_size != 0 ? fmt::format("--target-size {}", options.target_size)
                                  : "--quality " + join(options.qualities);
}

}  // namespace

std::string command_text(const Options& options, const Selection& selection) {
  if (options.primitives)
    return fmt::format("zerorun bench --primitives{} --device cuda:{}",
                       options.quick ? " --quick" : "", selection.cuda.front());
  std::string text = fmt::format(
      "zerorun bench '{}' --operation {} --pixels {} {} --subsampling {} --huffman {} --tunes {} "
      "--effort {} --restart {} --index {} --streams {} --device {} --threads {} {}",
      join(options.inputs, "' '"), join(options.operations), join(options.pixels),
      goal_text(options), join(options.samplings), join(options.tables), join(options.tunes),
      join(options.efforts), join(options.restarts), join(options.indexes), join(options.streams),
      devices_text(selection), join(selection.threads), limits_text(options));
  if (!selection.cuda.empty() || !selection.teams.empty())
    text += fmt::format(" --in-flight {} --batch {} --peer-threads {} --peer-batch {}",
                        join(selection.in_flight), join(selection.batches),
                        join(selection.peer_threads), join(selection.peer_batches));
  if (options.files) text += " --files";
  if (options.energy) text += " --energy";
  if (!options.folder.empty()) text += " --folder '" + options.folder + "'";
  if (selection.no_peers) text += " --no-peers";
  for (const std::string& glob : selection.only) text += " --only '" + glob + "'";
  return text;
}

std::string command_of(const Options& all, const Selection& selection, const Case& what) {
  Options options = all;
  const bool as_stored = what.streams == Streams::input && what.planar;
  options.inputs = {what.input};
  options.operations = {name(what.operation)};
  options.pixels = {as_stored ? "planar" : std::string(zerorun::name(what.pixels))};
  options.qualities = {what.quality};
  options.samplings = {std::string(zerorun::name(what.sampling))};
  options.tables = {name(what.huffman)};
  options.tunes = {std::string(zerorun::name(what.tune))};
  options.efforts = {std::string(zerorun::name(what.effort))};
  options.restarts = {what.restart};
  options.indexes = {what.index ? "yes" : "no"};
  options.streams = {name(what.streams)};
  return command_text(options, selection);
}

}  // namespace zerorun::app::bench
