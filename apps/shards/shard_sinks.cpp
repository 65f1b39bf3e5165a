// Sinks that hand what they get to the shard of a run.
// SPDX-License-Identifier: MIT
#include <memory>
#include <utility>

#include "apps/common/input_output.hpp"
#include "apps/shards/hash.hpp"
#include "apps/shards/shard_run.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app {
namespace {

/// What prepare() leaves to commit() beside the parts.
struct Prepared {
  std::uint64_t hash = 0;
  std::int64_t bytes = 0;
  std::shared_ptr<void> held;  ///< of the sink behind
};

void keep_hash(io::Outgoing& out) {
  auto prepared = std::make_shared<Prepared>();
  prepared->hash = xxh3(out.parts);
  for (const auto part : out.parts) prepared->bytes += static_cast<std::int64_t>(part.size());
  prepared->held = std::exchange(out.held, nullptr);
  out.held = prepared;
}

Prepared take_hash(io::Outgoing& out) {
  const Prepared prepared = *std::static_pointer_cast<Prepared>(out.held);
  out.held = prepared.held;
  return prepared;
}

/// What all these sinks share: everything but prepare() and commit(). `Base` takes an `Item`.
template <typename Base, typename Item>
class ShardSink : public Base {
 public:
  explicit ShardSink(ShardRun& run) : run_(run) {}

  Status write(Item item, const io::FrameTime& time) final {
    own_.time = time;
    ZR_TRY(this->prepare(item, own_));
    ZR_TRY(this->commit(own_));
    ++own_.index;
    return Status::ok();
  }
  Status finish() final { return run_.end_input(); }
  std::int64_t bytes_written() const final { return run_.bytes_written(); }

 protected:
  Status add(io::Outgoing& out) {
    const Prepared prepared = take_hash(out);
    ZR_TRY(run_.add(out.time, prepared.hash, out.parts));
    out.parts.clear();
    out.held.reset();
    return Status::ok();
  }

  ShardRun& run_;

 private:
  io::Outgoing own_;
};
using PacketBase = ShardSink<io::PacketSink, std::span<const std::byte>>;
using FrameBase = ShardSink<io::FrameSink, const ConstFrameView&>;

class PacketsSink final : public PacketBase {
 public:
  using PacketBase::PacketBase;
  Status prepare(std::span<const std::byte> jpeg, io::Outgoing& out) override {
    out.parts.assign(1, jpeg);
    keep_hash(out);
    return Status::ok();
  }
  Status commit(io::Outgoing& out) override { return add(out); }
};

class FramesSink final : public FrameBase {
 public:
  FramesSink(ShardRun& run, PixelFormat format, int width, int height)
      : FrameBase(run), format_(format), width_(width), height_(height) {}

  PixelFormat wanted_format(PixelFormat) const override { return format_; }

  Status prepare(const ConstFrameView& frame, io::Outgoing& out) override {
    if (frame.width != width_ || frame.height != height_ || frame.format != format_)
      return Status(Errc::unsupported_output,
                    "a frame has another size or pixel format than the first one");
    out.parts = rows_of(frame);
    keep_hash(out);
    return Status::ok();
  }
  Status commit(io::Outgoing& out) override { return add(out); }

 private:
  PixelFormat format_;
  int width_, height_;
};

/// Numbered pictures with the numbers that the whole output has: the k-th frame after `done` others
/// is picture first + step * (done + k).
struct PictureNumbers {
  std::int64_t first = 0, step = 1, done = 0;
};

/// The real sink numbers its files by Outgoing::index when they are prepared, and wants them one
/// after another when they are committed.
template <typename Base, typename Real, typename Item>
class PicturesSink : public Base {
 public:
  PicturesSink(ShardRun& run, const PictureNumbers& numbers, std::unique_ptr<Real> real)
      : Base(run), real_(std::move(real)), numbers_(numbers) {}

  Status prepare(Item item, io::Outgoing& out) override {
    const std::int64_t index = out.index;
    out.index = numbers_.first + numbers_.step * (numbers_.done + index);
    const Status status = real_->prepare(item, out);
    out.index = index;
    ZR_TRY(status);
    keep_hash(out);
    return Status::ok();
  }

  Status commit(io::Outgoing& out) override {
    const Prepared prepared = take_hash(out);
    ZR_TRY(real_->commit(out));
    return this->run_.add_picture(out.time, prepared.hash, prepared.bytes);
  }

 protected:
  std::unique_ptr<Real> real_;

 private:
  PictureNumbers numbers_;
};

using PicturePackets = PicturesSink<PacketBase, io::PacketSink, std::span<const std::byte>>;

class PictureFrames final : public PicturesSink<FrameBase, io::FrameSink, const ConstFrameView&> {
 public:
  using PicturesSink::PicturesSink;
  PixelFormat wanted_format(PixelFormat native) const override {
    return real_->wanted_format(native);
  }
};

}  // namespace

Result<std::unique_ptr<io::PacketSink>> ShardRun::open_packets(const io::SinkOptions& options) {
  const PictureNumbers numbers{wanted_.span.first, step(), std::ssize(open_.frames)};
  ZR_TRY(begin(options, ""));
  if (wanted_.kind != ShardKind::pictures)
    return std::unique_ptr<io::PacketSink>(new PacketsSink(*this));
  io::SinkOptions real = options;
  real.overwrite = true;  // refuse_pictures() has looked
  ZR_LET(sink, io::open_packet_sink(options_.output, real));
  return std::unique_ptr<io::PacketSink>(new PicturePackets(*this, numbers, std::move(sink)));
}

Result<std::unique_ptr<io::FrameSink>> ShardRun::open_frames(const io::SinkOptions& options,
                                                             PixelFormat native) {
  const PictureNumbers numbers{wanted_.span.first, step(), std::ssize(open_.frames)};
  const PixelFormat planar = planar_format(native_subsampling(native));
  const bool is_pictures = wanted_.kind == ShardKind::pictures;
  ZR_TRY(begin(options, is_pictures ? "" : std::string(name(planar))));
  if (!is_pictures)
    return std::unique_ptr<io::FrameSink>(
        new FramesSink(*this, planar, options.width, options.height));
  io::SinkOptions real = options;
  real.overwrite = true;
  ZR_LET(sink, io::open_frame_sink(options_.output, real));
  return std::unique_ptr<io::FrameSink>(new PictureFrames(*this, numbers, std::move(sink)));
}

}  // namespace zerorun::app
