// Symbol counts -> optimal tables, then the script that takes the fewest bits, and the headers of
// its scans.
// SPDX-License-Identifier: MIT
#include "cuda/base/check.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/encode/scan_kernels.hpp"
#include "cuda/stages/optimal_huffman.cuh"

namespace zerorun {
namespace cuda_encode::scripts {
namespace {

constexpr int kThreads = optimal_huffman::kThreads;  // a symbol each

/// Bits behind a codeword of the scan.
__device__ std::uint32_t appended_bits_of(bool is_dc, unsigned symbol) {
  if (is_dc) return symbol;
  if (symbol % 16 != 0 || symbol == kZrl) return symbol % 16;
  return symbol / 16;  // EOBn
}

/// Sum over the threads of the CTA, to all. Synchronises twice.
__device__ std::uint64_t sum_of_cta(std::uint64_t own) {
  __shared__ std::uint64_t of_warp[kThreads / 32];
  const std::uint64_t sum = warp_sum(own);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  std::uint64_t all = 0;
#pragma unroll
  for (const std::uint64_t part : of_warp) all += part;
  __syncthreads();
  return all;
}

/// How often the thread's symbol comes in a scan. `slot`: of the table.
__device__ std::uint32_t count_of_symbol(const JobCounts& counts, const ScanPlan& scan,
                                         unsigned slot) {
  constexpr int kCuts = JobCounts::kSegments - 1;
  if (scan.is_dc() || scan.is_refinement()) return counts.row[slot][threadIdx.x];
  // Bands: all, up to each cut, from each cut on.
  const int band = scan.in_job, from = band > kCuts ? band - kCuts : 0;
  const int end = band == 0 || from > 0 ? JobCounts::kSegments : band;
  std::uint32_t count = from > 0 ? counts.row[JobCounts::kSegments - 1 + from][threadIdx.x] : 0;
  for (int row = from; row < end; ++row) count += counts.row[row][threadIdx.x];
  const unsigned ends = threadIdx.x / 16;
  if (threadIdx.x % 16 == 0 && ends < 15)
    count += counts.row[JobCounts::kEndsRow][16 * static_cast<unsigned>(band) + ends];
  return count;
}

/// A CTA takes a scan.
__global__ void __launch_bounds__(kThreads)
    scan_tables_kernel(const __grid_constant__ ScriptArgs a) {
  __shared__ optimal_huffman::Shared s;
  __shared__ HuffmanSpec spec;
  __shared__ std::uint32_t longest;
  wait_for_previous_kernel();
  const ScanPlan& scan = a.plan[blockIdx.x];
  const std::uint64_t number = std::uint64_t{blockIdx.y} * a.scans + blockIdx.x;
  constexpr unsigned kSosBytes = 2 + 2 + 1 + 3;  // and two for each component
  std::uint64_t bits = a.corrections[number] + 8 * (kSosBytes + 2 * scan.components);
#pragma unroll 1
  for (unsigned slot = 0; slot < scan.tables; ++slot) {
    optimal_huffman::start_table(s);
    if (threadIdx.x == 0) longest = 0;
    __syncthreads();
    const std::uint64_t table = number * kScanTables + slot;
    const std::uint32_t count =
        count_of_symbol(a.counts[std::uint64_t{blockIdx.y} * a.count_jobs + scan.job], scan, slot);
    const optimal_huffman::Table built = optimal_huffman::build_table(s, count);
    const optimal_huffman::Codeword& own = built.own;
    a.codes[table * 256 + threadIdx.x] = own.bits == 0 ? 0 : own.code << (32 - own.bits) | own.bits;
    optimal_huffman::store_spec(s, built, spec);
    // As scan_bits(): before lengths are limited, and with the reserved symbol, which comes once.
    const std::uint32_t size = count != 0 ? s.size[threadIdx.x] : 0;
    if (size != 0) atomicMax(&longest, size);
    const std::uint64_t coded =
        sum_of_cta(std::uint64_t{count} * (size + appended_bits_of(scan.is_dc(), threadIdx.x)));
    bits += coded + longest + 8 * static_cast<unsigned>(kDhtLeadBytes + built.count);
    auto* const to = reinterpret_cast<std::uint8_t*>(a.specs + table);
    for (unsigned i = threadIdx.x; i < sizeof spec; i += kThreads)
      to[i] = reinterpret_cast<const std::uint8_t*>(&spec)[i];
    __syncthreads();  // before the next table takes the room
  }
  if (threadIdx.x == 0) a.bits[number] = bits;
}

__device__ int code_count(const HuffmanSpec& spec) {
  int count = 0;
  for (int i = 1; i <= kMaxCodeBits; ++i) count += spec.bits.data()[i];
  return count;
}

/// The bytes in front of a scan, written a piece after another by a CTA.
class Header {
 public:
  __device__ explicit Header(std::uint8_t* out) : out_(out) {}

