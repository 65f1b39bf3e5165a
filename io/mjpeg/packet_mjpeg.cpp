// JPEG packets from raw Motion JPEG streams.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>
#include <utility>

#include "io/base/readers.hpp"
#include "io/mjpeg/frame_jpeg.hpp"
#include "io/mjpeg/jpeg_splitter.hpp"

namespace zerorun::io {
namespace {

class RawMjpeg final : public AheadReader<PacketReader, Packet> {
 public:
  explicit RawMjpeg(ByteReader reader) : splitter_(std::move(reader)) {}

  Status start() {
    ZR_LET(more, look_ahead());
    if (!more)
      return Status(Errc::bad_input, "'" + splitter_.reader().name() + "' holds no JPEG image");
    ZR_TRY(ahead_.load());
    describe_jpeg(ahead_.item, info_);
    info_.container = "mjpeg";
    if (splitter_.reader().size() && splitter_.reader().remaining() == 0) info_.frame_count = 1;
    return Status::ok();
  }

  std::int64_t skipped_bytes() const override { return splitter_.skipped_bytes(); }
  std::string last_name() const override {
    return splitter_.reader().name() + " frame " + std::to_string(index_ - 1);
  }

  bool can_seek() const override { return splitter_.reader().size().has_value(); }

  Result<std::int64_t> seek_index(std::int64_t index) override {
    index = std::max<std::int64_t>(index, 0);
    const auto known = static_cast<std::int64_t>(offsets_.size()) - 1;
    const std::int64_t start = std::min(index / kImagesPerOffset, known);
    if (!splitter_.seek(offsets_[static_cast<std::size_t>(start)])) return cannot_seek();
    images_ = start * kImagesPerOffset;
    index_ = index;
    while (images_ <= index) {
      ZR_LET(more, look_ahead());
      if (!more) return seek_index(images_ - 1);
    }
    return index;
  }

 private:
  /// Distance of the images whose offsets are kept: about a second, which costs little memory.
  static constexpr std::int64_t kImagesPerOffset = 16;

  /// A file is only searched for the end of the image here.
  Result<bool> next_item(PacketWork& work) override {
    const bool is_file = splitter_.reader().size().has_value();
    std::uint64_t bytes = 0;
    ZR_LET(more, is_file ? splitter_.next(bytes) : splitter_.next(work.item));
    if (!more) return false;
    const std::uint64_t offset = splitter_.image_offset();
    work.loader = nullptr;
    if (is_file)
      work.loader = [this, offset, bytes](PacketWork& loaded, int) {
        return load(offset, bytes, loaded.item);
      };
    if (images_ == static_cast<std::int64_t>(offsets_.size()) * kImagesPerOffset)
      offsets_.push_back(offset);
    ++images_;
    return true;
  }

  Status load(std::uint64_t offset, std::uint64_t bytes, Packet& jpeg) const {
    jpeg.resize(static_cast<std::size_t>(bytes));
    const std::span<std::byte> whole(jpeg);
    ZR_LET(found, splitter_.reader().read_at(offset, {&whole, 1}));
    if (found) return Status::ok();
    return Status(Errc::bad_input, "'" + splitter_.reader().name() + "' became shorter");
  }

  JpegSplitter splitter_;
  std::vector<std::uint64_t> offsets_;
  std::int64_t images_ = 0;  // before the splitter's position
};

}  // namespace

Result<PacketReaderPtr> open_raw_mjpeg(ByteReader reader) {
  reader.read_ahead(ByteReader::spare_threads());
  return started<PacketReader>(std::make_unique<RawMjpeg>(std::move(reader)));
}

}  // namespace zerorun::io
