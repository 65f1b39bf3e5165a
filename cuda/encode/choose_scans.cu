// Symbol counts -> optimal tables, then the script that takes the fewest bits, and the headers of
// its scans.
// SPDX-License-Identifier: MIT
#include "cuda/base/launch.hpp"
#include "cuda/encode/frame_kernels.hpp"
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
__device__ std::uint32_t count_of_symbol(const JobCounts& counts, const CodedScan& scan,
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
  const CodedScan& scan = a.plan[blockIdx.x];
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
#pragma unroll
  for (int i = 1; i <= kMaxCodeBits; ++i) count += spec.bits.data()[i];
  return count;
}

constexpr int kDriBytes = 6;
__device__ std::uint8_t dri_byte(std::uint32_t interval, int i) {
  const std::uint64_t segment =
      std::uint64_t{0xFF000004} << 16 | std::uint64_t{marker::kDri} << 32 | (interval & 0xFFFF);
  return static_cast<std::uint8_t>(segment >> 8 * (kDriBytes - 1 - i));
}

/// What stands in front of a scan.
struct Header {
  const CodedScan& scan;
  const HuffmanSpec* specs;  ///< of its tables
  bool is_first, has_dri;

  __device__ int bytes(const ScriptArgs& a) const {
    int all = static_cast<int>(scan.sos_bytes + (is_first ? a.head_bytes : 0)) +
              (has_dri ? kDriBytes : 0);
    for (int slot = 0; slot < scan.tables; ++slot) all += kDhtLeadBytes + code_count(specs[slot]);
    return all;
  }
  /// By a warp.
  __device__ void write(const ScriptArgs& a, std::uint8_t* out) const {
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const auto put = [&](int bytes, const auto& byte) {
#pragma unroll 1
      for (int i = lane; i < bytes; i += 32) out[i] = byte(i);
      out += bytes;
    };
    if (is_first) put(static_cast<int>(a.head_bytes), [&](int i) { return a.parts[i]; });
#pragma unroll 1
    for (int slot = 0; slot < scan.tables; ++slot) {
      const HuffmanSpec& spec = specs[slot];
      const DhtSegment segment{scan.is_dc() ? 0 : 1, scan.destination[slot]};
      const int codes = code_count(spec);
      put(kDhtLeadBytes + codes, [&](int i) { return segment.byte(spec, codes, i); });
    }
    if (has_dri) put(kDriBytes, [&](int i) { return dri_byte(scan.restart_interval, i); });
    put(static_cast<int>(scan.sos_bytes), [&](int i) { return a.parts[scan.sos_at + i]; });
  }
};

/// Exclusive sum of `own` over the lanes, into `sums`, with the sum of all behind those of `count`
/// lanes; by the first warp.
__device__ void store_sums(std::uint32_t own, std::uint32_t count, std::uint32_t* sums) {
  const std::uint32_t up_to = warp_inclusive_sum(own);
  if (threadIdx.x < count) sums[threadIdx.x] = up_to - own;
  if (threadIdx.x + 1 == count) sums[count] = up_to;
}
static_assert(kMaxScans <= 32);

/// A CTA takes a frame.
__global__ void __launch_bounds__(kThreads)
    order_scans_kernel(const __grid_constant__ ScriptArgs a) {
  __shared__ std::uint64_t bits[256];
  __shared__ ScanChoices choices;
  __shared__ ScanOrder order;
  __shared__ std::uint32_t header_at[kMaxScans + 1];
  const std::uint64_t frame = blockIdx.x;
  for (unsigned i = threadIdx.x; i < sizeof choices; i += kThreads)
    reinterpret_cast<std::uint8_t*>(&choices)[i] =
        reinterpret_cast<const std::uint8_t*>(a.choices)[i];
  wait_for_previous_kernel();
  if (threadIdx.x < a.scans) bits[threadIdx.x] = a.bits[frame * a.scans + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) choose_order(choices, bits, order);
  __syncthreads();
  const std::uint32_t scans = order.scans;
  StreamOrder& stream = a.streams[frame];
  const auto header_of = [&](std::uint32_t i) {
    const CodedScan& scan = a.plan[order.scan[i]];
    const std::uint32_t before = i == 0 ? 0 : a.plan[order.scan[i - 1]].restart_interval;
    return Header{scan, a.specs + (frame * a.scans + order.scan[i]) * kScanTables, i == 0,
                  scan.restart_interval != before};
  };
  if (threadIdx.x < 32) {
    const std::uint32_t i = threadIdx.x;
    const bool has_scan = i < scans;
    const CodedScan& scan = a.plan[order.scan[has_scan ? i : 0]];
    if (has_scan) stream.order.scan[i] = order.scan[i];
    if (i == 0) stream.order.scans = scans;
    store_sums(has_scan ? scan.ctas : 0, scans, stream.first_cta);
    store_sums(has_scan ? scan.grid.chunks : 0, scans, stream.first_chunk);
    store_sums(has_scan ? static_cast<std::uint32_t>(header_of(i).bytes(a)) : 0, scans, header_at);
  }
  __syncthreads();
  if (threadIdx.x <= scans) stream.header_at[threadIdx.x] = header_at[threadIdx.x];
#pragma unroll 1
  for (std::uint32_t i = threadIdx.x / 32; i < scans; i += kThreads / 32)
    header_of(i).write(a, a.headers + frame * a.header_room + header_at[i]);
}

}  // namespace
}  // namespace cuda_encode::scripts

Status make_scan_tables(const ScriptArgs& args, cudaStream_t stream) {
  const LaunchShape shape{args.scans, cuda_encode::scripts::kThreads, 0, args.frames};
  ZR_CUDA_TRY(launch_behind(cuda_encode::scripts::scan_tables_kernel, shape, stream, args));
  return ZR_CUDA_STATUS(launch_behind(cuda_encode::scripts::order_scans_kernel,
                                      {args.frames, cuda_encode::scripts::kThreads}, stream, args));
}

}  // namespace zerorun
