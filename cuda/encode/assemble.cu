// The bits of the tiles -> stuffed bytes with markers, at their places in the stream. A CTA takes a
// chunk of tiles and looks back over all chunks to find how many bytes stand before its own.
// SPDX-License-Identifier: MIT
#include "cuda/encode/assemble.hpp"

#include "cuda/base/architecture.cuh"
#include "cuda/base/check.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/base/look_back.cuh"
#include "cuda/encode/chunk_bits.cuh"
#include "cuda/encode/stream_envelope.cuh"

namespace zerorun {
namespace cuda_encode::assembly {
namespace {

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

/// Bytes of the scan before the chunk; by one warp.
__device__ std::uint64_t look_back(const std::uint64_t* states, std::uint32_t chunk) {
  std::uint64_t own = 0;
  walk_back<4, std::int32_t>(states, chunk, [&](std::uint64_t state, bool counts) {
    if (counts) own += state & kTileSumMask;
    return false;
  });
  return warp_sum(own);
}

/// Publishes the size of the chunk and finds how many bytes stand before it: s.before after the
/// next barrier. By the last warp, whose threads mostly have no bytes to stuff meanwhile.
__device__ void find_place(const AssembleArgs& a, Shared& s, std::uint64_t size) {
  if (threadIdx.x / 32 != kWarps - 1) return;
  const std::uint32_t number = blockIdx.x;
  std::uint64_t* const chunks = a.chunks + a.grid.chunk_index(0);
  const bool leads = threadIdx.x % 32 == 0;
  if (leads) store_relaxed(chunks + number, (number == 0 ? kTileInclusive : kTileAggregate) | size);
  const std::uint64_t before = number == 0 ? 0 : look_back(chunks, number);
  if (!leads) return;
  if (number > 0) store_relaxed(chunks + number, kTileInclusive | (before + size));
  s.before = before;
}

/// Puts a thread's bytes into words of s.stage. In words of bytes here the first one is lowest. The
/// first word and the last one may have bytes of other threads too, which are put there likewise.
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

/// Puts the stuffed bytes of a round into s.stage, with the marker behind the last one. `at`: where
/// the thread's bytes stand among the `length` of the round. Returns how many bytes there are with
/// the marker. Other threads may read them after the next barrier.
__device__ std::uint32_t stage_round(const AssembleArgs& a, Shared& s, const Piece& p,
                                     std::uint32_t at, std::uint32_t length, bool last_round) {
  const Chunk& c = s.chunk;
  const SharedAddress stage = shared_address(s.stage);
  stage_piece(p, stage, at);
  if (!last_round || !c.ends_interval || (c.ends_scan && a.stream.parts_bytes == 0)) return length;
  if (threadIdx.x == 0) {
    ByteStage out(stage, length);
    out.append_byte(0xFF, 8, true);
    out.append_byte(c.ends_scan ? marker::kEoi : marker::kRst0 + c.interval % 8, 8, true);
    out.finish();
  }
  return length + 2;
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
    fill_round(s, r);
    at = cta_exclusive_sum(s, stuffed_bytes(load_piece(s, r)), length);
    size += length;
    if (c.rounds > 1) __syncthreads();
  }
  find_place(a, s, size);
  const std::uint32_t header = c.header;
  if (blockIdx.x == 0 && header <= output.capacity) copy_header<kThreads>(a.stream, output, header);
  std::uint64_t offset = header;
  for (std::uint32_t r = 0; r < c.rounds; ++r) {
    if (c.rounds > 1) {
      __syncthreads();  // all bytes of s.stage have been stored
      fill_round(s, r);
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

}  // namespace
}  // namespace cuda_encode::assembly

Status assemble(const AssembleArgs& args, cudaStream_t stream) {
  const LaunchShape shape{args.grid.chunks, cuda_encode::assembly::kThreads, 0, args.frames};
  ZR_CUDA_TRY(launch_behind(cuda_encode::assembly::assemble_kernel, shape, stream, args));
  return Status::ok();
}

}  // namespace zerorun
