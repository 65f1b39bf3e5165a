// JPEG packets from raw Motion JPEG streams and from JPEG files.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>
#include <utility>

#include "codec/base/try.hpp"
#include "io/formats.hpp"
#include "io/frame_jpeg.hpp"
#include "io/jpeg_splitter.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::io {
namespace {

/// What the first image says; nothing of it where its headers are damaged.
void describe(const std::vector<std::byte>& jpeg, SourceInfo& info) {
  info.codec = "mjpeg";
  info.is_jpeg = true;
  const Result<StreamInfo> stream = inspect(jpeg, StreamLimits::any_size());
  if (!stream) return;
  info.width = stream->width;
  info.height = stream->height;
  info.format = closest_format(*stream);
  if (stream->pixel_aspect_x > 0 && stream->pixel_aspect_y > 0)
    info.sample_aspect = {stream->pixel_aspect_x, stream->pixel_aspect_y};
  info.rotation_degrees = rotation_of_exif(stream->exif_orientation);
}

class RawMjpeg final : public PacketReader {
 public:
  explicit RawMjpeg(ByteReader reader) : splitter_(std::move(reader)) {}

  /// Reads the first image to describe the stream.
  Status start() {
    Result<bool> more = next_image(ahead_);
    if (!more) return more.status();
    if (!*more)
      return Status(Errc::bad_input, "'" + splitter_.reader().name() + "' holds no JPEG image");
    has_ahead_ = true;
    describe(ahead_, info_);
    info_.container = "mjpeg";
    return Status::ok();
  }

  const SourceInfo& info() const override { return info_; }
  std::int64_t skipped_bytes() const override { return splitter_.skipped_bytes(); }
  std::string last_name() const override {
    return splitter_.reader().name() + " frame " + std::to_string(index_ - 1);
  }

  Result<bool> read(std::vector<std::byte>& jpeg, FrameTime& time) override {
    if (has_ahead_) {
      jpeg.swap(ahead_);
      ahead_ = {};
      has_ahead_ = false;
    } else {
      Result<bool> more = next_image(jpeg);
      if (!more || !*more) return more;
    }
    time = {index_++, 1};
    return true;
  }

  bool can_seek() const override { return splitter_.reader().size().has_value(); }

  Result<std::int64_t> seek_index(std::int64_t index) override {
    index = std::max<std::int64_t>(index, 0);
    const auto known = static_cast<std::int64_t>(offsets_.size()) - 1;
    const std::int64_t start = std::min(index / kImagesPerOffset, known);
    if (!splitter_.seek(offsets_[static_cast<std::size_t>(start)]))
      return Seekable::seek_index(index);
    images_ = start * kImagesPerOffset;
    while (images_ <= index) {
      Result<bool> more = next_image(ahead_);
      if (!more) return more.status();
      if (!*more) return seek_index(images_ - 1);
    }
    has_ahead_ = true;
    index_ = index;
    return index;
  }

 private:
  /// Where every 16th image begins: an offset a second or so is little to keep and quick to reach.
  static constexpr std::int64_t kImagesPerOffset = 16;

  Result<bool> next_image(std::vector<std::byte>& jpeg) {
    Result<bool> more = splitter_.next(jpeg);
    if (!more || !*more) return more;
    if (images_ == static_cast<std::int64_t>(offsets_.size()) * kImagesPerOffset)
      offsets_.push_back(splitter_.image_offset());
    ++images_;
    return true;
  }

  JpegSplitter splitter_;
  std::vector<std::uint64_t> offsets_;
  std::int64_t images_ = 0;  // read by the splitter since the start of the stream
  SourceInfo info_;
  std::vector<std::byte> ahead_;
  bool has_ahead_ = false;
  std::int64_t index_ = 0;
};

class JpegFiles final : public PacketReader {
 public:
  explicit JpegFiles(FileSequence sequence) : sequence_(std::move(sequence)) {}

  Status start() {
    FrameTime unused;
    Result<bool> more = read(ahead_, unused);
    if (!more) return more.status();
    has_ahead_ = *more;
    index_ = 0;
    describe(ahead_, info_);
    info_.container = sequence_.is_single_file() ? "image" : "image sequence";
    info_.frame_count = sequence_.count();
    return Status::ok();
  }

  const SourceInfo& info() const override { return info_; }
  std::string last_name() const override { return name_; }

  Result<bool> read(std::vector<std::byte>& jpeg, FrameTime& time) override {
    if (has_ahead_) {
      jpeg.swap(ahead_);
      ahead_ = {};
      has_ahead_ = false;
    } else {
      Result<std::optional<FileSequence::Item>> item = sequence_.next();
      if (!item) return item.status();
      if (!*item) return false;
      name_ = (*item)->path;
      Result<std::vector<std::byte>> data = read_whole_file(name_, JpegSplitter::kMaxImageBytes);
      if (!data) return data.status();
      if (data->size() < 2 || (*data)[0] != std::byte{0xFF} || (*data)[1] != std::byte{0xD8})
        return Status(Errc::unknown_format, "'" + name_ + "' is not JPEG");
      jpeg = *std::move(data);
    }
    time = {index_++, 1};
    return true;
  }

  bool can_seek() const override { return true; }

  Result<std::int64_t> seek_index(std::int64_t index) override {
    has_ahead_ = false;
    index_ = sequence_.seek(index);
    return index_;
  }

 private:
  FileSequence sequence_;
  SourceInfo info_;
  std::string name_;
  std::vector<std::byte> ahead_;
  bool has_ahead_ = false;
  std::int64_t index_ = 0;
};

template <typename Reader>
Result<PacketReaderPtr> started(std::unique_ptr<Reader> reader) {
  ZR_TRY(reader->start());
  return PacketReaderPtr(std::move(reader));
}

}  // namespace

Result<PacketReaderPtr> open_raw_mjpeg(ByteReader reader) {
  return started(std::make_unique<RawMjpeg>(std::move(reader)));
}

Result<PacketReaderPtr> open_jpeg_files(FileSequence sequence) {
  return started(std::make_unique<JpegFiles>(std::move(sequence)));
}

}  // namespace zerorun::io
