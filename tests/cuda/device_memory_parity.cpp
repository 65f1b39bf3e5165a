// Device memory that is full, or that has other contents before a call: the samples and bytes are
// those of the CPU, or the call names the memory that is missing, and the next one works.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <vector>

#include "codec/api/device_set.hpp"
#include "codec/arith/host_device.hpp"
#include "tests/cuda/decode/decoder_pair.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// Device memory that others have: allocated, filled, and given back to the driver at the end.
class Hog {
 public:
  ~Hog() { release(); }

  /// Takes all but about `left` bytes, in pieces that become smaller.
  void take_all_but(std::size_t left) {
    for (std::size_t piece = 4096 * kMiB; piece >= kMiB; piece /= 2)
      while (free_bytes() >= left + piece && add(piece)) continue;
  }
  void take(std::size_t bytes, int fill) {
    for (; bytes >= kMiB; bytes -= kMiB) {
      if (!add(kMiB)) return;
      ASSERT_EQ(cudaMemset(pieces_.back(), fill, kMiB), cudaSuccess);
    }
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  void release() {
    for (void* piece : pieces_) (void)cudaFree(piece);
    pieces_.clear();
  }
  static std::size_t free_bytes() {
    std::size_t free = 0, all = 0;
    EXPECT_EQ(cudaMemGetInfo(&free, &all), cudaSuccess);
    return free;
  }

 private:
  bool add(std::size_t bytes) {
    void* piece = nullptr;
    const bool is_there = cudaMalloc(&piece, bytes) == cudaSuccess;
    (void)cudaGetLastError();
    if (is_there) pieces_.push_back(piece);
    return is_there;
  }
  std::vector<void*> pieces_;
};

struct Coded {
  Status status;
  Jpeg jpeg;
};
Coded encoded(Backend backend, const TestFrame& frame) {
  EncodeParams params;
  params.backend = backend;
  auto encoder = Encoder::create(params);
  if (!encoder) return {encoder.status(), {}};
  Coded out;
  out.status = encoder->encode(frame.view(), out.jpeg).status();
  return out;
}

struct Decoded {
  Status status;
  std::vector<std::uint8_t> samples;
};
Decoded decoded(Backend backend, const Jpeg& jpeg) {
  DecodeParams params;
  params.backend = backend;
  auto decoder = Decoder::create(params);
  if (!decoder) return {decoder.status(), {}};
  Frame frame;
  const auto report = decoder->decode(jpeg, PixelFormat::rgb24, frame);
  if (!report) return {report.status(), {}};
  return {Status::ok(), packed(frame)};
}

class DeviceMemoryParity : public GpuTest {};

/// Both directions with less and less memory left, and again when there is enough.
TEST_F(DeviceMemoryParity, WhereItIsExhausted) {
  const TestFrame frame = make_frame(Content::photo, PixelFormat::yuv420p, 1920, 1080, 3);
  const Coded wanted = encoded(Backend::cpu, frame);
  const Decoded samples = decoded(Backend::cpu, wanted.jpeg);
  ASSERT_TRUE(encoded(Backend::cuda, frame).status.is_ok());  // the context is there
  int without = 0, with = 0;
  for (const std::size_t left : {0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512}) {
    SCOPED_TRACE(std::to_string(left) + " MiB left");
    Hog hog;
    hog.take_all_but(left * kMiB);
    for (const Backend backend : {Backend::cuda, Backend::automatic}) {
      const Coded coded = encoded(backend, frame);
      const Decoded picture = decoded(backend, wanted.jpeg);
      for (const Status& status : {coded.status, picture.status}) {
        (status.is_ok() ? with : without) += 1;
        EXPECT_TRUE(status.is_ok() || (backend == Backend::cuda && is_of_device(status)))
            << status.message();
        EXPECT_TRUE(status.is_ok() || !status.message().empty());
      }
      if (coded.status) {
        EXPECT_TRUE(coded.jpeg == wanted.jpeg);
      }
      if (picture.status) {
        EXPECT_TRUE(picture.samples == samples.samples);
      }
    }
    hog.release();
    EXPECT_TRUE(encoded(Backend::cuda, frame).jpeg == wanted.jpeg);
    EXPECT_TRUE(decoded(Backend::cuda, wanted.jpeg).samples == samples.samples);
  }
  std::printf("%d calls found enough memory, %d did not\n", with, without);
  EXPECT_GT(with, 0);
  EXPECT_GT(without, 0);
}

/// Whole, cut and damaged streams of several shapes.
std::vector<Jpeg> odd_streams() {
  std::vector<Jpeg> out;
  for (const auto sampling : {Subsampling::s420, Subsampling::s444, Subsampling::gray})
    for (const int restart : {0, 3}) {
      EncodeParams params;
      params.subsampling = sampling;
      params.restart = restart == 0 ? RestartPolicy::none() : RestartPolicy::mcus(restart);
      Jpeg jpeg = encode(Content::photo, 233, 171, params);
      Random random(static_cast<std::uint64_t>(out.size()) + 1);
      for (int cut = 1; cut < 8; ++cut)
        out.emplace_back(jpeg.begin(), jpeg.begin() + ceil_div(std::ssize(jpeg) * cut, 8));
      for (int flips = 0; flips < 12; ++flips) {
        out.push_back(jpeg);
        for (int i = 0; i <= flips; ++i)
          out.back()[static_cast<std::size_t>(
              random.between(700, static_cast<int>(jpeg.size()) - 1))] ^=
              static_cast<std::byte>(1 << random.below(8));
      }
      out.push_back(std::move(jpeg));
    }
  return out;
}

/// New decoders get memory that is full of 0xAA or 0x55.
TEST_F(DeviceMemoryParity, WhatWasThereBeforeIsNotSeen) {
  const std::vector<Jpeg> streams = odd_streams();
  for (const int fill : {0xAA, 0x55, 0xFF}) {
    SCOPED_TRACE(fill);
    Hog hog;
    hog.take(512 * kMiB, fill);
    hog.release();
    DecoderPair pair;
    ASSERT_TRUE(pair.ready());
    for (const Jpeg& jpeg : streams) {
      ASSERT_EQ(pair.planes(jpeg).difference, "");
      ASSERT_EQ(pair.frame(jpeg, PixelFormat::rgb24).difference, "");
      ASSERT_EQ(pair.coefficients(jpeg).difference, "");
    }
  }
}

/// A decoder that has just shown a picture shows nothing of it with a stream that is damaged.
TEST_F(DeviceMemoryParity, TheImageBeforeIsNotSeen) {
  DecoderPair pair;
  ASSERT_TRUE(pair.ready());
  EncodeParams params;
  params.subsampling = Subsampling::s444;
  const Jpeg secret = encode(Content::noise, 640, 480, params);
  for (const Jpeg& jpeg : odd_streams()) {
    // The CPU's decoder sees no secret, so what the GPU's shows of one is a difference.
    Frame shown;
    ASSERT_TRUE(pair.cuda().decode(secret, PixelFormat::rgb24, shown).is_ok());
    ASSERT_EQ(pair.planes(jpeg).difference, "");
    ASSERT_TRUE(pair.cuda().decode(secret, PixelFormat::rgb24, shown).is_ok());
    ASSERT_EQ(pair.frame(jpeg, PixelFormat::rgb24).difference, "");
  }
}

}  // namespace
}  // namespace zerorun::test
