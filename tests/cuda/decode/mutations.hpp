// Damaged streams by number: the same number gives the same stream on every machine.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/support/jpeg_segments.hpp"

namespace zerorun::test {

/// An undamaged stream, and where its scan begins.
struct MutationSource {
  explicit MutationSource(Bytes stream)
      : jpeg(std::move(stream)), scan(parse_headers(jpeg).data_offset) {}
  Bytes jpeg;
  std::size_t scan;  ///< offset of the first entropy-coded byte
};

/// Streams of zerorun's CPU encoder: samplings, tables, restart intervals and contents in turn.
std::vector<MutationSource> mutation_sources();

/// One of the streams with one to four changes, mostly of its coded data, or of its restart
/// markers.
Bytes mutation(const std::vector<MutationSource>& sources, std::int64_t number);

}  // namespace zerorun::test
