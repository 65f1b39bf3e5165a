// SPDX-License-Identifier: MIT
#include "apps/shards/shard_state.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "apps/common/process.hpp"
#include "apps/shards/hash.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app {
namespace {

std::int64_t total_bytes(const std::vector<ShardFrame>& frames, std::size_t count) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += frames[i].bytes;
  return sum;
}

/// How many leading frames are on the disk as their hashes say.
Result<std::size_t> count_good(const ShardHead& head, const std::string& output,
                               const DurableFile* data, const std::vector<ShardFrame>& frames) {
  if (data != nullptr) return count_good_frames(*data, frames);
  std::size_t good = 0;
  while (good < frames.size() && is_good_picture(picture_path(head, output, good), frames[good]))
    ++good;
  return good;
}

struct JournalText {
  std::optional<ShardHead> head;
  std::vector<ShardFrame> frames;
  std::vector<std::int64_t> ends;  // where the head and the line of each frame end
};

/// Reads up to the first torn line.
JournalText parse_journal(std::string_view text) {
  JournalText journal;
  std::int64_t position = 0;
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos;
       text.remove_prefix(end + 1)) {
    const std::string_view line = text.substr(0, end);
    position += static_cast<std::int64_t>(end) + 1;
    if (!journal.head) {
      const auto json = parse_json(line);
      auto head = json ? head_from_json(*json) : Result<ShardHead>(json.status());
      if (!head) return journal;
      journal.head = *std::move(head);
      journal.ends.push_back(position);
      continue;
    }
    const auto frame = parse_journal_line(line);
    if (!frame) return journal;
    journal.frames.push_back(*frame);
    journal.ends.push_back(position);
  }
  return journal;
}

Result<JournalText> read_journal(const DurableFile& journal) {
  if (journal.size() > static_cast<std::int64_t>(kMostManifestBytes))
    return Status(Errc::bad_input, "'" + journal.path() + "' is too long for a journal");
  std::string text(static_cast<std::size_t>(journal.size()), '\0');
  ZR_LET(got, journal.read_at(0, std::as_writable_bytes(std::span(text))));
  return parse_journal(std::string_view(text).substr(0, got));
}

/// Those of the first `count` that an earlier run may not have made durable.
Status sync_pictures(const ShardHead& head, const std::string& output, std::size_t count) {
  constexpr std::size_t kMost = ShardWriter::kMostFrames + 1;
  for (std::size_t k = count > kMost ? count - kMost : 0; k < count; ++k)
    ZR_TRY(sync_data(picture_path(head, output, k)));
  return count > 0 ? sync_folder(folder_of(picture_path(head, output, 0))) : Status::ok();
}

/// A run that was killed between the two last steps has named the data already.
void unname_data(const ShardPaths& paths) {
  if (!paths.data.empty() && !is_there(paths.data_part) && is_there(paths.data))
    std::rename(paths.data.c_str(), paths.data_part.c_str());
}

/// When the thread begins to make frames durable: early enough that add() does not wait.
constexpr std::int64_t kFewFrames = 32;
constexpr std::chrono::milliseconds kFewSeconds{1000};

/// Times beyond these cannot be in a manifest (parse_manifest()).
constexpr std::int64_t kMostTicks = INT64_MAX / 4;

}  // namespace

bool is_good_picture(const std::string& path, const ShardFrame& frame) {
  const auto file = DurableFile::open(path, DurableFile::Open::read);
  if (!file || (*file)->size() != frame.bytes) return false;
  std::vector<std::byte> bytes(static_cast<std::size_t>(frame.bytes));
  const auto got = (*file)->read_at(0, bytes);
  return got && *got == bytes.size() && xxh3(bytes) == frame.hash;
}

std::string picture_path(const ShardHead& head, const std::string& output, std::size_t k) {
  const std::int64_t number =
      head.start_number + head.span.first + static_cast<std::int64_t>(k) * head.span.step;
  return io::numbered_path({output, {}, {}}, number).value_or(output);
}

Result<std::size_t> count_good_frames(const DurableFile& data,
                                      const std::vector<ShardFrame>& frames) {
  std::vector<std::byte> bytes;
  std::int64_t position = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].bytes > data.size() - position) return i;
    bytes.resize(static_cast<std::size_t>(frames[i].bytes));
    ZR_LET(got, data.read_at(position, bytes));
    if (got != bytes.size() || xxh3(bytes) != frames[i].hash) return i;
    position += frames[i].bytes;
  }
  return frames.size();
}

