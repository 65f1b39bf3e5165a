// Opening what is to be decoded, and reading it frame by frame.
// SPDX-License-Identifier: MIT
#include "apps/decode/decode_input.hpp"

#include <fmt/core.h>

#include <utility>

#include "apps/common/cut_input.hpp"
#include "apps/common/failure.hpp"
#include "apps/common/outputs.hpp"
#include "apps/common/pixel_limit.hpp"
#include "apps/common/stdin_peek.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::app {

DecodeInput::DecodeInput(const DecodeOptions& options, bool for_images)
    : input_(options.input),
      device_(options.device),
      strict_(options.strict),
      is_fancy_(options.upsampling == ChromaUpsampling::fancy) {
  // stdin cannot be opened a second time for frames, so it is looked at first.
  const bool is_stream = input_.name == "-";
  const bool try_packets =
      !is_stream || input_.format == "mjpeg" || (input_.format.empty() && stdin_begins_with_jpeg());
  Status no_packets(Errc::unknown_format);
  if (try_packets) {
    auto packets = io::open_packets(input_location(input_), source_options(input_, device_));
    no_packets = packets.status();
    if (packets) packets_ = *std::move(packets);
  }
  if (no_packets.code() == Errc::unknown_format) {
    // Nor can it be opened again for another format: what pictures want is asked for at once.
    open_frames(is_stream && for_images ? std::optional(PixelFormat::rgb24) : std::nullopt);
  } else if (!no_packets) {
    fail(Exit::input, input_.name, no_packets);
  }
  read_first();
  read_shape();
  if (!strict_) note_cut_input(input_.name, info());
}

void DecodeInput::open_frames(std::optional<PixelFormat> format) {
  io::SourceOptions source = source_options(input_, device_);
  source.pixel_format = format;
  packets_.reset();
  frames_ = app::open_frames(input_, source);
  check_max_pixels(input_.name, input_.max_pixels, frames_->info().is_jpeg);
}

void DecodeInput::read_first() {
  DecodeJob first;
  const auto more = read_next(first);
  if (!more) fail_input(input_.name, more.status(), info().is_jpeg);
  if (!*more)
    fail(Exit::input, input_.name + ": there are no frames" +
                          (input_.range.first > 0 ? " in the range of --frames" : ""));
  first_ = std::move(first);
}

/// Size and format of the first frame, from its own headers where it is JPEG.
void DecodeInput::read_shape() {
  if (packets_) {
    const StreamInfo stream =
        value_or_fail(inspect(first_->jpeg, StreamLimits::any_size()), Exit::input, first_->name);
    if (stream.height >= info().height * 3 / 4) {  // FFmpeg's rule, too
      width_ = stream.width;
      height_ = stream.height;
      // Sampling factors without a name of their own are given at full resolution.
      native_ = stream.color == ColorModel::rgb ? PixelFormat::rgb24
                : stream.color == ColorModel::gray
                    ? PixelFormat::gray8
                    : planar_format(stream.subsampling.value_or(Subsampling::s444));
      return;
    }
    // Interlaced video: a packet holds the two fields of a picture. The frame source weaves them.
    if (!is_fancy_)
      fail(Exit::usage, input_.name + ": --upsampling is not for pictures of two fields");
    open_frames(std::nullopt);
    read_first();
  }
  width_ = first_->frame.width();
  height_ = first_->frame.height();
  native_ = first_->frame.format();
}

void DecodeInput::want_format(PixelFormat format) {
  if (packets_ || format == native_) return;
  if (input_.name == "-") {
    // rgb24 was asked for already: what is wanted now can be no other than gray8 of a grey source.
    if (native_ == PixelFormat::rgb24) return;
    fail(Exit::input, fmt::format("{}: {} pictures from stdin cannot be given as {}", input_.name,
                                  name(native_), name(format)));
  }
  open_frames(format);
  read_first();
}

Result<bool> DecodeInput::read_next(DecodeJob& job) {
  auto more = packets_ ? packets_->read(job.jpeg, job.time) : frames_->read(job.frame, job.time);
  job.name = packets_ ? packets_->last_name() : frames_->last_name();
  if (more && strict_ && concealed_frames() > 0)
    return Status(Errc::bad_input, "the picture '" + job.name + "' is damaged");
  const bool at_end = more && !*more && input_.range.last < 0;
  if (at_end && strict_ && info().missing_bytes > 0)
    return Status(Errc::bad_input, cut_sentence(input_.name, info()));
  return more;
}

Result<bool> DecodeInput::read(DecodeJob& job) {
  if (!first_) return read_next(job);
  job = std::move(*first_);
  first_.reset();
  return true;
}

}  // namespace zerorun::app
