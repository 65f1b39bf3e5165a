// Every allocation of the library fails once, and from then on: an error that says so or the right
// result, nothing is lost, and the next call of the same object works.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/faults/failing_memory.hpp"
#include "tests/support/jpeg_segments.hpp"
#include "tests/support/resources.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/async.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/status.hpp"
#include "zerorun/zerorun.h"

namespace zerorun::test {
namespace {

/// A number that stands for the result of a scenario, so that keeping it takes no memory.
std::uint64_t digest(std::span<const std::byte> bytes, std::uint64_t from = 0xCBF29CE484222325u) {
  for (const std::byte byte : bytes)
    from = (from ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3u;
  return from;
}

/// The status of the first call that did not work, and the digest of the result, 0 if there is
/// none.
struct Outcome {
  Status status;
  std::uint64_t result = 0;
};

/// An object whose call failed is asked again, with all the memory that it wants: that has to work.
template <typename Call>
Outcome called_until_it_works(const Call& call) {
  Outcome first = call();
  if (first.status.is_ok()) return first;
  memory::let_all_pass();
  Outcome second = call();
  EXPECT_TRUE(second.status.is_ok()) << "the next call: " << second.status.message();
  return {std::move(first.status), second.result};
}

constexpr long kMost = 100'000;

/// False when the scenario ended before its allocation `number`.
bool fail_one(const std::function<Outcome()>& scenario, std::uint64_t expected, long number,
              bool lasting) {
  const long before = memory::live();
  bool has_failed = false;
  {
    memory::fail_at(number, lasting);
    const Outcome outcome = scenario();
    memory::let_all_pass();
    has_failed = memory::has_failed();
    const Errc code = outcome.status.code();
    EXPECT_TRUE(code == Errc::ok || (has_failed && code == Errc::out_of_memory))
        << outcome.status.message();
    if (outcome.result != 0) {
      EXPECT_EQ(outcome.result, expected);
    }
  }
  EXPECT_EQ(memory::live(), before) << "memory is lost";
  return has_failed;
}

void fail_every_allocation(const std::string& name, const std::function<Outcome()>& scenario,
                           bool lasting) {
  const Outcome whole = scenario();
  ASSERT_TRUE(whole.status.is_ok()) << name << ": " << whole.status.message();
  ASSERT_NE(whole.result, 0u) << name;
  long number = 1;
  while (number < kMost && fail_one(scenario, whole.result, number, lasting)) {
    ASSERT_FALSE(testing::Test::HasFailure())
        << name << ", allocation " << number << (lasting ? ", for ever" : "");
    number += kSanitized ? 3 : 1;
  }
  ASSERT_FALSE(testing::Test::HasFailure())
      << name << ", allocation " << number << " was not reached";
  EXPECT_GT(number, 1) << name << " allocates nothing";
  EXPECT_LT(number, kMost) << name;
  std::printf("%s: %ld allocations fail%s\n", name.c_str(), number - 1, lasting ? " for ever" : "");
}

/// Once and for ever: `scenario` ends well with its result, or with out_of_memory, and frees all it
/// took.
void fail_every_allocation(const std::string& name, const std::function<Outcome()>& scenario) {
  for (const bool lasting : {false, true}) fail_every_allocation(name, scenario, lasting);
}

template <typename T>
std::uint64_t digest_of(const std::vector<T>& values, std::uint64_t from = 1) {
  return digest(std::as_bytes(std::span(values)), from);
}

const TestFrame& picture(PixelFormat format) {
  static const TestFrame planar = make_frame(Content::photo, PixelFormat::yuv420p, 200, 120, 1);
  static const TestFrame packed = make_frame(Content::photo, PixelFormat::rgb24, 200, 120, 1);
  return format == PixelFormat::rgb24 ? packed : planar;
}

EncodeParams encode_params(int threads) {
  EncodeParams params;
  params.backend = Backend::cpu;
  params.threads = threads;
  return params;
}

DecodeParams decode_params(int threads) {
  DecodeParams params;
  params.backend = Backend::cpu;
  params.threads = threads;
  return params;
}

Bytes stream(const EncodeParams& params = encode_params(1)) {
  Bytes jpeg;
  EXPECT_TRUE(Encoder::create(params)->encode(picture(PixelFormat::yuv420p).view(), jpeg).is_ok());
  return jpeg;
}

Bytes cut_stream() {
  Bytes jpeg = stream();
  jpeg.resize(jpeg.size() * 2 / 3);  // is concealed, and reported with a sentence
  return jpeg;
}

Outcome encode_once(const EncodeParams& params, PixelFormat format) {
  const auto bound = max_encoded_bytes(params, format, 200, 120);
  if (!bound) return {bound.status()};
  auto encoder = Encoder::create(params);
  if (!encoder) return {encoder.status()};
  return called_until_it_works([&]() -> Outcome {
    HostBuffer jpeg;
    const auto report = encoder->encode(picture(format).view(), jpeg);
    if (!report) return {report.status()};
    return {Status::ok(), digest({jpeg.data(), jpeg.size()})};
  });
}

TEST(AllocationFault, Encoder) {
  for (const int threads : {1, 3}) {
    EncodeParams params = encode_params(threads);
    fail_every_allocation("encode, " + std::to_string(threads) + " threads",
                          [&] { return encode_once(params, PixelFormat::yuv420p); });
    params.huffman = HuffmanTables::optimal;
    fail_every_allocation("encode RGB with optimal tables",
                          [&] { return encode_once(params, PixelFormat::rgb24); });
  }
}

TEST(AllocationFault, TunedEncoder) {
  EncodeParams params = encode_params(1);
  params.tune = Tune::photo;
  params.effort = Effort::best;
  params.huffman = HuffmanTables::optimal;
  fail_every_allocation("encode with --tune photo --effort best",
                        [&] { return encode_once(params, PixelFormat::yuv420p); });
}

Outcome decode_planes(Decoder& decoder, const Bytes& jpeg) {
  std::vector<ComponentPlane> planes;
  const auto report = decoder.decode_planes(jpeg, planes);
  if (!report) return {report.status()};
  std::uint64_t result = 1;
  for (const ComponentPlane& plane : planes) result = digest_of(plane.samples, result);
  return {Status::ok(), result};
}

Outcome decode_coefficients(Decoder& decoder, const Bytes& jpeg) {
  std::vector<ComponentCoefficients> components;
  const auto report = decoder.decode_coefficients(jpeg, components);
  if (!report) return {report.status()};
  std::uint64_t result = 1;
  for (const ComponentCoefficients& component : components)
    result = digest_of(component.values, result);
  return {Status::ok(), result};
}

Outcome decode_frame(Decoder& decoder, const Bytes& jpeg) {
  Frame frame;
  const auto report = decoder.decode(jpeg, PixelFormat::rgb24, frame);
  if (!report) return {report.status()};
  std::uint64_t result = 1;
  for (int y = 0; y < frame.view().height; ++y)
    result = digest(
        std::as_bytes(std::span(frame.view().data[0] + y * frame.view().stride_bytes[0], 600)),
        result);
  return {Status::ok(), result};
}

TEST(AllocationFault, Decoder) {
  EncodeParams with_restarts = encode_params(1);
  with_restarts.restart = RestartPolicy::mcu_rows(1);
  const std::pair<const char*, Bytes> streams[] = {
      {"plain", stream()}, {"cut", cut_stream()}, {"restarts", stream(with_restarts)}};
  const std::pair<const char*, Outcome (*)(Decoder&, const Bytes&)> calls[] = {
      {"planes", decode_planes}, {"coefficients", decode_coefficients}, {"frame", decode_frame}};
  for (const auto& stream : streams)
    for (const auto& call : calls)
      for (const int threads : {1, 3})
        fail_every_allocation(
            std::string("decode ") + stream.first + " to " + call.first + ", " +
                std::to_string(threads) + " threads",
            [&]() -> Outcome {
              auto decoder = Decoder::create(decode_params(threads));
              if (!decoder) return {decoder.status()};
              return called_until_it_works([&] { return call.second(*decoder, stream.second); });
            });
}

TEST(AllocationFault, Inspect) {
  const Bytes jpeg = stream();
  fail_every_allocation("inspect", [&]() -> Outcome {
    const auto info = inspect(jpeg);
    if (!info) return {info.status()};
    return {Status::ok(), static_cast<std::uint64_t>(info->width)};
  });
}

/// A frame that failed has an error of its own; the others come, in order and right.
TEST(AllocationFault, AsyncEncoder) {
  AsyncEncodeParams params;
  params.encode = encode_params(1);
  params.lanes = 2;
  fail_every_allocation("encode with two lanes", [&]() -> Outcome {
    auto encoder = AsyncEncoder::create(params);
    if (!encoder) return {encoder.status()};
    return called_until_it_works([&]() -> Outcome {
      Status first;
      std::uint64_t result = 1;
      for (int i = 0; i < 3; ++i)
        if (const Status status = encoder->submit(picture(PixelFormat::yuv420p).view()); !status)
          return {status};
      EncodedFrame out;
      while (encoder->in_flight() > 0 && encoder->receive(out, true) == Received::frame) {
        if (first.is_ok()) first = out.status;
        if (out.status.is_ok()) result = digest({out.jpeg.data(), out.jpeg.size()}, result);
      }
      return {first, first.is_ok() ? result : 0};
    });
  });
}

TEST(AllocationFault, AsyncDecoder) {
  AsyncDecodeParams params;
  params.decode = decode_params(1);
  params.lanes = 2;
  const Bytes jpeg = stream();
  fail_every_allocation("decode with two lanes", [&]() -> Outcome {
    auto decoder = AsyncDecoder::create(params);
    if (!decoder) return {decoder.status()};
    return called_until_it_works([&]() -> Outcome {
      Status first;
      std::uint64_t result = 1;
      for (int i = 0; i < 3; ++i)
        if (const Status status = decoder->submit(jpeg); !status) return {status};
      DecodedFrame out;
      while (decoder->in_flight() > 0 && decoder->receive(out, true) == Received::frame) {
        if (first.is_ok()) first = out.status;
        if (out.status.is_ok())
          result = digest(std::as_bytes(std::span(out.frame.view().data[0], 200)), result);
      }
      return {first, first.is_ok() ? result : 0};
    });
  });
}

/// No exception crosses the C interface.
TEST(AllocationFault, CInterface) {
  const Bytes jpeg = stream();
  fail_every_allocation("the C interface", [&]() -> Outcome {
    const auto status = [](zerorun_status code) { return Status(static_cast<Errc>(code)); };
    zerorun_decode_params params{};
    params.struct_size = sizeof params;
    params.backend = ZERORUN_BACKEND_CPU;
    zerorun_decoder* decoder = nullptr;
    zerorun_error error{};
    error.struct_size = sizeof error;
    if (const auto code = zerorun_decoder_create(&params, &decoder, &error); code != 0)
      return {status(code)};
    const Outcome outcome = called_until_it_works([&]() -> Outcome {
      zerorun_frame frame{};
      frame.struct_size = sizeof frame;
      const auto code =
          zerorun_decoder_decode(decoder, jpeg.data(), jpeg.size(), ZERORUN_GRAY8, &frame, nullptr);
      if (code != 0) return {status(code)};
      return {Status::ok(), digest(std::as_bytes(std::span(frame.data[0], 200)))};
    });
    zerorun_decoder_destroy(decoder);
    return outcome;
  });
}

}  // namespace
}  // namespace zerorun::test
