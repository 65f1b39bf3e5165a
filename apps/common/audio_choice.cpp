// Whether and from when on the sound of INPUT goes into OUTPUT.
// SPDX-License-Identifier: MIT
#include "apps/common/audio_choice.hpp"

#include "apps/common/console.hpp"
#include "apps/common/outputs.hpp"

namespace zerorun::app {

void choose_audio(const InputOptions& input, const io::SourceInfo& info, const io::Location& output,
                  io::SinkOptions& sink) {
  if (!info.has_audio || input.name == "-") return;
  if (!is_container(output)) {
    console::note(output.name + ": this format cannot hold sound, so it is left out");
    return;
  }
  if (input.fps.known())
    console::note("--fps changes the speed of the pictures, but not that of the sound");
  sink.audio_from = input.name;
  const double start = static_cast<double>(info.first_pts) * info.time_base.value();
  sink.audio_start_seconds = start;
  const FrameRange& range = input.range;
  if (range.last >= 0 && sink.frame_rate.known())
    sink.audio_end_seconds =
        start + static_cast<double>(range.last - range.first) / sink.frame_rate.value();
}

}  // namespace zerorun::app
