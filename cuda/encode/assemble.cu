// The bits of the tiles -> stuffed bytes with markers, at their places in the stream. A CTA takes a
// chunk of tiles and looks back over all chunks to find how many bytes stand before its own.
// SPDX-License-Identifier: MIT
#include <cstddef>

#include "cuda/base/device_limits.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/look_back.cuh"
#include "cuda/base/shared_access.cuh"
#include "cuda/base/warp.cuh"
#include "cuda/encode/scan_lane.cuh"

namespace zerorun {
namespace cuda_encode::assembly {
namespace {

// The tiles of a chunk -> its bits as words in shared memory, by a CTA.

constexpr int kThreads = kAssembleThreads;
constexpr int kWarps = kThreads / 32;
constexpr int kWordsPerThread = kAssembleWordsPerThread;
/// Bytes before stuffing that a CTA handles in one round. At q90 a chunk has some 5000.
constexpr std::int32_t kRoundWords = kThreads * kWordsPerThread;
constexpr std::uint32_t kRoundBytes = kRoundWords * 4;
/// With the tile before the chunk, which may end in the chunk's first byte.
constexpr int kMaxTiles = kChunkTiles + 1;
static_assert(kMaxTiles <= 32);

/// A chunk's tiles as one array of bits. Positions count from the byte that holds the chunk's first
/// bit; the tile before the chunk starts below 0.
struct Chunk {
  const std::uint32_t* words;  ///< of the first tile; those of the others lie behind it
  std::int32_t start[kMaxTiles + 1];
  int tiles;
  std::uint32_t bytes;  ///< before stuffing
  std::uint32_t rounds;
  std::uint32_t interval;
  bool ends_interval, ends_scan;
  std::uint32_t header;  ///< bytes before the scan: here they take no register meanwhile
};

struct Shared {
  alignas(16) std::uint32_t words[kRoundWords];
  std::uint32_t stage[2 * kRoundWords + 2];  // bytes, a marker, and a word that a load may reach
  Chunk chunk;
  std::uint32_t warp[kWarps];
  std::uint64_t before;
};

/// Exclusive sum over the threads of the CTA; `total` becomes the sum of all. Synchronises once.
__device__ std::uint32_t cta_exclusive_sum(Shared& s, std::uint32_t value, std::uint32_t& total) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint32_t inclusive = warp_inclusive_sum(value);
  if (lane == 31) s.warp[warp] = inclusive;
  __syncthreads();
  const std::uint32_t others = lane < kWarps ? s.warp[lane] : 0;
  total = warp_add(others);
  return inclusive - value + warp_add(lane < warp ? others : 0u);
}

/// ORs the words of a tile, which stand from words[tile] on and whose bits go from `start` to
/// `end`, into those of a round from word `base` on, by a warp. At q90 a tile has some 75 words,
/// and the warp waits for memory once.
__device__ void add_tile(const std::uint32_t* words_of_chunk, std::int32_t tile, std::int32_t start,
                         std::int32_t end, std::int32_t base, SharedAddress round) {
  constexpr int kAtOnce = 3;
  const std::int32_t words = (end - start + 31) >> 5;  // they end in zeros
  const std::int32_t moved = -start >> 5;              // from a word's number to that in the tile
  const std::int32_t first = max(start >> 5, base) + static_cast<std::int32_t>(threadIdx.x % 32);
  const std::int32_t stop = min((end + 31) >> 5, base + kRoundWords) + moved;
  // Behind `stop` zeros are added, even behind Shared::words: no branch is worth it.
  const auto high_words = static_cast<std::uint32_t>(min(words, stop));
  const auto low_words = static_cast<std::uint32_t>(min(words, stop + 1));
  SharedAddress to = round + static_cast<std::uint32_t>(first - base) * 4;
#pragma unroll 1
  for (std::int32_t word = first + moved; word < stop; word += 32 * kAtOnce) {
    const std::uint32_t* const from = words_of_chunk + (tile + word);
    __builtin_assume(__isGlobal(from));
    std::uint32_t high[kAtOnce], low[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const auto number = static_cast<std::uint32_t>(word + 32 * i);
      high[i] = number < high_words ? from[32 * i] : 0;
      low[i] = number + 1 < low_words ? from[32 * i + 1] : 0;
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      or_word(to + 32 * 4 * i, __funnelshift_l(low[i], high[i], -start));
    to += 32 * 4 * kAtOnce;
  }
}
static_assert(offsetof(Shared, stage) == sizeof Shared::words);

/// Puts the bits of a round into s.words, a warp for each tile, and ones behind the end of an
/// interval up to the end of its byte (T.81 F.1.2.3). Clears s.stage. `place(i)`: the first word of
/// tile `i`, counted from that of the chunk's first one. `carry`: bits of the first word that no
/// tile of the chunk has.
template <typename Place>
__device__ void fill_round(Shared& s, std::uint32_t round, const Place& place,
                           std::uint32_t carry = 0) {
  const Chunk& c = s.chunk;
  const std::int32_t base = static_cast<std::int32_t>(round) * kRoundWords;  // in words
  const SharedAddress words = shared_address(s.words);
  auto* const all = reinterpret_cast<uint4*>(&s);  // the words and the stage behind them
#pragma unroll
  for (int i = 0; i < 3 * kWordsPerThread / 4; ++i) all[threadIdx.x + i * kThreads] = uint4{};
  if (threadIdx.x == 0) s.stage[2 * kRoundWords] = 0;
  __syncthreads();
  // Addresses by hand: behind each access that the compiler may not move it finds s anew.
  const std::uint32_t* const words_of_chunk = c.words;
  const std::int32_t tiles = c.tiles;
  const SharedAddress start = shared_address(c.start);
#pragma unroll 1
  for (auto i = static_cast<std::int32_t>(threadIdx.x / 32); i < tiles; i += kWarps) {
    const auto at = static_cast<std::uint32_t>(i);
    add_tile(words_of_chunk, place(i), static_cast<std::int32_t>(load_word(start, at)),
             static_cast<std::int32_t>(load_word<4>(start, at)), base, words);
  }
  const std::int32_t end = c.start[tiles], end_word = (end >> 5) - base;
  if (carry != 0 && threadIdx.x == 0) atomicOr(s.words, carry);
  if (threadIdx.x == 0 && c.ends_interval && end_word >= 0 && end_word < kRoundWords)
    atomicOr(s.words + end_word, (0x7Fu >> (end + 7) % 8) << (24 - end % 32 / 8 * 8));
  __syncthreads();
}

// Those words -> stuffed bytes at their place in the stream.

/// A thread's bytes of a round, the first one highest in word[0]. Bytes that do not exist are not
/// FF: the first of them has less than eight bits, the others are 0.
struct Piece {
  std::uint32_t word[kWordsPerThread];
  int bytes;  ///< that exist
};

__device__ Piece load_piece(const Shared& s, std::uint32_t round) {
  const std::uint32_t first = round * kRoundBytes + threadIdx.x * kWordsPerThread * 4;
  Piece p{};
  if (first >= s.chunk.bytes) return p;
  p.bytes = static_cast<int>(min(s.chunk.bytes - first, std::uint32_t{kWordsPerThread * 4}));
  const auto* const from = reinterpret_cast<const uint4*>(s.words + threadIdx.x * kWordsPerThread);
#pragma unroll
  for (int i = 0; i < kWordsPerThread / 4; ++i) {
    const uint4 four = from[i];
    p.word[4 * i] = four.x;
    p.word[4 * i + 1] = four.y;
    p.word[4 * i + 2] = four.z;
    p.word[4 * i + 3] = four.w;
  }
  return p;
}

/// The highest bit of each byte that is FF: adding 1 to its lower seven bits carries into it.
__device__ std::uint32_t ff_bits(std::uint32_t word) {
  return ((word & 0x7F7F7F7Fu) + 0x01010101u) & word & 0x80808080u;
}

/// Bytes of a piece with those that are stuffed. Most chunks leave whole warps without any.
__device__ std::uint32_t stuffed_bytes(const Piece& p) {
  if (p.bytes == 0) return 0;
  auto count = static_cast<std::uint32_t>(p.bytes);
#pragma unroll
  for (const std::uint32_t word : p.word)
    count += static_cast<std::uint32_t>(__popc(ff_bits(word)));
  return count;
}

/// Publishes the size of the chunk and finds how many bytes stand before it: s.before after the
/// next barrier. By the last warp, whose threads mostly have no bytes to stuff.
/// `chunks`: the states of those of the frame.
__device__ void find_place(std::uint64_t* chunks, Shared& s, std::uint64_t size) {
  if (threadIdx.x / 32 == kWarps - 1)
    publish_and_look_back<std::int32_t>(chunks, blockIdx.x, size, s.before);
}

/// Puts a thread's bytes into words of s.stage, the first byte lowest. The first and the last word
/// may have bytes of other threads too.
class ByteStage {
 public:
  __device__ ByteStage(SharedAddress stage, std::uint32_t at)
      : to_(stage + (at & ~3u)), shift_(at % 4 * 8) {}

  /// `first`: no word may be complete yet.
  __device__ void append_word(std::uint32_t word, bool first) {
    store(__funnelshift_l(before_, word, shift_), first);
    before_ = word;
  }
  /// One byte, or one and a zero: `bits` is 8 or 16.
  __device__ void append_byte(std::uint32_t byte, std::uint32_t bits, bool first) {
    const std::uint32_t word = __funnelshift_l(before_, byte, shift_);
    before_ = __funnelshift_r(before_, byte, bits);
    shift_ += bits;
    if (shift_ < 32) return;
    store(word, first);
    shift_ -= 32;
  }
  __device__ void finish() const {
    if (shift_ != 0) or_word(to_, __funnelshift_l(before_, 0, shift_));
  }

 private:
  __device__ void store(std::uint32_t word, bool first) {
    if (first)
      or_word(to_, word);
    else
      store_word(to_, word);
    to_ += 4;
  }

  SharedAddress to_;          ///< of the word that the next byte goes to
  std::uint32_t before_ = 0;  ///< the last four bytes
  std::uint32_t shift_;       ///< bits of that word which come before
};

/// Puts the thread's bytes, stuffed, into s.stage, which is clear.
__device__ void stage_piece(const Piece& p, SharedAddress stage, std::uint32_t at) {
  if (p.bytes == 0) return;
  ByteStage out(stage, at);
#pragma unroll
  for (int w = 0; w < kWordsPerThread; ++w) {
    std::uint32_t word = __byte_perm(p.word[w], 0, 0x0123);
    const std::uint32_t ff = ff_bits(word);
    if (4 * w + 4 <= p.bytes && ff == 0) {
      out.append_word(word, w == 0);
    } else if (4 * w + 4 <= p.bytes && (ff & (ff - 1)) == 0) {
      const std::uint32_t rest = word & ~(2 * ff - 1);  // the bytes behind FF
      out.append_word((word ^ rest) | rest << 8, w == 0);
      out.append_byte(rest >> 24, 8, w == 0);
    } else {
#pragma unroll 1
      for (int left = min(p.bytes - 4 * w, 4); left > 0; --left, word >>= 8) {
        const std::uint32_t byte = word & 0xFF;
        out.append_byte(byte, byte == 0xFF ? 16 : 8, w == 0);
      }
    }
  }
  out.finish();
}

/// Puts a marker behind `length` bytes in s.stage; by one thread.
__device__ void stage_marker(SharedAddress stage, std::uint32_t length, std::uint32_t code) {
  ByteStage out(stage, length);
  out.append_byte(0xFF, 8, true);
  out.append_byte(code, 8, true);
  out.finish();
}

/// Copies `length` bytes of s.stage to global memory, in units of 16 bytes as they lie there.
__device__ void store_round(const FrameOutput& output, const Shared& s, std::uint32_t length,
                            std::uint64_t offset) {
  if (offset + length > output.capacity) return;
  const auto skew =
      static_cast<std::int32_t>((reinterpret_cast<std::uintptr_t>(output.out) + offset) % 16);
  std::uint8_t* const out = output.out + offset - skew;  // aligned to 16
  const std::int32_t end = skew + static_cast<std::int32_t>(length);
  const unsigned shift = static_cast<unsigned>(-skew & 3) * 8;            // of the stage's words
  const std::int32_t first_unit = skew > 0 ? 1 : 0, end_unit = end / 16;  // of the whole ones
#pragma unroll 1
  for (auto unit = first_unit + static_cast<std::int32_t>(threadIdx.x); unit < end_unit;
       unit += kThreads) {
    const std::uint32_t* const from = s.stage + (unit * 16 - skew) / 4;
    std::uint32_t word[5];
#pragma unroll
    for (int i = 0; i < 5; ++i) word[i] = from[i];
    reinterpret_cast<uint4*>(out)[unit] = make_uint4(
        __funnelshift_r(word[0], word[1], shift), __funnelshift_r(word[1], word[2], shift),
        __funnelshift_r(word[2], word[3], shift), __funnelshift_r(word[3], word[4], shift));
  }
  // The bytes before and behind, by the last warp, a lane each.
  if (threadIdx.x / 32 != kWarps - 1) return;
  const bool behind = threadIdx.x % 32 >= 16;
  const std::int32_t at =
      (behind ? end_unit * 16 : 0) + static_cast<std::int32_t>(threadIdx.x % 16);
  const bool has_byte = behind ? end_unit >= first_unit : first_unit > 0;
  if (has_byte && at >= skew && at < end)
    out[at] = reinterpret_cast<const std::uint8_t*>(s.stage)[at - skew];
}

// Sequential frames: the chunks of one scan.

/// Whether all threads of the CTA add up the bits of the chunks before its own; else the first warp
/// does it alone, without a barrier.
__device__ bool sums_by_cta(const AssembleArgs& a) { return a.grid.interval_chunks > 32; }

/// Bits of the interval before the chunk, modulo 2^32, by the threads that sums_by_cta() chooses.
__device__ std::uint32_t bits_before(const AssembleArgs& a, Shared& s, std::uint32_t interval,
                                     std::uint32_t chunk) {
  const std::uint32_t first = a.grid.chunk_index(interval * a.grid.interval_chunks);
  chunk = a.grid.chunk_index(chunk);
  if (!sums_by_cta(a))
    return warp_add(threadIdx.x < chunk - first ? a.chunk_bits[first + threadIdx.x] : 0u);
  std::uint32_t own = 0, total = 0;
  for (std::uint32_t c = first + threadIdx.x; c < chunk; c += kThreads) own += a.chunk_bits[c];
  cta_exclusive_sum(s, own, total);
  return total;
}

/// Fills s.chunk, where other threads can read it after the next barrier.
__device__ void find_chunk(const AssembleArgs& a, Shared& s) {
  const TileGrid& grid = a.grid;
  const std::uint32_t interval = grid.by_interval_chunks.quotient(blockIdx.x);
  const std::uint32_t skipped = (blockIdx.x - interval * grid.interval_chunks) * kChunkTiles;
  const std::uint32_t interval_first = interval * grid.interval_tiles;
  const std::uint32_t interval_end = min(interval_first + grid.interval_tiles, grid.tiles);
  const std::uint32_t first = interval_first + skipped;
  const std::uint32_t end = min(first + kChunkTiles, interval_end);
  const std::uint32_t shown = skipped > 0 ? first - 1 : first;
  const std::uint32_t lane = threadIdx.x;  // of the first warp
  // All loads at once: the bits of the tiles, and of the chunks before them in the interval.
  const std::uint32_t index = grid.tile_index(shown);
  const std::uint32_t own = lane < end - shown ? a.tile_bits[index + lane] : 0;
  const std::uint32_t header = a.stream.header_bytes[a.stream.stride > 0 ? blockIdx.y : 0];
  const std::uint32_t before = bits_before(a, s, interval, blockIdx.x);
  if (threadIdx.x >= 32) return;
  Chunk& c = s.chunk;
  const auto inclusive = static_cast<std::int32_t>(warp_inclusive_sum(own));
  const auto tiles = static_cast<std::int32_t>(end - shown);
  const std::uint32_t shown_bits = __shfl_sync(kFullWarp, own, 0);
  const std::int32_t at = static_cast<std::int32_t>(before % 8) -
                          (skipped > 0 ? static_cast<std::int32_t>(shown_bits) : 0);
  if (lane == 0) c.start[0] = at;
  if (lane < kMaxTiles) c.start[lane + 1] = at + inclusive;
  const std::int32_t stop = at + __shfl_sync(kFullWarp, inclusive, tiles - 1);
  if (lane != 0) return;
  c.words = a.words + index * kTileWords;
  c.tiles = tiles;
  c.interval = interval;
  c.header = header;
  c.ends_interval = end == interval_end;
  c.ends_scan = end == grid.tiles;
  c.bytes = static_cast<std::uint32_t>(c.ends_interval ? stop + 7 : stop) / 8;
  c.rounds = max(ceil_div(c.bytes, kRoundBytes), 1u);
}

/// Fills s.chunk.
__device__ void open_chunk(const AssembleArgs& a, Shared& s) {
  if (threadIdx.x < 32 || sums_by_cta(a)) find_chunk(a, s);
  __syncthreads();
}

/// Where a tile's words stand.
__device__ std::int32_t place_of_tile(std::int32_t tile) {
  return tile * static_cast<std::int32_t>(kTileWords);
}

/// Puts the stuffed bytes of a round into s.stage, with the marker behind the last one. `at`: where
/// the thread's bytes stand among the `length` of the round. Returns the length with the marker.
__device__ std::uint32_t stage_round(const AssembleArgs& a, Shared& s, const Piece& p,
                                     std::uint32_t at, std::uint32_t length, bool last_round) {
  const Chunk& c = s.chunk;
  const SharedAddress stage = shared_address(s.stage);
  stage_piece(p, stage, at);
  if (!last_round || !c.ends_interval || (c.ends_scan && a.stream.parts_bytes == 0)) return length;
  if (threadIdx.x == 0)
    stage_marker(stage, length, c.ends_scan ? marker::kEoi : marker::kRst0 + c.interval % 8);
  return length + 2;
}

/// Copies a frame's header; by the frame's first CTA.
__device__ void copy_header(const StreamEnvelope& stream, const FrameOutput& output,
                            std::uint32_t bytes) {
  const std::uint8_t* const header = stream.header + blockIdx.y * stream.stride;
  for (std::uint32_t i = threadIdx.x; i < bytes; i += kThreads) output.out[i] = header[i];
}

/// Clears for the next launch what the previous one used.
__device__ void clear_next(const AssembleArgs& a) {
  for (std::uint32_t f = blockIdx.y + threadIdx.x * gridDim.y; f < a.next_frames;
       f += kThreads * gridDim.y) {
    a.next_chunks[f * a.grid.chunks + blockIdx.x] = 0;
    a.next_chunk_bits[f * a.grid.chunks + blockIdx.x] = 0;
  }
}

static_assert(bounded_ctas(kAssembleCtas, kThreads, sizeof(Shared), 90) == kAssembleCtas,
              "as measured on Hopper");

__global__ void __launch_bounds__(kThreads, bounded_ctas(kAssembleCtas, kThreads, sizeof(Shared)))
    assemble_kernel(const __grid_constant__ AssembleArgs a) {
  __shared__ Shared s;
  wait_for_previous_kernel();
  clear_next(a);
  if (is_skipped(a.skip)) return;
  const FrameOutput& output = a.output[blockIdx.y];
  open_chunk(a, s);
  const Chunk& c = s.chunk;
  // Mostly there is one round: it is then ready before its place is known.
  std::uint32_t size = c.ends_interval && !c.ends_scan ? 2 : 0;
  std::uint32_t at = 0, length = 0;
  for (std::uint32_t r = 0; r < c.rounds; ++r) {
    fill_round(s, r, place_of_tile);
    at = cta_exclusive_sum(s, stuffed_bytes(load_piece(s, r)), length);
    size += length;
    if (c.rounds > 1) __syncthreads();
  }
  find_place(a.chunks + a.grid.chunk_index(0), s, size);
  const std::uint32_t header = c.header;
  if (blockIdx.x == 0 && header <= output.capacity) copy_header(a.stream, output, header);
  std::uint64_t offset = header;
  for (std::uint32_t r = 0; r < c.rounds; ++r) {
    if (c.rounds > 1) {
      __syncthreads();  // all bytes of s.stage have been stored
      fill_round(s, r, place_of_tile);
      at = cta_exclusive_sum(s, stuffed_bytes(load_piece(s, r)), length);
    }
    length = stage_round(a, s, load_piece(s, r), at, length, r + 1 == c.rounds);
    __syncthreads();
    if (r == 0) offset += s.before;
    store_round(output, s, length, offset);
    offset += length;
  }
  if (c.ends_scan && threadIdx.x == 0) *output.size = offset;
}

// Progressive frames: the chunks of all scans, with the headers of the scans between them.

/// What else the threads know about the chunk.
struct Scan {
  std::int32_t place[kChunkTiles];  ///< first word of each tile, from that of the first one
  std::uint32_t carry;              ///< bits of its first byte that stand in tiles before it
  std::uint32_t header_at, header;  ///< bytes before the chunk
  bool ends_stream;
};

/// The last `wanted` bits of an interval before a tile, fewer than 8 and there; by a warp. Tiles of
/// AC may have none: they are sought 32 at a time.
__device__ std::uint32_t bits_in_front(const ScriptArgs& a, std::uint64_t tile,
                                       std::uint32_t wanted) {
  const std::uint32_t* const words = a.words + blockIdx.y * a.frame_words;
  std::uint32_t carry = 0, have = 0;
#pragma unroll 1
  for (; have < wanted; tile -= 32) {
    const std::uint32_t lane = threadIdx.x;
    const std::uint32_t bits = tile > lane ? a.tile_bits[tile - 1 - lane] : 0;
#pragma unroll 1
    for (unsigned left = __ballot_sync(kFullWarp, bits != 0); left != 0 && have < wanted;
         left &= left - 1) {
      const int nearest = __ffs(static_cast<int>(left)) - 1;
      const std::uint32_t of_tile = __shfl_sync(kFullWarp, bits, nearest);
      const std::uint32_t taken = min(of_tile, wanted - have), last = of_tile - 1;
      const std::uint64_t at =
          a.tile_at[tile - 1 - static_cast<unsigned>(nearest)] + std::uint64_t{last / 32};
      const std::uint32_t before = last % 32 + 1 < taken ? words[at - 1] : 0;
      const std::uint32_t ends = __funnelshift_r(words[at], before, 31 - last % 32);
      carry |= (ends & ((1u << taken) - 1)) << have;
      have += taken;
    }
  }
  return carry;
}

/// Fills the chunk, where other threads can read it after the next barrier; by the first warp.
/// `before`: bits of the interval before it.
__device__ void fill_chunk(const ScriptArgs& a, const StreamOrder& stream, std::uint32_t order,
                           std::uint32_t before, Chunk& c, Scan& of_scan) {
  const CodedScan& scan = a.plan[stream.order.scan[order]];
  const TileGrid& grid = scan.grid;
  const std::uint32_t number = blockIdx.x - stream.first_chunk[order];
  const std::uint32_t interval = grid.by_interval_chunks.quotient(number);
  const std::uint32_t interval_first = interval * grid.interval_tiles;
  const std::uint32_t interval_end = min(interval_first + grid.interval_tiles, grid.tiles);
  const std::uint32_t first =
      interval_first + (number - interval * grid.interval_chunks) * kChunkTiles;
  const std::uint32_t end = min(first + kChunkTiles, interval_end), tiles = end - first;
  const std::uint32_t lane = threadIdx.x;
  const std::uint64_t index = std::uint64_t{blockIdx.y} * a.tiles + scan.first_tile + first;
  const std::uint32_t own = lane < tiles ? a.tile_bits[index + lane] : 0;
  const std::uint32_t at_word = lane < tiles ? a.tile_at[index + lane] : 0;
  const std::uint32_t first_word = __shfl_sync(kFullWarp, at_word, 0);
  const std::uint32_t up_to = before % 8 + warp_inclusive_sum(own);
  const std::uint32_t carry = bits_in_front(a, index, before % 8);
  if (lane == 0) c.start[0] = static_cast<std::int32_t>(before % 8);
  if (lane < tiles) {
    c.start[lane + 1] = static_cast<std::int32_t>(up_to);
    of_scan.place[lane] = static_cast<std::int32_t>(at_word - first_word);
  }
  const std::uint32_t stop = __shfl_sync(kFullWarp, up_to, 31);
  if (lane != 0) return;
  c.words = a.words + blockIdx.y * a.frame_words + first_word;
  c.tiles = static_cast<std::int32_t>(tiles);
  c.interval = interval;
  c.ends_interval = end == interval_end;
  c.ends_scan = end == grid.tiles;
  c.bytes = (c.ends_interval ? stop + 7 : stop) / 8;
  c.rounds = max(ceil_div(c.bytes, kRoundBytes), 1u);
  of_scan.carry = before % 8 == 0 ? 0 : carry << (32 - before % 8);
  of_scan.header_at = stream.header_at[order];
  of_scan.header = number == 0 ? stream.header_at[order + 1] - of_scan.header_at : 0;
  of_scan.ends_stream = c.ends_scan && order + 1 == stream.order.scans;
}

/// Bits of the chunk's interval before it, modulo 2^32, to all threads.
__device__ std::uint32_t bits_before(const ScriptArgs& a, const StreamOrder& stream,
                                     std::uint32_t order, Shared& s) {
  const CodedScan& scan = a.plan[stream.order.scan[order]];
  const std::uint32_t number = blockIdx.x - stream.first_chunk[order];
  const std::uint32_t interval = scan.grid.by_interval_chunks.quotient(number);
  const std::uint32_t* const bits =
      a.chunk_bits + std::uint64_t{blockIdx.y} * a.chunks + scan.first_chunk;
  std::uint32_t own = 0, total = 0;
#pragma unroll 1
  for (std::uint32_t c = interval * scan.grid.interval_chunks + threadIdx.x; c < number;
       c += kThreads)
    own += bits[c];
  cta_exclusive_sum(s, own, total);
  return total;
}

__global__ void __launch_bounds__(kThreads,
                                  bounded_ctas(kAssembleScansCtas, kThreads, sizeof(Shared)))
    assemble_scans_kernel(const __grid_constant__ ScriptArgs a) {
  __shared__ Shared s;
  __shared__ Scan of_scan;
  wait_for_previous_kernel();
  const StreamOrder& stream = a.streams[blockIdx.y];
  const std::uint32_t scans = stream.order.scans;
  if (blockIdx.x >= stream.first_chunk[scans]) return;
  const std::uint32_t order = scan_lanes::last_not_above(stream.first_chunk, scans, blockIdx.x);
  const std::uint32_t before = bits_before(a, stream, order, s);
  if (threadIdx.x < 32) fill_chunk(a, stream, order, before, s.chunk, of_scan);
  __syncthreads();
  const FrameOutput& output = a.output[blockIdx.y];
  const Chunk& c = s.chunk;
  const auto place = [&](std::int32_t tile) { return of_scan.place[tile]; };
  // RST behind an interval, EOI behind the last one of a stream that begins with SOI.
  const std::uint32_t code = !c.ends_interval ? 0
                             : !c.ends_scan   ? marker::kRst0 + c.interval % 8
                             : of_scan.ends_stream && a.head_bytes > 0 ? marker::kEoi
                                                                       : 0;
  std::uint32_t size = of_scan.header + (code != 0 ? 2 : 0);
  std::uint32_t at = 0, length = 0;
#pragma unroll 1
  for (std::uint32_t r = 0; r < c.rounds; ++r) {
    fill_round(s, r, place, r == 0 ? of_scan.carry : 0);
    at = cta_exclusive_sum(s, stuffed_bytes(load_piece(s, r)), length);
    size += length;
    if (c.rounds > 1) __syncthreads();
  }
  find_place(a.chunk_states + std::uint64_t{blockIdx.y} * a.stream_chunks, s, size);
  __syncthreads();
  std::uint64_t offset = s.before;
  const std::uint32_t header = of_scan.header;
  if (offset + header <= output.capacity) {
    const std::uint8_t* const from =
        a.headers + std::uint64_t{blockIdx.y} * a.header_room + of_scan.header_at;
#pragma unroll 1
    for (std::uint32_t i = threadIdx.x; i < header; i += kThreads) output.out[offset + i] = from[i];
  }
  offset += header;
#pragma unroll 1
  for (std::uint32_t r = 0; r < c.rounds; ++r) {
    if (c.rounds > 1) {
      __syncthreads();  // all bytes of s.stage have been stored
      fill_round(s, r, place, r == 0 ? of_scan.carry : 0);
      at = cta_exclusive_sum(s, stuffed_bytes(load_piece(s, r)), length);
    }
    const SharedAddress stage = shared_address(s.stage);
    stage_piece(load_piece(s, r), stage, at);
    if (r + 1 == c.rounds && code != 0) {
      if (threadIdx.x == 0) stage_marker(stage, length, code);
      length += 2;
    }
    __syncthreads();
    store_round(output, s, length, offset);
    offset += length;
  }
  if (of_scan.ends_stream && threadIdx.x == 0) *output.size = offset;
}

}  // namespace
}  // namespace cuda_encode::assembly

Status assemble(const AssembleArgs& args, cudaStream_t stream) {
  const LaunchShape shape{args.grid.chunks, cuda_encode::assembly::kThreads, 0, args.frames};
  return ZR_CUDA_STATUS(launch_behind(cuda_encode::assembly::assemble_kernel, shape, stream, args));
}

Status assemble_scans(const ScriptArgs& args, cudaStream_t stream) {
  const LaunchShape shape{args.stream_chunks, cuda_encode::assembly::kThreads, 0, args.frames};
  return ZR_CUDA_STATUS(
      launch_behind(cuda_encode::assembly::assemble_scans_kernel, shape, stream, args));
}

}  // namespace zerorun
