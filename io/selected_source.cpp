// What the caller asked for, around a reader: range of frames, rate, pixel format.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "codec/base/try.hpp"
#include "io/formats.hpp"
#include "io/frame_convert.hpp"

namespace zerorun::io {
namespace {

Status cannot_seek() {
  return Status(Errc::invalid_argument, "this input can only be read from front to back");
}

/// The part of SourceOptions that is about indices and times; the same for frames and packets.
class Selection {
 public:
  Selection(SourceInfo info, const SourceOptions& options)
      : info_(std::move(info)), first_(options.first_frame), last_(options.last_frame) {
    if (info_.frame_count >= 0) {
      const std::int64_t end = last_ < 0 ? info_.frame_count : std::min(last_, info_.frame_count);
      info_.frame_count = std::max<std::int64_t>(end - first_, 0);
    }
    own_rate_ = options.frame_rate.known();
    if (own_rate_) {
      info_.frame_rate = options.frame_rate;
      info_.time_base = {options.frame_rate.den, options.frame_rate.num};
      info_.variable_frame_rate = false;
    }
    index_ = first_;
    info_.first_pts = first_;
  }

  static Status check(const SourceOptions& options) {
    const Rational& rate = options.frame_rate;
    if (rate.num < 0 || rate.den <= 0)
      return Status(Errc::invalid_argument, "the frame rate is not a positive fraction");
    if (options.first_frame < 0 ||
        (options.last_frame >= 0 && options.last_frame < options.first_frame))
      return Status(Errc::invalid_argument, "the range of frames ends before it starts");
    return Status::ok();
  }

  bool is_over() const noexcept { return last_ >= 0 && index_ >= last_; }
  void count(FrameTime& time) noexcept {
    if (own_rate_) time = {index_, 1};
    ++index_;
  }
  std::int64_t first() const noexcept { return first_; }

  /// As FrameSource::seek().
  Result<std::int64_t> seek(Seekable& reader, std::int64_t pts) {
    const bool by_index = own_rate_ || pts <= info_.first_pts;
    Result<std::int64_t> found = by_index
                                     ? reader.seek_index(within_range(own_rate_ ? pts : first_))
                                     : reader.seek_time(pts);
    if (found && *found != within_range(*found)) found = reader.seek_index(within_range(*found));
    if (found) index_ = *found;
    return found;
  }

  SourceInfo& info() noexcept { return info_; }
  const SourceInfo& info() const noexcept { return info_; }

 private:
  std::int64_t within_range(std::int64_t index) const noexcept {
    if (last_ >= 0) index = std::min(index, last_ - 1);
    return std::max(index, first_);
  }

  SourceInfo info_;
  std::int64_t first_, last_;
  std::int64_t index_ = 0;
  bool own_rate_ = false;
};

class SelectedFrames final : public FrameSource {
 public:
  SelectedFrames(FrameReaderPtr reader, const SourceOptions& options)
      : reader_(std::move(reader)),
        selection_(reader_->info(), options),
        options_(options),
        converts_(options.pixel_format.has_value()) {
    selection_.info().format = asked_format(options, selection_.info().format);
  }

  /// Goes to the first frame and reads it, so that info() can tell its time. An error about that
  /// frame is given by the first read(), not here: the rest may be sound.
  Status start() {
    for (std::int64_t i = 0; i < selection_.first(); ++i) {
      Result<bool> more = reader_->skip();
      if (!more) return more.status();
      if (!*more) return Status::ok();
    }
    ahead_result_ = read_next(ahead_, ahead_time_);
    if (*ahead_result_ && **ahead_result_) selection_.info().first_pts = ahead_time_.pts;
    return Status::ok();
  }

  const SourceInfo& info() const override { return selection_.info(); }
  std::string last_name() const override { return reader_->last_name(); }
  std::int64_t concealed_frames() const override { return reader_->concealed_frames(); }

  Result<bool> read(Frame& frame, FrameTime& time) override {
    if (!ahead_result_) return read_next(frame, time);
    Result<bool> result = *std::move(ahead_result_);
    ahead_result_.reset();
    std::swap(frame, ahead_);
    ahead_ = Frame();
    time = ahead_time_;
    return result;
  }

  bool can_seek() const override { return reader_->can_seek(); }
  Result<std::int64_t> seek(std::int64_t pts) override {
    if (!reader_->can_seek()) return cannot_seek();
    ahead_result_.reset();
    return selection_.seek(*reader_, pts);
  }

