// Runners between host memory and host memory, and zerorun's coders on the CPU: one frame on
// several threads for the latency, a frame on each thread for the throughput.
// SPDX-License-Identifier: MIT
#include "apps/bench/measure/measure.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "zerorun/async.hpp"

namespace zerorun::app::bench {
namespace {

class HostEncodeRunner final : public Runner {
 public:
  HostEncodeRunner(const EncodeParams& params, SharedHostData data)
      : params_(params), data_(std::move(data)), out_(data_->memory()) {}

  Status open() override {
    ZR_TRY(store(Encoder::create(params_), encoder_));
    return out_.resize(data_->largest_stream());
  }
  Status start(std::size_t index) override {
    const auto report =
        encoder_->encode(data_->frame(index), std::span<std::byte>(out_.data(), out_.size()));
    if (!report) return report.status();
    bytes_ = report->bytes;
    return Status::ok();
  }
  Status stream(std::vector<std::byte>& out) override {
    out.assign(out_.data(), out_.data() + bytes_);
    return Status::ok();
  }

 private:
  const EncodeParams params_;
  std::optional<Encoder> encoder_;
  SharedHostData data_;
  HostBuffer out_;
  std::size_t bytes_ = 0;
};

class AsyncEncodeRunner final : public Runner {
 public:
  AsyncEncodeRunner(const EncodeParams& params, SharedHostData data, std::vector<int> devices,
                    int at_once)
      : params_(params), devices_(std::move(devices)), at_once_(at_once), data_(std::move(data)) {}

  Status open() override {
    return store(AsyncEncoder::create({params_, at_once_, 0, devices_}), encoder_);
  }
  Status start(std::size_t index) override {
    while (encoder_->in_flight() == encoder_->depth()) ZR_TRY(receive());
    return encoder_->submit(data_->frame(index));
  }
  Status finish() override {
    while (encoder_->in_flight() > 0) ZR_TRY(receive());
    return Status::ok();
  }
  Status stream(std::vector<std::byte>& out) override {
    out.assign(last_.jpeg.bytes().begin(), last_.jpeg.bytes().end());
    return Status::ok();
  }

 private:
  Status receive() {
    (void)encoder_->receive(last_, true);
    return last_.status;
  }

  const EncodeParams params_;
  const std::vector<int> devices_;
  const int at_once_;
  std::optional<AsyncEncoder> encoder_;
  SharedHostData data_;
  EncodedFrame last_;
};

class HostDecodeRunner final : public Runner {
 public:
  HostDecodeRunner(const DecodeParams& params, SharedHostData data)
      : params_(params), frame_(data->memory()), data_(std::move(data)) {}

  Status open() override { return store(Decoder::create(params_), decoder_); }
  Status start(std::size_t index) override {
    const ConstFrameView& like = data_->frame(index);
    ZR_TRY(frame_.reshape(like.format, like.width, like.height));
    return decoder_->decode(data_->stream(index), frame_.view()).status();
  }
  Status picture(std::size_t /*place*/, const FrameView& out) override {
    copy_samples(std::as_const(frame_).view(), out);
    return Status::ok();
  }

 private:
  const DecodeParams params_;
  std::optional<Decoder> decoder_;
  Frame frame_;
  SharedHostData data_;
};

class AsyncDecodeRunner final : public Runner {
 public:
  AsyncDecodeRunner(const DecodeParams& params, SharedHostData data, std::vector<int> devices,
                    int at_once)
      : params_(params), devices_(std::move(devices)), at_once_(at_once), data_(std::move(data)) {}

  Status open() override {
    ZR_TRY(store(AsyncDecoder::create({.decode = params_, .lanes = at_once_, .devices = devices_}),
                 decoder_));
    received_ = std::vector<DecodedFrame>(static_cast<std::size_t>(decoder_->lanes()));
    return Status::ok();
  }
  Status start(std::size_t index) override {
    while (decoder_->in_flight() == decoder_->depth()) ZR_TRY(receive());
    return decoder_->submit(data_->stream(index), {.format = data_->frame(index).format});
  }
  Status finish() override {
    while (decoder_->in_flight() > 0) ZR_TRY(receive());
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
    (void)decoder_->receive(frame, true);
    return frame.status;
  }

