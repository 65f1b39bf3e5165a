// Sends the same frames through all interfaces of the CUDA backend in several rounds, and prints
// the device and host memory in use after each round: flat_device_memory [FRAMES [SEED [beside]]].
// CUDA allocates what it keeps in the first round, and the resident set grows until the second.
// With `beside` other programs may use the device: only what this one has allocated counts. Exit
// status 77: skipped.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <cuda_runtime_api.h>
#include <malloc.h>

#include "tests/endurance/load.hpp"
#include "tests/faults/stand_in_cudart.hpp"
#include "tests/faults/wrapped_cudart.hpp"
#include "tests/support/capi.hpp"
#include "tests/support/gpu_required.hpp"
#include "zerorun/cuda.hpp"

namespace {

using namespace zerorun;
using namespace zerorun::endurance;

constexpr int kMaxEdge = 640, kWarmUpRounds = 2, kRounds = 5;
constexpr std::size_t kPlaneBytes = std::size_t{4} * (kMaxEdge + 3) * kMaxEdge;
constexpr std::size_t kJpegBytes = std::size_t{8} << 20;  // noise at quality 100, and more
// Allowed growth after the rounds that warm up. CUDA takes device memory in pieces of 2 MiB. If
// each of the 300 frames lost a buffer, that would be tens of MiB; 1 KiB of the heap each would be
// 300 KiB.
constexpr long kAllowedDeviceKib = 4096, kAllowedHeapKib = 100, kAllowedResidentKib = 4096;
// What the process has allocated itself is counted exactly; coders keep nothing when they are gone.
constexpr long kAllowedOwnKib = 64, kAllowedObjects = 8;

void need(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}
using endurance::need;

template <typename T>
std::unique_ptr<T, cudaError_t (*)(void*)> on_device(std::size_t count) {
  void* memory = nullptr;
  need(cudaMalloc(&memory, count * sizeof(T)), "device memory");
  return {static_cast<T*>(memory), &cudaFree};
}

/// All interfaces for frames in device memory.
class DeviceLoad {
 public:
  DeviceLoad() {
    need(kept_encoder_.status(), "device encoder");
    need(kept_decoder_.status(), "device decoder");
    need(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
  }
  ~DeviceLoad() { (void)cudaStreamDestroy(stream_); }
  DeviceLoad(const DeviceLoad&) = delete;
  DeviceLoad& operator=(const DeviceLoad&) = delete;

  void step(int number, const Load& load) {
    FrameView frame = upload(load.view());
    encode(number, frame);
    std::size_t size = 0;
    need(cudaMemcpyAsync(&size, size_.get(), sizeof size, cudaMemcpyDeviceToHost, stream_), "size");
    need(cudaStreamSynchronize(stream_), "encode");
    if (size > kJpegBytes) std::exit(1);
    const auto report = kept_decoder_->decode_device(jpeg_.get(), size, frame, stream_);
    need(report.status(), "decode in device memory");
    decode_again(number, load, frame);
    need(cudaStreamSynchronize(stream_), "decode");
  }

 private:
  FrameView upload(const ConstFrameView& host) {
    FrameView frame{host.format, host.width, host.height, {}, host.stride_bytes};
    for (int p = 0; p < plane_count(host.format); ++p) {
      const auto plane = static_cast<std::size_t>(p);
      const int rows = plane_rows(host.format, p, host.height);
      const auto bytes = static_cast<std::size_t>(host.stride_bytes[plane] * (rows - 1)) +
                         plane_row_bytes(host.format, p, host.width);
      frame.data[plane] = planes_.get() + plane * kPlaneBytes;
      need(cudaMemcpyAsync(frame.data[plane], host.data[plane], bytes, cudaMemcpyHostToDevice,
                           stream_),
           "upload");
    }
    return frame;
  }

  void encode(int number, const FrameView& frame) {
    if (number % 3 == 0) return encode_by_c(frame);
    if (number % 3 == 1) kept_encoder_ = DeviceEncoder::create({});
    need(kept_encoder_.status(), "device encoder");
    need(kept_encoder_->encode(frame, jpeg_.get(), kJpegBytes, size_.get(), stream_),
         "encode in device memory");
  }

  void encode_by_c(const FrameView& frame) {
    const zerorun_frame view = test::to_c(frame);
    zerorun_device_encoder* encoder = nullptr;
    if (zerorun_device_encoder_create(nullptr, &encoder, nullptr) != ZERORUN_OK ||
        zerorun_device_encoder_encode(encoder, &view, reinterpret_cast<std::uint8_t*>(jpeg_.get()),
                                      kJpegBytes, size_.get(), stream_) != ZERORUN_OK)
      std::exit(1);
    zerorun_device_encoder_destroy(encoder);
  }

  /// Decodes the stream from host memory; it is sometimes damaged, and sometimes the decoder is
  /// new.
  void decode_again(int number, const Load& load, const FrameView& frame) {
    if (number % 5 == 0) kept_decoder_ = DeviceDecoder::create();
    need(kept_decoder_.status(), "device decoder");
    const auto report = kept_decoder_->decode(load.jpeg(), frame, stream_);
    if (!Load::is_damaged(number)) need(report.status(), "decode into device memory");
  }

  Result<DeviceEncoder> kept_encoder_ = DeviceEncoder::create({});
  Result<DeviceDecoder> kept_decoder_ = DeviceDecoder::create();
  std::unique_ptr<std::uint8_t, cudaError_t (*)(void*)> planes_ =
      on_device<std::uint8_t>(3 * kPlaneBytes);
  std::unique_ptr<std::byte, cudaError_t (*)(void*)> jpeg_ = on_device<std::byte>(kJpegBytes);
  std::unique_ptr<std::size_t, cudaError_t (*)(void*)> size_ = on_device<std::size_t>(1);
  cudaStream_t stream_ = nullptr;
};

long device_in_use_kib() {
  std::size_t free = 0, total = 0;
  need(cudaDeviceSynchronize(), "device");
  need(cudaMemGetInfo(&free, &total), "memory of the device");
  return static_cast<long>((total - free) / 1024);
}

struct InUse {
  long device = device_in_use_kib(), heap = in_use_kib(), resident = resident_kib();
  long own_device = test::wrapped::live_device_bytes() / 1024;
  long own_pinned = test::wrapped::live_pinned_bytes() / 1024;
  long objects = test::stand_in::live();  // allocations, streams, events and graphs
};

InUse run_round(int frames, unsigned seed) {
  long most = 0;
  {
    Load load(Backend::cuda, kMaxEdge, seed);
    DeviceLoad device;
    for (int number = 1; number <= frames; ++number) {
      load.step(number);
      device.step(number, load);
      most = std::max(most, device_in_use_kib());
    }
  }
  InUse left;
  std::printf(
      "%6d frames  device: %8ld KiB in use at most, %8ld KiB after, %ld own  "
      "host: %6ld KiB pinned, %6ld KiB of the heap, %7ld KiB resident\n",
      frames, most, left.device, left.own_device, left.own_pinned, left.heap, left.resident);
  return left;
}

/// Prints what the last round has left behind since the last one that warms up.
bool is_flat(const InUse& first, const InUse& last, int frames, bool beside) {
  const long device = beside ? last.own_device - first.own_device : last.device - first.device;
  const long pinned = last.own_pinned - first.own_pinned, heap = last.heap - first.heap;
  const long objects = last.objects - first.objects, resident = last.resident - first.resident;
  std::printf(
      "%d frames left: %ld KiB of the device, %ld KiB pinned memory, %ld objects of CUDA, "
      "%ld KiB heap, %ld KiB resident\n",
      kRounds * frames, device, pinned, objects, heap, resident);
  return device <= (beside ? kAllowedOwnKib : kAllowedDeviceKib) && pinned <= kAllowedOwnKib &&
         objects <= kAllowedObjects && heap <= kAllowedHeapKib && resident <= kAllowedResidentKib;
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto cuda = resolve_backend(Backend::cuda); !cuda) {
    std::fprintf(stderr, "needs a GPU: %s\n", cuda.status().message().c_str());
    return test::gpu_required() ? 1 : 77;
  }
  mallopt(M_ARENA_MAX, 1);  // mallinfo2() knows the main arena only
  const int frames = argc > 1 ? std::atoi(argv[1]) : 100;
  const auto seed = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 1);
  const bool beside = argc > 3 && std::string_view(argv[3]) == "beside";
  InUse first, last;
  for (int round = 1; round <= kRounds; ++round) {
    last = run_round(frames, seed);
    if (round <= kWarmUpRounds) first = last;
  }
  return is_flat(first, last, frames, beside) ? 0 : 1;
}
