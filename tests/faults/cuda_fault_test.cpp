// Every CUDA call of the host side fails once, or breaks the device for ever. cuda_fault_test is
// linked with a runtime without a GPU, whose kernels do nothing: what a GPU codes has no meaning
// there, and errors have. cuda_fault_parity has the real runtime in a wrapper, and compares.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>
#include <vector>

#include "cuda/decode/scan_plan.hpp"
#include "tests/faults/fail_every_call.hpp"
#include "zerorun/async.hpp"

namespace zerorun::test {
namespace {

using Bytes = std::vector<std::byte>;

TEST_F(CudaFault, Encoder) {
  for (const auto tables : {HuffmanTables::standard, HuffmanTables::optimal}) {
    EncodeParams params = fault_params(Backend::cuda);
    params.huffman = tables;
    const Bytes expected = cpu_stream(params);
    fail_every_call(tables == HuffmanTables::standard ? "encode" : "encode with optimal tables",
                    [&]() -> Status {
                      auto encoder = Encoder::create(params);
                      if (!encoder) return encoder.status();
                      Bytes jpeg;
                      Status last;
                      for (int i = 0; i < 4; ++i)  // the third replays a graph
                        last = judged(
                            [&] { return encoder->encode(faulty_picture().view(), jpeg).status(); },
                            [&] { return jpeg == expected; });
                      return last;
                    });
  }
}

/// Sound and damaged streams: the CPU decodes the second, with a GPU too.
void decode_with_failures(bool is_cut, const std::string& what) {
  Bytes jpeg = cpu_stream();
  if (is_cut) jpeg.resize(jpeg.size() * 2 / 3);
  DecodeParams params;
  params.backend = Backend::cpu;
  std::vector<ComponentPlane> expected, planes;
  ASSERT_TRUE(Decoder::create(params)->decode_planes(jpeg, expected).is_ok());
  const auto same = [](const ComponentPlane& a, const ComponentPlane& b) {
    return a.samples == b.samples;
  };
  params.backend = Backend::cuda;
  fail_every_call(what, [&]() -> Status {
    auto decoder = Decoder::create(params);
    if (!decoder) return decoder.status();
    Frame frame;
    Status last;
    for (int i = 0; i < 3; ++i) {  // the second makes a graph
      last = judged([&] { return decoder->decode(jpeg, PixelFormat::yuv420p, frame).status(); },
                    [&] {
                      return std::equal(expected[0].samples.begin(),
                                        expected[0].samples.begin() + expected[0].width,
                                        frame.view().data[0]);
                    });
      last = judged([&] { return decoder->decode_planes(jpeg, planes).status(); },
                    [&] { return std::ranges::equal(planes, expected, same); });
    }
    return last;
  });
}

TEST_F(CudaFault, Decoder) {
  decode_with_failures(false, "decode");
  decode_with_failures(true, "decode a cut stream");
}

/// Kernels are launched by graphs then.
TEST_F(CudaFault, DecoderBesideAnother) {
  const ScanInFlight other(0);
  decode_with_failures(false, "decode beside another");
}

/// With an automatic choice the CPU goes on with its bytes, and no frame is lost.
TEST_F(CudaFault, AutomaticEncoderGoesOnWithTheCpu) {
  const Bytes expected = cpu_stream();
  AsyncEncodeParams params;
  params.encode = fault_params(Backend::automatic);
  params.lanes = 1;
  params.depth = 1;
  bool has_fallen_back = false;
  fail_every_call("encode automatically", [&]() -> Status {
    auto encoder = AsyncEncoder::create(params);
    if (!encoder) return encoder.status();
    Status last;
    for (int i = 0; i < 4; ++i) {
      EncodedFrame out;
      if (last = encoder->submit(faulty_picture().view()); !last) return last;
      if (encoder->receive(out, true) != Received::frame) {
        ADD_FAILURE() << "no frame";
        return Status::ok();
      }
      last = out.status;
      EXPECT_TRUE(out.status.is_ok()) << "frame " << i << ": " << out.status.message();
      if (!stand_in::has_lost_work()) continue;
      has_fallen_back = true;
      EXPECT_TRUE(Bytes(out.jpeg.data(), out.jpeg.data() + out.jpeg.size()) == expected)
          << "frame " << i;
    }
    return last;
  });
  EXPECT_TRUE(has_fallen_back);
}

}  // namespace
}  // namespace zerorun::test
