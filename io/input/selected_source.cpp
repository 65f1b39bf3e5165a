// Sources: readers with the range, rate and pixel format that the caller asked for.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "io/base/pool.hpp"
#include "io/base/readers.hpp"
#include "io/samples/frame_convert.hpp"
#include "io/samples/pixel_pack.hpp"

namespace zerorun::io {
namespace {

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

Status copy(const Frame& from, Frame& to) {
  ZR_TRY(to.reshape(from.format(), from.width(), from.height()));
  copy_frame(from.view(), to.view());
  return Status::ok();
}

Status check(const SourceOptions& options) {
  if (options.frame_rate.num < 0 || options.frame_rate.den <= 0)
    return Status(Errc::invalid_argument, "the frame rate is not a positive fraction");
  if (options.first_frame < 0 ||
      (options.last_frame >= 0 && options.last_frame < options.first_frame))
    return Status(Errc::invalid_argument, "the range of frames ends before it starts");
  return Status::ok();
}

class SelectedFrames final : public Selected<FrameSource, FrameReader, Frame> {
 public:
  SelectedFrames(FrameReaderPtr reader, const SourceOptions& options)
      : Selected(std::move(reader), options), options_(options) {
    info_.format = asked_format(options, info_.format);
  }

  std::int64_t concealed_frames() const override { return reader_->concealed_frames(); }
  std::string notice() const override {
    std::string text = reader_->notice();
    if (!changes_kind_ || grey_ == 0 || coloured_ == 0) return text;
    return text + (text.empty() ? "" : "; ") + "of the pictures " + std::to_string(grey_.load()) +
           " are grey and " + std::to_string(coloured_.load()) +
           " in colour; all were converted to " +
           std::string(name(options_.pixel_format.value_or(info_.format)));
  }

 private:
  /// Memory of a thread that converts a frame.
  struct Scratch {
    FrameConverter converter;
    Frame unconverted;
  };

  Result<bool> fetch(FrameWork& work) override {
    if (options_.broken == BrokenFrames::stop) return fetch_any(work);
    return options_.broken == BrokenFrames::black ? fetch_or_black(work) : fetch_good(work);
  }

  /// Skips and holds have to be known before the next frame gets its index, so frames are loaded
  /// here.
  Result<bool> fetch_good(FrameWork& work) {
    for (;;) {
      Result<bool> more = fetch_any(work);
      if (!more || !*more) return more;
      const Status status = work.load(0);
      if (status) {
        if (work.time.duration == 1)
          work.time.pts -= left_out();  // of images: counted from the first
        if (options_.broken == BrokenFrames::hold) ZR_TRY(copy(work.item, last_));
        return true;
      }
      if (options_.broken == BrokenFrames::hold && last_.width() == 0) return status;
      tell(work.name, status);
      if (options_.broken == BrokenFrames::skip) {
        if (!leave_out()) return false;
        continue;
      }
      ZR_TRY(copy(last_, work.item));
      return true;
    }
  }

  Result<bool> fetch_or_black(FrameWork& work) {
    Result<bool> more = fetch_any(work);
    if (!more || !*more) return more;
    work.loader = [this, loader = std::move(work.loader)](FrameWork& loaded, int threads) {
      const Status status = loader ? loader(loaded, threads) : Status::ok();
      if (status) return status;
      tell(loaded.name, status);
      return make_black(loaded.item);
    };
    return true;
  }

  void tell(const std::string& name, const Status& error) const {
    if (options_.tell_broken) options_.tell_broken(name, error);
  }

  Status make_black(Frame& frame) const {
    Frame black;
    const bool has_chroma = !is_rgb(info_.format) && info_.format != PixelFormat::gray8;
    ZR_TRY(black.reshape(has_chroma ? PixelFormat::yuv444p : PixelFormat::gray8, info_.width,
                         info_.height));
    for (int plane = 0; plane < plane_count(black.format()); ++plane)
      for (int row = 0; row < info_.height; ++row)
        std::memset(row_of(black.view(), plane, row), plane == 0 ? 0 : 128,
                    static_cast<std::size_t>(info_.width));
    FrameConverter converter;
    return converter.convert(std::as_const(black).view(), info_.format, frame);
  }

  Result<bool> fetch_any(FrameWork& work) {
    Result<bool> more = reader_->next(work);
    if (!more || !*more || !options_.pixel_format) return more;
    work.surface.reset();  // its samples are of the other format
    work.loader = [this, loader = std::move(work.loader)](FrameWork& loaded, int threads) {
      return load_converted(loader, loaded, threads);
    };
    return more;
  }

  /// Loads a frame into memory of its own, and converts it into the caller's. Without a loader it
  /// is loaded already.
  Status load_converted(const std::function<Status(FrameWork&, int)>& loader, FrameWork& work,
                        int threads) {
    const std::shared_ptr<Scratch> scratch = scratches_.borrow();
    const HostMemory memory = work.item.memory();
    Status status;
    if (loader) {
      std::swap(work.item, scratch->unconverted);
      status = loader(work, threads);
    }
    std::swap(work.item, scratch->unconverted);
    ZR_TRY(status);
    if (work.item.memory() != memory) work.item = Frame(memory);
    return convert(*scratch, work.item);
  }

  Status convert(Scratch& scratch, Frame& out) {
    const PixelFormat format = asked_format(options_, scratch.unconverted.format());
    const bool is_grey = scratch.unconverted.format() == PixelFormat::gray8;
    ++(is_grey ? grey_ : coloured_);
    if (is_grey != (format == PixelFormat::gray8)) changes_kind_ = true;
    if (scratch.unconverted.format() == format) return hand_over(scratch.unconverted, out);
    return scratch.converter.convert(std::as_const(scratch.unconverted).view(), format, out);
  }

  SourceOptions options_;
  Pool<Scratch> scratches_;
  Frame last_;  // what BrokenFrames::hold repeats
  // Of frames that are to be of one format.
  std::atomic<std::int64_t> grey_ = 0, coloured_ = 0;
  std::atomic<bool> changes_kind_ = false;
};

class SelectedPackets final : public Selected<PacketSource, PacketReader, Packet> {
 public:
  using Selected::Selected;
  std::int64_t skipped_bytes() const override { return reader_->skipped_bytes(); }
};

}  // namespace

Status hand_over(Frame& from, Frame& to) {
  if (from.width() == 0) return Status::ok();
  if (from.memory() != to.memory()) return copy(from, to);
  std::swap(from, to);
  return Status::ok();
}

PixelFormat asked_format(const SourceOptions& options, PixelFormat native) noexcept {
  const auto& accepted = options.accepted_formats;
  if (std::find(accepted.begin(), accepted.end(), native) != accepted.end()) return native;
  return options.pixel_format.value_or(native);
}

Result<std::unique_ptr<FrameSource>> select_frames(FrameReaderPtr reader,
                                                   const SourceOptions& options) {
  ZR_TRY(check(options));
  return started<FrameSource>(std::make_unique<SelectedFrames>(std::move(reader), options));
}

Result<std::unique_ptr<PacketSource>> select_packets(PacketReaderPtr reader,
                                                     const SourceOptions& options) {
  ZR_TRY(check(options));
  return started<PacketSource>(std::make_unique<SelectedPackets>(std::move(reader), options));
}

}  // namespace zerorun::io
