// How a run takes its shard: what lies there already is kept, removed or refused.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "apps/common/console.hpp"
#include "apps/shards/shard_run.hpp"
#include "codec/base/folder_names.hpp"

namespace zerorun::app {
namespace {

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (error || !std::filesystem::is_directory(folder, error))
    fail(Exit::output, folder,
         Status(Errc::open_failed, error ? error.message() : "it is not a directory"));
  if (const Status status = sync_folder(folder_of(folder)); !status)
    fail(Exit::output, folder, status);
}

}  // namespace

void ShardRun::take() {
  if (is_whole_output_ && !options_.output.overwrite && wanted_.kind != ShardKind::pictures &&
      is_there(output_name_) && !is_there(paths_.manifest))
    fail(Exit::output, output_name_, Status(Errc::output_exists));
  make_folder(paths_.folder);
  if (is_whole_output_) {
    refuse_other_shards();
    refuse_other_file_system();
  }
  open_.journal = value_or_fail(lock_journal(paths_), Exit::output, paths_.folder);
  if (!open_.journal)  // a scheduler that took the other for dead has to come again
    fail(Exit::failed, words() + " is being made by another process; try again when it has ended");
  if (!options_.shard.resume && !options_.output.overwrite) refuse_leftovers();
  Reasons reasons;
  if (options_.shard.resume && keep_whole(reasons)) return;
  if (!options_.shard.resume || !reasons.empty())
    if (const Status status = clear(paths_, *open_.journal); !status)
      fail(Exit::output, paths_.folder, status);
  const bool is_redone = !reasons.empty() || options_.output.overwrite;
  open_ = value_or_fail(reopen(paths_, std::move(open_.journal), wanted_, output_name_, reasons),
                        Exit::output, paths_.folder);
  for (const std::string& reason : reasons)
    console::note(fmt::format("{} is made again: {}", words(), reason));
  if (!open_.frames.empty())
    console::note(fmt::format("{}: {} of {} frames are there already", words(), open_.frames.size(),
                              wanted_.span.count()));
  if (!is_redone && reasons.empty()) refuse_pictures();
}

/// Refuses a folder with other shards: they would be joined with this one, or removed with the
/// folder.
void ShardRun::refuse_other_shards() const {
  std::error_code error;
  const std::string stem = shard_stem(wanted_.shard, wanted_.span);
  for (const std::string& name : folder_names(paths_.folder, error))
    if (!name.starts_with(stem))
      fail(Exit::output, fmt::format("{} holds other shards of {} ({}); join them by `zerorun "
                                     "concat`, or remove the folder",
                                     paths_.folder, output_name_, name));
}

/// Refuses a folder on another file system (a link or a mount): at the end the joined file is
/// renamed to OUTPUT, which must not fail then.
void ShardRun::refuse_other_file_system() const {
  if (wanted_.kind == ShardKind::pictures) return;
  const std::string parent = folder_of(output_name_);
  struct stat here {
  }, there{};
  if (::stat(parent.c_str(), &here) != 0 || ::stat(paths_.folder.c_str(), &there) != 0) return;
  if (here.st_dev != there.st_dev)
    fail(Exit::output,
         fmt::format("{} is on another file system than {}, so --resume cannot move the "
                     "whole there; make shards (--shard) and join them by `zerorun concat`",
                     paths_.folder, output_name_));
}

bool ShardRun::keep_whole(Reasons& reasons) {
  const auto whole = find_whole(paths_, wanted_, output_name_, reasons);
  if (!whole) return false;
  ::unlink(paths_.journal.c_str());
  has_all_ = is_complete_ = true;
  if (!is_whole_output_)
    console::note(fmt::format("{} is there and whole; nothing is left to do", words()));
  return true;
}

void ShardRun::refuse_leftovers() const {
  const bool is_free =
      open_.journal->size() == 0 && !is_there(paths_.manifest) &&
      (paths_.data.empty() || (!is_there(paths_.data) && !is_there(paths_.data_part)));
  if (!is_free)
    fail(Exit::output, words() +
                           " was begun or made before; --resume goes on with it, and -y makes "
                           "it again");
}

/// Refuses pictures that were there before. A run that was killed may have named up to kMostFrames
/// pictures, and one that was next, whose lines are not in its journal.
void ShardRun::refuse_pictures() const {
  if (wanted_.kind != ShardKind::pictures) return;
  std::int64_t first = static_cast<std::int64_t>(open_.frames.size());
  if (open_.was_begun) first += ShardWriter::kMostFrames + 1;
  for (std::int64_t k = first; k < wanted_.span.count(); ++k) {
    const std::string path = picture_path(wanted_, output_name_, static_cast<std::size_t>(k));
    if (is_there(path)) fail(Exit::output, path, Status(Errc::output_exists));
  }
}

}  // namespace zerorun::app
