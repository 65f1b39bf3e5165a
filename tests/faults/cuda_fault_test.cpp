// Every CUDA call of the host side fails once, or breaks the device for ever. Linked with a runtime
// without a GPU, whose kernels do nothing: so what a GPU codes has no meaning here, and errors
// have.
// SPDX-License-Identifier: MIT
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/faults/stand_in_cudart.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/async.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

using stand_in::How;
using Bytes = std::vector<std::byte>;

const TestFrame& picture() {
  static const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 200, 120, 1);
  return frame;
}

EncodeParams encode_params(Backend backend) {
  EncodeParams params;
  params.backend = backend;
  params.threads = 1;
  return params;
}

Bytes cpu_stream() {
  Bytes jpeg;
  EXPECT_TRUE(Encoder::create(encode_params(Backend::cpu))->encode(picture().view(), jpeg).is_ok());
  return jpeg;
}

bool is_of_the_device(Errc code) {
  return group(code) == ErrorGroup::device || code == Errc::out_of_memory;
}

const char* name(How how) {
  return how == How::memory ? "memory" : how == How::call ? "call" : "fault";
}

/// Runs `scenario` once for each CUDA call that it makes; it gives the status of its last call.
void fail_every_call(const std::string& what, const std::function<Status()>& scenario) {
  for (const How how : {How::call, How::memory, How::fault}) {
    stand_in::fail_at(0, how);
    (void)scenario();  // what stays for the whole process is made here
    stand_in::fail_at(0, how);
    (void)scenario();
    const long all = stand_in::calls();
    ASSERT_GT(all, 10) << what;
    for (long number = 1; number <= all; ++number) {
      SCOPED_TRACE(what + ", call " + std::to_string(number) + " of " + std::to_string(all) + ", " +
                   name(how));
      const long before = stand_in::live();
      stand_in::fail_at(number, how);
      const Status status = scenario();
      stand_in::fail_at(0, how);
      EXPECT_TRUE(status.is_ok() || is_of_the_device(status.code())) << status.message();
      EXPECT_FALSE(!status.is_ok() && status.message().empty());
      EXPECT_EQ(stand_in::live(), before) << "memory, streams or events are lost";
      if (testing::Test::HasFailure()) return;
    }
    std::printf("%s: %ld calls fail, %s\n", what.c_str(), all, name(how));
  }
}

TEST(CudaFault, Encoder) {
  for (const auto tables : {HuffmanTables::standard, HuffmanTables::optimal}) {
    EncodeParams params = encode_params(Backend::cuda);
    params.huffman = tables;
    fail_every_call(tables == HuffmanTables::standard ? "encode" : "encode with optimal tables",
                    [&]() -> Status {
                      auto encoder = Encoder::create(params);
                      if (!encoder) return encoder.status();
                      Bytes jpeg;
                      Status last;
                      for (int i = 0; i < 3; ++i) {  // the third replays a graph
                        last = encoder->encode(picture().view(), jpeg).status();
                        if (stand_in::has_lost_work()) {
                          EXPECT_FALSE(last.is_ok()) << "frame " << i;
                        }
                      }
                      return last;
                    });
  }
}

TEST(CudaFault, Decoder) {
  const Bytes jpeg = cpu_stream();
  DecodeParams params;
  params.backend = Backend::cuda;
  fail_every_call("decode", [&]() -> Status {
    auto decoder = Decoder::create(params);
    if (!decoder) return decoder.status();
    Frame frame;
    Status last;
    for (int i = 0; i < 3; ++i) {
      last = decoder->decode(jpeg, PixelFormat::yuv420p, frame).status();
      if (stand_in::has_lost_work()) {
        EXPECT_FALSE(last.is_ok()) << "image " << i;
      }
    }
    return last;
  });
}

/// With an automatic choice the CPU goes on with its bytes, and no frame is lost.
TEST(CudaFault, AutomaticEncoderGoesOnWithTheCpu) {
  const Bytes expected = cpu_stream();
  AsyncEncodeParams params;
  params.encode = encode_params(Backend::automatic);
  params.lanes = 1;
  params.depth = 1;
  bool has_fallen_back = false;
  fail_every_call("encode automatically", [&]() -> Status {
    auto encoder = AsyncEncoder::create(params);
    if (!encoder) return encoder.status();
    Status last;
    for (int i = 0; i < 4; ++i) {
      EncodedFrame out;
      if (last = encoder->submit(picture().view()); !last) return last;
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
