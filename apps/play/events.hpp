// The actions that SDL's events stand for.
// SPDX-License-Identifier: MIT
#pragma once

#include <SDL.h>

#include "apps/play/keys.hpp"

namespace zerorun::app {

/// Letters and signs are read as text, so that the keyboard layout counts. Held keys repeat only
/// steps, seeks and changes of speed.
class KeyReader {
 public:
  Action read(const SDL_Event& event);

 private:
  bool is_repeat_ = false;
};

}  // namespace zerorun::app
