// `zerorun play` in a window: opens it, and plays one input after another.
// SPDX-License-Identifier: MIT
#include "apps/play/player.hpp"

#include <filesystem>

#include "apps/common/input_output.hpp"

extern "C" const char* zerorun_load_sdl();  // .cmake/load_at_run_time.cmake

namespace zerorun::app {
namespace {

/// The size for the window: both pictures beside each other, after rotation.
SDL_Point picture_size(const PlaySession& session) {
  const auto size_of = [](const PlayInput& input) {
    const SDL_FPoint size = PictureShape::of(input).shown_size(true);
    return SDL_Point{std::max(1, static_cast<int>(size.x)), static_cast<int>(size.y)};
  };
  SDL_Point size = size_of(*session.input);
  if (!session.other) return size;
  const SDL_Point second = size_of(*session.other);
  return {2 * std::max(size.x, second.x), std::max(size.y, second.y)};
}

std::string title_of(const PlayOptions& options) {
  return std::filesystem::path(options.input.name).filename().string() + " - zerorun";
}

/// Several pictures are a sequence, as on the command line; with videos among them, one is played
/// after the other.
void choose_input(std::vector<std::string> files, PlayOptions& options) {
  options.input.name = files.front();
  if (files.size() == 1) return;
  if (std::all_of(files.begin(), files.end(), [](const auto& f) { return is_images({f, {}, {}}); }))
    options.input.names = std::move(files);
  else
    options.then.assign(files.begin() + 1, files.end());
}

std::unique_ptr<PlaySession> open_dropped(std::vector<std::string> files, PlayOptions& options) {
  PlayOptions wanted = options;
  wanted.input = {};
  wanted.input.max_pixels = options.input.max_pixels;
  wanted.then.clear();
  choose_input(std::move(files), wanted);
  wanted.other.clear();
  wanted.start_seconds = 0;
  wanted.was_dropped = true;
  auto session = std::make_unique<PlaySession>(wanted);
  options = std::move(wanted);
  return session;
}

/// Plays until the window is closed (null), or files were dropped on it that can be played.
std::unique_ptr<PlaySession> play(Player& player, PlayOptions& options) {
  for (;;) {
    player.run();
    std::vector<std::string> files = player.take_dropped();
    if (files.empty() && player.awaits_next()) files = std::exchange(options.then, {});
    if (files.empty()) return nullptr;
    try {
      return open_dropped(files, options);
    } catch (const Failure& failure) {
      player.say(failure.what());
      // What follows a broken file is played all the same.
      options.then.assign(files.begin() + 1, files.end());
    }
  }
}

}  // namespace

Exit play_in_window(const PlayOptions& asked) {
  if (const char* error = zerorun_load_sdl()) fail_without_window(error);
  const SdlVideo video;
  PlayOptions options = asked;
  auto session = std::make_unique<PlaySession>(options);
  const signals::Graceful graceful(
      "ending");  // only from here on, because opening may wait for a pipe
  const SDL_Point size = picture_size(*session);
  Window window(title_of(options), size.x, size.y, options.full_screen);
  for (;;) {
    auto player = std::make_unique<Player>(options, *session, window);
    auto next = play(*player, options);
    if (next == nullptr) {
      if (signals::must_stop_now()) fail(Exit::failed, "stopped");
      print_report(player->report(), options.json);
      return Exit::done;
    }
    player.reset();  // it uses the session
    session = std::move(next);
    window.set_title(title_of(options));
  }
}

}  // namespace zerorun::app
