// The inputs of the player and their decoders.
// SPDX-License-Identifier: MIT
#include "apps/play/session.hpp"

#include "apps/common/failure.hpp"
#include "apps/common/pixel_limit.hpp"

namespace zerorun::app {

PlaySession::PlaySession(const PlayOptions& options) : start_seconds_(options.start_seconds) {
  decoding.backend = choose_backend(options.device);
  decoding.device = options.device;
  decoding.limits = stream_limits(options.input.max_pixels);
  decoding.pixels = options.no_window ? Pixels::stored : Pixels::shown;
  const auto open = [&](const InputOptions& which) {
    return std::make_shared<PlayInput>(which, options.device, decoding.pixels);
  };
  input = open(options.input);
  if (options.start_seconds > 0 && !input->can_seek())
    fail(Exit::usage, options.input.name + ": --start needs a file, because a pipe cannot seek");
  const auto check = [&options](bool is_jpeg) {
    check_max_pixels(options.input.name, options.input.max_pixels, is_jpeg);
  };
  if (options.other.empty()) {
    check(input->info().is_jpeg);
    return;
  }
  InputOptions second = options.input;
  second.name = options.other;
  second.format.clear();
  if (second.name == "-" && options.input.name == "-")
    fail(Exit::usage, "only one of INPUT and --compare can be stdin");
  other = open(second);
  check(input->info().is_jpeg || other->info().is_jpeg);
  if (input->format() == other->format()) return;
  // Only pictures of the same format can be compared sample by sample.
  decoding.pixels = Pixels::rgb;
  for (auto* each : {&input, &other}) {
    if ((*each)->has_packets() || (*each)->format() == PixelFormat::bgrx32) continue;
    if ((*each)->name() == "-")
      fail(Exit::usage, "stdin cannot be compared with an input of another chroma sampling");
    *each = open(each == &input ? options.input : second);
  }
}

void PlaySession::start(const MediaClock* clock) {
  if (start_seconds_ > 0) {
    go_to_start(*input);
    if (other && other->can_seek()) go_to_start(*other);
  }
  frames = std::make_unique<DecodeAhead>(input, decoding, clock);
  if (other) other_frames = std::make_unique<DecodeAhead>(other, decoding, clock);
}

void PlaySession::go_to_start(PlayInput& which) const {
  if (Status status = which.seek(which.pts_at(start_seconds_)); !status)
    fail(Exit::input, which.name(), status);
}

void PlaySession::set_backend(Backend backend, int device) {
  decoding.backend = backend;
  decoding.device.index = device;
  frames->set_decoding(decoding);
  if (other_frames) other_frames->set_decoding(decoding);
}

void PlaySession::describe(PlayReport& report) const {
  report.input = input->name();
  report.device = input->has_packets() ? device_text(decoding.backend, decoding.device)
                                       : "not a JPEG stream, decoded while reading";
  report.width = input->width();
  report.height = input->height();
  report.counts = frames->counts();
  report.lost_devices = frames->lost_devices();
}

}  // namespace zerorun::app
