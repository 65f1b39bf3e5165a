// The headers of an AVI file, up to its pictures.
// SPDX-License-Identifier: MIT
#include "io/avi/avi_header.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "codec/base/try.hpp"
#include "io/avi/avi_tags.hpp"
#include "io/avi/riff.hpp"

namespace zerorun::io {
namespace {

/// Of a chunk that is read; longer ones are no header.
constexpr std::uint32_t kMostHeaderBytes = 1 << 20;
constexpr int kMostStreams = 100;  // a chunk's name has two digits

using riff::Chunk;
using riff::number_at;
using Data = std::span<const std::byte>;

std::string four_characters(Data data, std::size_t at) {
  std::string text;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto c = static_cast<char>(data[at + i]);
    text += c >= ' ' && c <= '~' ? c : '?';
  }
  return text;
}

class Parser {
 public:
  explicit Parser(ByteReader& reader) : reader_(reader) {}

  Result<AviHeader> run() {
    ZR_TRY(begin());
    for (;;) {
      ZR_LET(chunk, next_chunk());
      if (!chunk.is_list()) {
        ZR_TRY(take(chunk));
        continue;
      }
      // Lists are entered: which one a chunk stands in follows from the chunks before it.
      ZR_LET(type, read(4));
      if (four_characters(type, 0) != "movi") continue;
      header_.movi = reader_.offset();
      header_.movi_bytes = chunk.bytes;
      return end();
    }
  }

 private:
  Status bad(const std::string& what) const {
    return Status(Errc::bad_input, "'" + reader_.name() + "': " + what);
  }

  Result<Data> read(std::uint32_t bytes) {
    data_.resize(bytes);
    if (reader_.read(data_) == bytes) return Data(data_);
    return reader_.error() ? bad("the AVI file ends in its headers") : reader_.error();
  }

  Result<Chunk> next_chunk() {
    ZR_LET(bytes, read(riff::kHeaderBytes));
    return riff::parse_chunk(bytes.first<riff::kHeaderBytes>());
  }

  Status begin() {
    ZR_LET(bytes, read(riff::kListBytes));
    const Chunk chunk = riff::parse_chunk(bytes.first<riff::kHeaderBytes>());
    if (chunk.name() != "RIFF" || four_characters(bytes, riff::kHeaderBytes) != "AVI ")
      return bad("it is not an AVI file");
    if (chunk.bytes != 0 && chunk.bytes != riff::kUnknownSize)
      header_.riff_bytes = riff::kHeaderBytes + chunk.bytes;
    return Status::ok();
  }

  Status take(const Chunk& chunk) {
    if (chunk.bytes > kMostHeaderBytes) {
      if (reader_.skip(chunk.padded_bytes())) return Status::ok();
      return reader_.error() ? bad("the AVI file ends in its headers") : reader_.error();
    }
    ZR_LET(data, read(static_cast<std::uint32_t>(chunk.padded_bytes())));
    take(chunk.name(), data.first(chunk.bytes));
    return streams_ <= kMostStreams ? Status::ok() : bad("the AVI file has too many streams");
  }

  void take(std::string_view name, Data data) {
    if (name == "strh") take_stream(data);
    if (name == "strf" && in_video_) take_format(data);
    if (name == "indx" && in_video_) take_index(data);
    if (name == "vprp" && in_video_) take_properties(data);
    if (name == "dmlh" && data.size() >= 4) all_chunks_ = number_at<std::uint32_t>(data, 0);
    if (name == "avih" && data.size() >= 4) microseconds_ = number_at<std::uint32_t>(data, 0);
    take_tag(name, data);
  }

  void take_stream(Data data) {
    const int number = streams_++;
    in_video_ = false;
    if (data.size() < 36) return;
    const std::string type = four_characters(data, 0);
    header_.has_audio |= type == "auds";
    if (type != "vids" || header_.video.stream >= 0) return;
    in_video_ = true;
    AviVideo& video = header_.video;
    video.stream = number;
    video.codec = four_characters(data, 4);
    video.rate = {number_at<std::uint32_t>(data, 24), number_at<std::uint32_t>(data, 20)};
    video.chunks = number_at<std::uint32_t>(data, 32);
  }

  /// BITMAPINFOHEADER. Negative heights are those of pictures that are stored from the top.
  void take_format(Data data) {
    if (data.size() < 20) return;
    AviVideo& video = header_.video;
    const auto width = static_cast<std::int32_t>(number_at<std::uint32_t>(data, 4));
    const auto height = static_cast<std::int32_t>(number_at<std::uint32_t>(data, 8));
    constexpr int kMost = 65535;
    video.width = std::clamp(width, 0, kMost);
    video.height = static_cast<int>(std::min<std::int64_t>(std::abs(std::int64_t{height}), kMost));
    video.codec = four_characters(data, 16);
  }

  /// Only an index of indices; an index of chunks at this place lists those of the first RIFF.
  void take_index(Data data) {
    constexpr std::size_t kFirst = 24, kEntry = 16;
    if (data.size() < kFirst || number_at<std::uint16_t>(data, 0) != kEntry / 4 ||
        std::to_integer<int>(data[3]) != 0)
      return;
    const std::size_t count =
        std::min<std::size_t>(number_at<std::uint32_t>(data, 4), (data.size() - kFirst) / kEntry);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = kFirst + i * kEntry;
      header_.video.index.push_back(
          {number_at<std::uint64_t>(data, at), number_at<std::uint32_t>(data, at + 8)});
    }
  }

  void take_properties(Data data) {
    if (data.size() < 28) return;
    const auto aspect = number_at<std::uint32_t>(data, 20);
    header_.video.frame_aspect = {aspect >> 16, aspect & 0xFFFF};
  }

  void take_tag(std::string_view name, Data data) {
    std::string text;
    for (const std::byte byte : data) text += static_cast<char>(byte);
    text.resize(std::min(text.size(), text.find('\0')));
    if (text.empty()) return;
    if (name == kAviTimecode) header_.content.timecode = text;
    for (const AviTag& tag : kAviTags)
      if (tag.id == name) header_.content.tags.emplace_back(tag.key, text);
  }

  Result<AviHeader> end() {
    AviVideo& video = header_.video;
    if (video.stream < 0)
      return Status(Errc::unknown_format, "'" + reader_.name() + "' has no video in it");
    if (all_chunks_ > 0) video.chunks = all_chunks_;
    if (!video.rate.known() && microseconds_ > 0) video.rate = {1'000'000, microseconds_};
    if (!video.rate.known()) video.rate = {25, 1};
    return std::move(header_);
  }

  ByteReader& reader_;
  std::vector<std::byte> data_;
  AviHeader header_;
  int streams_ = 0;
  bool in_video_ = false;  // what follows describes header_.video
  std::uint64_t all_chunks_ = 0;
  std::uint32_t microseconds_ = 0;  // of a frame
};

}  // namespace

Result<AviHeader> read_avi_header(ByteReader& reader) { return Parser(reader).run(); }

}  // namespace zerorun::io
