// The time of every public way from C++ and C to a GPU and back, with the time of its kernels
// beside it: microseconds a frame, medians. usage: ways_bench PHOTO.jpg [COUNT OF A BATCH]
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "tests/bench/timing.hpp"
#include "tests/support/capi.hpp"
#include "zerorun/cuda.hpp"
#include "zerorun/zerorun.hpp"

namespace zerorun {
namespace {

using test::check, test::kernels_of, test::time_of;

void check(zerorun_status status) { check(Status(static_cast<Errc>(status))); }
void check(cudaError_t error) {
  check(Status(error == cudaSuccess ? Errc::ok : Errc::device_failure));
}
template <typename T>
T value(Result<T> result) {
  check(result.status());
  return std::move(*result);
}
template <typename T>
T* on_device(std::size_t count) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)));
  return static_cast<T*>(memory);
}

void row(const char* name, std::size_t frames, double kernels, const std::function<void()>& call) {
  std::printf("| `%s` | %.1f | %.1f |\n", name, time_of(call) / static_cast<double>(frames),
              kernels);
  std::fflush(stdout);
}

using Streams = std::vector<std::vector<std::uint8_t>>;

zerorun_status give_memory(void* user, zerorun_encoded_stream* streams, std::size_t count) {
  auto& all = *static_cast<Streams*>(user);
  for (std::size_t i = 0; i < count; ++i) {
    all[streams[i].frame].resize(streams[i].size);
    streams[i].out = all[streams[i].frame].data();
  }
  return ZERORUN_OK;
}

/// `count` times the same input, as many in flight as there may be.
template <typename Coder, typename Input, typename Output>
void run_async(Coder& coder, const Input& input, std::size_t count, Output& out) {
  for (std::size_t submitted = 0, received = 0; received < count;) {
    for (; submitted < count && coder.in_flight() < coder.depth(); ++submitted)
      check(coder.submit(input));
    if (coder.receive(out, true) == Received::frame) check(out.status), ++received;
  }
}

