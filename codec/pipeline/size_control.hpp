// Counts and codes a picture until its stream has the size that was asked for.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>

#include "codec/arith/size_plan.hpp"
#include "codec/pipeline/encode_pipeline.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun {

/// What is asked of a picture. `whole` is the setup of the picture, `counted` the layout of what is
/// counted of it. Without params.size.target_bytes a stream of params.quality that has no more
/// than params.size.max_bytes stays as it is.
SizeTask make_size_task(const EncodeParams& params, const EncodeSetup& whole,
                        const ScanLayout& counted);

/// The size of a scan with these symbols and the setup's kind of Huffman tables.
CountedSize size_of_counts(const SymbolCounts& counts, const EncodeSetup& setup);

/// Functions that count and code a picture with a setting.
struct SizedCoders {
  std::function<Result<CountedSize>(const SizeSetting&)> count;
  std::function<Result<std::uint64_t>(const SizeSetting&)> code;  ///< returns bytes of the stream
};

/// The last coding is the stream. Returns how many there were. Errors: size_not_reached, those of
/// the coders.
Result<int> reach_size(const SizeTask& task, const SizedCoders& coders);

/// size_not_reached, for a plan that is done.
Status size_not_reached(const SizeTask& task, std::uint64_t least);

}  // namespace zerorun
