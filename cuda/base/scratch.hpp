// Temporary device memory: arrays one behind the other, and the memory of the stages
// (Exec::scratch).
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/arith/host_device.hpp"
#include "codec/base/exec.hpp"
#include "cuda/base/memory.hpp"

namespace zerorun {

/// Arrays one behind the other, each aligned as cudaMalloc aligns. Without memory (a null pointer)
/// it only adds up their bytes.
class ScratchLayout {
 public:
  static constexpr std::size_t kAlign = 256;
  explicit ScratchLayout(void* memory) : memory_(static_cast<std::byte*>(memory)) {}

  /// The next array; null where there is no memory.
  template <typename T>
  T* take(std::uint64_t count) {
    const std::size_t at = bytes_;
    bytes_ = round_up(at + count * sizeof(T), kAlign);
    return memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + at);
  }
  std::size_t bytes() const { return bytes_; }

 protected:
  std::byte* memory_;

 private:
  std::size_t bytes_ = 0;
};

/// An array that a stage wants: where its address goes, and how many elements it has.
template <typename T>
struct ScratchArray {
  T** pointer;
  std::int64_t count;
};
template <typename T>
ScratchArray<T> scratch_array(T*& pointer, std::int64_t count) {
  return {&pointer, count};
}

/// Belongs to one stream. Stages run one after another on it, so all of them use the same memory:
/// a stage may use what it carved until the next stage call.
class Scratch {
 public:
  /// All arrays of a stage call at once; their contents are undefined.
  template <typename... T>
  Status carve(ScratchArray<T>... arrays) {
    ScratchLayout measured(nullptr);
    (measured.take<T>(static_cast<std::uint64_t>(arrays.count)), ...);
    ZR_TRY(memory_.reserve(static_cast<std::int64_t>(measured.bytes())));
    ScratchLayout placed(memory_.data());
    ((*arrays.pointer = placed.take<T>(static_cast<std::uint64_t>(arrays.count))), ...);
    return Status::ok();
  }

 private:
  DeviceBuffer<std::byte> memory_;
};

inline cudaStream_t stream_of(const Exec& exec) { return static_cast<cudaStream_t>(exec.stream); }
inline Scratch& scratch_of(const Exec& exec) { return *static_cast<Scratch*>(exec.scratch); }
inline Exec cuda_exec(cudaStream_t stream, Scratch& scratch) {
  return {Backend::cuda, stream, &scratch};
}

// Prefix sums over device arrays, by CUB (device_scan.cu).

/// Temporary bytes that a scan of `count` elements needs.
Status device_scan_temp_bytes(std::int64_t count, std::int64_t& bytes);

/// out[i] = in[0] + ... + in[i - 1], summed in the type of `out`. The arrays may be the same one.
/// From 32 to 32, from 32 to 64 and from 64 to 64 bits.
template <typename In, typename Out>
Status device_exclusive_scan(const In* in, Out* out, std::int64_t count, void* temp,
                             std::int64_t temp_bytes, cudaStream_t stream);

}  // namespace zerorun
