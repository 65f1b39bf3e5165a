// Entropy-coded bytes -> device memory.
// SPDX-License-Identifier: MIT
#include "cuda/decode/scan_upload.hpp"

#include <algorithm>
#include <cstring>

#include "codec/base/coded_bytes.hpp"
#include "codec/syntax/marker.hpp"

namespace zerorun {

std::size_t scan_extent(std::span<const std::uint8_t> data) {
  std::size_t at = 0;
  while (at < data.size()) {
    at += coded_bytes(std::as_bytes(data.subspan(at)));
    for (const std::size_t end = std::min(at + kCodedBlock, data.size()); at < end;) {
      if (data[at++] != 0xFF) continue;
      while (at < data.size() && data[at] == 0xFF) ++at;
      if (at == data.size()) break;
      const std::uint8_t code = data[at++];
      if (code != 0 && !marker::is_rst(code)) return at;
    }
  }
  return data.size();
}

Status ScanUpload::enqueue(std::span<const std::uint8_t> data, cudaStream_t stream,
                           const std::uint8_t*& on_device) {
  ZR_TRY(bytes_.reserve(static_cast<std::int64_t>(data.size())));
  on_device = bytes_.data();
  if (is_pinned(data.data()) && is_pinned(data.data() + data.size() - 1)) {
    ZR_CUDA_TRY(
        cudaMemcpyAsync(bytes_.data(), data.data(), data.size(), cudaMemcpyHostToDevice, stream));
    return Status::ok();
  }
  ZR_TRY(staging_.reserve(static_cast<std::int64_t>(data.size())));
  for (std::size_t at = 0; at < data.size(); at += part_bytes_) {
    const std::size_t count = std::min(part_bytes_, data.size() - at);
    std::memcpy(staging_.data() + at, data.data() + at, count);
    ZR_CUDA_TRY(cudaMemcpyAsync(bytes_.data() + at, staging_.data() + at, count,
                                cudaMemcpyHostToDevice, stream));
  }
  return Status::ok();
}

}  // namespace zerorun