  __device__ void copy(const std::uint8_t* from, std::uint32_t count) {
#pragma unroll 1
    for (std::uint32_t i = threadIdx.x; i < count; i += kThreads) out_[i] = from[i];
    out_ += count;
  }
  __device__ void put_dht(const DhtSegment& segment, const HuffmanSpec& spec) {
    const int codes = code_count(spec), bytes = kDhtLeadBytes + codes;
    for (int i = static_cast<int>(threadIdx.x); i < bytes; i += kThreads)
      out_[i] = segment.byte(spec, codes, i);
    out_ += bytes;
  }
  __device__ void put_dri(std::uint32_t interval) {
    const std::uint32_t word[6] = {0xFF, marker::kDri, 0, 4, interval >> 8, interval & 0xFF};
    if (threadIdx.x == 0) {
#pragma unroll
      for (int i = 0; i < 6; ++i) out_[i] = static_cast<std::uint8_t>(word[i]);
    }
    out_ += 6;
  }
  __device__ std::uint8_t* end() const { return out_; }

 private:
  std::uint8_t* out_;
};

/// A CTA takes a frame.
__global__ void __launch_bounds__(kThreads)
    order_scans_kernel(const __grid_constant__ ScriptArgs a) {
  wait_for_previous_kernel();
  StreamOrder& stream = a.streams[blockIdx.x];
  const std::uint64_t frame = blockIdx.x;
  if (threadIdx.x == 0) {
    choose_order(*a.choices, a.bits + frame * a.scans, stream.order);
    std::uint32_t ctas = 0, chunks = 0;
    const std::uint32_t scans = stream.order.scans;
    for (std::uint32_t i = 0; i < scans; ++i) {
      const ScanPlan& scan = a.plan[stream.order.scan[i]];
      stream.first_cta[i] = ctas;
      stream.first_chunk[i] = chunks;
      ctas += scan.ctas;
      chunks += scan.grid.chunks;
    }
    stream.first_cta[scans] = ctas;
    stream.first_chunk[scans] = chunks;
  }
  __syncthreads();
  std::uint8_t* const first = a.headers + frame * a.header_room;
  Header header(first);
  std::uint32_t interval = 0;
#pragma unroll 1
  for (std::uint32_t i = 0; i < stream.order.scans; ++i) {
    const std::uint32_t number = stream.order.scan[i];
    const ScanPlan& scan = a.plan[number];
    if (threadIdx.x == 0) stream.header_at[i] = static_cast<std::uint32_t>(header.end() - first);
    if (i == 0) header.copy(a.parts, a.head_bytes);
#pragma unroll 1
    for (unsigned slot = 0; slot < scan.tables; ++slot)
      header.put_dht({scan.is_dc() ? 0 : 1, scan.destination[slot]},
                     a.specs[(frame * a.scans + number) * kScanTables + slot]);
    if (scan.restart_interval != interval) header.put_dri(interval = scan.restart_interval);
    header.copy(a.parts + scan.sos_at, scan.sos_bytes);
  }
  if (threadIdx.x == 0)
    stream.header_at[stream.order.scans] = static_cast<std::uint32_t>(header.end() - first);
}

}  // namespace
}  // namespace cuda_encode::scripts

Status make_scan_tables(const ScriptArgs& args, cudaStream_t stream) {
  const LaunchShape shape{args.scans, cuda_encode::scripts::kThreads, 0, args.frames};
  ZR_CUDA_TRY(launch_behind(cuda_encode::scripts::scan_tables_kernel, shape, stream, args));
  return ZR_CUDA_STATUS(launch_behind(cuda_encode::scripts::order_scans_kernel, args.frames,
                                      cuda_encode::scripts::kThreads, stream, args));
}

}  // namespace zerorun
