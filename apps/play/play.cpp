// `zerorun play`: video in a window, or decoded as fast as possible.
// SPDX-License-Identifier: MIT
#include <memory>

#include "apps/commands.hpp"
#include "apps/common/console.hpp"
#include "apps/common/help.hpp"
#include "apps/play/play_options.hpp"
#include "apps/play/session.hpp"

#include <CLI/CLI.hpp>

namespace zerorun::app {
namespace {

Exit run(const PlayOptions& options) {
  (void)choose_backend(options.device);  // an unusable device is reported before a missing display
  if (!options.no_window) {
#ifdef ZERORUN_HAVE_SDL
    return play_in_window(options);
#else
    fail(Exit::device,
         "this build has no window; install libsdl2-dev, libsdl2-ttf-dev and libfontconfig-dev and "
         "build again, or use --no-window");
#endif
  }
  PlaySession session(options);
  return play_headless(options, session);
}

}  // namespace

Command add_play(CLI::App& program) {
  auto options = std::make_shared<PlayOptions>();
  CLI::App* command =
      program.add_subcommand("play", "Play Motion JPEG, other video and pictures in a window");
  add_play_options(*command, *options);
  show_common_options(
      *command,
      {"INPUT", "--fps", "--frames", "--start", "--speed", "--loop", "--fullscreen", "--mute",
       "--autoexit", "--compare", "--no-window", "--device"},
      "Space pauses, Left and Right go back and forward, q quits, h shows all keys");
  command->footer("Keys:\n" + keys_text() +
                  "\nExamples:\n"
                  "  zerorun play shot.mov\n"
                  "  ffmpeg -i in.mp4 -f yuv4mpegpipe - | zerorun play -\n"
                  "  zerorun play coded.avi --compare original.y4m --view difference\n"
                  "  zerorun play shot.mkv --no-window --device cpu --threads 4");
  return [options] {
    console::set_verbosity(options->quiet, options->verbose);
    find_all_devices(options->device);
    return run(*options);
  };
}

}  // namespace zerorun::app
