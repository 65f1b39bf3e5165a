// Shared by the fuzz targets: an assertion that aborts, and limits that keep an input fast.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "zerorun/decoder.hpp"

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

}  // namespace zerorun::fuzz
