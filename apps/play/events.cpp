// The actions that SDL's events stand for.
// SPDX-License-Identifier: MIT
#include "apps/play/events.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <span>

namespace zerorun::app {
namespace {

struct KeyAction {
  SDL_Keycode key;
  Action action;
};
constexpr KeyAction kKeys[] = {
    {SDLK_LEFT, Action::back_1_second},    {SDLK_RIGHT, Action::forward_1_second},
    {SDLK_DOWN, Action::back_10_seconds},  {SDLK_UP, Action::forward_10_seconds},
    {SDLK_HOME, Action::to_start},         {SDLK_END, Action::to_end},
    {SDLK_BACKSPACE, Action::usual_speed}, {SDLK_F1, Action::help},
    {SDLK_ESCAPE, Action::quit},
};

/// Capital letters that are not listed mean the same as the small ones.
constexpr KeyAction kCharacters[] = {
    {'A', Action::clear_marks}, {'S', Action::save_picture}, {' ', Action::pause},
    {'p', Action::pause},       {'.', Action::next_frame},   {',', Action::previous_frame},
    {'[', Action::slower},      {']', Action::faster},       {'l', Action::loop},
    {'a', Action::mark_a},      {'b', Action::mark_b},       {'f', Action::full_screen},
    {'o', Action::osd},         {'i', Action::osd},          {'d', Action::device},
    {'s', Action::save_jpeg},   {'z', Action::zoom},         {'c', Action::view},
    {'-', Action::less_gain},   {'+', Action::more_gain},    {'=', Action::more_gain},
    {'h', Action::help},        {'?', Action::help},         {'q', Action::quit},
};

constexpr Action kRepeating[] = {Action::next_frame,      Action::previous_frame,
                                 Action::slower,          Action::faster,
                                 Action::back_1_second,   Action::forward_1_second,
                                 Action::back_10_seconds, Action::forward_10_seconds};

Action find(std::span<const KeyAction> table, SDL_Keycode key) {
  const auto found = std::ranges::find(table, key, &KeyAction::key);
  return found != table.end() ? found->action : Action::none;
}

Action of_text(char c) {
  const Action exact = find(kCharacters, c);
  return exact != Action::none ? exact
                               : find(kCharacters, std::tolower(static_cast<unsigned char>(c)));
}

}  // namespace

Action KeyReader::read(const SDL_Event& event) {
  Action action = Action::none;
  if (event.type == SDL_KEYDOWN) {
    is_repeat_ = event.key.repeat != 0;
    action = find(kKeys, event.key.keysym.sym);
  } else if (event.type == SDL_TEXTINPUT) {
    action = of_text(event.text.text[0]);
  } else if (event.type == SDL_QUIT) {
    return Action::quit;
  }
  const bool may_repeat = std::ranges::find(kRepeating, action) != std::end(kRepeating);
  return is_repeat_ && !may_repeat ? Action::none : action;
}

}  // namespace zerorun::app
