// The frames of all shards in order: what is missing, twice, or of another run.
// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "apps/common/failure.hpp"
#include "apps/shards/shard_set.hpp"

namespace zerorun::app {
namespace {

/// The head without what shards of one output may differ in. A sequence has other files in each.
nlohmann::ordered_json common_json(const ShardHead& head) {
  nlohmann::ordered_json json = to_json(head);
  for (const char* const key : {"shard", "span", "sink", "audio", "pixel_format"}) json.erase(key);
  for (const char* const key : {"files", "stamps"}) json["input"].erase(key);
  return json;
}

std::string frames_text(std::int64_t first, std::int64_t last) {
  return last - first == 1 ? fmt::format("frame {}", first)
                           : fmt::format("frames {} to {}", first, last - 1);
}

}  // namespace

void ShardSet::compare_heads() const {
  const nlohmann::ordered_json first = common_json(head());
  for (const ShardPart& part : parts_) {
    const nlohmann::ordered_json other = common_json(part.manifest.head);
    for (const auto& [key, value] : first.items())
      if (other.at(key) != value)
        fail(Exit::input, fmt::format("{}: {} and {} are of different runs (\"{}\" differs)",
                                      folder_, words(parts_.front()), words(part), key));
  }
}

void ShardSet::put_in_order() {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const ShardManifest& manifest = parts_[p].manifest;
    for (std::size_t i = 0; i < manifest.frames.size(); ++i) {
      const std::int64_t index =
          manifest.head.span.first + static_cast<std::int64_t>(i) * manifest.head.span.step;
      entries_.push_back(
          {index, static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(i), false});
    }
  }
  const auto by_index = [](const ShardEntry& a, const ShardEntry& b) { return a.index < b.index; };
  if (!std::is_sorted(entries_.begin(), entries_.end(), by_index))
    std::stable_sort(entries_.begin(), entries_.end(), by_index);
  const auto twice = std::adjacent_find(
      entries_.begin(), entries_.end(),
      [](const ShardEntry& a, const ShardEntry& b) { return a.index == b.index; });
  if (twice != entries_.end())
    fail(Exit::input,
         fmt::format("{}: frame {} is in {} and in {}; remove one of them", folder_, twice->index,
                     words(part_of(*twice)), words(part_of(*std::next(twice)))));
}

/// An input may have fewer frames than its header says: then all shards behind its end are short.
void ShardSet::check_ends() const {
  const std::int64_t end = entries_.empty() ? 0 : entries_.back().index + 1;
  for (const ShardPart& part : parts_) {
    const FrameSpan& span = part.manifest.head.span;
    const auto has = static_cast<std::int64_t>(part.manifest.frames.size());
    if (has < span.count() && span.first + has * span.step < end)
      fail(Exit::input, fmt::format("{}: {} ends at frame {}, but frames behind that are there; "
                                    "the input has changed between them",
                                    folder_, words(part), span.first + has * span.step));
  }
}

/// The first frame that a short shard found missing; `total` if there is none.
std::int64_t ShardSet::end_of_input() const {
  std::int64_t end = head().total;
  for (const ShardPart& part : parts_) {
    const FrameSpan& span = part.manifest.head.span;
    const auto has = static_cast<std::int64_t>(part.manifest.frames.size());
    if (has < span.count()) end = std::min(end, span.first + has * span.step);
  }
  return end;
}

void ShardSet::fill_gaps(bool allow_missing) {
  const std::vector<ShardEntry> there = std::exchange(entries_, {});
  const std::int64_t end = end_of_input();
  if (there.empty()) {
    if (end > 0) fail_missing(0, end);
    fail(Exit::input, folder_ + ": there is no frame in any shard");
  }
  entries_.reserve(there.size());
  std::int64_t expected = 0;
  for (const ShardEntry& entry : there) {
    if (entry.index > expected) {
      if (!allow_missing) fail_missing(expected, entry.index);
      hold(expected, entry.index, entries_.empty() ? entry : entries_.back());
    }
    entries_.push_back(entry);
    expected = entry.index + 1;
  }
  if (expected >= end) return;
  if (!allow_missing) fail_missing(expected, end);
  hold(expected, end, ShardEntry(entries_.back()));
}

void ShardSet::hold(std::int64_t first, std::int64_t last, const ShardEntry& by) {
  const ShardEntry stand_in = by;
  constexpr std::int64_t kMostHeld = 10'000'000;
  if (last - first > kMostHeld - held_) fail_missing(first, last);
  for (std::int64_t index = first; index < last; ++index)
    entries_.push_back({index, stand_in.part, stand_in.frame, true});
  held_ += last - first;
}

void ShardSet::fail_missing(std::int64_t first, std::int64_t last) const {
  const ShardHead& any = head();
  std::string stem;
  if (any.shard)
    for (std::int64_t i = 0; i < any.shard->count && stem.empty(); ++i)
      if (const FrameSpan span = split(any.total, {i, any.shard->count});
          first >= span.first && first < span.last)
        stem = shard_stem(ShardId{i, any.shard->count}, span);
  const bool is_begun =
      std::find(unfinished_.begin(), unfinished_.end(), stem) != unfinished_.end();
  const std::string who = stem.empty() ? ""
                                       : fmt::format("shard {} {}: ", stem,
                                                     is_begun ? "is not finished" : "is missing");
  fail(Exit::input,
       fmt::format("{}: {}{} {} not there (--allow-missing holds the frame before)", folder_, who,
                   frames_text(first, last), last - first == 1 ? "is" : "are"));
}

io::FrameTime ShardSet::time_of(std::size_t position) const {
  const ShardEntry& entry = entries_[position];
  const io::FrameTime time = frame_of(entry).time;
  if (!entry.is_held) return time;
  std::size_t after = position, before = position;
  while (after < entries_.size() && entries_[after].is_held) ++after;
  while (before > 0 && entries_[before].is_held) --before;
  const std::int64_t step = std::max<std::int64_t>(time.duration, 1);
  if (entries_[before].is_held)  // at the start: count back from the first frame that is there
    return {time.pts - (entries_[after].index - entry.index) * step, time.duration};
  const std::int64_t begun = frame_of(entries_[before]).time.pts;
  const std::int64_t gone = entry.index - entries_[before].index;
  if (after == entries_.size()) return {begun + gone * step, time.duration};
  const std::int64_t span = entries_[after].index - entries_[before].index;
  const std::int64_t ticks = frame_of(entries_[after]).time.pts - begun;
  return {begun + ticks / span * gone + ticks % span * gone / span, time.duration};
}

}  // namespace zerorun::app
