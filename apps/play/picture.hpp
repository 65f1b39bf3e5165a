// A frame as one texture, or as several if it is larger than the renderer allows.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "apps/play/view.hpp"
#include "apps/play/window.hpp"
#include "zerorun/frame.hpp"

namespace zerorun::app {

class Picture {
 public:
  /// `is_blended`: the fourth byte of bgrx32 is the alpha of a picture that lies over another.
  explicit Picture(SDL_Renderer* renderer, bool is_blended = false);

  /// Copies a frame in yuv420p, gray8 or bgrx32. `is_exact`: enlarged pixels are not smoothed.
  /// Errors: device_failure with SDL's message.
  Status update(const ConstFrameView& frame, bool is_exact);
  void draw(const Placement& placement);
  /// Call it if the renderer lost its textures; the next update() makes new ones.
  void forget() { tiles_.clear(); }

 private:
  struct Tile {
    SdlPtr<SDL_Texture> texture;
    SDL_Rect area;  // of the picture
  };

  Status make_tiles(const ConstFrameView& frame);
  int upload(Tile& tile, const ConstFrameView& frame);

  SDL_Renderer* renderer_;
  bool is_blended_;
  int max_size_;
  std::vector<Tile> tiles_;
  PixelFormat format_ = PixelFormat::gray8;
  int width_ = 0, height_ = 0;
  std::vector<std::uint8_t> no_chroma_;  // for grey frames
};

}  // namespace zerorun::app
