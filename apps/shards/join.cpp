// Joins the shards of an output to the file that one run would have written.
// SPDX-License-Identifier: MIT
#include "apps/shards/join.hpp"

#include <fmt/core.h>

#include <array>
#include <filesystem>
#include <memory>
#include <utility>

#include "apps/common/failure.hpp"
#include "apps/common/frame_pipeline.hpp"
#include "apps/common/outputs.hpp"
#include "apps/shards/hash.hpp"
#include "apps/shards/shard_input.hpp"
#include "apps/shards/shard_set.hpp"
#include "apps/shards/shard_state.hpp"
#include "apps/shards/sink_json.hpp"
#include "codec/base/place_planes.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app {
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
    EarlyWriteback writeback(written().name + ".part");
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
              ZR_TRY(sink.commit(job.out));
              writeback.reached(sink.bytes_written());
              return Status::ok();
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

  /// They have their names; a missing one is the shard's fault.
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
