// A run of `encode` or `decode` that makes one shard, or the whole output so that it can go on
// after a kill.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "apps/common/frame_command.hpp"
#include "apps/common/options.hpp"
#include "apps/common/process.hpp"
#include "apps/shards/shard_state.hpp"
#include "apps/shards/split.hpp"
#include "zerorun/io.hpp"

namespace zerorun::app {

struct FrameCount {
  std::int64_t frames = 0;
  bool is_exact = false;  ///< they were counted: there are none that the headers do not know of
};

/// The frames of INPUT within --frames. The headers or the names of the files tell; Matroska with
/// Motion JPEG is walked through from header to header; a raw Motion JPEG file and other containers
/// without an index are read for it once. Ends the command on errors.
FrameCount count_frames(const InputOptions& input);

/// Path, size and time of the file, or of the files of `span` in a sequence. What its bytes were
/// stands in the manifest (input_hash()).
nlohmann::ordered_json input_identity(const InputOptions& input, const FrameSpan& span);

struct JoinOptions;

class ShardRun {
 public:
  /// Chooses the shard, takes its files, and sets the range of `options.input` to what is left of
  /// it. Null if neither --shard nor --range nor --resume was given. `parameters` are those that
  /// the bytes follow from, beside those of `options`. Ends the command on errors.
  static std::shared_ptr<ShardRun> plan(FrameOptions& options, const char* command,
                                        const nlohmann::ordered_json& parameters);

  ShardRun(const ShardRun&) = delete;
  ShardRun& operator=(const ShardRun&) = delete;
  ~ShardRun();

  /// True if earlier runs have made all frames: then only finish() is left.
  bool has_all_frames() const noexcept { return has_all_; }
  /// Frames of the input from one frame of the shard to the next.
  std::int64_t step() const noexcept { return wanted_.span.step; }
  const InputOptions& whole_input() const noexcept { return input_; }

  /// The sink of the shard, once the first frame is known. `native` is the format of that frame.
  /// Errors: those of writing; unsupported_output where the first frame does not fit to those that
  /// an earlier run left.
  Result<std::unique_ptr<io::PacketSink>> open_packets(const io::SinkOptions& options);
  Result<std::unique_ptr<io::FrameSink>> open_frames(const io::SinkOptions& options,
                                                     PixelFormat native);

  /// Of the frame that is committed next. `source` is the XXH3 of what it was made from; 0 = not
  /// known. On the thread that commits.
  void describe_next(int width, int height, std::uint64_t source) noexcept;

  /// Ends the command: Exit::done, or Exit::resume if a signal came before the last frame. Joins
  /// the frames of a run without shards to its output.
  Exit finish();

  // For the sinks, on the thread that commits.
  Status add(const io::FrameTime& time, std::uint64_t hash,
             std::span<const std::span<const std::byte>> parts);
  Status add_picture(const io::FrameTime& time, std::uint64_t hash, std::int64_t bytes);
  /// Makes what was added durable, and the shard whole if no frame is missing.
  Status end_input();
  std::int64_t bytes_written() const noexcept { return writer_ ? writer_->bytes() : 0; }

 private:
  ShardRun(FrameOptions& options, ShardHead wanted);
  void take();
  bool keep_whole(Reasons& reasons);
  void refuse_other_shards() const;
  void refuse_other_file_system() const;
  void refuse_leftovers() const;
  void refuse_pictures() const;
  void set_range();
  bool has_rest() const;
  Status begin(const io::SinkOptions& options, const std::string& format);
  Status write_head(const ShardHead& head);
  void open_writer(ShardHead head);
  void fill_next(const io::FrameTime& time, std::uint64_t hash, std::int64_t bytes) noexcept;
  bool reaches_end() const noexcept;
  Exit tell_interrupted() const;
  void join() const;
  void name_joined(const std::string& joined) const;
  std::string words() const;

  FrameOptions& options_;
  ShardHead wanted_;
  ShardPaths paths_;
  std::string output_name_;
  OpenShard open_;
  std::unique_ptr<ShardWriter> writer_;
  ShardFrame next_;
  InputOptions input_;            // as it was given: options_ has the range that is left
  bool is_exact_count_ = false;   // the headers did not have to be trusted for the number of frames
  bool is_whole_output_ = false;  // --resume without a shard
  bool has_all_ = false, is_complete_ = false, is_input_changed_ = false;
};

/// Plans the shard that `options` ask for, calls `run` unless all of it is there, and ends it.
/// Without such options it only calls `run`.
template <typename Parameters, typename Run>
Exit run_shard(FrameOptions& options, const char* command, const Parameters& parameters,
               const Run& run) {
  if (!options.shard.any()) return run();
  signals::set_exit_code(static_cast<int>(Exit::resume));
  options.shard_run = ShardRun::plan(options, command, parameters());
  if (!options.shard_run->has_all_frames()) static_cast<void>(run());
  return options.shard_run->finish();
}

}  // namespace zerorun::app
