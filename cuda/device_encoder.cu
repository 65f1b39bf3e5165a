// The public encoder for device frames: the staged encoder, and a kernel that puts the header, the
// entropy-coded segment and EOI together. SPDX-License-Identifier: MIT
#include "zerorun/cuda_encoder.hpp"

#include <new>
#include <optional>
#include <vector>

#include "codec/core/encode_setup.hpp"
#include "codec/syntax/header_writer.hpp"
#include "codec/syntax/marker.hpp"
#include "cuda/launch.hpp"
#include "cuda/memory.hpp"
#include "cuda/staged_encoder.hpp"

namespace zerorun {
namespace {

constexpr int kThreads = 256;
/// FF C4, length, class and destination, BITS (T.81 B.2.4.2).
constexpr int kDhtFixedBytes = 4 + 1 + kMaxCodeBits;

struct AssembleArgs {
  const std::uint8_t* header;  ///< what stands before the DHT segments, then what stands behind
  std::uint64_t front_bytes, header_bytes;
  const HuffmanSpec* specs;  ///< [kEncodeTables]
  int destinations;          ///< 1 or 2: tables written are 2 a destination
  const std::uint8_t* scan;
  const std::uint64_t* scan_bytes;
  std::uint8_t* out;
  std::uint64_t capacity;
  std::size_t* size;
};

__device__ int code_count(const HuffmanSpec& spec) {
  int count = 0;
  for (int i = 1; i <= kMaxCodeBits; ++i) count += spec.bits.data()[i];
  return count;
}

/// The DHT segments come by destination, DC before AC (header_writer.cpp).
__device__ const HuffmanSpec& spec_of_segment(const AssembleArgs& a, int segment) {
  return a.specs[segment % 2 * 2 + segment / 2];
}

__device__ std::uint8_t dht_byte(const HuffmanSpec& spec, int segment, int count, int i) {
  const int length = 2 + 1 + kMaxCodeBits + count;
  switch (i) {
    case 0:
      return 0xFF;
    case 1:
      return marker::kDht;
    case 2:
      return static_cast<std::uint8_t>(length >> 8);
    case 3:
      return static_cast<std::uint8_t>(length);
    case 4:
      return static_cast<std::uint8_t>(segment % 2 << 4 | segment / 2);
    default:
      return i < kDhtFixedBytes ? spec.bits.data()[i - 4] : spec.values.data()[i - kDhtFixedBytes];
  }
}

__device__ void write_header_bytes(const AssembleArgs& a) {
  const auto thread = static_cast<int>(threadIdx.x);
  for (std::uint64_t i = threadIdx.x; i < a.front_bytes; i += kThreads) a.out[i] = a.header[i];
  std::uint8_t* out = a.out + a.front_bytes;
  for (int segment = 0; segment < 2 * a.destinations; ++segment) {
    const HuffmanSpec& spec = spec_of_segment(a, segment);
    const int count = code_count(spec);
    for (int i = thread; i < kDhtFixedBytes + count; i += kThreads)
      out[i] = dht_byte(spec, segment, count, i);
    out += kDhtFixedBytes + count;
  }
  for (std::uint64_t i = a.front_bytes + threadIdx.x; i < a.header_bytes; i += kThreads)
    out[i - a.front_bytes] = a.header[i];
}

__global__ void __launch_bounds__(kThreads) assemble_kernel(AssembleArgs a) {
  std::uint64_t scan_begin = a.header_bytes;
  for (int segment = 0; segment < 2 * a.destinations; ++segment)
    scan_begin +=
        static_cast<std::uint64_t>(kDhtFixedBytes + code_count(spec_of_segment(a, segment)));
  const std::uint64_t scan_bytes = *a.scan_bytes;
  const std::uint64_t total = scan_begin + scan_bytes + 2;
  const bool fits = total <= a.capacity;
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      *a.size = total;
      if (fits) {
        a.out[total - 2] = 0xFF;
        a.out[total - 1] = marker::kEoi;
      }
    }
    if (fits) write_header_bytes(a);
  }
  if (!fits) return;
  const std::uint64_t step = std::uint64_t{gridDim.x} * kThreads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < scan_bytes;
       i += step)
    a.out[scan_begin + i] = a.scan[i];
}

}  // namespace

