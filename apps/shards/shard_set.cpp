// The shards of an output, as they lie in a folder: read and checked.
// SPDX-License-Identifier: MIT
#include "apps/shards/shard_set.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "apps/common/failure.hpp"
#include "apps/shards/hash.hpp"
#include "apps/shards/shard_paths.hpp"
#include "codec/base/folder_names.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app {

ShardSet ShardSet::load(const std::string& folder, bool allow_missing) {
  ShardSet set;
  set.folder_ = folder;
  set.read_folder();
  set.compare_heads();
  set.put_in_order();
  set.check_ends();
  set.fill_gaps(allow_missing);
  return set;
}

void ShardSet::read_folder() {
  std::vector<std::string> stems;
  std::error_code error;
  for (const std::filesystem::path name : folder_names(folder_, error)) {
    if (name.extension() == ".json") stems.push_back(name.stem().string());
    if (name.extension() == ".journal") unfinished_.push_back(name.stem().string());
  }
  if (error) fail(Exit::input, folder_, Status(Errc::open_failed, error.message()));
  std::sort(stems.begin(), stems.end());
  std::sort(unfinished_.begin(), unfinished_.end());
  for (const std::string& stem : stems) add_part(stem);
  if (!parts_.empty()) return;
  fail(Exit::input, folder_ + (unfinished_.empty() ? ": there is no shard in it"
                                                   : ": no shard in it is finished"));
}

void ShardSet::add_part(const std::string& stem) {
  ShardPart part;
  part.stem = stem;
  const std::string name = folder_ + ": " + words(part);
  const std::string text = value_or_fail(
      read_text(folder_ + "/" + stem + ".json", kMostManifestBytes), Exit::input, name);
  part.manifest = value_or_fail(parse_manifest(text), Exit::input, name);
  const ShardHead& head = part.manifest.head;
  if (shard_stem(head.shard, head.span) != stem)
    fail(Exit::input, fmt::format("{}: it is the manifest of {}, under another name", name,
                                  shard_stem(head.shard, head.span)));
  if (head.shard && split(head.total, *head.shard) != head.span)
    fail(Exit::input, name + ": it has other frames than its number says");
  if (part.manifest.frames.size() > UINT32_MAX)
    fail(Exit::input, name + ": it has too many frames");
  part.paths = shard_paths(folder_, stem, head.kind);
  check_data(part);
  parts_.push_back(std::move(part));
}

void ShardSet::check_data(ShardPart& part) const {
  std::int64_t position = 0;
  for (const ShardFrame& frame : part.manifest.frames) {
    part.offsets.push_back(position);
    position += frame.bytes;  // at most 2^29 each, and fewer than 2^32
  }
  part.offsets.push_back(position);
  if (part.paths.data.empty()) return;
  const std::string name = folder_ + ": " + words(part);
  const auto data =
      value_or_fail(DurableFile::open(part.paths.data, DurableFile::Open::read), Exit::input, name);
  if (data->size() != position)
    fail(Exit::input, fmt::format("{}: its data has {} bytes instead of {}; make it again", name,
                                  data->size(), position));
}

Result<std::shared_ptr<const DurableFile>> ShardSet::data_of(std::uint32_t part) const {
  constexpr std::size_t kMostFiles = 32;  // interleaved ranges take turns
  const std::lock_guard lock(open_data_->mutex);
  auto& files = open_data_->files;
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const auto& entry) { return entry.first == part; });
  if (found != files.end()) {
    files.splice(files.begin(), files, found);
    return files.front().second;
  }
  ZR_LET(data, DurableFile::open(parts_[part].paths.data, DurableFile::Open::read));
  if (files.size() == kMostFiles) files.pop_back();
  files.emplace_front(part, std::move(data));
  return files.front().second;
}

Status ShardSet::read(const ShardEntry& entry, std::vector<std::byte>& bytes) const {
  const ShardPart& part = part_of(entry);
  const ShardFrame& frame = frame_of(entry);
  bytes.resize(static_cast<std::size_t>(frame.bytes));
  ZR_LET(data, data_of(entry.part));
  ZR_LET(got, data->read_at(part.offsets[entry.frame], bytes));
  if (got == bytes.size() && xxh3(bytes) == frame.hash) return Status::ok();
  return Status(Errc::bad_input,
                fmt::format("{}: frame {} of it is torn; make the shard again with --resume",
                            words(part), entry.frame));
}

}  // namespace zerorun::app
