// What libavformat does not open, and what it opens though there is no video in it.
// SPDX-License-Identifier: MIT
#include "io/ffmpeg/unknown_input.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace zerorun::io::av {
namespace {

/// Demuxers that make a picture of any text or noise, or of no file at all.
constexpr std::array<std::string_view, 7> kNoVideo{"tty", "bin",   "xbin", "adf",
                                                   "idf", "lavfi", "sbg"};

/// Pictures that are told by their first bytes; "image2" goes by the name of the file.
constexpr std::array kToldByContent{AV_CODEC_ID_MJPEG, AV_CODEC_ID_PNG, AV_CODEC_ID_TIFF,
                                    AV_CODEC_ID_BMP, AV_CODEC_ID_WEBP};

/// The box that a MOV or MP4 file begins with (ISO/IEC 14496-12, 4.2).
bool is_movie_file(std::span<const std::byte> head) noexcept {
  constexpr std::size_t kSizeBytes = 4, kTypeBytes = 4;
  if (head.size() < kSizeBytes + kTypeBytes) return false;
  const std::string_view type(reinterpret_cast<const char*>(head.data()) + kSizeBytes, kTypeBytes);
  return type == "ftyp" || type == "moov" || type == "mdat" || type == "wide";
}

}  // namespace

Status unknown_input(const std::string& name, std::span<const std::byte> head) {
  if (is_movie_file(head))
    return Status(Errc::bad_input,
                  "'" + name + "': MOV or MP4 without an index; it may be cut short");
  return Status(Errc::unknown_format, "'" + name + "': it is no image and no video");
}

bool is_guess(const AVFormatContext& context) noexcept {
  const std::string_view demuxer = context.iformat->name;
  if (demuxer == "image2")
    return context.nb_streams > 0 &&
           std::find(kToldByContent.begin(), kToldByContent.end(),
                     context.streams[0]->codecpar->codec_id) != kToldByContent.end();
  return std::find(kNoVideo.begin(), kNoVideo.end(), demuxer) != kNoVideo.end();
}

}  // namespace zerorun::io::av
