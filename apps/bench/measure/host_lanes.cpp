// Lanes between host memory and host memory.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/host_lanes.hpp"

#include <algorithm>
#include <utility>

#include "codec/base/try.hpp"
#include "zerorun/async.hpp"

namespace zerorun::app::bench {
namespace {

class HostEncodeLane final : public EncodeLane {
 public:
  HostEncodeLane(Encoder encoder, SharedHostData data)
      : encoder_(std::move(encoder)), data_(std::move(data)), out_(data_->memory()) {}
  Status reserve() { return out_.resize(data_->largest_stream()); }

  Status start(std::size_t index) override {
    const auto report =
        encoder_.encode(data_->frame(index), std::span<std::byte>(out_.data(), out_.size()));
    if (!report) return report.status();
    bytes_ = report->bytes;
    return Status::ok();
  }
  Status finish() override { return Status::ok(); }
  Status stream(std::vector<std::byte>& out) override {
    out.assign(out_.data(), out_.data() + bytes_);
    return Status::ok();
  }

 private:
  Encoder encoder_;
  SharedHostData data_;
  HostBuffer out_;
  std::size_t bytes_ = 0;
};

class AsyncEncodeLane final : public EncodeLane {
 public:
  AsyncEncodeLane(AsyncEncoder encoder, SharedHostData data)
      : encoder_(std::move(encoder)), data_(std::move(data)) {}

  Status start(std::size_t index) override {
    while (encoder_.in_flight() == encoder_.depth()) ZR_TRY(receive());
    return encoder_.submit(data_->frame(index));
  }
  Status finish() override {
    while (encoder_.in_flight() > 0) ZR_TRY(receive());
    return Status::ok();
  }
  Status stream(std::vector<std::byte>& out) override {
    out.assign(last_.jpeg.bytes().begin(), last_.jpeg.bytes().end());
    return Status::ok();
  }

 private:
  Status receive() {
    (void)encoder_.receive(last_, true);
    return last_.status;
  }

  AsyncEncoder encoder_;
  SharedHostData data_;
  EncodedFrame last_;
};

class HostDecodeLane final : public DecodeLane {
 public:
  HostDecodeLane(Decoder decoder, SharedHostData data)
      : decoder_(std::move(decoder)), frame_(data->memory()), data_(std::move(data)) {}

  Status start(std::size_t index) override {
    const ConstFrameView& like = data_->frame(index);
    ZR_TRY(frame_.reshape(like.format, like.width, like.height));
    return decoder_.decode(data_->stream(index), frame_.view()).status();
  }
  Status finish() override { return Status::ok(); }
  Status picture(std::size_t /*place*/, const FrameView& out) override {
    copy_samples(std::as_const(frame_).view(), out);
    return Status::ok();
  }

 private:
  Decoder decoder_;
  Frame frame_;
  SharedHostData data_;
};

class AsyncDecodeLane final : public DecodeLane {
 public:
  AsyncDecodeLane(AsyncDecoder decoder, SharedHostData data)
      : decoder_(std::move(decoder)),
        received_(static_cast<std::size_t>(decoder_.lanes())),
        data_(std::move(data)) {}

  Status start(std::size_t index) override {
    while (decoder_.in_flight() == decoder_.depth()) ZR_TRY(receive());
    return decoder_.submit(data_->stream(index), {.format = data_->frame(index).format});
  }
  Status finish() override {
    while (decoder_.in_flight() > 0) ZR_TRY(receive());
    count_ = 0;
    return Status::ok();
  }
  Status picture(std::size_t place, const FrameView& out) override {
    const ConstFrameView view = std::as_const(received_[place].frame).view();
    if (view.width != out.width || view.height != out.height)
      return Status(Errc::invalid_frame, "the frames came in another order");
    copy_samples(view, out);
    return Status::ok();
  }

 private:
  Status receive() {
    DecodedFrame& frame = received_[count_++ % received_.size()];
    (void)decoder_.receive(frame, true);
    return frame.status;
  }

  AsyncDecoder decoder_;
  std::vector<DecodedFrame> received_;  // the last ones, as many as are decoded at a time
  std::size_t count_ = 0;
  SharedHostData data_;
};

}  // namespace

Result<SharedHostData> HostData::make(const Setting& setting, HostMemory memory) {
  auto data = std::make_shared<HostData>();
  data->memory_ = memory;
  data->largest_ = setting.reference.largest;
  for (std::size_t i = 0; i < setting.frames.size(); ++i)
    data->frames_.push_back(setting.frames.view(i));
  for (const auto& jpeg : setting.reference.streams) data->streams_.emplace_back(jpeg);
  if (memory == HostMemory::pageable) return data;
  const bool encode = setting.what.operation == Operation::encode;
  ZR_TRY(encode ? data->pin_frames() : data->pin_streams());
  return data;
}

Status HostData::pin_frames() {
  for (ConstFrameView& from : frames_) {
    auto frame = Frame::create(from.format, from.width, from.height, HostMemory::pinned);
    if (!frame) return frame.status();
    copy_samples(from, frame->view());
    from = std::as_const(*frame).view();
    pinned_frames_.push_back(*std::move(frame));
  }
  return Status::ok();
}

Status HostData::pin_streams() {
  for (auto& jpeg : streams_) {
    HostBuffer copy(HostMemory::pinned);
    ZR_TRY(copy.resize(jpeg.size()));
    std::copy(jpeg.begin(), jpeg.end(), copy.data());
    jpeg = copy.bytes();
    pinned_streams_.push_back(std::move(copy));
  }
  return Status::ok();
}

Result<std::unique_ptr<Lane>> open_host_encoder(const EncodeParams& params, SharedHostData data) {
  auto encoder = Encoder::create(params);
  if (!encoder) return encoder.status();
  auto lane = std::make_unique<HostEncodeLane>(*std::move(encoder), std::move(data));
  ZR_TRY(lane->reserve());
  return std::unique_ptr<Lane>(std::move(lane));
}

Result<std::unique_ptr<Lane>> open_async_encoder(const EncodeParams& params, int at_once,
                                                 SharedHostData data) {
  auto encoder = AsyncEncoder::create({params, at_once, 0});
  if (!encoder) return encoder.status();
  return std::unique_ptr<Lane>(
      std::make_unique<AsyncEncodeLane>(*std::move(encoder), std::move(data)));
}

Result<std::unique_ptr<Lane>> open_host_decoder(const DecodeParams& params, SharedHostData data) {
  auto decoder = Decoder::create(params);
  if (!decoder) return decoder.status();
  return std::unique_ptr<Lane>(
      std::make_unique<HostDecodeLane>(*std::move(decoder), std::move(data)));
}

Result<std::unique_ptr<Lane>> open_async_decoder(const DecodeParams& params, int at_once,
                                                 SharedHostData data) {
  auto decoder = AsyncDecoder::create({.decode = params, .lanes = at_once});
  if (!decoder) return decoder.status();
  return std::unique_ptr<Lane>(
      std::make_unique<AsyncDecodeLane>(*std::move(decoder), std::move(data)));
}

}  // namespace zerorun::app::bench
