// SDL's events as what the user wants.
// SPDX-License-Identifier: MIT
#include "apps/play/events.hpp"

#include <cctype>

namespace zerorun::app {
namespace {

Action of_key(SDL_Keycode key) {
  switch (key) {
    case SDLK_LEFT:
      return Action::back_1_second;
    case SDLK_RIGHT:
      return Action::forward_1_second;
    case SDLK_DOWN:
      return Action::back_10_seconds;
    case SDLK_UP:
      return Action::forward_10_seconds;
    case SDLK_HOME:
      return Action::to_start;
    case SDLK_END:
      return Action::to_end;
    case SDLK_BACKSPACE:
      return Action::usual_speed;
    case SDLK_F1:
      return Action::help;
    case SDLK_ESCAPE:
      return Action::quit;
    default:
      return Action::none;
  }
}

Action of_text(char c) {
  if (c == 'A') return Action::clear_marks;
  if (c == 'S') return Action::save_picture;
  switch (std::tolower(static_cast<unsigned char>(c))) {
    case ' ':
    case 'p':
      return Action::pause;
    case '.':
      return Action::next_frame;
    case ',':
      return Action::previous_frame;
    case '[':
      return Action::slower;
    case ']':
      return Action::faster;
    case 'l':
      return Action::loop;
    case 'a':
      return Action::mark_a;
    case 'b':
      return Action::mark_b;
    case 'f':
      return Action::full_screen;
    case 'o':
    case 'i':
      return Action::osd;
    case 'd':
      return Action::device;
    case 's':
      return Action::save_jpeg;
    case 'z':
      return Action::zoom;
    case 'c':
      return Action::view;
    case '-':
      return Action::less_gain;
    case '+':
    case '=':
      return Action::more_gain;
    case 'h':
    case '?':
      return Action::help;
    case 'q':
      return Action::quit;
    default:
      return Action::none;
  }
}

bool may_repeat(Action action) {
  switch (action) {
    case Action::next_frame:
    case Action::previous_frame:
    case Action::slower:
    case Action::faster:
    case Action::back_1_second:
    case Action::forward_1_second:
    case Action::back_10_seconds:
    case Action::forward_10_seconds:
      return true;
    default:
      return false;
  }
}

}  // namespace

Action KeyReader::read(const SDL_Event& event) {
  Action action = Action::none;
  if (event.type == SDL_KEYDOWN) {
    is_repeat_ = event.key.repeat != 0;
    action = of_key(event.key.keysym.sym);
  } else if (event.type == SDL_TEXTINPUT) {
    action = of_text(event.text.text[0]);
  } else if (event.type == SDL_QUIT) {
    return Action::quit;
  }
  return is_repeat_ && !may_repeat(action) ? Action::none : action;
}

}  // namespace zerorun::app
