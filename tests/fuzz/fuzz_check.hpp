// Shared by the fuzz targets: an assertion that aborts, and limits that keep an input fast.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "zerorun/decoder.hpp"
#include "zerorun/frame.hpp"

/// libFuzzer's entry point; returns 0, or aborts at a finding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace zerorun::fuzz {

/// Called before an abort, if it is set.
inline void (*on_failure)() = nullptr;

/// Aborts, so that libFuzzer saves the input. Active in every build type, unlike assert().
inline void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: does not hold: %s\n", what);
  if (on_failure != nullptr) on_failure();
  std::abort();
}

inline DecodeParams quick_params(int threads) {
  DecodeParams params;
  params.backend = Backend::cpu;
  params.threads = threads;
  params.limits.max_pixels = 1 << 16;  // an empty scan of a large picture finds nothing new
  params.limits.max_scans = 20;
  params.limits.max_header_bytes = 1 << 20;
  return params;
}

inline std::span<const std::byte> stream(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

inline bool same(const DecodeReport& a, const DecodeReport& b) {
  return a.bytes_consumed == b.bytes_consumed && a.intervals == b.intervals &&
         a.concealed_intervals == b.concealed_intervals && a.first_problem == b.first_problem;
}

using Coefficients = std::vector<ComponentCoefficients>;

/// Nothing if the stream is refused or damaged.
inline std::optional<Coefficients> coefficients(std::span<const std::byte> jpeg) {
  static Decoder decoder = *Decoder::create(quick_params(1));
  Coefficients out;
  const auto report = decoder.decode_coefficients(jpeg, out);
  if (!report || report->is_concealed()) return std::nullopt;
  return out;
}

inline bool are_equal(const std::optional<Coefficients>& a, const std::optional<Coefficients>& b) {
  const auto same = [](const ComponentCoefficients& x, const ComponentCoefficients& y) {
    return x.blocks_wide == y.blocks_wide && x.values == y.values;
  };
  return a.has_value() == b.has_value() && (!a || std::ranges::equal(*a, *b, same));
}

/// A frame in one piece of memory of exactly its size.
struct Picture {
  Picture(PixelFormat format, int width, int height, std::uint8_t fill)
      : view{format, width, height, {}, {}} {
    std::size_t total = 0;
    std::size_t offsets[3] = {};
    for (int p = 0; p < plane_count(format); ++p) {
      const std::size_t row = plane_row_bytes(format, p, width);
      offsets[p] = total;
      view.stride_bytes[static_cast<std::size_t>(p)] = static_cast<std::ptrdiff_t>(row);
      total += row * static_cast<std::size_t>(plane_rows(format, p, height));
    }
    memory.assign(total, fill);
    for (int p = 0; p < plane_count(format); ++p)
      view.data[static_cast<std::size_t>(p)] = memory.data() + offsets[p];
  }
  std::vector<std::uint8_t> memory;
  FrameView view;
};

}  // namespace zerorun::fuzz
