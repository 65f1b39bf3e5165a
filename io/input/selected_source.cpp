// Sources: readers with the range, rate and pixel format that the caller asked for.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <utility>

#include "io/samples/frame_convert.hpp"
#include "io/samples/pixel_pack.hpp"
#include "io/base/pool.hpp"
#include "io/input/selected.hpp"

namespace zerorun::io {
namespace {

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

 private:
  /// What a thread needs to convert a frame.
  struct Scratch {
    FrameConverter converter;
    Frame unconverted;
  };

  Result<bool> fetch(FrameWork& work) override {
    switch (options_.broken) {
      case BrokenFrames::skip:
      case BrokenFrames::hold:
        return fetch_good(work);
      case BrokenFrames::black:
        return fetch_or_black(work);
      default:
        return fetch_any(work);
    }
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

  static Status copy(const Frame& from, Frame& to) {
    ZR_TRY(to.reshape(from.format(), from.width(), from.height()));
    copy_frame(from.view(), to.view());
    return Status::ok();
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
      return loader ? load_converted(loader, loaded, threads) : convert(loaded);
    };
    return more;
  }

  /// Loads a frame into memory of its own, and converts it into the caller's.
  Status load_converted(const std::function<Status(FrameWork&, int)>& loader, FrameWork& work,
                        int threads) {
    const std::shared_ptr<Scratch> scratch = scratches_.borrow();
    std::swap(work.item, scratch->unconverted);
    const Status status = loader(work, threads);
    std::swap(work.item, scratch->unconverted);
    ZR_TRY(status);
    return convert(*scratch, work.item);
  }

  /// Converts a frame that is loaded already.
  Status convert(FrameWork& work) {
    if (work.item.format() == asked_format(options_, work.item.format())) return Status::ok();
    const std::shared_ptr<Scratch> scratch = scratches_.borrow();
    std::swap(work.item, scratch->unconverted);
    if (const HostMemory memory = scratch->unconverted.memory(); work.item.memory() != memory)
      work.item = Frame(memory);
    return convert(*scratch, work.item);
  }

  Status convert(Scratch& scratch, Frame& out) {
    const PixelFormat format = asked_format(options_, scratch.unconverted.format());
    if (scratch.unconverted.format() == format) return hand_over(scratch.unconverted, out);
    return scratch.converter.convert(std::as_const(scratch.unconverted).view(), format, out);
  }

  SourceOptions options_;
  Pool<Scratch> scratches_;
  Frame last_;  // what BrokenFrames::hold repeats
};

class SelectedPackets final : public Selected<PacketSource, PacketReader, Packet> {
 public:
  using Selected::Selected;
  std::int64_t skipped_bytes() const override { return reader_->skipped_bytes(); }
};

}  // namespace

Status hand_over(Frame& from, Frame& to) {
  if (from.width() == 0) return Status::ok();
  if (from.memory() != to.memory()) {
    const ConstFrameView view = std::as_const(from).view();
    ZR_TRY(to.reshape(view.format, view.width, view.height));
    copy_frame(view, to.view());
    return Status::ok();
  }
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
