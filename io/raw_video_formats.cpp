// The formats of video without headers.
// SPDX-License-Identifier: MIT
#include "io/raw_video_formats.hpp"

#include <array>

#include "io/sinks.hpp"

namespace zerorun::io {
namespace {

using P = PixelFormat;
constexpr std::array kRawFormats{
    RawFormat{"yuv420p", P::yuv420p, false},
    RawFormat{"yuv422p", P::yuv422p, false},
    RawFormat{"yuv444p", P::yuv444p, false},
    RawFormat{"yuv440p", P::yuv440p, false},
    RawFormat{"yuv411p", P::yuv411p, false},
    RawFormat{"yuvj420p", P::yuv420p, true},
    RawFormat{"yuvj422p", P::yuv422p, true},
    RawFormat{"yuvj444p", P::yuv444p, true},
    RawFormat{"yuvj440p", P::yuv440p, true},
    RawFormat{"yuvj411p", P::yuv411p, true},
    RawFormat{"gray", P::gray8, true},
    RawFormat{"nv12", P::nv12, false},
    RawFormat{"nv21", P::nv21, false},
    RawFormat{"yuyv422", P::yuyv, false},
    RawFormat{"uyvy422", P::uyvy, false},
    RawFormat{"rgb24", P::rgb24, true},
    RawFormat{"bgr24", P::bgr24, true},
    RawFormat{"rgb0", P::rgbx32, true},
    RawFormat{"rgba", P::rgbx32, true, 8, 3},
    RawFormat{"bgr0", P::bgrx32, true},
    RawFormat{"bgra", P::bgrx32, true, 8, 3},
    RawFormat{"0rgb", P::xrgb32, true},
    RawFormat{"argb", P::xrgb32, true, 8, 0},
    RawFormat{"0bgr", P::xbgr32, true},
    RawFormat{"abgr", P::xbgr32, true, 8, 0},
    RawFormat{"yuv420p10le", P::yuv420p, false, 10},
    RawFormat{"yuv422p10le", P::yuv422p, false, 10},
    RawFormat{"yuv444p10le", P::yuv444p, false, 10},
    RawFormat{"gray10le", P::gray8, true, 10},
    RawFormat{"yuv420p12le", P::yuv420p, false, 12},
    RawFormat{"yuv422p12le", P::yuv422p, false, 12},
    RawFormat{"yuv444p12le", P::yuv444p, false, 12},
    RawFormat{"gray12le", P::gray8, true, 12},
    RawFormat{"yuv420p16le", P::yuv420p, false, 16},
    RawFormat{"yuv422p16le", P::yuv422p, false, 16},
    RawFormat{"yuv444p16le", P::yuv444p, false, 16},
    RawFormat{"gray16le", P::gray8, true, 16},
};

}  // namespace

Result<RawFormat> find_raw_format(const std::string& name, bool for_output) {
  std::string all;
  for (const RawFormat& known : kRawFormats) {
    if (known.name == name) return known;
    all += (all.empty() ? "" : ", ") + std::string(known.name);
  }
  return Status(Errc::invalid_argument, "raw video is not " +
                                            std::string(for_output ? "written" : "read") + " as '" +
                                            name + "'; take one of " + all);
}

bool is_raw_video(const std::string& format) {
  return format == "raw" || format == "yuv" || format == "rgb";
}

}  // namespace zerorun::io
