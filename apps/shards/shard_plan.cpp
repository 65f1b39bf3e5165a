// Which shard a run makes, by its options and the scheduler's variables.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "apps/common/inputs.hpp"
#include "apps/common/outputs.hpp"
#include "apps/shards/shard_input.hpp"
#include "apps/shards/shard_run.hpp"

namespace zerorun::app {
namespace {

ShardKind kind_of(const FrameOptions& options, const std::string& command) {
  const io::Location output = output_location(options.input, options.output);
  const auto refuse = [&](const char* what) {
    fail(Exit::usage, output.name + ": --shard, --range and --resume " + what);
  };
  if (options.input.name == "-") refuse("need an INPUT that can be entered anywhere, not a pipe");
  if (output.name == "-" || io::is_measuring_output(output)) refuse("write files alone");
  if (is_images(output)) {
    if (!is_pattern(output.name)) refuse("need a pattern such as 'dir/%05d.png' for pictures");
    return ShardKind::pictures;
  }
  const bool is_known =
      command == "encode" ? io::is_packet_output(output) : output_kind(output) == "y4m";
  if (!is_known) refuse("write video, .y4m and numbered pictures");
  return command == "encode" ? ShardKind::packets : ShardKind::frames;
}

ShardId chosen_shard(const ShardOptions& options) {
  if (options.shard) return *options.shard;
  if (!options.automatic) return {};
  std::string error;
  const auto shard = shard_from([](const char* name) { return std::getenv(name); }, error);
  if (!shard) fail(Exit::usage, "--shard auto: " + error);
  return *shard;
}

FrameSpan clipped(FrameSpan range, std::int64_t total) {
  if (range.first >= total)
    fail(Exit::usage,
         fmt::format("--range begins at frame {}, but there are {}", range.first, total));
  range.last = std::min(range.last, total);
  return range;
}

nlohmann::ordered_json with_input_options(nlohmann::ordered_json parameters,
                                          const InputOptions& input) {
  parameters["input-format"] = input.format;
  parameters["fps"] = rational_text(input.fps);
  parameters["frames"] = fmt::format("{}:{}", input.range.first, input.range.last);
  parameters["start-number"] = input.start_number ? std::to_string(*input.start_number) : "";
  parameters["missing"] = static_cast<int>(input.missing);
  if (input.file_numbers)
    parameters["file-numbers"] = {input.file_numbers->first, input.file_numbers->last};
  parameters["on-error"] = static_cast<int>(input.broken);
  parameters["raw"] = {input.raw.width, input.raw.height, input.raw.pixel_format};
  return parameters;
}

/// Workers of one node share out its GPUs.
void choose_gpu(DeviceOptions& device) {
  if (device.backend != Backend::cuda || device.is_index_named) return;
  const auto rank = local_rank([](const char* name) { return std::getenv(name); });
  const std::size_t count = rank ? cuda_devices().size() : 0;
  if (count > 0) device.index = static_cast<int>(static_cast<std::size_t>(*rank) % count);
}

}  // namespace

std::shared_ptr<ShardRun> ShardRun::plan(FrameOptions& options, const char* command,
                                         const nlohmann::ordered_json& parameters) {
  const ShardOptions& asked = options.shard;
  if (!asked.any()) return nullptr;
  if (asked.range && (asked.shard || asked.automatic))
    fail(Exit::usage, "--range A:B is a shard already, so --shard does not go with it");
  ShardHead head;
  head.program = program_text();
  head.command = command;
  head.kind = kind_of(options, command);
  head.output = as_written(std::filesystem::path(options.output.name).filename().string());
  head.output_format = options.output.format;
  head.parameters = as_written(with_input_options(parameters, options.input));
  head.start_number = options.input.start_number.value_or(1);
  if (!asked.range) head.shard = chosen_shard(asked);
  choose_gpu(options.device);
  const FrameCount count = count_frames(options.input);
  head.total = count.frames;
  if (head.total == 0) fail_without_frames(options.input);
  head.span = asked.range ? clipped(*asked.range, head.total) : split(head.total, *head.shard);
  head.input = as_written(input_identity(options.input, head.span));
  const std::shared_ptr<ShardRun> run(new ShardRun(options, std::move(head)));
  run->is_exact_count_ = count.is_exact;
  run->is_whole_output_ = !asked.shard && !asked.automatic && !asked.range;
  run->take();
  run->set_range();
  return run;
}

}  // namespace zerorun::app
