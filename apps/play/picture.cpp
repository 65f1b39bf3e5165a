// A frame as textures.
// SPDX-License-Identifier: MIT
#include "apps/play/picture.hpp"

#include <algorithm>
#include <string>

#include "codec/base/try.hpp"

namespace zerorun::app {
namespace {

/// If the renderer states no limit. Even, so that tiles hold whole chroma samples.
constexpr int kUsualMaxSize = 8192;

Status sdl_failure(const char* what) {
  return Status(Errc::device_failure, std::string(what) + ": " + SDL_GetError());
}

SDL_FRect turned(SDL_FRect unit, const Placement& placement) {
  if (placement.mirrored) unit.x = 1 - unit.x - unit.w;
  switch (placement.rotation_degrees) {
    case 90:
      return {1 - unit.y - unit.h, unit.x, unit.h, unit.w};
    case 180:
      return {1 - unit.x - unit.w, 1 - unit.y - unit.h, unit.w, unit.h};
    case 270:
      return {unit.y, 1 - unit.x - unit.w, unit.h, unit.w};
    default:
      return unit;
  }
}

}  // namespace

Picture::Picture(SDL_Renderer* renderer, bool is_blended)
    : renderer_(renderer), is_blended_(is_blended), max_size_(kUsualMaxSize) {
  SDL_RendererInfo info{};
  if (SDL_GetRendererInfo(renderer, &info) != 0) return;
  const int least = std::min(info.max_texture_width, info.max_texture_height);
  if (least > 0) max_size_ = least & ~1;
}

Status Picture::make_tiles(const ConstFrameView& frame) {
  tiles_.clear();
  const Uint32 rgb = is_blended_ ? SDL_PIXELFORMAT_ARGB8888 : SDL_PIXELFORMAT_RGB888;
  const Uint32 format = frame.format == PixelFormat::bgrx32 ? rgb : Uint32{SDL_PIXELFORMAT_IYUV};
  for (int y = 0; y < frame.height; y += max_size_)
    for (int x = 0; x < frame.width; x += max_size_) {
      const SDL_Rect area{x, y, std::min(max_size_, frame.width - x),
                          std::min(max_size_, frame.height - y)};
      Tile tile{SdlPtr<SDL_Texture>(SDL_CreateTexture(renderer_, format,
                                                      SDL_TEXTUREACCESS_STREAMING, area.w, area.h)),
                area};
      if (!tile.texture) return sdl_failure("a texture");
      if (is_blended_) SDL_SetTextureBlendMode(tile.texture.get(), SDL_BLENDMODE_BLEND);
      tiles_.push_back(std::move(tile));
    }
  format_ = frame.format;
  width_ = frame.width;
  height_ = frame.height;
  return Status::ok();
}

int Picture::upload(Tile& tile, const ConstFrameView& frame) {
  const auto stride = [&frame](int plane) {
    return static_cast<int>(frame.stride_bytes[static_cast<std::size_t>(plane)]);
  };
  const std::ptrdiff_t x = tile.area.x, y = tile.area.y;
  if (frame.format == PixelFormat::bgrx32)
    return SDL_UpdateTexture(tile.texture.get(), nullptr,
                             frame.data[0] + y * frame.stride_bytes[0] + 4 * x, stride(0));
  const std::uint8_t* luma = frame.data[0] + y * frame.stride_bytes[0] + x;
  if (frame.format == PixelFormat::gray8) {
    const int chroma_width = (tile.area.w + 1) / 2;
    no_chroma_.assign(
        static_cast<std::size_t>(chroma_width) * static_cast<std::size_t>((tile.area.h + 1) / 2),
        128);
    return SDL_UpdateYUVTexture(tile.texture.get(), nullptr, luma, stride(0), no_chroma_.data(),
                                chroma_width, no_chroma_.data(), chroma_width);
  }
  const std::uint8_t* cb = frame.data[1] + y / 2 * frame.stride_bytes[1] + x / 2;
  const std::uint8_t* cr = frame.data[2] + y / 2 * frame.stride_bytes[2] + x / 2;
  return SDL_UpdateYUVTexture(tile.texture.get(), nullptr, luma, stride(0), cb, stride(1), cr,
                              stride(2));
}

Status Picture::update(const ConstFrameView& frame, bool is_exact) {
  const bool is_same = frame.format == format_ && frame.width == width_ && frame.height == height_;
  if (!is_same || tiles_.empty()) ZR_TRY(make_tiles(frame));
  for (Tile& tile : tiles_) {
    // Set before each upload: SDL 2.26's OpenGL renderer mixes up the planes of YUV textures else.
    SDL_SetTextureScaleMode(tile.texture.get(),
                            is_exact ? SDL_ScaleModeNearest : SDL_ScaleModeLinear);
    if (upload(tile, frame) != 0) return sdl_failure("a picture to the screen");
  }
  return Status::ok();
}

void Picture::draw(const Placement& placement) {
  const SDL_FRect& box = placement.box;
  const auto width = static_cast<float>(width_), height = static_cast<float>(height_);
  for (Tile& tile : tiles_) {
    const SDL_FRect unit =
        turned({static_cast<float>(tile.area.x) / width, static_cast<float>(tile.area.y) / height,
                static_cast<float>(tile.area.w) / width, static_cast<float>(tile.area.h) / height},
               placement);
    SDL_FRect to{box.x + unit.x * box.w, box.y + unit.y * box.h, unit.w * box.w, unit.h * box.h};
    if (placement.rotation_degrees % 180 != 0) {
      // SDL rotates around the middle of the upright rectangle.
      const SDL_FPoint middle{to.x + to.w / 2, to.y + to.h / 2};
      to = {middle.x - to.h / 2, middle.y - to.w / 2, to.h, to.w};
    }
    // SDL mirrors before it rotates.
    SDL_RenderCopyExF(renderer_, tile.texture.get(), nullptr, &to, placement.rotation_degrees,
                      nullptr, placement.mirrored ? SDL_FLIP_HORIZONTAL : SDL_FLIP_NONE);
  }
}

}  // namespace zerorun::app
