// Serial run-length coding, prefix sums and stream compaction. CUDA twins:
// cuda/entropy/run_length_*.cu, scan.cu, compact.cu.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "zerorun/entropy.hpp"

namespace zerorun::entropy {

Result<std::size_t> run_length_encode(std::span<const std::int32_t> in,
                                      std::span<std::int32_t> values,
                                      std::span<std::uint32_t> lengths) {
  const std::size_t capacity = std::min(values.size(), lengths.size());
  std::size_t runs = 0;
  for (std::size_t begin = 0; begin < in.size();) {
    std::size_t end = begin + 1;
    while (end < in.size() && in[end] == in[begin]) ++end;
    if (end - begin > std::numeric_limits<std::uint32_t>::max())
      return Status(Errc::invalid_argument, "a run is longer than 2^32 - 1 elements");
    if (runs == capacity)
      return Status(Errc::output_too_small, "the input has more runs than the outputs have room");
    values[runs] = in[begin];
    lengths[runs] = static_cast<std::uint32_t>(end - begin);
    ++runs;
    begin = end;
  }
  return runs;
}

Result<std::size_t> run_length_decode(std::span<const std::int32_t> values,
                                      std::span<const std::uint32_t> lengths,
                                      std::span<std::int32_t> out) {
  if (values.size() != lengths.size())
    return Status(Errc::invalid_argument, "there must be one length for each value");
  std::size_t written = 0;
  for (std::size_t run = 0; run < values.size(); ++run) {
    if (lengths[run] > out.size() - written)
      return Status(Errc::output_too_small, "the runs hold more elements than the output");
    std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(written), lengths[run], values[run]);
    written += lengths[run];
  }
  return written;
}

Status exclusive_scan(std::span<const std::uint32_t> in, std::span<std::uint32_t> out) {
  if (out.size() < in.size())
    return Status(Errc::output_too_small, "a scan has as many sums as elements");
  std::exclusive_scan(in.begin(), in.end(), out.begin(), std::uint32_t{0});
  return Status::ok();
}

Status inclusive_scan(std::span<const std::uint32_t> in, std::span<std::uint32_t> out) {
  if (out.size() < in.size())
    return Status(Errc::output_too_small, "a scan has as many sums as elements");
  std::inclusive_scan(in.begin(), in.end(), out.begin());
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
