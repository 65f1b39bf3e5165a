// The input of `zerorun decode`: opening it and reading frames.
// SPDX-License-Identifier: MIT
#include "apps/decode/decode_input.hpp"

#include <fmt/core.h>

#include <utility>

#include "apps/common/failure.hpp"
#include "apps/common/inputs.hpp"
#include "apps/shards/shard_run.hpp"
#include "codec/base/try.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::app {

DecodeInput::DecodeInput(const DecodeOptions& options, const DeviceOptions& device, bool for_images)
    : input_(options.input),
      rules_(options.samples.rules()),
      device_(device),
      strict_(options.strict),
      is_fancy_(options.upsampling == ChromaUpsampling::fancy),
      for_images_(for_images),
      step_(options.shard_run ? options.shard_run->step() : 1) {
  // Pictures that stand in for broken ones come from the source of frames.
  if (input_.broken == io::BrokenFrames::stop)
    packets_ = open_jpeg_packets(input_, source_options(input_, device_));
  // A pipe cannot be opened again for another format, so that of pictures is asked for at once.
  const bool wants_rgb = is_read_once(input_) && for_images;
  if (!packets_) open_frames(wants_rgb ? std::optional(PixelFormat::rgb24) : std::nullopt);
  read_first();
  read_shape();
  if (!strict_) note_cut_input(input_.name, info());
}

void DecodeInput::open_frames(std::optional<PixelFormat> format) {
  io::SourceOptions source = source_options(input_, device_);
  source.pixel_format = format;
  if (for_images_ && format == PixelFormat::rgb24) source.accepted_formats = {PixelFormat::gray8};
  source.samples = rules_;
  packets_.reset();
  frames_ = app::open_frames(input_, source);
  check_max_pixels(input_.name, input_.max_pixels, frames_->info().is_jpeg);
}

void DecodeInput::read_first() {
  DecodeJob first;
  const auto more = read_next(first);
  const Status status = more && *more ? load(first, 0) : more.status();
  if (!status) fail_input(input_.name, status, info().is_jpeg);
  if (!*more) fail_without_frames(input_);
  first_ = std::move(first);
}

/// Takes size and format of the first frame, from its own headers if it is JPEG.
void DecodeInput::read_shape() {
  if (packets_) {
    const StreamInfo stream = value_or_fail(inspect(first_->jpeg(), StreamLimits::any_size()),
                                            Exit::input, first_->name());
    if (!is_field(stream, info())) {
      width_ = stream.width;
      height_ = stream.height;
      native_ = stored_format(stream);
      return;
    }
    if (!is_fancy_)
      fail(Exit::usage, input_.name + ": --upsampling does not work with interlaced video");
    open_frames(std::nullopt);
    read_first();
  }
  width_ = first_->frame().width();
  height_ = first_->frame().height();
  native_ = first_->frame().format();
}

void DecodeInput::want_format(PixelFormat format) {
  if (packets_ || format == native_) return;
  if (is_read_once(input_)) {
    if (for_images_) return;  // grey or RGB already, which the sink converts if it has to
    fail(Exit::input,
         fmt::format("{}: {} pictures from {} cannot be converted to {}", input_.name,
                     name(native_), input_.name == "-" ? "stdin" : "a pipe", name(format)));
  }
  open_frames(format);
  read_first();
}

Result<bool> DecodeInput::read_next(DecodeJob& job) {
  if (job.frame().memory() != memory_) job.frame() = Frame(memory_);
  auto more = packets_ ? packets_->next(job.packet) : frames_->next(job.picture);
  if (packets_) {
    job.picture.name = job.packet.name;
    job.picture.time = job.packet.time;
  }
  const bool at_end = more && !*more && input_.range.last < 0;
  if (at_end && strict_ && info().missing_bytes > 0)
    return Status(Errc::bad_input, cut_sentence(input_.name, info()));
  return more;
}

Status DecodeInput::load(DecodeJob& job, int threads) const {
  if (packets_) return job.packet.load(threads);
  ZR_TRY(job.picture.load(threads));
  if (strict_ && job.picture.concealed > 0)
    return Status(Errc::bad_input, "the picture '" + job.name() + "' is damaged");
  return Status::ok();
}

Result<bool> DecodeInput::read(DecodeJob& job) {
  if (!first_) {
    for (std::int64_t i = 1; i < step_; ++i) {
      DecodeJob left_out;
      ZR_LET(more, read_next(left_out));
      if (!more) return false;
    }
    return read_next(job);
  }
  job = std::move(*first_);
  first_.reset();
  return true;
}

}  // namespace zerorun::app
