// Variable-length encode of bytes in one pass over the input. Serial twin:
// codec/entropy/variable_length.cpp; the published form: vle_chained.cu.
//
// Persistent CTAs take tiles of some thousand symbols. Codewords are looked up once, in a table
// that a warp has in many memory banks, and merged in pairs in registers. The tile's bits are put
// together in one of two buffers in shared memory. Its place in the output is looked up by a warp
// of its own while the others pack the next tile, and then it leaves in whole words. The last,
// incomplete word of a tile is handed to the next tile, which writes it: every output word is
// stored exactly once, so nothing has to be cleared or ORed.
// SPDX-License-Identifier: MIT
#include "cuda/entropy/launch.hpp"
#include "cuda/entropy/look_back.cuh"

namespace zerorun::cuda_entropy {
namespace {

/// 15 warps pack and one looks up places; with 64 registers two such CTAs fill a processor.
/// 256 MB of 4 bits entropy on an H200, GB/s. One run, four windows of 32 tiles at once in the
/// look-back: 729 so, 633 with three CTAs of 11 + 1 warps and 16 copies of the table, 503 with four
/// of 7 + 1. Another run: 735 with one window at once, 727 with two, 722 with one CTA of 31 + 1
/// warps; eight windows gave 707 in a third. The look-back written as it stands gave 657 in the
/// last run.
constexpr int kPackers = 480;
constexpr int kThreads = kPackers + 32;
constexpr int kRegisters = 64;
constexpr int kWarps = kPackers / 32;
constexpr int kPerThread = 16;
constexpr int kTile = kPackers * kPerThread;
/// Copies of the table, one for each lane and memory bank.
constexpr int kCopies = 32;
constexpr int kBuffers = 2;
constexpr unsigned kNoTile = 0xFFFFFFFFu;
/// Longest codeword that the packed table holds: value in the upper 23 bits, left-aligned, length
/// in the lower 9, in which 16 lengths can be added up.
constexpr unsigned kPackedBits = 23;
constexpr unsigned kLengthMask = 0x1FF;
constexpr unsigned kNoCodeword = 0x100;  // a length that no codeword has
/// A tile's last bits for its right neighbour; the flag tells them from memory not yet written.
constexpr std::uint64_t kTailReady = std::uint64_t{1} << 63;

struct Args {
  const std::uint8_t* in;
  std::uint64_t size;
  const Codebook* book;
  std::uint32_t* out;
  std::uint64_t capacity;
  std::uint64_t chunk_mask;  // symbols per chunk - 1
  std::uint64_t* offsets;    // or null
  std::uint64_t* states;     // per tile: look-back state
  std::uint64_t* tails;      // per tile: its last 32 bits
  unsigned* ticket;
  Outcome* outcome;
  unsigned tiles;
  unsigned
      plain_tiles;  // the first so many are whole and their symbols are aligned for vector loads
};

struct Shared {
  union {
    unsigned packed[kSymbols * kCopies];  // [symbol][copy]
    struct {
      unsigned value[kSymbols];
      unsigned length[kSymbols];
    } plain;  // for codewords that do not fit the packed form
  } table;
  /// words[0] is the tail of the tile before, words[1 + i] word i of this tile, one more than the
  /// longest codewords need. Zero between tiles.
  unsigned words[kBuffers][2 + kTile];
  unsigned warp_bits[kWarps];
  unsigned tile_bits[kBuffers];
  unsigned first_bit[kBuffers][kPackers];  // of each thread in the tile, for the chunk index
  unsigned next_tile;
  std::uint64_t base;  // bits before the tile that is being stored
};

/// Fills the table. True if the packed form holds all codewords.
__device__ bool load_table(const Codebook& book, Shared& s) {
  unsigned longest = 0;
  if (threadIdx.x < kSymbols) {
    const unsigned length = book.bits[threadIdx.x];
    longest = length <= entropy::kMaxCodeBits ? length : 0;
  }
  const bool packed = __syncthreads_or(longest > kPackedBits) == 0;
  constexpr int kHalf = kCopies / 2;
  for (unsigned i = threadIdx.x; i < 2 * kSymbols; i += kThreads) {
    const unsigned symbol = i % kSymbols;
    unsigned length = book.bits[symbol];
    if (length > entropy::kMaxCodeBits) length = 0;
    const unsigned value = length == 0 ? 0 : book.value[symbol] << (32 - length);
    if (packed) {  // half of the copies; rotated, so that these stores too spread over the banks
      unsigned* const row = s.table.packed + symbol * kCopies + i / kSymbols * kHalf;
      for (int l = 0; l < kHalf; ++l)
        row[(symbol + l) % kHalf] = length == 0 ? kNoCodeword : value | length;
    } else if (i < kSymbols) {
      s.table.plain.value[symbol] = value;
      s.table.plain.length[symbol] = length;
    }
  }
  return packed;
}

/// The thread's 16 symbols; those after the end read as 0.
__device__ uint4 load_symbols(const Args& a, unsigned tile) {
  const std::uint64_t at = std::uint64_t{tile} * kTile + threadIdx.x * kPerThread;
  const std::uint8_t* const from = a.in + at;
  if (tile < a.plain_tiles) return __ldcs(reinterpret_cast<const uint4*>(from));
  unsigned words[4] = {};
#pragma unroll
  for (int i = 0; i < kPerThread; ++i)
    if (at + i < a.size) words[i / 4] |= static_cast<unsigned>(from[i]) << (8 * (i % 4));
  return make_uint4(words[0], words[1], words[2], words[3]);
}

__device__ unsigned symbol_of(const uint4& symbols, int i) {
  const unsigned word = i < 4 ? symbols.x : i < 8 ? symbols.y : i < 12 ? symbols.z : symbols.w;
  return word >> (8 * (i % 4)) & 0xFF;
}

/// Symbols of this thread that exist.
__device__ int valid_symbols(const Args& a, unsigned tile) {
  if (tile < a.plain_tiles) return kPerThread;
  const std::uint64_t at = std::uint64_t{tile} * kTile + threadIdx.x * kPerThread;
  if (at >= a.size) return 0;
  const std::uint64_t left = a.size - at;
  return left < kPerThread ? static_cast<int>(left) : kPerThread;
}

__device__ void report_symbol(const Args& a, unsigned tile, int i) {
  const std::uint64_t at =
      std::uint64_t{tile} * kTile + threadIdx.x * kPerThread + static_cast<unsigned>(i);
  report_fault(a.outcome, pack_fault(at, Errc::invalid_argument, FaultPosition::bytes));
}

/// Bits on their way into shared memory. Words are ORed, although only a thread's first and last
/// are shared with others: telling them apart costs a branch that diverges.
struct BitWriter {
  unsigned* words;
  unsigned at;           // bit position in the tile
  unsigned pending = 0;  // bits of the current word

