// Sources: readers with the range and the rate that the caller asked for.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "codec/base/try.hpp"
#include "io/base/readers.hpp"

namespace zerorun::io {

/// `Source` is FrameSource or PacketSource, `Reader` reads its items.
template <typename Source, typename Reader, typename Item>
class Selected : public Source {
 public:
  using Work = Incoming<Item>;

  Selected(std::unique_ptr<Reader> reader, const SourceOptions& options)
      : reader_(std::move(reader)),
        info_(reader_->info()),
        first_(options.first_frame),
        last_(options.last_frame),
        index_(first_),
        own_rate_(options.frame_rate.known()),
        most_seconds_(options.most_seconds) {
    if (info_.frame_count >= 0) {
      const std::int64_t end = last_ < 0 ? info_.frame_count : std::min(last_, info_.frame_count);
      choose_files(end);
      info_.frame_count = std::max<std::int64_t>(end - first_, 0);
    }
    if (own_rate_) {
      info_.frame_rate = options.frame_rate;
      info_.time_base = {options.frame_rate.den, options.frame_rate.num};
      info_.variable_frame_rate = false;
    }
    info_.first_pts = first_;
  }

  /// Reads the first frame of the range, because info() tells its time. The first read() returns an
  /// error about that frame: the other frames may be good.
  Status start() {
    ZR_LET(is_there, enter());
    if (!is_there) return Status::ok();
    ahead_result_ = next_selected(ahead_);
    if (*ahead_result_ && **ahead_result_) info_.first_pts = ahead_.time.pts;
    return Status::ok();
  }

  const SourceInfo& info() const override { return info_; }
  std::string last_name() const override { return reader_->last_name(); }
  bool can_seek() const override { return reader_->can_seek(); }
  std::string notice() const override { return reader_->notice(); }

  Result<bool> next(Work& work) override {
    if (!ahead_result_) return next_selected(work);
    Result<bool> result = *std::move(ahead_result_);
    ahead_result_.reset();
    if (result && *result) ZR_TRY(hand_over(ahead_, work));
    ahead_ = Work();
    return result;
  }

  Result<bool> read(Item& item, FrameTime& time) override {
    std::swap(item, work_.item);
    Result<bool> more = next(work_);
    if (more && *more) {
      time = work_.time;
      if (Status loaded = work_.load(0); !loaded) more = loaded;
    }
    std::swap(item, work_.item);
    return more;
  }

  Result<std::int64_t> seek(std::int64_t pts) override {
    if (!can_seek()) return cannot_seek();
    ahead_result_.reset();
    const bool by_index = own_rate_ || pts <= info_.first_pts;
    Result<std::int64_t> found = by_index
                                     ? reader_->seek_index(within_range(own_rate_ ? pts : first_))
                                     : reader_->seek_time(pts);
    if (found && *found != within_range(*found)) found = reader_->seek_index(within_range(*found));
    if (found) index_ = *found;
    if (found) left_out_ = 0;
    return found;
  }

 protected:
  virtual Result<bool> fetch(Work& work) { return reader_->next(work); }

  /// Counts a frame that fetch() leaves out. False: the range ends with it.
  bool leave_out() noexcept {
    ++left_out_;
    return ++index_ != last_;
  }
  std::int64_t left_out() const noexcept { return left_out_; }

  std::unique_ptr<Reader> reader_;
  SourceInfo info_;

 private:
  /// Leaves the files of the range up to `end`, where each frame is a file.
  void choose_files(std::int64_t end) {
    if (!info_.files || static_cast<std::int64_t>(info_.files->paths.size()) != info_.frame_count ||
        (first_ == 0 && end == info_.frame_count))
      return;
    PictureFiles chosen{{}, info_.files->folder};
    for (std::int64_t i = first_; i < end; ++i)
      chosen.paths.push_back(info_.files->paths[static_cast<std::size_t>(i)]);
    info_.files = std::make_shared<PictureFiles>(std::move(chosen));
  }

  /// Goes to the first frame of the range; false if the input ends before it.
  Result<bool> enter() {
    if (first_ == 0) return true;
    const std::int64_t count = reader_->info().frame_count;
    std::int64_t index = 0;
    if (count != 0 && reader_->finds_index()) {
      // There may be more than it says.
      const std::int64_t wanted = count > 0 ? std::min(first_, count - 1) : first_;
      ZR_LET(found, reader_->seek_index(wanted));
      index = found == wanted ? found : 0;
      if (found != wanted) ZR_TRY(reader_->seek_index(0).status());
    }
    for (; index < first_; ++index) {
      ZR_LET(more, reader_->skip());
      if (!more) return false;
    }
    return true;
  }

  Result<bool> next_selected(Work& work) {
    if (last_ >= 0 && index_ >= last_) return false;
    Result<bool> more = fetch(work);
    if (more && !*more) return more;
    if (own_rate_) work.time = {index_ - left_out_, 1};
    if (most_seconds_ > 0 && is_over(work.time)) return false;
    ++index_;  // a frame that failed counts, too
    return more;
  }

  /// By the time stamps; by the clock too where those of a camera may run at another speed.
  bool is_over(const FrameTime& time) {
    const auto now = std::chrono::steady_clock::now();
    if (!begin_) begin_ = {time.pts, now};
    const std::chrono::duration<double> passed = now - begin_->second;
    constexpr double kRounding = 1e-9;
    return static_cast<double>(time.pts - begin_->first) * info_.time_base.value() >=
               most_seconds_ - kRounding ||
           (info_.is_live && passed.count() >= most_seconds_);
  }

  std::int64_t within_range(std::int64_t index) const noexcept {
    if (last_ >= 0) index = std::min(index, last_ - 1);
    return std::max(index, first_);
  }

  std::int64_t first_, last_, index_;
  std::int64_t left_out_ = 0;  // since the start or the last seek
  bool own_rate_;
  double most_seconds_;
  std::optional<std::pair<std::int64_t, std::chrono::steady_clock::time_point>> begin_;
  Work ahead_;
  std::optional<Result<bool>> ahead_result_;
  Work work_;  // of read()
};

}  // namespace zerorun::io
