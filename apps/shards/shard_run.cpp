// A run of `encode` or `decode` that makes one shard, or the whole output so that it can go on
// after a kill.
// SPDX-License-Identifier: MIT
#include "apps/shards/shard_run.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <utility>

#include "apps/common/json_text.hpp"
#include "apps/common/outputs.hpp"
#include "apps/common/signals.hpp"
#include "apps/shards/shard_input.hpp"
#include "apps/shards/shard_sinks.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app {
ShardRun::ShardRun(FrameOptions& options, ShardHead wanted)
    : options_(options),
      wanted_(std::move(wanted)),
      output_name_(options.output.name),
      input_(options.input) {
  const std::string folder = shard_folder(output_name_);
  paths_ = shard_paths(folder, shard_stem(wanted_.shard, wanted_.span), wanted_.kind);
}

/// Leaves no empty files of a run that ended before its first frame.
ShardRun::~ShardRun() {
  if (writer_ || !open_.journal || open_.journal->size() > 0) return;
  if (!paths_.data_part.empty() && open_.data && open_.data->size() == 0)
    ::unlink(paths_.data_part.c_str());
  ::unlink(paths_.journal.c_str());
  ::rmdir(paths_.folder.c_str());  // fails if there is anything in it
}

bool ShardRun::reaches_end() const noexcept {
  return !is_exact_count_ && wanted_.span.last == wanted_.total && wanted_.span.step == 1 &&
         input_.range.last < 0;
}

void ShardRun::set_range() {
  if (is_complete_) return;
  const auto done = static_cast<std::int64_t>(open_.frames.size());
  options_.input.range.first = input_.range.first + wanted_.span.first + done * step();
  options_.input.range.last = reaches_end() ? -1 : input_.range.first + wanted_.span.last;
  const std::int64_t count = wanted_.span.count();
  has_all_ = count == 0 || (done >= count && !(reaches_end() && has_rest()));
}

/// True if the input has more frames than its headers say. The last shard gets them.
bool ShardRun::has_rest() const {
  InputOptions rest = options_.input;
  rest.range = {input_.range.first + wanted_.span.first +
                    (writer_ ? writer_->frames() : static_cast<std::int64_t>(open_.frames.size())),
                -1};
  return has_frames(rest);
}

Status ShardRun::begin(const io::SinkOptions& options, const std::string& format) {
  ShardHead head = open_.head;
  if (open_.frames.empty()) {
    head = wanted_;
    head.sink = options;
    // Of the whole output: the range of the input is now that of the shard.
    const bool ends = input_.range.last >= 0 && options.frame_rate.known();
    head.sink.audio_end_seconds =
        ends ? options.audio_start_seconds +
                   static_cast<double>(input_.range.last - input_.range.first) /
                       options.frame_rate.value()
             : -1.0;
    head.has_audio = !options.audio_from.empty();
    head.pixel_format = format;
    ZR_TRY(write_head(head));
  } else if (wanted_.kind != ShardKind::pictures &&
             (head.sink.width != options.width || head.sink.height != options.height ||
              head.pixel_format != format) &&
             (wanted_.kind == ShardKind::frames ||
              is_container(output_location({}, options_.output)))) {
    return Status(Errc::unsupported_output,
                  fmt::format("the next frame has {}x{} pixels, but the video began with {}x{}",
                              options.width, options.height, head.sink.width, head.sink.height));
  }
  writer_ = std::make_unique<ShardWriter>(paths_, std::move(head), std::move(open_.frames),
                                          std::move(open_.journal), std::move(open_.data));
  return Status::ok();
}

/// Pictures get their final names at once, so the journal has to say before whose they are.
Status ShardRun::write_head(const ShardHead& head) {
  const std::string text = json_text(to_json(head)) + "\n";
  if (open_.was_begun && json_text(to_json(open_.head)) + "\n" == text) return Status::ok();
  ZR_TRY(open_.journal->cut(0));
  ZR_TRY(open_.journal->write(text));
  return wanted_.kind == ShardKind::pictures ? open_.journal->sync() : Status::ok();
}

/// The file names of pictures are counted from the first frame of the whole output.
static io::Location numbered_from(const FrameOptions& options) {
  return output_location(options.input, options.output);
}

Result<std::unique_ptr<io::PacketSink>> ShardRun::open_packets(const io::SinkOptions& options) {
  const auto done = static_cast<std::int64_t>(open_.frames.size());
  ZR_TRY(begin(options, ""));
  if (wanted_.kind != ShardKind::pictures) return make_shard_packets(*this);
  io::SinkOptions real = options;
  real.overwrite = true;  // refuse_pictures() has looked
  ZR_LET(sink, io::open_packet_sink(numbered_from(options_), real));
  return make_shard_pictures(*this, {wanted_.span.first, step(), done}, std::move(sink));
}

Result<std::unique_ptr<io::FrameSink>> ShardRun::open_frames(const io::SinkOptions& options,
                                                             PixelFormat native) {
  const auto done = static_cast<std::int64_t>(open_.frames.size());
  const PixelFormat planar = planar_format(native_subsampling(native));
  const bool is_pictures = wanted_.kind == ShardKind::pictures;
  ZR_TRY(begin(options, is_pictures ? "" : std::string(name(planar))));
  if (!is_pictures) return make_shard_frames(*this, planar, options.width, options.height);
  io::SinkOptions real = options;
  real.overwrite = true;
  ZR_LET(sink, io::open_frame_sink(numbered_from(options_), real));
  return make_shard_pictures(*this, {wanted_.span.first, step(), done}, std::move(sink));
}

void ShardRun::describe_next(int width, int height, std::uint64_t source) noexcept {
  next_.width = width;
  next_.height = height;
  next_.source = source;
}

void ShardRun::fill_next(const io::FrameTime& time, std::uint64_t hash,
                         std::int64_t bytes) noexcept {
  next_.time = time;
  next_.hash = hash;
  next_.bytes = bytes;
}

Status ShardRun::add(const io::FrameTime& time, std::uint64_t hash,
                     std::span<const std::span<const std::byte>> parts) {
  std::int64_t bytes = 0;
  for (const auto part : parts) bytes += static_cast<std::int64_t>(part.size());
  fill_next(time, hash, bytes);
  return writer_->add(next_, parts);
}

Status ShardRun::add_picture(const io::FrameTime& time, std::uint64_t hash, std::int64_t bytes) {
  fill_next(time, hash, bytes);
  const auto k = static_cast<std::size_t>(writer_->frames());
  return writer_->add_picture(next_, picture_path(wanted_, output_name_, k));
}

Status ShardRun::end_input() {
  ZR_TRY(writer_->sync());
  const bool has_all = writer_->frames() >= wanted_.span.count();
  const bool is_cut = signals::received() != 0 && !(has_all && !(reaches_end() && has_rest()));
  if (is_cut) return Status::ok();
  is_input_changed_ = as_written(input_identity(input_, wanted_.span)) != wanted_.input;
  if (is_input_changed_) return Status::ok();
  ZR_TRY(writer_->complete());
  is_complete_ = true;
  return Status::ok();
}

std::string ShardRun::words() const {
  if (is_whole_output_) return output_name_;
  return "shard " + shard_stem(wanted_.shard, wanted_.span) + " of " + output_name_;
}

}  // namespace zerorun::app
