// Writes the frames of a shard so that they survive a kill or a power cut.
// SPDX-License-Identifier: MIT
#include "apps/shards/shard_writer.hpp"

#include <unistd.h>

#include <numeric>
#include <set>
#include <utility>

#include "codec/base/try.hpp"

namespace zerorun::app {
namespace {

/// When the thread begins to make frames durable: early enough that add() does not wait.
constexpr std::int64_t kFewFrames = 32;
constexpr std::chrono::milliseconds kFewSeconds{1000};

/// Times beyond these cannot be in a manifest (parse_manifest()).
constexpr std::int64_t kMostTicks = INT64_MAX / 4;

}  // namespace

ShardWriter::ShardWriter(ShardPaths paths, ShardHead head, std::vector<ShardFrame> frames,
                         std::unique_ptr<DurableFile> journal, std::unique_ptr<DurableFile> data)
    : paths_(std::move(paths)),
      head_(std::move(head)),
      frames_(std::move(frames)),
      journal_(std::move(journal)),
      data_(std::move(data)) {
  thread_ = std::thread([this] { run(); });
}

ShardWriter::~ShardWriter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::int64_t ShardWriter::bytes() const noexcept {
  return std::accumulate(frames_.begin(), frames_.end(), std::int64_t{0},
                         [](std::int64_t sum, const ShardFrame& f) { return sum + f.bytes; });
}

Status ShardWriter::add(const ShardFrame& frame,
                        std::span<const std::span<const std::byte>> parts) {
  ZR_TRY(wait_for_room());
  ZR_TRY(data_->write(parts));
  return note(frame, {});
}

Status ShardWriter::add_picture(const ShardFrame& frame, const std::string& path) {
  ZR_TRY(wait_for_room());
  return note(frame, path);
}

/// The journal may reach the disk before the data: a resumed run compares every frame's hash.
Status ShardWriter::note(const ShardFrame& frame, const std::string& picture) {
  if (frame.time.pts > kMostTicks || frame.time.pts < -kMostTicks || frame.time.duration < 0 ||
      frame.time.duration > kMostTicks)
    return Status(Errc::bad_input, "the time stamp of a frame is impossible");
  ZR_TRY(journal_->write(journal_line(frame)));
  frames_.push_back(frame);
  const std::lock_guard lock(mutex_);
  if (pending_++ == 0) oldest_ = Clock::now();
  if (!picture.empty()) pictures_.push_back(picture);
  if (pending_ == 1 || pending_ == kFewFrames) changed_.notify_all();
  return Status::ok();
}

Status ShardWriter::wait_for_room() {
  std::unique_lock lock(mutex_);
  const auto is_full = [this] {
    return pending_ >= kMostFrames || (pending_ > 0 && Clock::now() - oldest_ >= kMostSeconds);
  };
  while (error_ && is_full()) {
    hurry_ = true;
    changed_.notify_all();
    changed_.wait(lock);
  }
  return error_;
}

Status ShardWriter::sync() {
  std::unique_lock lock(mutex_);
  while (error_ && pending_ > 0) {
    hurry_ = true;
    changed_.notify_all();
    changed_.wait(lock);
  }
  return error_;
}

/// Frames that are added meanwhile count as pending from the moment this round began.
void ShardWriter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto is_due = [this] { return ending_ || hurry_ || pending_ >= kFewFrames; };
    changed_.wait(lock, [&] { return ending_ || pending_ > 0; });
    changed_.wait_until(lock, oldest_ + kFewSeconds, is_due);
    if (ending_) return;
    hurry_ = false;
    const std::int64_t covered = pending_;
    const std::vector<std::string> pictures = std::exchange(pictures_, {});
    const Clock::time_point begun = Clock::now();
    lock.unlock();
    Status status = make_durable(pictures);
    lock.lock();
    pending_ -= covered;
    oldest_ = begun;
    if (!status && error_) error_ = std::move(status);
    changed_.notify_all();
  }
}

Status ShardWriter::make_durable(const std::vector<std::string>& pictures) const {
  std::set<std::string> folders;
  for (const std::string& path : pictures) {
    ZR_TRY(sync_data(path));
    folders.insert(folder_of(path));
  }
  for (const std::string& folder : folders) ZR_TRY(sync_folder(folder));
  if (data_) ZR_TRY(data_->sync());
  return journal_->sync();
}

Status ShardWriter::complete() {
  ZR_TRY(sync());
  if (data_) ZR_TRY(rename_durably(paths_.data_part, paths_.data));
  ZR_TRY(replace_file(paths_.manifest, manifest_text({head_, frames_})));
  ::unlink(paths_.journal.c_str());  // one that stays behind is recognised
  return Status::ok();
}

}  // namespace zerorun::app
