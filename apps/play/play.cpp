// `zerorun play`: video in a window, or decoded as fast as possible.
// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <array>
#include <memory>

#include "apps/commands.hpp"
#include "apps/common/option_kinds.hpp"
#include "apps/common/options.hpp"
#include "apps/common/process.hpp"
#include "apps/play/session.hpp"

namespace zerorun::app {
namespace {

constexpr std::array kHelp{
    KeyHelp{"Space, p", "pause, continue"},
    KeyHelp{". ,", "one frame forward, back"},
    KeyHelp{"Right Left", "1 s forward, back"},
    KeyHelp{"Up Down", "10 s forward, back"},
    KeyHelp{"Home End", "first, last frame"},
    KeyHelp{"[ ] Backspace", "slower, faster, normal speed"},
    KeyHelp{"l", "loop"},
    KeyHelp{"a b, Shift+a", "loop from A to B, clear both"},
    KeyHelp{"m", "mute"},
    KeyHelp{"9 0", "volume down, up"},
    KeyHelp{"f", "full screen"},
    KeyHelp{"o, i", "information on the picture"},
    KeyHelp{"g", "graph of frame times, with the line of 60 frames/s"},
    KeyHelp{"w", "histogram, and clipped samples in false colours"},
    KeyHelp{"d", "decode on the other device, CPU or CUDA"},
    KeyHelp{"s", "save the JPEG of the frame, unchanged"},
    KeyHelp{"Shift+s", "save the frame as PNG"},
    KeyHelp{"mouse", "moved: seek bar; dropped files are played"},
    KeyHelp{"z", "1:1 with pixel values; wheel zooms, drag moves"},
    KeyHelp{"c", "comparing: side by side, difference, first, second"},
    KeyHelp{"- +", "comparing: gain of the difference"},
    KeyHelp{"h, F1", "these keys"},
    KeyHelp{"q, Esc", "quit"},
};

/// A line for each entry.
std::string keys_text() {
  std::string text;
  for (const KeyHelp& key : kHelp) text += fmt::format("  {:<32}{}\n", key.keys, key.text);
  return text;
}

/// A decimal number without sign or exponent.
std::optional<double> parse_decimal(std::string_view text) {
  if (text.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  return parse_number<double>(text);
}

/// Seconds from "90", "1:30", "0:01:30.5"; nullopt on anything else.
std::optional<double> parse_time(std::string_view text) {
  double seconds = 0;
  for (int parts = 0; parts < 3; ++parts) {
    const std::size_t colon = text.find(':');
    const std::string_view part = text.substr(0, colon);
    const bool is_last = colon == std::string_view::npos;
    if (!is_last && part.find('.') != std::string_view::npos) return std::nullopt;
    const auto value = parse_decimal(part);
    if (!value) return std::nullopt;
    if (parts > 0 && *value >= 60) return std::nullopt;
    seconds = seconds * 60 + *value;
    if (is_last) return seconds;
    text.remove_prefix(colon + 1);
  }
  return std::nullopt;
}

std::optional<double> parse_speed(std::string_view text) {
  const auto speed = parse_decimal(text);
  if (!speed || *speed < kSlowest || *speed > kFastest) return std::nullopt;
  return speed;
}

void add_play_options(CLI::App& command, PlayOptions& options) {
  add_input_options(command, options.input);
  command.option_defaults()->group("Playing");
  add_parsed(command, "--start", options.start_seconds, parse_time, "TIME",
             "a time such as 12.5, 1:30 or 0:01:30",
             "Start so long after the first frame: seconds, M:SS or H:MM:SS");
  add_parsed(command, "--speed", options.speed, parse_speed, "X", "a factor from 0.01 to 100",
             "Play X times as fast")
      ->default_str("1");
  command.add_flag("--loop", options.loop, "Start again at the end");
  command.add_flag("--pause", options.paused, "Show the first frame and wait");
  add_number(command, "--volume", options.volume, 0, 100,
             "Loudness of the sound in per cent (default: 100)");
  command.add_flag("--mute", options.mute, "Begin without sound");
  command.add_flag("--autoexit", options.autoexit, "Close the window at the end");
  command.option_defaults()->group("Window");
  command.add_flag("--fullscreen", options.full_screen, "Fill the screen");
  command.add_flag("--osd", options.osd,
                   "Show frame, time and rates on the picture from the start");
  command.add_flag("--no-window", options.no_window,
                   "Decode as fast as possible, show nothing, and report");
  add_value(command, "--save-to", options.save_to, "DIR",
            "Where the keys s and S save frames (default: here)")
      ->check(CLI::ExistingDirectory.description(""));
  command.option_defaults()->group("Comparing");
  add_value(command, "--compare", options.other, "OTHER",
            "Show a second input beside the first, or the difference of the two, with PSNR and "
            "SSIM");
  add_choice<View>(command, "--view", options.view,
                   {{"side", View::side}, {"difference", View::difference}},
                   "What --compare shows first; the key c changes it");
  add_device_options(command, options.device);
  command.option_defaults()->group("Reports");
  command.add_flag("--json", options.json, "Write the report at the end to stdout, as JSON");
  add_console_options(command, "Say what is read and what was unusual");
}

/// The next frame in order; false at the end and after a signal.
bool take_next(DecodeAhead& frames, PlayFrame& frame) {
  constexpr double kSignalSeconds = 0.05;  // interval of looking for signals
  while (frames.peek() == nullptr) {
    if (frames.is_over() || signals::received() != 0) return false;
    frames.wait(kSignalSeconds);
  }
  frames.take(frame);
  return true;
}

/// Prints what is wrong with a broken frame; `first` keeps the first problem. A failure of the
/// device or of memory ends the command: it is not the fault of the input.
void note_problem(const PlayFrame& frame, Status& first) {
  if (frame.problem) return;
  const Errc code = frame.problem.code();
  if (group(code) == ErrorGroup::device || code == Errc::out_of_memory)
    fail(Exit::failed, frame.name, frame.problem);
  if (first) first = frame.problem;
  console::detail(
      fmt::format("{}: frame {}: {}", frame.name, frame.index, frame.problem.message()));
}

/// --no-window: decodes all frames and drops none. With --compare it measures each pair.
Exit play_headless(const PlayOptions& options) {
  PlaySession session(options);
  const signals::Graceful graceful("ending");
  session.start(nullptr);
  PlayReport report;
  report.times.emplace();
  const Stopwatch watch;
  Status first_problem, other_problem;
  PlayFrame frame, other;
  while (take_next(*session.frames, frame)) {
    note_problem(frame, first_problem);
    if (frame.problem && session.input->has_packets()) report.times->add(frame.decode_ms * 1e3);
    if (!session.other) continue;
    if (!take_next(*session.other_frames, other)) break;
    note_problem(other, other_problem);
    if (!frame.problem || !other.problem) continue;
    if (!have_one_shape(frame, other))
      fail(Exit::input, fmt::format("frame {}: the two inputs differ in size", frame.index));
    report.add_error(frame, other);
    report.add_ssim(frame, other);
  }
  report.seconds = watch.seconds();
  if (signals::must_stop_now()) fail(Exit::failed, "stopped");
  session.describe(report);
  if (!report.counts.read_problem)
    console::note(report.input + ": " + report.counts.read_problem.message());
  if (report.counts.decoded == 0 && !first_problem)
    fail_input(options.input.name, first_problem, session.input->info().is_jpeg);
  if (report.compared == 0 && !other_problem)
    fail_input(options.other, other_problem, session.other->info().is_jpeg);
  report.print(options.json);
  return Exit::done;
}

}  // namespace

std::span<const KeyHelp> key_help() noexcept { return kHelp; }

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
    find_all_devices(options->device);
    (void)choose_backend(options->device);  // one that is unusable is told before a missing display
    if (options->no_window) return play_headless(*options);
#ifdef ZERORUN_HAVE_SDL
    return play_in_window(*options);
#else
    fail(Exit::device,
         "this build has no window; install libsdl2-dev, libsdl2-ttf-dev and libfontconfig-dev and "
         "build again, or use --no-window");
#endif
  };
}

}  // namespace zerorun::app