  const DecodeParams params_;
  const std::vector<int> devices_;
  const int at_once_;
  std::optional<AsyncDecoder> decoder_;
  std::vector<DecodedFrame> received_;  // the last ones, as many as are decoded at a time
  std::size_t count_ = 0;
  SharedHostData data_;
};

Result<RunSteps> open_encoder(const Setting& setting, StepWay way, EncodeParams params,
                              SharedHostData data) {
  std::shared_ptr<StepEncoder> encoder;
  ZR_TRY(store(make_step_encoder(way, params, setting.frames.view(0)), encoder));
  auto out = std::make_shared<HostBuffer>(data->memory());
  ZR_TRY(out->resize(data->largest_stream()));
  return RunSteps([=](std::size_t index, std::vector<StepTime>& steps) {
    return encoder->encode(data->frame(index), {out->data(), out->size()}, steps).status();
  });
}

Result<RunSteps> open_decoder(const Setting& setting, StepWay way, DecodeParams params,
                              SharedHostData data) {
  const ConstFrameView like = setting.frames.view(0);
  std::shared_ptr<StepDecoder> decoder;
  ZR_TRY(store(make_step_decoder(way, params), decoder));
  auto out = std::make_shared<Frame>(data->memory());
  ZR_TRY(out->reshape(like.format, like.width, like.height));
  return RunSteps([=](std::size_t index, std::vector<StepTime>& steps) {
    return decoder->decode(data->stream(index), out->view(), steps);
  });
}

Result<RunSteps> open(const Setting& setting, StepWay way, int device) {
  const bool on_cpu = way == StepWay::cpu;
  const Backend backend = on_cpu ? Backend::cpu : Backend::cuda;
  SharedHostData data;
  ZR_TRY(store(HostData::make(setting, on_cpu ? HostMemory::pageable : HostMemory::pinned), data));
  return setting.what.encodes()
             ? open_encoder(setting, way, encode_params(setting.what, backend, device), data)
             : open_decoder(setting, way, decode_params(backend, device), data);
}

}  // namespace

Result<SharedHostData> HostData::make(const Setting& setting, HostMemory memory) {
  auto data = std::make_shared<HostData>();
  data->memory_ = memory;
  data->largest_ = setting.reference.largest;
  for (std::size_t i = 0; i < setting.frames.size(); ++i)
    data->frames_.push_back(setting.frames.view(i));
  for (const auto& jpeg : setting.reference.streams) data->streams_.emplace_back(jpeg);
  if (memory == HostMemory::pinned)
    ZR_TRY(setting.what.encodes() ? data->pin_frames() : data->pin_streams());
  return data;
}

Status HostData::pin_frames() {
  for (ConstFrameView& from : frames_) {
    Frame& frame = pinned_frames_.emplace_back(HostMemory::pinned);
    ZR_TRY(frame.reshape(from.format, from.width, from.height));
    copy_samples(from, frame.view());
    from = std::as_const(frame).view();
  }
  return Status::ok();
}

Status HostData::pin_streams() {
  for (auto& jpeg : streams_) {
    HostBuffer& copy = pinned_streams_.emplace_back(HostMemory::pinned);
    ZR_TRY(copy.resize(jpeg.size()));
    std::copy(jpeg.begin(), jpeg.end(), copy.data());
    jpeg = copy.bytes();
  }
  return Status::ok();
}

OpenRunner host_encoder(const EncodeParams& params, const SharedHostData& data) {
  return runner_of<HostEncodeRunner>(params, data);
}
OpenRunner host_decoder(const DecodeParams& params, const SharedHostData& data) {
  return runner_of<HostDecodeRunner>(params, data);
}
OpenRunner async_encoder(const EncodeParams& params, const SharedHostData& data,
                         const std::vector<int>& devices) {
  return joint_runner_of<AsyncEncodeRunner>(params, data, devices);
}
OpenRunner async_decoder(const DecodeParams& params, const SharedHostData& data,
                         const std::vector<int>& devices) {
  return joint_runner_of<AsyncDecodeRunner>(params, data, devices);
}

Status add_cpu_coders(const Setting& setting, Coders& coders) {
  SharedHostData data;
  ZR_TRY(store(HostData::make(setting, HostMemory::pageable), data));
  const bool encode = setting.what.encodes();
  EncodeParams encoder = encode_params(setting.what, Backend::cpu);
  DecodeParams decoder = decode_params(Backend::cpu);
  for (const int threads : setting.selection.threads) {
    Coder& coder = coders.emplace_back(our_coder("cpu", "host>host"));
    coder.latency_threads = encoder.threads = decoder.threads = threads;
    coder.open = encode ? host_encoder(encoder, data) : host_decoder(decoder, data);
  }
  encoder.threads = decoder.threads = 1;
  for (const InstructionSet set : setting.selection.cpus) {
    if (setting.frames.mixed) break;  // a batch has no latency
    Coder& coder = coders.emplace_back(our_coder("cpu", "host>host"));
    coder.name += fmt::format("-{}", name(set));
    EncodeParams params = encoder;
    DecodeParams decode = decoder;
    params.instruction_set = decode.instruction_set = set;
    coder.open = encode ? host_encoder(params, data) : host_decoder(decode, data);
  }
  Coder many = our_coder("cpu", "host>host");
  many.measure_latency = false;
  many.at_once = setting.selection.threads;
  many.joint = encode;
  many.open = encode ? async_encoder(encoder, data) : host_decoder(decoder, data);
  coders.push_back(many);
  if (encode) return Status::ok();
  many.name = kAsyncCoder;
  many.joint = true;
  many.open = async_decoder(decode_params(Backend::cpu), data);
  coders.push_back(many);
  return Status::ok();
}

// Rows with the time of each stage: the CPU pipelines, and the staged kernels on a GPU.

Status add_steps(const Setting& setting, Coders& coders) {
  const auto add = [&](const char* name, std::string device, const char* path, StepWay way,
                       int number) {
    Coder& coder = coders.emplace_back();
    coder.name = name;
    coder.device = std::move(device);
    coder.path = path;
    coder.open_steps = [&setting, way, number] { return open(setting, way, number); };
  };
  for (const int device : setting.selection.cuda)
    add("zerorun-staged", fmt::format("cuda:{}", device), "pinned>pinned", StepWay::cuda_staged,
        device);
  if (setting.selection.cpu) add("zerorun", "cpu", "host>host", StepWay::cpu, 0);
  return Status::ok();
}

}  // namespace zerorun::app::bench