 private:
  Result<bool> read_next(Frame& frame, FrameTime& time) {
    if (selection_.is_over()) return false;
    Frame& target = converts_ ? unconverted_ : frame;
    Result<bool> more = reader_->read(target, time);
    if (!more) {
      FrameTime unused;
      selection_.count(unused);  // the frame that failed has its index too
      return more;
    }
    if (!*more) return more;
    selection_.count(time);
    if (!converts_) return true;
    const PixelFormat format = asked_format(options_, target.format());
    if (target.format() == format) {
      std::swap(frame, target);
      return true;
    }
    ZR_TRY(converter_.convert(std::as_const(target).view(), format, frame));
    return true;
  }

  FrameReaderPtr reader_;
  Selection selection_;
  SourceOptions options_;
  bool converts_;
  FrameConverter converter_;
  Frame unconverted_, ahead_;
  FrameTime ahead_time_;
  std::optional<Result<bool>> ahead_result_;
};

class SelectedPackets final : public PacketSource {
 public:
  SelectedPackets(PacketReaderPtr reader, const SourceOptions& options)
      : reader_(std::move(reader)), selection_(reader_->info(), options) {}

  Status start() {
    for (std::int64_t i = 0; i < selection_.first(); ++i) {
      Result<bool> more = reader_->read(ahead_, ahead_time_);
      if (!more) return more.status();
      if (!*more) return Status::ok();
    }
    ahead_result_ = read_next(ahead_, ahead_time_);
    if (*ahead_result_ && **ahead_result_) selection_.info().first_pts = ahead_time_.pts;
    return Status::ok();
  }

  const SourceInfo& info() const override { return selection_.info(); }
  std::string last_name() const override { return reader_->last_name(); }
  std::int64_t skipped_bytes() const override { return reader_->skipped_bytes(); }

  Result<bool> read(std::vector<std::byte>& jpeg, FrameTime& time) override {
    if (!ahead_result_) return read_next(jpeg, time);
    Result<bool> result = *std::move(ahead_result_);
    ahead_result_.reset();
    jpeg.swap(ahead_);
    ahead_ = {};
    time = ahead_time_;
    return result;
  }

  bool can_seek() const override { return reader_->can_seek(); }
  Result<std::int64_t> seek(std::int64_t pts) override {
    if (!reader_->can_seek()) return cannot_seek();
    ahead_result_.reset();
    return selection_.seek(*reader_, pts);
  }

 private:
  Result<bool> read_next(std::vector<std::byte>& jpeg, FrameTime& time) {
    if (selection_.is_over()) return false;
    Result<bool> more = reader_->read(jpeg, time);
    if (!more || *more) selection_.count(time);
    return more;
  }

  PacketReaderPtr reader_;
  Selection selection_;
  std::vector<std::byte> ahead_;
  FrameTime ahead_time_;
  std::optional<Result<bool>> ahead_result_;
};

}  // namespace

Result<std::int64_t> Seekable::seek_index(std::int64_t) { return cannot_seek(); }
Result<std::int64_t> Seekable::seek_time(std::int64_t pts) {
  return seek_index(std::max<std::int64_t>(pts, 0));
}

PixelFormat asked_format(const SourceOptions& options, PixelFormat native) noexcept {
  const auto& accepted = options.accepted_formats;
  if (std::find(accepted.begin(), accepted.end(), native) != accepted.end()) return native;
  return options.pixel_format.value_or(native);
}

Result<bool> FrameReader::skip() {
  Frame unused;
  FrameTime time;
  return read(unused, time);
}

Result<std::unique_ptr<FrameSource>> select_frames(FrameReaderPtr reader,
                                                   const SourceOptions& options) {
  ZR_TRY(Selection::check(options));
  auto frames = std::make_unique<SelectedFrames>(std::move(reader), options);
  ZR_TRY(frames->start());
  return std::unique_ptr<FrameSource>(std::move(frames));
}

Result<std::unique_ptr<PacketSource>> select_packets(PacketReaderPtr reader,
                                                     const SourceOptions& options) {
  ZR_TRY(Selection::check(options));
  auto packets = std::make_unique<SelectedPackets>(std::move(reader), options);
  ZR_TRY(packets->start());
  return std::unique_ptr<PacketSource>(std::move(packets));
}

}  // namespace zerorun::io