  /// Appends the `length` (0..32) highest bits of `bits`; the others are 0.
  __device__ void append(unsigned bits, unsigned length) {
    pending |= __funnelshift_r(bits, 0, at);  // >> (at mod 32)
    const unsigned next = at + length;
    if ((next ^ at) >= 32) {
      atomicOr(words + at / 32, pending);
      pending = __funnelshift_r(0, bits, at);  // what did not fit; nothing at a word boundary
    }
    at = next;
  }

  __device__ void finish() {
    if (pending != 0) atomicOr(words + at / 32, pending);
  }
};

/// Pairs of codewords as one: left-aligned bits, and the lengths in the bytes of two words.
struct Merged {
  unsigned bits[kPerThread / 2];
  unsigned lengths[kPerThread / 8];

  __device__ unsigned length(int pair) const {
    return lengths[pair / 4] >> (8 * (pair % 4)) & 0xFF;
  }

  __device__ unsigned total() const {
    return __dp4a(lengths[0], 0x01010101u, __dp4a(lengths[1], 0x01010101u, 0u));
  }

  /// Every pair has at most 32 bits: none of the bytes, 46 at most, reaches 128 by adding 95.
  __device__ bool pairs_fit() const {
    return (((lengths[0] + 0x5F5F5F5Fu) | (lengths[1] + 0x5F5F5F5Fu)) & 0x80808080u) == 0;
  }

