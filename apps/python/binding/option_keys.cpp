// Parameters as keys of the coders that are kept.
// SPDX-License-Identifier: MIT
#include <bit>
#include <cstdint>
#include <optional>
#include <string>

#include "apps/python/binding/options.hpp"

namespace zerorun::python {
namespace {

void append(std::string& key, std::int64_t number) { key += std::to_string(number) + ","; }

void append(std::string& key, const std::optional<QuantTable>& table) {
  append(key, table.has_value());
  if (table)
    for (const std::uint16_t entry : *table) append(key, entry);
}

}  // namespace

std::string key_of(const EncodeParams& params) {
  std::string key;
  for (const int part :
       {params.quality, params.subsampling ? static_cast<int>(*params.subsampling) : -1,
        static_cast<int>(params.tune), static_cast<int>(params.effort),
        static_cast<int>(params.tables), static_cast<int>(params.huffman),
        static_cast<int>(params.restart.kind), params.restart.count,
        static_cast<int>(params.jfif_header), params.pixel_aspect_x, params.pixel_aspect_y,
        static_cast<int>(params.backend), params.device, params.threads,
        static_cast<int>(params.instruction_set)})
    append(key, part);
  append(key, static_cast<std::int64_t>(params.size.target_bytes));
  append(key, static_cast<std::int64_t>(params.size.max_bytes));
  append(key, std::bit_cast<std::int64_t>(params.size.target_psnr));
  append(key, std::bit_cast<std::int64_t>(params.size.target_ssim));
  append(key, params.luma_table);
  append(key, params.chroma_table);
  for (const MarkerSegment& segment : params.segments) {
    append(key, segment.marker);
    append(key, static_cast<std::int64_t>(segment.payload.size()));
    key.append(segment.payload.begin(), segment.payload.end());
  }
  return key;
}

std::string key_of(const DecodeParams& params) {
  std::string key;
  for (const std::int64_t part :
       {static_cast<std::int64_t>(params.upsampling), static_cast<std::int64_t>(params.strict),
        params.limits.max_pixels, static_cast<std::int64_t>(params.limits.max_scans),
        params.limits.max_header_bytes, static_cast<std::int64_t>(params.backend),
        static_cast<std::int64_t>(params.device), static_cast<std::int64_t>(params.threads),
        static_cast<std::int64_t>(params.instruction_set)})
    append(key, part);
  return key;
}

}  // namespace zerorun::python
