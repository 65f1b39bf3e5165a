// SDL's events as what the user wants.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>

#include "apps/play/keys.hpp"

namespace zerorun::app {

/// Letters and signs are taken as text, so that they are what the keyboard's layout says; keys that
/// are held down repeat only what is sensibly repeated.
class KeyReader {
 public:
  Action read(const SDL_Event& event);

 private:
  bool is_repeat_ = false;
};

}  // namespace zerorun::app