void run(const std::vector<std::byte>& photo, std::size_t count) {
  Frame frame;
  check(value(Decoder::create({})).decode(photo, PixelFormat::rgb24, frame).status());
  const auto make_frame = [&] {
    return value(Frame::create(frame.format(), frame.width(), frame.height(), HostMemory::pinned));
  };
  Frame pinned = make_frame(), decoded = make_frame();
  const std::size_t bytes = static_cast<std::size_t>(frame.view().stride_bytes[0] * frame.height());
  std::copy_n(frame.view().data[0], bytes, pinned.view().data[0]);
  FrameView there = pinned.view();
  there.data[0] = on_device<std::uint8_t>(bytes);
  FrameView decoded_there = there;
  decoded_there.data[0] = on_device<std::uint8_t>(bytes);
  check(cudaMemcpy(there.data[0], pinned.view().data[0], bytes, cudaMemcpyHostToDevice));
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const auto settle = [&] { check(cudaStreamSynchronize(stream)); };

  EncodeParams encode;
  DecodeParams decode;
  encode.backend = decode.backend = Backend::cuda;
  Encoder encoder = value(Encoder::create(encode));
  Decoder decoder = value(Decoder::create(decode));
  DeviceEncoder device_encoder = value(DeviceEncoder::create(encode));
  DeviceDecoder device_decoder = value(DeviceDecoder::create(decode));
  HostBuffer jpeg(HostMemory::pinned);
  const auto encode_one = [&] { check(encoder.encode(pinned.view(), jpeg).status()); };
  const double encode_us = kernels_of(encode_one);
  const auto decode_one = [&] { check(decoder.decode(jpeg.bytes(), decoded.view()).status()); };
  const double decode_us = kernels_of(decode_one);
  const std::size_t room = jpeg.size() * 2;
  auto* const out = reinterpret_cast<std::byte*>(on_device<std::uint8_t>(room * count));
  auto* const sizes = on_device<std::size_t>(count);
  auto* const there_jpeg = reinterpret_cast<std::byte*>(on_device<std::uint8_t>(jpeg.size()));
  check(cudaMemcpy(there_jpeg, jpeg.data(), jpeg.size(), cudaMemcpyHostToDevice));
  std::vector<DeviceEncodeJob> jobs;
  for (std::size_t i = 0; i < count; ++i)
    jobs.push_back({there, out + i * room / 8 * 8, room / 8 * 8 - 8, sizes + i});
  const std::vector<ConstFrameView> frames(count, there);
  Streams streams(count);
  const auto memory = [&](std::span<EncodedStream> some) {
    for (EncodedStream& one : some) {
      streams[one.frame].resize(one.bytes);
      one.out = reinterpret_cast<std::byte*>(streams[one.frame].data());
    }
    return Status::ok();
  };

  std::printf("\n| %dx%d, batches of %zu: us a frame | call | kernels |\n| --- | ---: | ---: |\n",
              frame.width(), frame.height(), count);
  row("Encoder::encode()", 1, encode_us, encode_one);
  row("DeviceEncoder::encode_batch()", count, encode_us, [&] {
    check(device_encoder.encode_batch(jobs, stream));
    settle();
  });
  row("DeviceEncoder::encode_to_host()", count, encode_us,
      [&] { check(device_encoder.encode_to_host(frames, memory, stream)); });
  AsyncEncoder async_encoder = value(AsyncEncoder::create({encode}));
  EncodedFrame coded;
  row("AsyncEncoder", count, encode_us,
      [&] { run_async(async_encoder, pinned.view(), count, coded); });
  row("Decoder::decode()", 1, decode_us, decode_one);
  AsyncDecoder async_decoder = value(AsyncDecoder::create({decode}));
  DecodedFrame picture;
  row("AsyncDecoder", count, decode_us,
      [&] { run_async(async_decoder, jpeg.bytes(), count, picture); });
  TranscodeParams recode;
  recode.optimize = true;
  recode.backend = Backend::cuda;
  Transcoder transcoder = value(Transcoder::create(recode));
  std::vector<std::byte> smaller;
  const auto recode_one = [&] { check(transcoder.transcode(jpeg.bytes(), smaller).status()); };
  row("Transcoder::transcode()", 1, kernels_of(recode_one), recode_one);
  row("DeviceDecoder::decode()", 1, decode_us, [&] {
    check(device_decoder.decode(jpeg.bytes(), decoded_there, stream).status());
    settle();
  });
  row("DeviceDecoder::decode_device()", 1, decode_us, [&] {
    check(device_decoder.decode_device(there_jpeg, jpeg.size(), decoded_there, stream).status());
    settle();
  });

  auto c_encode = test::sized<zerorun_encode_params>();
  auto c_decode = test::sized<zerorun_decode_params>();
  c_encode.backend = c_decode.backend = ZERORUN_BACKEND_CUDA;
  const zerorun_frame c_there = test::to_c(there), c_pinned = test::to_c(pinned.view()),
                      c_decoded = test::to_c(decoded.view()),
                      c_decoded_there = test::to_c(decoded_there);
  const std::vector<const zerorun_frame*> c_frames(count, &c_there);
  zerorun_encoder* c_encoder = nullptr;
  zerorun_decoder* c_decoder = nullptr;
  zerorun_device_encoder* c_device_encoder = nullptr;
  zerorun_device_decoder* c_device_decoder = nullptr;
  check(zerorun_encoder_create(&c_encode, &c_encoder, nullptr));
  check(zerorun_decoder_create(&c_decode, &c_decoder, nullptr));
  check(zerorun_device_encoder_create(&c_encode, &c_device_encoder, nullptr));
  check(zerorun_device_decoder_create(&c_decode, &c_device_decoder, nullptr));
  const std::uint8_t* c_jpeg = nullptr;
  std::size_t c_size = 0;
  row("zerorun_encoder_encode()", 1, encode_us,
      [&] { check(zerorun_encoder_encode(c_encoder, &c_pinned, &c_jpeg, &c_size)); });
  row("zerorun_device_encoder_encode()", 1, encode_us, [&] {
    check(zerorun_device_encoder_encode(c_device_encoder, &c_there,
                                        reinterpret_cast<std::uint8_t*>(out), room, sizes, stream));
    settle();
  });
  row("zerorun_device_encoder_encode_to_host()", count, encode_us, [&] {
    check(zerorun_device_encoder_encode_to_host(c_device_encoder, count, c_frames.data(),
                                                give_memory, &streams, stream));
  });
  row("zerorun_decoder_decode_to()", 1, decode_us, [&] {
    check(zerorun_decoder_decode_to(c_decoder, jpeg.data(), jpeg.size(), &c_decoded, nullptr));
  });
  row("zerorun_device_decoder_decode()", 1, decode_us, [&] {
    check(zerorun_device_decoder_decode(c_device_decoder, jpeg.data(), jpeg.size(),
                                        &c_decoded_there, stream, nullptr));
    settle();
  });
  for (const auto& one : streams)
    if (!std::ranges::equal(std::as_bytes(std::span(one)), jpeg.bytes()))
      check(Status(Errc::device_failure));
}

}  // namespace
}  // namespace zerorun

int main(int argc, char** argv) {
  if (argc < 2) return std::fputs("usage: ways_bench PHOTO.jpg [COUNT OF A BATCH]\n", stderr), 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  zerorun::run({bytes.begin(), bytes.end()}, argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 32);
}
