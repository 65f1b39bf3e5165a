// Sizes that the staged CUDA decoder may choose freely: they change its speed, never its output.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace zerorun::tuning {

/// Threads of a CTA where nothing else decides.
inline constexpr int kThreads = 256;

/// Subsequences that one CTA synchronises with each other, a thread each.
inline constexpr int kSyncChunkSubsequences = 256;
/// Rounds in which every CTA takes over what its left neighbour found, before one CTA mends what
/// is left over.
inline constexpr int kSyncRounds = 2;

/// Threads of a CTA that decodes codewords.
inline constexpr int kDecodeThreads = 128;

/// Bits of a subsequence: some hundred codewords, several times what synchronisation takes. All
/// stages of a 4K photo at q90 (2.4 MB) on an H200: 2.25 ms with 1024, 2.29 with 512, 2.64 with
/// 2048, 3.35 with 4096.
inline constexpr std::int32_t kSubsequenceBits = 1024;
/// Intervals that are longer on average are cut into subsequences.
inline constexpr std::int64_t kMinSyncIntervalBits = 4 * kSubsequenceBits;

}  // namespace zerorun::tuning
