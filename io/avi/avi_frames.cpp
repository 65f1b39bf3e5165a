// Where the pictures of an AVI file are.
// SPDX-License-Identifier: MIT
#include "io/avi/avi_frames.hpp"

#include <algorithm>
#include <utility>

#include "codec/base/try.hpp"

namespace zerorun::io {
namespace {

using riff::Chunk;
using riff::number_at;

/// The walk ends after this many bytes without a chunk: a file may have a terabyte of zeros.
constexpr std::int64_t kMostLostBytes = std::int64_t{64} << 20;

/// Identifiers are ASCII.
bool is_identifier(const Chunk& chunk) noexcept {
  return std::all_of(chunk.id.begin(), chunk.id.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

bool starts_jpeg(std::span<const std::byte> data) noexcept {
  return data.size() >= 2 && data[0] == std::byte{0xFF} && data[1] == std::byte{0xD8};
}

}  // namespace

bool AviWalk::is_whole(const Chunk& chunk) const {
  return reader_.remaining() >= riff::kHeaderBytes + chunk.bytes;
}

/// A name alone is not enough: idx1 is full of such names.
bool AviWalk::is_picture(const Chunk& chunk, std::span<const std::byte> data) const {
  if (!riff::is_picture_of(chunk, stream_) || !is_whole(chunk)) return false;
  return chunk.bytes > 0 ? starts_jpeg(data) : !lost_;
}

std::optional<Chunk> AviWalk::next() {
  for (;;) {
    const std::span<const std::byte> head = reader_.peek(riff::kListBytes);
    if (head.size() < riff::kHeaderBytes) return std::nullopt;
    const Chunk chunk = riff::parse_chunk(head.first<riff::kHeaderBytes>());
    if (is_picture(chunk, head.subspan(riff::kHeaderBytes))) {
      lost_ = false;
      lost_bytes_ = 0;
      reader_.consume(riff::kHeaderBytes);
      return chunk;
    }
    if (!lost_ && chunk.is_list()) {
      reader_.consume(std::min<std::size_t>(head.size(), riff::kListBytes));
      continue;
    }
    lost_ =
        lost_ || !is_identifier(chunk) || !is_whole(chunk) || riff::is_picture_of(chunk, stream_);
    if (lost_) {
      if (++lost_bytes_ > kMostLostBytes) return std::nullopt;
      reader_.consume(1);
      ++skipped_;
    } else if (!reader_.skip(riff::kHeaderBytes + chunk.padded_bytes())) {
      return std::nullopt;
    }
  }
}

namespace {

class Index {
 public:
  Index(const ByteReader& file, const AviHeader& header) : file_(file), header_(header) {}

  /// All chunks of pictures, with those that are empty; nothing if the index is not true.
  std::vector<AviFrame> read() {
    if (header_.video.chunks == 0) return {};
    if (read_parts() && is_true()) return std::move(frames_);
    frames_.clear();
    if (read_idx1() && is_true()) return std::move(frames_);
    return {};
  }

 private:
  /// The data of a chunk, or nothing.
  std::vector<std::byte> data_of(std::uint64_t at, const Chunk& chunk) const {
    constexpr std::uint32_t kMost = 1 << 28;  // of 16 million pictures
    if (chunk.bytes > kMost || at + riff::kHeaderBytes + chunk.bytes > *file_.size()) return {};
    std::vector<std::byte> data(chunk.bytes);
    const std::span<std::byte> whole(data);
    const Result<bool> read = file_.read_at(at + riff::kHeaderBytes, {&whole, 1});
    if (!read || !*read) data.clear();
    return data;
  }

  void add(std::uint64_t offset, std::uint32_t bytes) {
    frames_.push_back({offset, bytes, static_cast<std::int64_t>(frames_.size())});
  }

  /// OpenDML's standard index chunks, without those of fields.
  bool read_parts() {
    constexpr std::size_t kFirst = 24, kEntry = 8;
    constexpr std::uint32_t kNoKeyFrame = 0x80000000;
    for (const AviIndexPart& part : header_.video.index) {
      if (part.offset > *file_.size()) return false;
      const auto chunk = riff::chunk_at(file_, part.offset);
      if (!chunk) return false;
      const std::vector<std::byte> data = data_of(part.offset, *chunk);
      if (data.size() < kFirst || number_at<std::uint16_t>(data, 0) != kEntry / 4) return false;
      if (std::to_integer<int>(data[2]) != 0 || std::to_integer<int>(data[3]) != 1) return false;
      const std::size_t count = number_at<std::uint32_t>(data, 4);
      if (count > (data.size() - kFirst) / kEntry) return false;
      const auto base = number_at<std::uint64_t>(data, 12);
      for (std::size_t at = kFirst; at < kFirst + count * kEntry; at += kEntry)
        add(base + number_at<std::uint32_t>(data, at),
            number_at<std::uint32_t>(data, at + 4) & ~kNoKeyFrame);
    }
    return !frames_.empty();
  }

  /// Behind "movi". Its offsets count from that list's type or from the start of the file.
  bool read_idx1() {
    const std::uint64_t list = header_.movi - riff::kListBytes;
    std::uint64_t at = list + riff::kHeaderBytes + header_.movi_bytes + header_.movi_bytes % 2;
    auto chunk = riff::chunk_at(file_, at);
    if (chunk && chunk->name() == "JUNK") {
      at += riff::kHeaderBytes + chunk->padded_bytes();
      chunk = riff::chunk_at(file_, at);
    }
    if (!chunk || chunk->name() != "idx1") return false;
    const std::vector<std::byte> data = data_of(at, *chunk);
    std::optional<std::uint64_t> base;
    constexpr std::size_t kEntry = 16;
    for (std::size_t entry = 0; entry + kEntry <= data.size(); entry += kEntry) {
      Chunk listed;
      for (std::size_t i = 0; i < 4; ++i) listed.id[i] = static_cast<char>(data[entry + i]);
      if (!riff::is_picture_of(listed, header_.video.stream)) continue;
      const auto offset = number_at<std::uint32_t>(data, entry + 8);
      if (!base) base = base_of(offset);
      if (!base) return false;
      add(*base + offset + riff::kHeaderBytes, number_at<std::uint32_t>(data, entry + 12));
    }
    return !frames_.empty();
  }

  std::optional<std::uint64_t> base_of(std::uint32_t offset) const {
    for (const std::uint64_t base : {header_.movi - 4, std::uint64_t{0}})
      if (is_picture_at(base + offset)) return base;
    return std::nullopt;
  }

  bool is_picture_at(std::uint64_t at) const {
    const auto chunk = riff::chunk_at(file_, at);
    return chunk && riff::is_picture_of(*chunk, header_.video.stream);
  }

  bool is_true() const {
    if (frames_.size() != header_.video.chunks) return false;
    constexpr std::size_t kSamples = 64;
    const std::size_t step = std::max<std::size_t>(1, frames_.size() / kSamples);
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      const AviFrame& frame = frames_[i];
      if (frame.offset < end + riff::kHeaderBytes || frame.offset > *file_.size() ||
          frame.bytes > *file_.size() - frame.offset)
        return false;
      end = frame.offset + frame.bytes;
      if (i % step != 0 && i + 1 != frames_.size()) continue;
      const auto chunk = riff::chunk_at(file_, frame.offset - riff::kHeaderBytes);
      if (!chunk || !riff::is_picture_of(*chunk, header_.video.stream) ||
          chunk->bytes != frame.bytes)
        return false;
    }
    return true;
  }

  const ByteReader& file_;
  const AviHeader& header_;
  std::vector<AviFrame> frames_;
};

Result<AviFrames> walk(ByteReader& file, const AviHeader& header) {
  AviFrames found;
  file.seek(header.movi);
  AviWalk walk(file, header.video.stream);
  while (const auto chunk = walk.next()) {
    if (chunk->bytes > 0) found.frames.push_back({file.offset(), chunk->bytes, found.chunks});
    ++found.chunks;
    if (!file.skip(chunk->padded_bytes())) break;  // the padding of the last one may be missing
  }
  found.skipped_bytes = walk.skipped_bytes();
  ZR_TRY(file.error());
  return found;
}

}  // namespace

Result<AviFrames> find_avi_frames(ByteReader& file, const AviHeader& header) {
  AviFrames found{Index(file, header).read(), 0, 0};
  found.chunks = static_cast<std::int64_t>(found.frames.size());
  if (found.frames.empty()) {
    ZR_LET(walked, walk(file, header));
    found = std::move(walked);
  }
  std::erase_if(found.frames, [](const AviFrame& frame) { return frame.bytes == 0; });
  return found;
}

}  // namespace zerorun::io
