// What an earlier run left of a shard.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/shards/durable_file.hpp"
#include "apps/shards/manifest.hpp"
#include "apps/shards/shard_paths.hpp"

namespace zerorun::app {

/// How many leading frames have the bytes that their hashes say, in `data`.
Result<std::size_t> count_good_frames(const DurableFile& data,
                                      const std::vector<ShardFrame>& frames);

/// A shard that is being made: its journal is this process's alone until it is closed.
struct OpenShard {
  std::unique_ptr<DurableFile> journal;
  std::unique_ptr<DurableFile> data;  ///< null for pictures
  ShardHead head;                     ///< of the journal, if the shard was begun
  std::vector<ShardFrame> frames;     ///< that are there and whole
  bool was_begun = false;             ///< an earlier run has begun this very shard
};

/// What keeps a shard's leftovers from being used; for a note to the user.
using Reasons = std::vector<std::string>;

/// Takes the shard's journal; null if another process has it. Errors: those of DurableFile.
Result<std::unique_ptr<DurableFile>> lock_journal(const ShardPaths& paths);

/// The manifest of a whole shard. nullopt if there is none or it is of other work, torn or does not
/// match its data: `reasons` then says which, and nothing if there is none.
std::optional<ShardManifest> find_whole(const ShardPaths& paths, const ShardHead& wanted,
                                        const std::string& output, Reasons& reasons);

/// Goes on with what the journal says and the data has; both are cut behind the last whole frame.
/// `reasons` says why frames are thrown away.
Result<OpenShard> reopen(const ShardPaths& paths, std::unique_ptr<DurableFile> journal,
                         const ShardHead& wanted, const std::string& output, Reasons& reasons);

/// Removes manifest and data, and empties the journal.
Status clear(const ShardPaths& paths, DurableFile& journal);

/// True if the file has the bytes of the frame.
bool is_good_picture(const std::string& path, const ShardFrame& frame);

/// Of frame k of a shard of pictures.
std::string picture_path(const ShardHead& head, const std::string& output, std::size_t k);

}  // namespace zerorun::app
