// The shards of an output, as they lie in a folder: read, checked, put in order, and joined.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "apps/shards/durable_file.hpp"
#include "apps/shards/manifest.hpp"
#include "zerorun/content.hpp"

namespace zerorun::app {

/// A whole shard.
struct ShardPart {
  std::string stem;
  ShardPaths paths;
  ShardManifest manifest;
  std::vector<std::int64_t> offsets;  ///< of the frames in the data, and its size
  bool has_data() const noexcept { return !paths.data.empty(); }  ///< pictures have none
};

/// Where a frame of the output comes from.
struct ShardEntry {
  std::int64_t index = 0;  ///< in the output
  std::uint32_t part = 0;
  std::uint32_t frame = 0;  ///< in the part
  bool is_held = false;     ///< the frame is missing, and this one stands in for it
};

class ShardSet {
 public:
  /// Reads all manifests of a folder and compares the sizes of the data. Files are found by the
  /// names of the manifests; nothing in a manifest is taken for a path. Ends the command with
  /// exit 3 and the name of the shard if one is damaged, missing, doubled, of other work, or not
  /// finished. `allow_missing` holds the frame before a missing one instead (the one after it at
  /// the start).
  static ShardSet load(const std::string& folder, bool allow_missing);

  const ShardHead& head() const { return parts_.front().manifest.head; }
  const std::vector<ShardEntry>& entries() const noexcept { return entries_; }
  const std::vector<ShardPart>& parts() const noexcept { return parts_; }
  const ShardPart& part_of(const ShardEntry& entry) const { return parts_[entry.part]; }
  const ShardFrame& frame_of(const ShardEntry& entry) const {
    return part_of(entry).manifest.frames[entry.frame];
  }
  /// The frame's time; that of a held frame lies between its neighbours.
  io::FrameTime time_of(std::size_t position) const;
  std::int64_t held() const noexcept { return held_; }
  /// "shard 003-of-016"
  static std::string words(const ShardPart& part) { return "shard " + part.stem; }

  /// Reads a frame of `data` and compares its hash. Any thread. Errors: bad_input, which names the
  /// shard and the frame; those of reading.
  Status read(const ShardEntry& entry, std::vector<std::byte>& bytes) const;

 private:
  void read_folder();
  void add_part(const std::string& stem);
  void check_data(ShardPart& part) const;
  Result<std::shared_ptr<const DurableFile>> data_of(std::uint32_t part) const;
  void compare_heads() const;
  void put_in_order();
  void check_ends() const;
  void fill_gaps(bool allow_missing);
  [[noreturn]] void fail_missing(std::int64_t first, std::int64_t last) const;
  void hold(std::int64_t first, std::int64_t last, const ShardEntry& by);
  std::int64_t end_of_input() const;

  /// Data of parts, the one that was asked for last in front. There may be more parts than a
  /// process may open files.
  struct OpenData {
    std::mutex mutex;
    std::list<std::pair<std::uint32_t, std::shared_ptr<const DurableFile>>> files;
  };

  std::string folder_;
  std::unique_ptr<OpenData> open_data_ = std::make_unique<OpenData>();
  std::vector<ShardPart> parts_;
  std::vector<ShardEntry> entries_;
  std::vector<std::string> unfinished_;  // stems
  std::int64_t held_ = 0;
};

struct JoinOptions {
  std::string folder;
  io::Location output;
  /// If not empty, the file is written under this name, which has the extension of `output`;
  /// messages name `output`.
  std::string written_as;
  bool overwrite = false;
  bool allow_missing = false;
  /// The file whose sound belongs into the output, if the shards say that one does; "none" leaves
  /// it out. Empty is an error then: paths in manifests are not followed.
  std::string audio;
  std::string manifest;  ///< if not empty, a manifest of all frames is written to this file
};

struct JoinResult {
  std::int64_t frames = 0, bytes = 0, held = 0;
};

/// Streams are copied; every frame is compared with its hash. For numbered pictures, which have
/// their names already, it only compares. The file is on the disk when it returns. Ends the command
/// on errors; a shard that is at fault is named.
JoinResult join_shards(const JoinOptions& options);

}  // namespace zerorun::app