  /// The same for two pairs together.
  __device__ bool quads_fit() const {
    unsigned over = 0;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      over |= (lengths[i] & 0x00FF00FFu) + (lengths[i] >> 8 & 0x00FF00FFu) + 0x7FDF7FDFu;
    return (over & 0x80008000u) == 0;
  }
};

/// Looks up the thread's symbols in the packed table and merges them in pairs. Where a pair has
/// more than 32 bits they are incomplete, but its length is right.
__device__ void merge_pairs(const Args& a, const Shared& s, unsigned tile, const uint4& symbols,
                            Merged& merged) {
  const unsigned* const table = s.table.packed + threadIdx.x % kCopies;
  unsigned entries[kPerThread];
  unsigned all = 0;
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    entries[i] = table[symbol_of(symbols, i) * kCopies];
    all |= entries[i];
  }
  const int valid = valid_symbols(a, tile);
  if (valid < kPerThread || (all & kNoCodeword) != 0) {
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
      if (i < valid && (entries[i] & kNoCodeword) != 0) report_symbol(a, tile, i);
      if (i >= valid || (entries[i] & kNoCodeword) != 0) entries[i] = 0;
    }
  }
  merged.lengths[0] = merged.lengths[1] = 0;
#pragma unroll
  for (int i = 0; i < kPerThread / 2; ++i) {
    const unsigned first = entries[2 * i], second = entries[2 * i + 1];
    // The funnel shift takes the length modulo 32 straight from the entry.
    merged.bits[i] = (first & ~kLengthMask) | __funnelshift_r(second & ~kLengthMask, 0, first);
    // The low byte of the sum goes to byte i % 4.
    constexpr unsigned kInsert[4] = {0x3214, 0x3240, 0x3410, 0x4210};
    merged.lengths[i / 4] = __byte_perm(merged.lengths[i / 4], first + second, kInsert[i % 4]);
  }
}

/// Bits of the thread's codewords by the plain table.
__device__ unsigned plain_length(const Args& a, const Shared& s, unsigned tile) {
  const std::uint8_t* const from = a.in + std::uint64_t{tile} * kTile + threadIdx.x * kPerThread;
  const int valid = valid_symbols(a, tile);
  unsigned bits = 0;
#pragma unroll 1
  for (int i = 0; i < valid; ++i) {
    const unsigned length = s.table.plain.length[from[i]];
    if (length == 0) report_symbol(a, tile, i);
    bits += length;
  }
  return bits;
}

/// One codeword after the other, by either table. Symbols are loaded again and the loop is kept
/// small: this path is rare, and its registers would cost the common one a third of its CTAs.
__device__ void append_singly(const Args& a, const Shared& s, unsigned tile, bool packed,
                              BitWriter& writer) {
  const std::uint8_t* const from = a.in + std::uint64_t{tile} * kTile + threadIdx.x * kPerThread;
  const int valid = valid_symbols(a, tile);
#pragma unroll 1
  for (int i = 0; i < valid; ++i) {
    unsigned bits = 0, length = 0;
    if (packed) {
      const unsigned entry = s.table.packed[from[i] * kCopies + threadIdx.x % kCopies];
      bits = entry & ~kLengthMask;
      length = entry == kNoCodeword ? 0 : entry & kLengthMask;
    } else {
      bits = s.table.plain.value[from[i]];
      length = s.table.plain.length[from[i]];
    }
    writer.append(bits, length);
  }
}

/// Pairs are merged once more where that fits 32 bits throughout the warp, as it mostly does when
/// the symbols compress well.
__device__ void append_pairs(const Merged& merged, BitWriter& writer) {
  if (__all_sync(kFullWarp, merged.quads_fit())) {
#pragma unroll
    for (int i = 0; i < kPerThread / 2; i += 2) {
      // The clamping shift: a first pair of 32 bits leaves no room for the second.
      const unsigned first = merged.length(i);
      const unsigned bits = merged.bits[i] | __funnelshift_rc(merged.bits[i + 1], 0, first);
      writer.append(bits, first + merged.length(i + 1));
    }
  } else {
#pragma unroll
    for (int i = 0; i < kPerThread / 2; ++i) writer.append(merged.bits[i], merged.length(i));
  }
}

/// The last 32 bits of the tile, the very last one lowest. Tiles with a right neighbour have at
/// least one bit a symbol; if faults left fewer, the output is unspecified anyway.
__device__ unsigned tail_of(const unsigned* buffer, unsigned tile_bits) {
  const unsigned* const words = buffer + 1;
  const unsigned word = tile_bits / 32;
  const unsigned previous = word > 0 ? words[word - 1] : 0;
  return __funnelshift_l(words[word], previous, tile_bits);  // words[word] may have 0 bits: shift 0
}

/// Where the tile stands in the output, and the bits before it in its first word. By one warp.
__device__ void find_place(const Args& a, Shared& s, unsigned* buffer, unsigned tile,
                           unsigned tile_bits) {
  const bool leader = threadIdx.x % 32 == 0;
  std::uint64_t base = 0;
  if (tile > 0) {
    std::uint64_t tail = leader ? load_relaxed(a.tails + tile - 1) : 0;  // on its way meanwhile
    base = look_back(a.states, tile);
    if (leader) {
      store_relaxed(a.states + tile, kTileInclusive | (base + tile_bits));
      if (base % 32 != 0)
        while ((tail & kTailReady) == 0) tail = load_relaxed(a.tails + tile - 1);
      buffer[0] = base % 32 != 0 ? static_cast<unsigned>(tail) : 0;
    }
  }
  if (leader) s.base = base;
}

