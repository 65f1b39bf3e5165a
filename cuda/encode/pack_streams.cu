// The streams of some frames, each in a room of its own -> one behind the other. A thread copies 16
// bytes at a time; CTAs with the same blockIdx.y share a stream.
// SPDX-License-Identifier: MIT
#include "cuda/encode/pack_streams.hpp"

#include "cuda/base/check.hpp"
#include "cuda/base/launch.hpp"

namespace zerorun {
namespace {

constexpr unsigned kThreads = 256;
/// A stream of 800 KB then takes 16 steps of each thread.
constexpr unsigned kCtasOfStream = 16;

__global__ void __launch_bounds__(kThreads)
    pack_streams_kernel(const __grid_constant__ PackStreamsArgs a) {
  const unsigned own = blockIdx.y;
  wait_for_previous_kernel();
  std::uint64_t from = 0, to = 0;
  for (unsigned i = 0; i < own; ++i) {
    from += a.room[i];
    to += PackStreamsArgs::packed_bytes(a.sizes[i], a.room[i]);
  }
  const std::uint64_t size = a.sizes[own];
  if (blockIdx.x == 0 && threadIdx.x == 0) a.sizes_on_host[own] = size;
  const std::uint64_t units =
      PackStreamsArgs::packed_bytes(size, a.room[own]) / PackStreamsArgs::kStep;
  const uint4* const source = reinterpret_cast<const uint4*>(a.rooms + from);
  uint4* const target = reinterpret_cast<uint4*>(a.packed + to);
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < units;
       i += std::uint64_t{gridDim.x} * kThreads)
    target[i] = source[i];
}

}  // namespace

Status pack_streams(const PackStreamsArgs& args, cudaStream_t stream) {
  ZR_CUDA_TRY(
      launch_behind(pack_streams_kernel, {kCtasOfStream, kThreads, 0, args.streams}, stream, args));
  return Status::ok();
}

}  // namespace zerorun