Result<std::unique_ptr<DurableFile>> lock_journal(const ShardPaths& paths) {
  for (;;) {
    ZR_LET(journal, DurableFile::open(paths.journal, DurableFile::Open::append));
    switch (journal->lock()) {
      case DurableFile::Lock::busy:
        return std::unique_ptr<DurableFile>();
      case DurableFile::Lock::unknown:
        console::note(paths.folder +
                      ": this file system has no locks, so nothing keeps two processes from making "
                      "one shard");
        return std::move(journal);
      case DurableFile::Lock::taken:
        break;
    }
    // The one before may have completed the shard and removed its journal between the two calls.
    if (journal->is_named(paths.journal)) return std::move(journal);
  }
}

std::optional<ShardManifest> find_whole(const ShardPaths& paths, const ShardHead& wanted,
                                        const std::string& output, Reasons& reasons) {
  if (!is_there(paths.manifest)) return std::nullopt;
  const auto text = read_text(paths.manifest, kMostManifestBytes);
  auto manifest = text ? parse_manifest(*text) : Result<ShardManifest>(text.status());
  std::string difference;
  if (!manifest) {
    reasons.push_back("its manifest is damaged: " + manifest.status().detail());
  } else if (!is_same_work(manifest->head, wanted, difference)) {
    reasons.push_back("it was made with another " + difference);
  } else {
    Result<std::unique_ptr<DurableFile>> data = std::unique_ptr<DurableFile>();
    if (!paths.data.empty()) data = DurableFile::open(paths.data, DurableFile::Open::read);
    const auto good = data ? count_good(wanted, output, data->get(), manifest->frames)
                           : Result<std::size_t>(data.status());
    const bool is_exact =
        data &&
        (!*data || (*data)->size() == total_bytes(manifest->frames, manifest->frames.size()));
    if (good && *good == manifest->frames.size() && is_exact) return *std::move(manifest);
    reasons.push_back(good ? fmt::format("frame {} of it is torn", *good)
                           : "its data cannot be read: " + good.status().detail());
  }
  return std::nullopt;
}

Result<OpenShard> reopen(const ShardPaths& paths, std::unique_ptr<DurableFile> journal,
                         const ShardHead& wanted, const std::string& output, Reasons& reasons) {
  OpenShard shard;
  ZR_LET(found, read_journal(*journal));
  unname_data(paths);
  shard.journal = std::move(journal);
  std::string difference;
  const bool is_mine = found.head && is_same_work(*found.head, wanted, difference);
  shard.was_begun = is_mine;
  if (found.head && !is_mine) reasons.push_back("it was begun with another " + difference);
  if (!is_mine) {
    ZR_TRY(clear(paths, *shard.journal));
    found.frames.clear();
  }
  if (!paths.data.empty()) {
    ZR_LET(data, DurableFile::open(paths.data_part, DurableFile::Open::append));
    shard.data = std::move(data);
  }
  ZR_TRY(sync_folder(paths.folder));  // the two names, without which their bytes are lost
  ZR_LET(good, count_good(wanted, output, shard.data.get(), found.frames));
  if (good < found.frames.size())
    reasons.push_back(fmt::format("frame {} of it and those behind are torn", good));
  found.frames.resize(good);
  shard.frames = std::move(found.frames);
  if (shard.data) ZR_TRY(shard.data->cut(total_bytes(shard.frames, good)));
  if (!is_mine) return shard;
  // The head stays, even alone: pictures without a line may lie there, and it says whose they are.
  shard.head = *found.head;
  ZR_TRY(shard.journal->cut(found.ends[good]));
  // The run before may have been killed with frames that are not durable. They would come on top of
  // those that this run may lose.
  ZR_TRY(shard.data ? shard.data->sync() : sync_pictures(wanted, output, good));
  ZR_TRY(shard.journal->sync());
  return shard;
}

Status clear(const ShardPaths& paths, DurableFile& journal) {
  ::unlink(paths.manifest.c_str());
  ZR_TRY(sync_folder(paths.folder));  // the manifest goes first: no data is taken for whole
  if (!paths.data.empty()) {
    ::unlink(paths.data.c_str());
    ::unlink(paths.data_part.c_str());
  }
  return journal.cut(0);
}

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
