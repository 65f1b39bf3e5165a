// Reads image files as frames and JPEG files as packets: one file, or a sequence with its gaps.
// SPDX-License-Identifier: MIT
#include <utility>

#include "io/base/readers.hpp"
#include "io/pictures/image_file.hpp"
#include "io/mjpeg/jpeg_splitter.hpp"

namespace zerorun::io {
namespace {

template <typename Base, typename Item>
class ImageFiles : public AheadReader<Base, Item> {
 public:
  explicit ImageFiles(FileSequence sequence) : sequence_(std::move(sequence)) {}

  std::string last_name() const override { return name_; }
  bool can_seek() const override { return true; }
  bool finds_index() override { return true; }
  Result<std::int64_t> seek_index(std::int64_t index) override {
    this->has_ahead_ = false;
    this->index_ = sequence_.seek(index);
    return this->index_;
  }

 protected:
  using Work = Incoming<Item>;

  /// Any thread. `file` stands at its first byte.
  virtual Status load(ByteReader& file, Work& work, int threads) = 0;

  Result<bool> next_item(Work& work) override {
    // A held frame is read again: to keep a copy of every frame would slow down all sequences.
    ZR_LET(more, next_name());
    if (more)
      work.loader = [this, path = name_](Work& loaded, int threads) {
        ZR_LET(file, ByteReader::open(path));
        return load(file, loaded, threads);
      };
    return more;
  }

  Result<bool> next_name() {
    ZR_LET(file, sequence_.next());
    if (file) name_ = file->path;
    return file.has_value();
  }

  /// Reads the first file; with `broken` the first good one, and then it begins again.
  template <typename Read>
  Status start_with(BrokenFrames broken, const Read& read) {
    Status first;
    for (bool is_first = true;; is_first = false) {
      ZR_LET(more, this->look_ahead());
      if (!more) return first ? Status(Errc::open_failed, "the sequence has no image left") : first;
      this->ahead_.loader = nullptr;
      const Status status = read();
      if (status) describe();
      if (status && !is_first) return seek_index(0).status();
      if (status || broken == BrokenFrames::stop) return status;
      if (is_first) first = status;
    }
  }

  /// Completes info() after a file was read.
  void describe() {
    this->info_.container = sequence_.is_single_file() ? "image" : "image sequence";
    this->info_.frame_count = sequence_.count();
    this->info_.files = sequence_.files();
    this->info_.missing_files = sequence_.name_gaps().count;
    this->info_.first_missing_file = sequence_.name_gaps().first;
  }

 private:
  FileSequence sequence_;
  std::string name_;
};

class ImageFrames final : public ImageFiles<FrameReader, Frame> {
 public:
  ImageFrames(FileSequence sequence, const SourceOptions& options)
      : ImageFiles(std::move(sequence)), reader_(options) {}

  Status start(OpenedFile& opened, BrokenFrames broken) {
    return start_with(broken, [&]() -> Status {
      ZR_LET(file, opened.open(last_name()));
      ZR_TRY(reader_.read(file, ahead_, info_, 0));
      opened.keep(std::move(file));
      info_.width = ahead_.item.width();
      info_.height = ahead_.item.height();
      info_.format = ahead_.item.format();
      return Status::ok();
    });
  }

  std::int64_t concealed_frames() const override { return reader_.concealed(); }

  Result<bool> skip() override {
    Result<bool> more = true;
    if (!std::exchange(has_ahead_, false)) more = next_name();
    if (more && *more) ++index_;
    return more;
  }

 private:
  Status load(ByteReader& file, FrameWork& work, int threads) override {
    SourceInfo unused;
    return reader_.read(file, work, unused, threads);
  }

  ImageFileReader reader_;
};

class JpegFiles final : public ImageFiles<PacketReader, Packet> {
 public:
  using ImageFiles::ImageFiles;

  Status start(OpenedFile& opened, BrokenFrames broken) {
    return start_with(broken, [&]() -> Status {
      ZR_LET(file, opened.open(last_name()));
      const Status status = load(file, ahead_, 0);
      opened.keep(std::move(file));
      if (status) describe_jpeg(ahead_.item, info_);
      return status;
    });
  }

 private:
  Status load(ByteReader& file, PacketWork& work, int) override {
    if (!is_jpeg(file.peek(2)) && file.error())
      return Status(Errc::unknown_format, "'" + file.name() + "' is not JPEG");
    return read_whole_file(file, JpegSplitter::kMaxImageBytes, work.item);
  }
};

}  // namespace

Result<FrameReaderPtr> open_image_frames(FileSequence sequence, const SourceOptions& options) {
  auto reader = std::make_unique<ImageFrames>(std::move(sequence), options);
  ZR_TRY(reader->start(*options.opened, options.broken));
  return FrameReaderPtr(std::move(reader));
}

Result<PacketReaderPtr> open_jpeg_files(FileSequence sequence, const SourceOptions& options) {
  auto reader = std::make_unique<JpegFiles>(std::move(sequence));
  ZR_TRY(reader->start(*options.opened, options.broken));
  return PacketReaderPtr(std::move(reader));
}

}  // namespace zerorun::io
