// A shard that is being made: what an earlier run left of it, and the writer of its frames.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "apps/shards/durable_file.hpp"
#include "apps/shards/manifest.hpp"

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

/// Frames go to the data file, and a line for each goes to the journal. A thread makes both durable
/// while frames go on; add() waits for it where more would be lost by a power cut than kMostFrames
/// or kMostSeconds. A killed process loses no frame that add() returned for.
/// One thread calls the members.
class ShardWriter {
 public:
  static constexpr std::int64_t kMostFrames = 64;
  static constexpr std::chrono::milliseconds kMostSeconds{2000};

  /// `journal` has its head and the lines of `frames`, `data` (null for pictures) their bytes; both
  /// are locked by `journal`.
  ShardWriter(ShardPaths paths, ShardHead head, std::vector<ShardFrame> frames,
              std::unique_ptr<DurableFile> journal, std::unique_ptr<DurableFile> data);
  ShardWriter(const ShardWriter&) = delete;
  ShardWriter& operator=(const ShardWriter&) = delete;
  ~ShardWriter();

  /// Appends a frame. Errors: write_failed, also those of making earlier frames durable.
  Status add(const ShardFrame& frame, std::span<const std::span<const std::byte>> parts);
  /// Adds a frame that lies in a file of its own.
  Status add_picture(const ShardFrame& frame, const std::string& path);
  /// Makes all frames durable.
  Status sync();
  /// Makes the shard whole: names its data, writes the manifest, removes the journal.
  Status complete();

  const ShardHead& head() const noexcept { return head_; }
  std::int64_t frames() const noexcept { return static_cast<std::int64_t>(frames_.size()); }
  std::int64_t bytes() const noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  Status note(const ShardFrame& frame, const std::string& picture);
  Status wait_for_room();
  void run();
  Status make_durable(const std::vector<std::string>& pictures) const;

  ShardPaths paths_;
  ShardHead head_;
  std::vector<ShardFrame> frames_;
  std::unique_ptr<DurableFile> journal_, data_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t pending_ = 0;           // frames that are not durable
  Clock::time_point oldest_;           // when the first of them was added
  std::vector<std::string> pictures_;  // of the pending frames
  Status error_;
  bool hurry_ = false, ending_ = false;
  std::thread thread_;
};

}  // namespace zerorun::app
