// Frames of image files: one image, or a sequence with its gaps.
// SPDX-License-Identifier: MIT
#include <utility>

#include "codec/base/try.hpp"
#include "io/formats.hpp"
#include "io/image_file.hpp"
#include "io/pixel_pack.hpp"

namespace zerorun::io {
namespace {

class ImageFrames final : public FrameReader {
 public:
  ImageFrames(FileSequence sequence, const SourceOptions& options)
      : sequence_(std::move(sequence)), reader_(options) {}

  /// Reads the first image to describe the sequence.
  Status start() {
    FrameTime unused;
    Result<bool> more = read(ahead_, unused);
    if (!more) return more.status();
    if (!*more) return Status(Errc::open_failed, "no image is left of the sequence");
    has_ahead_ = true;
    index_ = 0;
    info_.width = ahead_.width();
    info_.height = ahead_.height();
    info_.format = ahead_.format();
    info_.container = sequence_.is_single_file() ? "image" : "image sequence";
    info_.codec = facts_.codec;
    info_.is_jpeg = facts_.is_jpeg;
    info_.rotation_degrees = facts_.rotation_degrees;
    info_.sample_aspect = facts_.sample_aspect;
    info_.frame_count = sequence_.count();
    return Status::ok();
  }

  const SourceInfo& info() const override { return info_; }
  std::string last_name() const override { return name_; }
  std::int64_t concealed_frames() const override { return reader_.concealed(); }

  Result<bool> read(Frame& frame, FrameTime& time) override {
    if (has_ahead_) {
      std::swap(frame, ahead_);
      has_ahead_ = false;
    } else {
      Result<std::optional<FileSequence::Item>> item = sequence_.next();
      if (!item) return item.status();
      if (!*item) return false;
      // A held frame is read again: keeping a copy of every frame would cost all sequences.
      name_ = (*item)->path;
      ZR_TRY(reader_.read(name_, frame, facts_));
    }
    time = {index_++, 1};
    return true;
  }

  Result<bool> skip() override {
    if (has_ahead_) {
      has_ahead_ = false;
    } else {
      Result<std::optional<FileSequence::Item>> item = sequence_.next();
      if (!item) return item.status();
      if (!*item) return false;
      name_ = (*item)->path;
    }
    ++index_;
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
  ImageFileReader reader_;
  SourceInfo info_;
  ImageFacts facts_;
  std::string name_;
  Frame ahead_;
  bool has_ahead_ = false;
  std::int64_t index_ = 0;
};

}  // namespace

Result<FrameReaderPtr> open_image_frames(FileSequence sequence, const SourceOptions& options) {
  auto frames = std::make_unique<ImageFrames>(std::move(sequence), options);
  ZR_TRY(frames->start());
  return FrameReaderPtr(std::move(frames));
}

}  // namespace zerorun::io
