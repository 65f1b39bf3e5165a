// SPDX-License-Identifier: MIT
#include "apps/shards/shard_set.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "apps/common/frame_pipeline.hpp"
#include "apps/common/input_output.hpp"
#include "apps/common/process.hpp"
#include "apps/shards/hash.hpp"
#include "apps/shards/shard_run.hpp"
#include "apps/shards/shard_state.hpp"
#include "codec/base/folder_names.hpp"
#include "codec/base/pixel_rows.hpp"
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

/// An input may have fewer frames than its header says: then all shards after its end are short.
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

namespace {

/// Reading and comparing on two threads keeps ahead of writing.
constexpr int kJoinLanes = 2;

struct JoinJob {
  std::size_t position = 0;
  std::vector<std::byte> bytes;
  io::Outgoing out;
  std::string name() const { return std::to_string(position); }
};

FrameView view_of(PixelFormat format, const ShardFrame& frame) {
  return {format, frame.width, frame.height, {}, {}};
}

class Join {
 public:
  explicit Join(const JoinOptions& options)
      : options_(options), set_(ShardSet::load(options.folder, options.allow_missing)) {}

  JoinResult run() {
    check_shapes();
    switch (set_.head().kind) {
      case ShardKind::packets:
        join_packets();
        break;
      case ShardKind::frames:
        join_frames();
        break;
      case ShardKind::pictures:
        compare_pictures();
        break;
    }
    if (!options_.manifest.empty()) write_manifest();
    result_.frames = static_cast<std::int64_t>(set_.entries().size());
    result_.held = set_.held();
    return result_;
  }

 private:
  const ShardHead& first_head() const { return set_.part_of(set_.entries().front()).manifest.head; }

  io::Location output() const {
    io::Location output = options_.output;
    if (output.format.empty() && output.name.ends_with(set_.head().output))
      output.format = set_.head().output_format;
    return output;
  }

  io::Location written() const {
    io::Location written = output();
    if (!options_.written_as.empty()) written.name = options_.written_as;
    return written;
  }

  /// Pictures of one size in a container; whole frames of the size that their bytes have.
  void check_shapes() const {
    const ShardHead& head = first_head();
    const bool is_video = head.kind == ShardKind::frames || is_container(output());
    const auto format = parse_pixel_format(head.pixel_format);
    for (const ShardEntry& entry : set_.entries()) {
      const ShardPart& part = set_.part_of(entry);
      const ShardFrame& frame = set_.frame_of(entry);
      const std::string where =
          fmt::format("{}: {}: frame {}", options_.folder, ShardSet::words(part), entry.frame);
      if (is_video && (frame.width != head.sink.width || frame.height != head.sink.height))
        fail(Exit::input,
             fmt::format("{} has {}x{} pixels, but the video begins with {}x{}", where, frame.width,
                         frame.height, head.sink.width, head.sink.height));
      if (head.kind != ShardKind::frames) continue;
      if (!format || part.manifest.head.pixel_format != head.pixel_format)
        fail(Exit::input, where + " has another pixel format than the first one");
      FrameView view = view_of(*format, frame);
      if (place_planes(view, nullptr, 1) != static_cast<std::size_t>(frame.bytes))
        fail(Exit::input, where + " does not have as many bytes as its size says");
    }
  }

  io::SinkOptions sink_options() const {
    io::SinkOptions sink = first_head().sink;
    sink.overwrite = options_.overwrite;
    if (!first_head().has_audio || options_.audio == "none") return sink;
    if (options_.audio.empty())
      fail(Exit::usage, output().name +
                            ": the sound of the input belongs into it; name that file by --audio, "
                            "or leave the sound out by --audio none");
    InputOptions audio;
    audio.name = options_.audio;
    const auto now = input_identity(audio, {});
    for (const char* const key : {"size", "time"})
      if (first_head().input.contains(key) &&
          now.value(key, nlohmann::ordered_json()) != first_head().input.at(key))
        fail(Exit::input, options_.audio +
                              ": it is not the file that the shards were made from, or "
                              "it was changed");
    sink.audio_from = options_.audio;
    return sink;
  }

  template <typename Sink, typename Prepare>
  void copy(Sink& sink, const Prepare& prepare) {
    register_part(written());
    const PipelineSteps<JoinJob> steps = {
        .read = [this, next = std::size_t{0}](JoinJob& job) mutable -> Result<bool> {
          job.position = next++;
          return job.position < set_.entries().size();
        },
        .load = [this](JoinJob& job,
                       int) { return set_.read(set_.entries()[job.position], job.bytes); },
        .pack = prepare,
        .write =
            [&](JoinJob& job) {
              job.out.time = set_.time_of(job.position);
              return sink.commit(job.out);
            }};
    const PipelineEnd end = run_pipeline<JoinJob>(kJoinLanes, steps);
    if (!end.status)
      fail(end.step == PipelineEnd::Step::write ? Exit::output : Exit::input,
           end.step == PipelineEnd::Step::write ? output().name : options_.folder, end.status);
    if (end.interrupted) fail_interrupted();
    Status status = sink.finish();
    if (status) status = sync_file(written().name);
    end_output(output(), status);
    result_.bytes = sink.bytes_written();
  }

  void join_packets() {
    auto sink =
        value_or_fail(io::open_packet_sink(written(), sink_options()), Exit::output, output().name);
    copy(*sink, [&](JoinJob& job) { return sink->prepare(job.bytes, job.out); });
    note_output(output(), *sink);
  }

  void join_frames() {
    const PixelFormat format = *parse_pixel_format(first_head().pixel_format);
    auto sink =
        value_or_fail(io::open_frame_sink(written(), sink_options()), Exit::output, output().name);
    copy(*sink, [&](JoinJob& job) {
      const ShardFrame& frame = set_.frame_of(set_.entries()[job.position]);
      FrameView view = view_of(format, frame);
      place_planes(view, reinterpret_cast<std::uint8_t*>(job.bytes.data()), 1);
      return sink->prepare(view, job.out);
    });
  }

  /// Numbered pictures have their final names already: this only compares their bytes.
  void compare_pictures() {
    for (const ShardEntry& entry : set_.entries()) {
      const ShardPart& part = set_.part_of(entry);
      const std::string path = picture_path(part.manifest.head, output().name, entry.frame);
      if (!is_good_picture(path, set_.frame_of(entry)))
        fail(Exit::input, fmt::format("{}: it is not there or has other bytes than {} gave it",
                                      path, ShardSet::words(part)));
      result_.bytes += set_.frame_of(entry).bytes;
    }
    if (set_.held() > 0) fail(Exit::usage, "--allow-missing does not work for numbered pictures");
  }

  void write_manifest() const {
    ShardManifest whole{first_head(), {}};
    whole.head.shard = ShardId{0, 1};
    whole.head.total = static_cast<std::int64_t>(set_.entries().size());
    whole.head.span = {0, whole.head.total, 1};
    for (std::size_t i = 0; i < set_.entries().size(); ++i) {
      whole.frames.push_back(set_.frame_of(set_.entries()[i]));
      whole.frames.back().time = set_.time_of(i);
    }
    if (const Status status = replace_file(options_.manifest, manifest_text(whole)); !status)
      fail(Exit::output, options_.manifest, status);
  }

  const JoinOptions& options_;
  ShardSet set_;
  JoinResult result_;
};

}  // namespace

JoinResult join_shards(const JoinOptions& options) { return Join(options).run(); }

}  // namespace zerorun::app
