// The rows of a chunk that were walked from all that is possible -> the one state before each of
// them. Each chunk tells the next one in which state it ends.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/decode/chunk_sync.cuh"

namespace zerorun::chunk_sync {

__device__ inline void publish(const SyncRowsArgs& a, std::uint32_t state) {
  volatile std::uint32_t* const exits = a.chunk_exit;
  exits[blockIdx.x] = kPublished | state;
}

/// Follows the chunk from the end `number` before its first row, segment by segment; by one thread.
__device__ inline void follow_chunk(Shared& s, std::uint32_t number) {
  s.first_number = number;
  for (std::uint32_t row = kWarmRows; row < kRows; row += kSegmentRows) {
    s.segment_first[row / kSegmentRows] = static_cast<std::uint8_t>(number);
    number = s.ends.follow_rows(row, row + kSegmentRows, number);
  }
}
/// The number of the end before a row of the chunk, when it was followed.
__device__ inline std::uint32_t number_before(const Shared& s, std::uint32_t row) {
  const std::uint32_t segment = row / kSegmentRows;
  return s.ends.follow_rows(segment * kSegmentRows, row, s.segment_first[segment]);
}

/// Tells the next chunk in which state the last row ends, if that is known already.
__device__ inline void publish_known_end(const SyncRowsArgs& a, Shared& s) {
  constexpr std::uint32_t kLast = kRows - 1;
  const std::uint32_t number = s.ends.head[kLast] ? 0 : number_before(s, kLast);
  s.published = number != kForeignEnd;
  if (s.published) publish(a, s.ends.line[number].reached[kLast]);
}

/// In which state the chunk's first row begins: the one to which all that is possible kWarmRows
/// earlier leads, unless the chunk before says another.
__device__ inline void join_chunks(const SyncRowsArgs& a, Shared& s) {
  for (std::uint32_t i = threadIdx.x; i < (kRows / kSegmentRows - 1) * (kMostEnds + 1);
       i += kThreads)
    s.ends.follow_segment(1 + i % (kRows / kSegmentRows - 1), i / (kRows / kSegmentRows - 1));
  __syncthreads();
  const bool needed = s.exists(kWarmRows) && !s.ends.head[kWarmRows];
  const bool asks = needed && blockIdx.x > 0;
  if (threadIdx.x < 32) {
    const std::uint32_t lane = threadIdx.x, count = s.ends.count[0];
    const std::uint32_t number =
        needed ? s.ends.follow_from_first(kWarmRows, lane < count ? lane : kForeignEnd) : 0;
    const std::uint32_t first = __shfl_sync(0xFFFFFFFF, number, 0);
    const bool agree =
        __all_sync(0xFFFFFFFF, lane >= count || number == first) && first != kForeignEnd;
    if (lane == 0) {
      s.published = false;
      follow_chunk(s, first);
      if (agree) publish_known_end(a, s);
    }
  } else if (threadIdx.x == 32) {  // meanwhile
    const volatile std::uint32_t* const exits = a.chunk_exit;
    std::uint32_t before = asks ? 0 : kPublished;
    while (before == 0) before = exits[blockIdx.x - 1];
    s.first_state = before & ~kPublished;
  }
  __syncthreads();
  if (asks && threadIdx.x == 0) {
    const std::uint32_t number = s.ends.find(kWarmRows - 1, s.first_state);
    if (number != s.first_number) follow_chunk(s, number);
  }
  __syncthreads();
}

/// Asked before each row that is walked by one thread alone.
__device__ inline bool may_walk_late(const SyncRowsArgs& a) {
  const bool may =
      atomicAdd(&a.summary->late_walks, 1) < kMostLateWalks + kMostLateWalksOfChunk * a.chunks;
  if (!may) a.summary->unsettled = 1;
  return may;
}

/// The rows one after the other from the first whose beginning is no end that was followed.
__device__ inline void settle(const SyncRowsArgs& a, Shared& s, const SkipTables& tables) {
  std::uint32_t number = s.first_number, state = s.first_state;
  for (std::uint32_t row = kWarmRows; row < kRows; ++row) {
    if (!s.exists(row)) continue;
    if (s.ends.head[row]) number = 0;
    if (number != kForeignEnd) {
      s.entry(row) = s.ends.head[row] ? std::uint16_t{0} : s.ends.line[number].state[row - 1];
      s.tally[row] = s.ends.line[number].step[row];
      state = s.ends.line[number].reached[row];
      number = s.ends.follow(row, number);
      continue;
    }
    if (!may_walk_late(a)) {
      s.end[row] = 0;
      continue;
    }
    RowTally tally;
    s.entry(row) = static_cast<std::uint16_t>(state);
    state = walk(a, s, tables, row, unpack_row_state(state), tally);
    s.tally[row] = make_step(tally);
    number = s.ends.find(row, state);
  }
  s.first_state = state;
}

/// The state before each row, and what the row has.
__device__ inline void find_entries(const SyncRowsArgs& a, Shared& s, const SkipTables& tables) {
  const std::uint32_t row = threadIdx.x;
  bool foreign = false;
  if (row >= kWarmRows && row < kRows && s.exists(row)) {
    const bool head = s.ends.head[row];
    const std::uint32_t number = head ? 0 : number_before(s, row);
    foreign = number == kForeignEnd;
    if (!foreign) {
      s.entry(row) = head ? std::uint16_t{0} : s.ends.line[number].state[row - 1];
      s.tally[row] = s.ends.line[number].step[row];
    }
  }
  foreign = __syncthreads_or(foreign);
  if (threadIdx.x == 0) {
    if (foreign) settle(a, s, tables);
    if (!s.published && !foreign) publish_known_end(a, s);
    if (!s.published) publish(a, s.first_state);
  }
  __syncthreads();
}

}  // namespace zerorun::chunk_sync
