// The words that name formats, and which libraries this build has.
// SPDX-License-Identifier: MIT
#include "io/format_words.hpp"

#include <array>
#include <string_view>

#include "zerorun/io.hpp"

namespace zerorun::io {
namespace {

struct Container {
  std::string_view format;  // the extension or word
  std::string_view muxer;   // libavformat's name
};
constexpr std::array kContainers{
    Container{"mov", "mov"},           Container{"qt", "mov"},  Container{"mkv", "matroska"},
    Container{"matroska", "matroska"}, Container{"avi", "avi"}, Container{"mp4", "mp4"},
    Container{"m4v", "mp4"},
};

}  // namespace

bool is_raw_mjpeg(const std::string& format) {
  return format == "mjpeg" || format == "mjpg" || format == "mjpe";
}

bool is_jpeg_file(const std::string& format) {
  return format == "jpg" || format == "jpeg" || format == "jpe" || format == "jfif";
}

std::string container_muxer(const std::string& format) {
  for (const Container& container : kContainers)
    if (container.format == format) return std::string(container.muxer);
  return {};
}

Features features() noexcept {
  Features have;
#ifdef ZERORUN_HAVE_FFMPEG
  have.ffmpeg = true;
#endif
#ifdef ZERORUN_HAVE_OPENCV
  have.opencv = true;
#endif
  return have;
}

}  // namespace zerorun::io
