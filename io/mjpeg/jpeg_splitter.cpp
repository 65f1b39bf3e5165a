// Cuts a stream of concatenated JPEG images at SOI and EOI, and reads their packets.
// SPDX-License-Identifier: MIT
#include "io/mjpeg/jpeg_splitter.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "codec/base/marker.hpp"
#include "io/base/readers.hpp"
#include "io/mjpeg/frame_jpeg.hpp"

namespace zerorun::io {
namespace {

// T.81 Table B.1
constexpr int kTem = 0x01, kRst0 = 0xD0, kRst7 = 0xD7, kSoi = 0xD8, kEoi = 0xD9;

constexpr bool stands_alone(int marker) noexcept {
  return marker == kTem || (marker >= kRst0 && marker <= kRst7);
}

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

std::size_t bytes_before_image(std::span<const std::byte> packet) noexcept {
  for (std::size_t at = 0; at + 4 <= packet.size(); ++at) {
    const void* found = std::memchr(packet.data() + at, 0xFF, packet.size() - at - 3);
    if (found == nullptr) break;
    at = static_cast<std::size_t>(static_cast<const std::byte*>(found) - packet.data());
    const bool is_soi = packet[at + 1] == std::byte{kSoi};
    if (is_soi && (at == 0 || packet[at + 2] == std::byte{0xFF}) &&
        !(packet[at + 2] == std::byte{0xFF} && packet[at + 3] == std::byte{kSoi}))
      return at;
  }
  return 0;
}

/// Skips to the next FF D8 FF and leaves it unread. Of two SOI the first one is junk. FF D8 alone
/// is common in noise, and another marker has to follow SOI (T.81 B.2.1). At the very start of the
/// data FF D8 is no noise.
bool JpegSplitter::find_start() {
  for (;;) {
    const std::span<const std::byte> four = reader_.peek(4);
    const std::span<const std::byte> three = four.first(std::min<std::size_t>(four.size(), 3));
    if (three.size() < 3) {
      skipped_ += static_cast<std::int64_t>(three.size());
      reader_.consume(three.size());
      return false;
    }
    const bool is_soi = three[0] == std::byte{0xFF} && three[1] == std::byte{kSoi};
    if (is_soi && four.size() == 4 && four[2] == std::byte{0xFF} && four[3] == std::byte{kSoi}) {
      reader_.consume(2);
      skipped_ += 2;
      continue;
    }
    if (is_soi && (three[2] == std::byte{0xFF} || reader_.offset() == 0)) return true;
    const std::span<const std::byte> rest = reader_.buffered();
    const void* found = std::memchr(rest.data() + 1, 0xFF, rest.size() - 1);
    const std::size_t junk =
        found == nullptr
            ? rest.size()
            : static_cast<std::size_t>(static_cast<const std::byte*>(found) - rest.data());
    reader_.consume(junk);
    skipped_ += static_cast<std::int64_t>(junk);
  }
}

/// Takes bytes of the image from the buffer.
void JpegSplitter::pass(std::size_t count) {
  if (copy_ != nullptr) {
    const std::span<const std::byte> part = reader_.buffered().first(count);
    copy_->insert(copy_->end(), part.begin(), part.end());
  }
  reader_.consume(count);
  bytes_ += count;
}

/// Passes the data up to and including the next marker with a segment, or EOI. Returns its code, or
/// -1 at the end. SOI is left unread: it begins another image.
int JpegSplitter::next_marker() {
  while (bytes_ <= kMaxImageBytes) {
    std::span<const std::byte> part = reader_.buffered();
    if (part.empty()) return -1;
    if (const std::size_t coded = coded_bytes(part); coded > 0) {
      pass(coded);
      continue;
    }
    const auto* found = static_cast<const std::byte*>(std::memchr(part.data(), 0xFF, part.size()));
    if (found == nullptr) {
      pass(part.size());
      continue;
    }
    pass(static_cast<std::size_t>(found - part.data()));
    const std::span<const std::byte> two = reader_.peek(2);
    if (two.size() < 2) {
      pass(two.size());
      return -1;
    }
    const int code = static_cast<int>(two[1]);
    if (code == kSoi) return kSoi;
    pass(code == 0xFF ? 1 : 2);  // FF is a fill byte (B.1.1.2): go on with the next FF
    if (code != 0xFF && code != 0x00 && !stands_alone(code)) return code;
  }
  return -1;
}

/// Passes a segment's length and body; false if the data ends before.
bool JpegSplitter::pass_segment() {
  const std::span<const std::byte> two = reader_.peek(2);
  if (two.size() < 2) return true;  // the marker search then finds the end
  std::size_t length = (static_cast<std::size_t>(two[0]) << 8) | static_cast<std::size_t>(two[1]);
  if (length < 2) return true;  // damaged: the decoder names it; search for markers here
  while (length > 0) {
    const std::size_t part = std::min(length, reader_.buffered().size());
    if (part == 0) return false;
    pass(part);
    length -= part;
  }
  return true;
}

Result<bool> JpegSplitter::walk() {
  bytes_ = 0;
  if (!find_start()) {
    if (!reader_.error()) return reader_.error();
    return false;
  }
  image_offset_ = reader_.offset();
  pass(2);  // find_start() has put them into the buffer
  for (;;) {
    const int marker = next_marker();
    if (bytes_ > kMaxImageBytes)
      return Status(Errc::bad_input, "'" + reader_.name() + "': the image at byte " +
                                         std::to_string(image_offset_) + " has no end within " +
                                         std::to_string(kMaxImageBytes >> 20) + " MiB");
    if (marker == kEoi || marker == kSoi) return true;
    if (marker < 0 || !pass_segment()) break;
  }
  if (!reader_.error()) return reader_.error();
  return true;
}

Result<bool> JpegSplitter::next(std::vector<std::byte>& jpeg) {
  jpeg.clear();
  copy_ = &jpeg;
  return walk();
}

Result<bool> JpegSplitter::next(std::uint64_t& bytes) {
  copy_ = nullptr;
  Result<bool> more = walk();
  bytes = bytes_;
  return more;
}

Result<PacketReaderPtr> open_raw_mjpeg(ByteReader reader) {
  reader.read_ahead(ByteReader::spare_threads());
  return started<PacketReader>(std::make_unique<RawMjpeg>(std::move(reader)));
}

}  // namespace zerorun::io
