// What an earlier run left of a shard.
// SPDX-License-Identifier: MIT
#include "apps/shards/shard_state.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>

#include "apps/common/console.hpp"
#include "apps/shards/hash.hpp"
#include "apps/shards/shard_writer.hpp"
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

}  // namespace zerorun::app