/// Stores the complete words of the tile, and the incomplete one too at the very end.
__device__ void store_words(const Args& a, const Shared& s, const unsigned* buffer,
                            unsigned tile_bits, bool last_tile) {
  const std::uint64_t first = s.base / 32;
  const unsigned shift = static_cast<unsigned>(s.base % 32);
  const unsigned bits = shift + tile_bits;
  unsigned words = last_tile ? (bits + 31) / 32 : bits / 32;
  const std::uint64_t room = first < a.capacity ? a.capacity - first : 0;
  if (words > room) {
    words = static_cast<unsigned>(room);
    if (threadIdx.x == 0)  // after all faults of symbols, which the serial twin finds first
      report_fault(a.outcome, pack_fault(a.size, Errc::output_too_small, FaultPosition::hidden));
  }
  std::uint32_t* const out = a.out + first;
  for (unsigned i = threadIdx.x; i < words; i += kThreads)
    out[i] = __funnelshift_r(buffer[1 + i], buffer[i], shift);
}

__device__ void sync_packers() { asm volatile("bar.sync 1, %0;" ::"n"(kPackers) : "memory"); }

/// Looks the symbols up and puts their bits into the buffer. Draws the next tile.
__device__ void pack_tile(const Args& a, Shared& s, unsigned tile, const uint4& symbols,
                          bool packed, unsigned buffer) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Merged merged = {};
  unsigned own_bits = 0;
  if (packed) {
    merge_pairs(a, s, tile, symbols, merged);
    own_bits = merged.total();
  } else {
    own_bits = plain_length(a, s, tile);
  }
  const unsigned inclusive = warp_inclusive_sum(own_bits);
  if (lane == 31) s.warp_bits[warp] = inclusive;
  sync_packers();  // also: the buffer is cleared
  const unsigned others = lane < kWarps ? s.warp_bits[lane] : 0;
  const unsigned sum = __reduce_add_sync(kFullWarp, others);
  const unsigned at =
      inclusive - own_bits + __reduce_add_sync(kFullWarp, lane < warp ? others : 0u);
  if (threadIdx.x == 0) {
    s.tile_bits[buffer] = sum;
    store_relaxed(a.states + tile, (tile == 0 ? kTileInclusive : kTileAggregate) | sum);
  }
  if (threadIdx.x == kPackers - 1) s.next_tile = atomicAdd(a.ticket, 1u);

  if (a.offsets != nullptr) s.first_bit[buffer][threadIdx.x] = at;
  BitWriter writer{s.words[buffer] + 1, at};
  if (__all_sync(kFullWarp, packed && merged.pairs_fit()))
    append_pairs(merged, writer);
  else
    append_singly(a, s, tile, packed, writer);
  writer.finish();
}

/// Sends a packed tile to the place that was found, and clears the buffer.
__device__ void store_tile(const Args& a, Shared& s, unsigned tile, unsigned buffer) {
  unsigned* const words = s.words[buffer];
  const unsigned tile_bits = s.tile_bits[buffer];
  const bool last_tile = tile + 1 == a.tiles;
  store_words(a, s, words, tile_bits, last_tile);
  if (a.offsets != nullptr && threadIdx.x < kPackers) {
    const std::uint64_t symbol = std::uint64_t{tile} * kTile + threadIdx.x * kPerThread;
    if (symbol < a.size && (symbol & a.chunk_mask) == 0)
      a.offsets[symbol >> __popcll(a.chunk_mask)] = s.base + s.first_bit[buffer][threadIdx.x];
  }
  if (last_tile && threadIdx.x == 0) {
    a.outcome->count = s.base + tile_bits;
    if (a.offsets != nullptr) a.offsets[ceil_div(a.size, a.chunk_mask + 1)] = s.base + tile_bits;
  }
  __syncthreads();
  if (threadIdx.x < kPackers)  // whose next barrier orders it before the buffer's next use
    for (unsigned i = threadIdx.x; i <= tile_bits / 32 + 1; i += kPackers) words[i] = 0;
}

