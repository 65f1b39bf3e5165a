// The peer libjpeg-turbo: objects kept between frames, one thread a frame.
// SPDX-License-Identifier: MIT
#include <utility>

#include "apps/bench/measure/contenders.hpp"
#include "apps/bench/peers/libjpeg_coder.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app::bench {
namespace {

class LibjpegEncodeLane final : public EncodeLane {
 public:
  explicit LibjpegEncodeLane(const Setting& setting)
      : encoder_(setting.what), frames_(setting.frames) {}

  Status start(std::size_t index) override { return encoder_.encode(frames_.view(index), stream_); }
  Status finish() override { return Status::ok(); }
  Status stream(std::vector<std::byte>& out) override {
    out.assign(stream_.begin(), stream_.end());
    return Status::ok();
  }

 private:
  LibjpegEncoder encoder_;
  const FrameSet& frames_;
  std::span<const std::byte> stream_;
};

class LibjpegDecodeLane final : public DecodeLane {
 public:
  explicit LibjpegDecodeLane(const Setting& setting)
      : streams_(setting.reference.streams), like_(setting.frames) {}

  Status start(std::size_t index) override {
    const ConstFrameView like = like_.view(index);
    ZR_TRY(frame_.reshape(like.format, like.width, like.height));
    return decoder_.decode(streams_[index], frame_.view());
  }
  Status finish() override { return Status::ok(); }
  Status picture(std::size_t /*place*/, const FrameView& out) override {
    copy_samples(std::as_const(frame_).view(), out);
    return Status::ok();
  }

 private:
  LibjpegDecoder decoder_;
  const std::vector<std::vector<std::byte>>& streams_;
  const FrameSet& like_;
  PaddedFrame frame_;
};

Result<std::unique_ptr<Lane>> open_lane(const Setting& setting) {
  if (setting.what.operation == Operation::encode)
    return std::unique_ptr<Lane>(std::make_unique<LibjpegEncodeLane>(setting));
  return std::unique_ptr<Lane>(std::make_unique<LibjpegDecodeLane>(setting));
}

}  // namespace

void add_libjpeg(const Setting& setting, Contenders& out) {
  if (!setting.selection.peers) return;
  if (libjpeg_version().empty()) {
    setting.notes.push_back("libjpeg-turbo: this build was made without it");
    return;
  }
  if (!libjpeg_takes(setting.what.pixels)) {
    setting.notes.push_back("libjpeg-turbo: it does not take this pixel format");
    return;
  }
  Contender c;
  c.coder = libjpeg_version();
  c.device = "cpu";
  c.path = "host>host";
  c.parallel = setting.selection.threads;
  c.open = [&setting](int) { return open_lane(setting); };
  out.push_back(std::move(c));
}

}  // namespace zerorun::app::bench
