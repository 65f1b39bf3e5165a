// Every CUDA call of the interfaces for device memory fails once, or breaks the device for ever.
// SPDX-License-Identifier: MIT
#include <cstring>
#include <vector>

#include "tests/faults/fail_every_call.hpp"
#include "zerorun/cuda.hpp"

namespace zerorun::test {
namespace {

using Bytes = std::vector<std::byte>;
constexpr std::size_t kFrames = 3;

/// The test's own memory, which is there before anything fails. It is pinned, so that what a device
/// writes is there after a wait.
template <typename T>
class Pinned {
 public:
  explicit Pinned(std::size_t count) {
    void* memory = nullptr;
    EXPECT_EQ(cudaHostAlloc(&memory, count * sizeof(T), cudaHostAllocDefault), cudaSuccess);
    data_ = static_cast<T*>(memory);
  }
  ~Pinned() { (void)cudaFreeHost(data_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  T* get() const { return data_; }

 private:
  T* data_ = nullptr;
};

/// Work that was enqueued counts as done when the stream says so.
Status waited(const Status& enqueued, cudaStream_t stream) {
  const cudaError_t error = cudaStreamSynchronize(stream);
  if (!enqueued) return enqueued;
  if (error == cudaSuccess) return Status::ok();
  return Status(Errc::device_failure, cudaGetErrorString(error));
}

class DeviceFault : public CudaFault {
 protected:
  void SetUp() override {
    CudaFault::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const auto packed = faulty_picture().packed();
    void* memory = nullptr;
    ASSERT_EQ(cudaMalloc(&memory, packed.size()), cudaSuccess);
    frame_ = static_cast<std::uint8_t*>(memory);
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(
        cudaMemcpyAsync(frame_, packed.data(), packed.size(), cudaMemcpyHostToDevice, stream_),
        cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  }
  void TearDown() override {
    if (frame_ != nullptr) (void)cudaFree(frame_);
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
  }
  FrameView view() const {
    FrameView out{PixelFormat::yuv420p, 200, 120, {}, {200, 100, 100}};
    out.data = {frame_, frame_ + 200 * 120, frame_ + 200 * 120 + 100 * 60};
    return out;
  }

  void encode(const std::string& what, const EncodeParams& params);

  std::uint8_t* frame_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

/// Encodes batches in device memory.
void DeviceFault::encode(const std::string& what, const EncodeParams& params) {
  const Bytes expected = cpu_stream(params);
  const std::size_t capacity = expected.size() + 100;
  Pinned<std::byte> out(kFrames * capacity);
  Pinned<std::size_t> sizes(kFrames);
  fail_every_call(what, [&]() -> Status {
    auto encoder = DeviceEncoder::create(params);
    if (!encoder) return encoder.status();
    std::vector<DeviceEncodeJob> jobs;
    for (std::size_t i = 0; i < kFrames; ++i)
      jobs.push_back({view(), out.get() + i * capacity, capacity, sizes.get() + i});
    const auto is_right = [&] {
      for (std::size_t i = 0; i < kFrames; ++i)
        if (sizes.get()[i] != expected.size() ||
            std::memcmp(jobs[i].out, expected.data(), expected.size()) != 0)
          return false;
      return true;
    };
    Status last;
    for (int i = 0; i < 3; ++i)
      last =
          judged([&] { return waited(encoder->encode_batch(jobs, stream_), stream_); }, is_right);
    return last;
  });
}

TEST_F(DeviceFault, EncoderAndBatches) { encode("encode a batch in device memory", {}); }

TEST_F(DeviceFault, EncoderToASize) {
  EncodeParams params;
  params.size.target_bytes = cpu_stream().size() / 2;
  encode("encode a batch to a size in device memory", params);
}

TEST_F(DeviceFault, Decoder) {
  const Bytes jpeg = cpu_stream();
  DecodeParams params;
  params.backend = Backend::cpu;
  Frame expected;
  ASSERT_TRUE(Decoder::create(params)->decode(jpeg, PixelFormat::yuv420p, expected).is_ok());
  Pinned<std::uint8_t> luma(200);
  fail_every_call("decode into device memory", [&]() -> Status {
    auto decoder = DeviceDecoder::create();
    if (!decoder) return decoder.status();
    Status last;
    for (int i = 0; i < 3; ++i)
      last = judged(
          [&] {
            const auto report = decoder->decode(jpeg, view(), stream_);
            if (report && cudaMemcpyAsync(luma.get(), frame_ + 200 * 119, 200,
                                          cudaMemcpyDeviceToHost, stream_) != cudaSuccess)
              return Status(Errc::device_failure, "the test cannot copy");
            return waited(report.status(), stream_);
          },
          [&] {
            const ConstFrameView wanted = std::as_const(expected).view();
            return std::memcmp(luma.get(), wanted.data[0] + 119 * wanted.stride_bytes[0], 200) == 0;
          });
    return last;
  });
}

}  // namespace
}  // namespace zerorun::test
