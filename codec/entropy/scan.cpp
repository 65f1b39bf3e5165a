// Serial prefix sums and stream compaction. CUDA twins: cuda/entropy/scan.cu, compact.cu.
// SPDX-License-Identifier: MIT
#include <cstdint>

#include "zerorun/entropy.hpp"

namespace zerorun::entropy {

Status exclusive_scan(std::span<const std::uint32_t> in, std::span<std::uint32_t> out) {
  if (out.size() < in.size())
    return Status(Errc::output_too_small, "a scan has as many sums as elements");
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    out[i] = sum;
    sum += in[i];
  }
  return Status::ok();
}

Status inclusive_scan(std::span<const std::uint32_t> in, std::span<std::uint32_t> out) {
  if (out.size() < in.size())
    return Status(Errc::output_too_small, "a scan has as many sums as elements");
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = sum += in[i];
  return Status::ok();
}

Result<std::size_t> compact(std::span<const std::int32_t> in, std::span<const std::uint8_t> flags,
                            std::span<std::int32_t> out) {
  if (flags.size() != in.size())
    return Status(Errc::invalid_argument, "there must be one flag for each element");
  std::size_t kept = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (flags[i] == 0) continue;
    if (kept == out.size())
      return Status(Errc::output_too_small, "more elements are kept than the output has room for");
    out[kept++] = in[i];
  }
  return kept;
}

}  // namespace zerorun::entropy
