// Pixel formats, frames, and ordinary and pinned host memory.
// SPDX-License-Identifier: MIT
#include "zerorun/frame.hpp"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <string>

#include "codec/arith/host_device.hpp"
#include "codec/base/choices.hpp"
#include "codec/base/cuda_device.hpp"
#include "codec/base/pixel_rows.hpp"
#include "codec/base/try.hpp"
#include "zerorun/backend.hpp"

namespace zerorun {
namespace {

struct FormatTraits {
  std::string_view name;
  std::int8_t planes;
  std::int8_t bytes_per_pixel;  // of plane 0; 0: packed 4:2:2, see plane_row_bytes()
  Subsampling native;
};

constexpr std::array<FormatTraits, kPixelFormatCount + 1> kTraits{{
    {"gray8", 1, 1, Subsampling::gray},
    {"yuv420p", 3, 1, Subsampling::s420},
    {"yuv422p", 3, 1, Subsampling::s422},
    {"yuv444p", 3, 1, Subsampling::s444},
    {"yuv440p", 3, 1, Subsampling::s440},
    {"yuv411p", 3, 1, Subsampling::s411},
    {"nv12", 2, 1, Subsampling::s420},
    {"nv21", 2, 1, Subsampling::s420},
    {"yuyv422", 1, 0, Subsampling::s422},
    {"uyvy422", 1, 0, Subsampling::s422},
    {"rgb24", 1, 3, Subsampling::s444},
    {"bgr24", 1, 3, Subsampling::s444},
    {"rgb0", 1, 4, Subsampling::s444},
    {"bgr0", 1, 4, Subsampling::s444},
    {"0rgb", 1, 4, Subsampling::s444},
    {"0bgr", 1, 4, Subsampling::s444},
    {"cmyk32", 1, 4, Subsampling::s444},
}};

const FormatTraits& traits(PixelFormat format) noexcept {
  const auto index = static_cast<std::size_t>(format);
  return kTraits[index < kTraits.size() ? index : 0];
}

struct SamplingTraits {
  LumaFactors luma;
  PixelFormat planar;
};

constexpr std::array<SamplingTraits, 6> kSamplings{{
    {{1, 1}, PixelFormat::yuv444p},
    {{2, 1}, PixelFormat::yuv422p},
    {{2, 2}, PixelFormat::yuv420p},
    {{1, 2}, PixelFormat::yuv440p},
    {{4, 1}, PixelFormat::yuv411p},
    {{1, 1}, PixelFormat::gray8},
}};

const SamplingTraits& traits(Subsampling sampling) noexcept {
  const auto index = static_cast<std::size_t>(sampling);
  return kSamplings[index < kSamplings.size() ? index : 0];
}

constexpr std::size_t kAlign = 64;

std::atomic<bool> g_pageable_instead{false};

void release(HostMemory memory, std::byte* data) noexcept {
  if (data == nullptr) return;
  if (memory == HostMemory::pageable)
    std::free(data);
  else
    release_pinned(data);
}

}  // namespace

Status check_dimensions(int width, int height) {
  if (width >= 1 && height >= 1 && width <= kMaxDimension && height <= kMaxDimension)
    return Status::ok();
  return Status(Errc::invalid_frame, "the size is " + std::to_string(width) + "x" +
                                         std::to_string(height) +
                                         ", but JPEG holds 1x1 to 65535x65535");
}

std::string_view name(PixelFormat format) noexcept { return traits(format).name; }

std::string_view name(Subsampling sampling) noexcept { return word_of(sampling); }

bool is_planar_yuv(PixelFormat format) noexcept { return format <= PixelFormat::yuv411p; }
bool is_rgb(PixelFormat format) noexcept {
  return format >= PixelFormat::rgb24 && format <= PixelFormat::xbgr32;
}
Subsampling native_subsampling(PixelFormat format) noexcept { return traits(format).native; }

LumaFactors luma_factors(Subsampling sampling) noexcept { return traits(sampling).luma; }
PixelFormat planar_format(Subsampling sampling) noexcept { return traits(sampling).planar; }

int plane_count(PixelFormat format) noexcept { return traits(format).planes; }

std::size_t plane_row_bytes(PixelFormat format, int plane, int width) noexcept {
  const FormatTraits& t = traits(format);
  if (format == PixelFormat::yuyv || format == PixelFormat::uyvy)
    return static_cast<std::size_t>(ceil_div(width, 2)) * 4;
  if (plane == 0)
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(t.bytes_per_pixel);
  const auto samples = static_cast<std::size_t>(ceil_div(width, luma_factors(t.native).h));
  return t.planes == 2 ? 2 * samples : samples;
}

int plane_rows(PixelFormat format, int plane, int height) noexcept {
  return plane == 0 ? height : ceil_div(height, luma_factors(traits(format).native).v);
}

Status validate(const ConstFrameView& frame) {
  if (frame.format > PixelFormat::cmyk32)
    return Status(Errc::invalid_frame, "the pixel format is not one of PixelFormat");
  ZR_TRY(check_dimensions(frame.width, frame.height));
  for (int p = 0; p < plane_count(frame.format); ++p) {
    const auto plane = static_cast<std::size_t>(p);
    if (frame.data[plane] == nullptr)
      return Status(Errc::invalid_frame, "plane " + std::to_string(p) + " is null");
    const auto need = static_cast<std::ptrdiff_t>(plane_row_bytes(frame.format, p, frame.width));
    const std::ptrdiff_t stride = frame.stride_bytes[plane];
    const bool one_row = plane_rows(frame.format, p, frame.height) == 1;
    if (!one_row && stride < need && stride > -need)
      return Status(Errc::invalid_frame, "the stride of plane " + std::to_string(p) + " is " +
                                             std::to_string(stride) + " bytes, but a row has " +
                                             std::to_string(need));
  }
  return Status::ok();
}

Result<Frame> Frame::create(PixelFormat format, int width, int height, HostMemory memory) {
  Frame frame(memory);
  ZR_TRY(frame.reshape(format, width, height));
  return frame;
}

Status Frame::reshape(PixelFormat format, int width, int height) {
  if (view_.format == format && view_.width == width && view_.height == height &&
      memory_.data() != nullptr)
    return Status::ok();
  ZR_TRY(check_dimensions(width, height));
  FrameView view{format, width, height, {}, {}};
  if (Status status = memory_.resize(place_planes(view, nullptr, kAlign)); !status) {
    view_ = {};
    return status;
  }
  place_planes(view, reinterpret_cast<std::uint8_t*>(memory_.data()), kAlign);
  view_ = view;
  return Status::ok();
}

void allow_pageable_instead() { g_pageable_instead = true; }

Result<std::byte*> allocate_pageable(std::size_t bytes) {
  auto* const data = static_cast<std::byte*>(std::aligned_alloc(kAlign, bytes));
  if (data == nullptr) return Status(Errc::out_of_memory, std::to_string(bytes) + " bytes");
  return data;
}

HostBuffer::~HostBuffer() { release(memory_, data_); }

Status HostBuffer::resize(std::size_t bytes) {
  ZR_TRY(reserve(bytes));
  size_ = bytes;
  return Status::ok();
}

Status HostBuffer::reserve(std::size_t bytes) {
  return guarded([&]() -> Status {
    if (bytes <= capacity_) return Status::ok();
    release(memory_, std::exchange(data_, nullptr));
    size_ = capacity_ = 0;
    if (bytes > std::numeric_limits<std::size_t>::max() - kAlign)
      return Status(Errc::out_of_memory);
    const std::size_t rounded = round_up(bytes, kAlign);
    if (memory_ == HostMemory::pinned) {
      const auto pinned = allocate_pinned(rounded);
      if (!pinned && !g_pageable_instead) return pinned.status();
      if (pinned)
        data_ = *pinned;
      else
        memory_ = HostMemory::pageable;
    }
    if (memory_ == HostMemory::pageable) {
      ZR_LET(pageable, allocate_pageable(rounded));
      data_ = pageable;
    }
    capacity_ = rounded;
    return Status::ok();
  });
}

}  // namespace zerorun