struct DeviceEncoder::Impl {
  EncodeParams params;
  StagedEncoder encoder;
  std::optional<EncodeSetup> setup;  // of the frame shape seen last
  DeviceBuffer<std::uint8_t> header;
  std::uint64_t front_bytes = 0, header_bytes = 0;
  Event done;  // behind the last frame: the next one uses the same memory
  bool used = false;

  ~Impl() {
    const DeviceGuard guard(params.device);
    if (used) (void)cudaEventSynchronize(done.get());
  }

  Status prepare(const ConstFrameView& frame, cudaStream_t stream) {
    if (setup && setup->format == frame.format && setup->width == frame.width &&
        setup->height == frame.height)
      return Status::ok();
    setup.reset();
    auto fresh = make_encode_setup(params, frame.format, frame.width, frame.height);
    if (!fresh) return fresh.status();
    std::vector<std::uint8_t> bytes;
    const HuffmanPlace dht = write_header(make_stream_header(params, *fresh, {}), bytes);
    bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(dht.begin),
                bytes.begin() + static_cast<std::ptrdiff_t>(dht.end));
    ZR_TRY(header.reserve(static_cast<std::int64_t>(bytes.size())));
    // From pageable memory the call returns when the source has been read.
    ZR_CUDA_TRY(
        cudaMemcpyAsync(header.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice, stream));
    front_bytes = dht.begin;
    header_bytes = bytes.size();
    setup = *fresh;
    return Status::ok();
  }

  Status assemble(std::byte* out, std::size_t capacity, std::size_t* size, cudaStream_t stream) {
    const StagedEncodeArrays& arrays = encoder.arrays();
    const AssembleArgs args{header.data(),
                            front_bytes,
                            header_bytes,
                            arrays.specs,
                            setup->layout.components == 1 ? 1 : 2,
                            arrays.scan,
                            arrays.scan_bytes,
                            reinterpret_cast<std::uint8_t*>(out),
                            capacity,
                            size};
    const auto bytes = static_cast<std::int64_t>(capacity);
    assemble_kernel<<<grid_size(bytes, 4 * kThreads, kManyCtas), kThreads, 0, stream>>>(args);
    ZR_LAUNCH_TRY("assemble_kernel");
    return Status::ok();
  }

  Status encode(const ConstFrameView& frame, std::byte* out, std::size_t capacity,
                std::size_t* size, cudaStream_t stream) {
    ZR_TRY(validate(frame));
    if (out == nullptr || size == nullptr)
      return Status(Errc::invalid_argument, "the output or its size is null");
    const DeviceGuard guard(params.device);
    ZR_TRY(guard.status());
    if (used) ZR_CUDA_TRY(cudaStreamWaitEvent(stream, done.get()));
    const Status enqueued = [&]() -> Status {
      ZR_TRY(prepare(frame, stream));
      ZR_TRY(encoder.enqueue(*setup, frame, stream));
      return assemble(out, capacity, size, stream);
    }();
    // After an error too: some stages may be under way.
    const cudaError_t error = cudaEventRecord(done.get(), stream);
    used = true;
    if (!enqueued) return enqueued;
    ZR_CUDA_TRY(error);
    return Status::ok();
  }
};

Result<DeviceEncoder> DeviceEncoder::create(const EncodeParams& params) try {
  ZR_TRY(validate_params(params));
  if (params.backend == Backend::cpu)
    return Status(Errc::invalid_argument, "device frames cannot be coded by the CPU backend");
  const auto backend = resolve_backend(Backend::cuda, params.device);
  if (!backend) return backend.status();
  const DeviceGuard guard(params.device);
  ZR_TRY(guard.status());
  auto impl = std::make_unique<Impl>();
  impl->params = params;
  ZR_TRY(impl->done.create(cudaEventDisableTiming));
  return DeviceEncoder(std::move(impl));
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
}

Status DeviceEncoder::encode(const ConstFrameView& frame, std::byte* out, std::size_t capacity,
                             std::size_t* size, cudaStream_t stream) try {
  return impl_->encode(frame, out, capacity, size, stream);
} catch (const std::bad_alloc&) {
  return Status(Errc::out_of_memory);
}

DeviceEncoder::DeviceEncoder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
DeviceEncoder::DeviceEncoder(DeviceEncoder&&) noexcept = default;
DeviceEncoder& DeviceEncoder::operator=(DeviceEncoder&&) noexcept = default;
DeviceEncoder::~DeviceEncoder() = default;
const EncodeParams& DeviceEncoder::params() const noexcept { return impl_->params; }

}  // namespace zerorun
