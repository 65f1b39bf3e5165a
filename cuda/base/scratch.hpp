// Temporary device memory of the stages (Exec::scratch).
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/base/exec.hpp"
#include "cuda/base/memory.hpp"

namespace zerorun {

/// One array that a stage wants: where its address goes, and how many elements it has.
template <typename T>
struct ScratchArray {
  T** pointer;
  std::int64_t count;
};
template <typename T>
ScratchArray<T> scratch_array(T*& pointer, std::int64_t count) {
  return {&pointer, count};
}

/// Belongs to one stream. What a stage carves is its own until the next stage call on that stream:
/// stages run one after another, so all may use the same memory.
class Scratch {
 public:
  /// All arrays of a stage call at once, each aligned to 256 bytes; contents are undefined.
  template <typename... T>
  Status carve(ScratchArray<T>... arrays) {
    std::size_t total = 0;
    ((total += bytes_of(arrays)), ...);
    ZR_TRY(memory_.reserve(static_cast<std::int64_t>(total)));
    std::byte* next = memory_.data();
    ((*arrays.pointer = reinterpret_cast<T*>(next), next += bytes_of(arrays)), ...);
    return Status::ok();
  }

 private:
  static constexpr std::size_t kAlign = 256;
  template <typename T>
  static std::size_t bytes_of(const ScratchArray<T>& array) {
    return (static_cast<std::size_t>(array.count) * sizeof(T) + kAlign - 1) / kAlign * kAlign;
  }
  DeviceBuffer<std::byte> memory_;
};

inline cudaStream_t stream_of(const Exec& exec) { return static_cast<cudaStream_t>(exec.stream); }
inline Scratch& scratch_of(const Exec& exec) { return *static_cast<Scratch*>(exec.scratch); }
inline Exec cuda_exec(cudaStream_t stream, Scratch& scratch) {
  return {Backend::cuda, stream, &scratch};
}

}  // namespace zerorun