/// No CTA waits while it packs, and it publishes there what others need; so the first tile that is
/// not stored yet always finds everything before it published, and the kernel terminates.
__global__ void __maxnreg__(kRegisters) encode_kernel(Args a) {
  extern __shared__ __align__(16) unsigned char memory[];
  Shared& s = *reinterpret_cast<Shared*>(memory);
  const bool packed = load_table(*a.book, s);
  unsigned* const all_words = s.words[0];
  for (int i = static_cast<int>(threadIdx.x); i < kBuffers * (2 + kTile); i += kThreads)
    all_words[i] = 0;
  if (threadIdx.x == 0) s.next_tile = atomicAdd(a.ticket, 1u);
  __syncthreads();
  unsigned tile = s.next_tile;
  __syncthreads();  // everyone has read it before a packer draws the next
  const bool packs = threadIdx.x < kPackers;
  uint4 symbols = packs && tile < a.tiles ? load_symbols(a, tile) : make_uint4(0, 0, 0, 0);
  unsigned waiting = kNoTile;  // packed, and not stored yet
  for (unsigned buffer = 0; tile < a.tiles || waiting != kNoTile; buffer ^= 1) {
    if (!packs) {
      if (waiting != kNoTile)
        find_place(a, s, s.words[buffer ^ 1], waiting, s.tile_bits[buffer ^ 1]);
    } else if (tile < a.tiles) {
      pack_tile(a, s, tile, symbols, packed, buffer);
    }
    __syncthreads();
    const unsigned next = tile < a.tiles ? s.next_tile : a.tiles;
    if (tile < a.tiles && threadIdx.x == kPackers - 1)
      store_relaxed(a.tails + tile, kTailReady | tail_of(s.words[buffer], s.tile_bits[buffer]));
    if (packs && next < a.tiles) symbols = load_symbols(a, next);
    if (waiting != kNoTile)
      store_tile(a, s, waiting, buffer ^ 1);
    else
      __syncthreads();  // everyone has read the ticket
    waiting = tile < a.tiles ? tile : kNoTile;
    tile = next;
  }
}

/// An empty input has no tile that could write the end of its index.
__global__ void empty_index_kernel(std::uint64_t* offsets) { offsets[0] = 0; }

}  // namespace

Status encode(void* d_scratch, std::size_t& scratch_bytes, const std::uint8_t* d_in,
              std::uint64_t size, const Codebook* d_book, std::uint32_t* d_out,
              std::uint64_t capacity, std::uint32_t chunk_symbols, std::uint64_t* d_offsets,
              Outcome* d_outcome, cudaStream_t stream) {
  const bool power_of_two = (chunk_symbols & (chunk_symbols - 1)) == 0;
  if (d_offsets != nullptr &&
      (chunk_symbols < kMinChunkSymbols || chunk_symbols > kMaxChunkSymbols || !power_of_two))
    return Status(Errc::invalid_argument, "a chunk has 16 to 2^20 symbols, a power of two");
  const std::uint64_t tiles = ceil_div(size, kTile);
  if (tiles > 0x7FFFFFFFu)
    return Status(Errc::invalid_argument, "at most 2^44 symbols can be encoded by one call");
  Scratch scratch(d_scratch);
  std::uint64_t* const state = scratch.take<std::uint64_t>(1 + 2 * tiles);
  if (Status status = scratch.settle(scratch_bytes); !status || scratch.measuring()) return status;
  ZR_ENTROPY_TRY(reset(state, 1 + 2 * tiles, d_outcome, stream));
  if (tiles == 0) {
    if (d_offsets != nullptr) empty_index_kernel<<<1, 1, 0, stream>>>(d_offsets);
    ZR_ENTROPY_TRY(cudaGetLastError());
    return Status::ok();
  }
  const bool aligned = reinterpret_cast<std::uintptr_t>(d_in) % sizeof(uint4) == 0;
  const Args a{d_in,
               size,
               d_book,
               d_out,
               capacity,
               d_offsets != nullptr ? chunk_symbols - 1 : 0,
               d_offsets,
               state + 1,
               state + 1 + tiles,
               reinterpret_cast<unsigned*>(state),
               d_outcome,
               static_cast<unsigned>(tiles),
               aligned ? static_cast<unsigned>(size / kTile) : 0};
  ZR_ENTROPY_TRY(cudaFuncSetAttribute(encode_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(sizeof(Shared))));
  unsigned grid = 0;
  ZR_ENTROPY_TRY(persistent_grid(encode_kernel, kThreads, sizeof(Shared), tiles, grid));
  encode_kernel<<<grid, kThreads, sizeof(Shared), stream>>>(a);
  ZR_ENTROPY_TRY(cudaGetLastError());
  return Status::ok();
}

}  // namespace zerorun::cuda_entropy
