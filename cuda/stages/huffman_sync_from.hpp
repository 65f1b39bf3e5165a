// The stage huffman_sync with guesses.
// SPDX-License-Identifier: MIT
#pragma once

#include "codec/decode/huffman_sync.hpp"
#include "cuda/base/subsequence_starts.hpp"

namespace zerorun {

/// huffman_sync_cuda(), whose walks begin in the states of `starts`. The result is the same
/// whatever these say; where they are right, each subsequence is walked once. They count only if
/// their subsequences are as long. The cursors are intervals in their order, and a cursor begins at
/// a whole byte.
Status huffman_sync_from(const HuffmanSyncArgs& args, const SubsequenceStarts& starts, Exec& exec);

}  // namespace zerorun
