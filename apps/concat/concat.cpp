// `zerorun concat`: joins shards, or Motion JPEG files of one size, without decoding.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "apps/commands.hpp"
#include "apps/common/console.hpp"
#include "apps/common/outputs.hpp"
#include "apps/common/text.hpp"
#include "apps/common/timing.hpp"
#include "apps/concat/concat_files.hpp"
#include "apps/concat/concat_options.hpp"
#include "apps/shards/join.hpp"
#include "apps/shards/shard_paths.hpp"

#include <CLI/CLI.hpp>

namespace zerorun::app {
namespace {

constexpr std::string_view kSuffix = ".shards";

bool is_shard_folder(const std::string& name) {
  std::error_code ignored;
  return name.ends_with(kSuffix) && std::filesystem::is_directory(name, ignored);
}

/// The shards of the OUTPUT that was named, or of the folder and the OUTPUT of -o.
JoinOptions shards_of(const ConcatOptions& options) {
  JoinOptions join;
  const std::string& first = options.inputs.front();
  const bool names_folder = is_shard_folder(first);
  join.folder = names_folder ? first : shard_folder(first);
  join.output = {options.output.name, options.output.format, {}};
  if (join.output.name.empty())
    join.output.name = names_folder ? first.substr(0, first.size() - kSuffix.size()) : first;
  join.overwrite = options.output.overwrite;
  join.allow_missing = options.allow_missing;
  join.audio = options.audio;
  join.manifest = options.manifest;
  return join;
}

void tell(const std::string& output, const JoinResult& result, double seconds) {
  console::plain(fmt::format("{}: {} frames, {} bytes, {:.0f} MB/s", output,
                             with_commas(result.frames), with_commas(result.bytes),
                             seconds > 0 ? static_cast<double>(result.bytes) / seconds * 1e-6 : 0));
  if (result.held > 0)
    console::note(fmt::format("{}: {} missing frame{} filled by holding the one before", output,
                              result.held, result.held == 1 ? " was" : "s were"));
}

/// Takes the name away first: a folder that a kill left half empty must not look like shards that
/// are missing, since OUTPUT is whole.
void delete_shards(const std::string& folder) {
  std::string name = folder;
  while (name.ends_with('/')) name.pop_back();
  const std::string joined = name + ".joined";
  std::error_code error;
  std::filesystem::remove_all(joined, error);  // of a run that was killed
  if (!error) std::filesystem::rename(name, joined, error);
  if (!error) std::filesystem::remove_all(joined, error);
  if (error) fail(Exit::output, folder, Status(Errc::write_failed, error.message()));
}

Exit run(const ConcatOptions& options) {
  console::set_verbosity(options.quiet, options.verbose);
  const Stopwatch watch;
  const bool has_output = !options.output.name.empty();
  if (options.inputs.size() > 1 && !has_output)
    fail(Exit::usage,
         "several files need an OUTPUT (-o); a single name is that of an output whose "
         "shards are joined");
  std::error_code ignored;
  const std::string& first = options.inputs.front();
  const bool names_shards = is_shard_folder(first) || (!std::filesystem::exists(first, ignored) &&
                                                       is_shard_folder(shard_folder(first)));
  const bool is_files = has_output && !names_shards;
  if (is_files) {
    const JoinResult result = concat_files(options);
    tell(options.output.name, result, watch.seconds());
    return Exit::done;
  }
  if (options.inputs.size() > 1) fail(Exit::usage, "the shards of one output are joined at a time");
  const JoinOptions join = shards_of(options);
  const JoinResult result = join_shards(join);
  tell(join.output.name, result, watch.seconds());
  if (options.delete_shards) delete_shards(join.folder);
  return Exit::done;
}

}  // namespace

Command add_concat(CLI::App& program) {
  auto options = std::make_shared<ConcatOptions>();
  CLI::App* command = program.add_subcommand(
      "concat", "Join the shards of an output, or Motion JPEG files, without decoding");
  command->footer(
      "Examples:\n"
      "  zerorun concat shot.mov                      # the shards in shot.mov.shards\n"
      "  zerorun concat shot.mov --audio in.mp4 -y --delete-shards\n"
      "  zerorun concat a.mov b.avi c.mjpeg -o all.mkv");
  add_concat_options(*command, *options);
  return [options] { return run(*options); };
}

}  // namespace zerorun::app
