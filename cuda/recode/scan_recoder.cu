// The decoder of a device that codes scans again: the pairs of a scan become the encoder's items,
// and no sample is made. A warp takes a tile, and a lane the pairs of a block; then all goes on as
// in the encoder. The symbols are those that ScanSymbols gives.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <memory>
#include <utility>

#include "codec/pipeline/coefficient_coder.hpp"
#include "cuda/base/device_limits.hpp"
#include "cuda/base/launch.hpp"
#include "cuda/decode/cuda_decode_pipeline.hpp"
#include "cuda/encode/frame_encoder.hpp"
#include "cuda/encode/pack_items.cuh"

namespace zerorun {
namespace cuda_encode {
namespace {

constexpr std::int32_t kMostAc = 1023, kMostDifference = 2047;  // of baseline streams

/// The lane's block, from the pairs that transform_blocks() has left. One of padding gets what the
/// encoder gives it, whatever it holds: no AC, and the DC of the component's block before, so that
/// the next block takes its difference, too.
class PairBlock {
 public:
  __device__ PairBlock(const CodeTilesArgs& a, const ScanArgs& scan, const Lane& lane)
      : scan_(scan), destination_(lane.block.component != 0 ? 1 : 0), exists_(lane.block.exists) {
    if (!exists_) return;
    const std::uint32_t interval = lane.tile.interval * scan.interval_blocks;
    std::uint32_t block = lane.tile.first_block + static_cast<unsigned>(lane_index());
    const std::uint32_t dc = scan.block_pair[interval + block];
    begin_ = end_ = dc + 1;
    if (lane.block.padding) return;
    end_ = scan.block_pair[interval + block + 1];
    difference_ = level(dc);
    while (true) {
      const int in_mcu = ScanPlace::of(a, block).in_mcu;
      const auto distance =
          static_cast<unsigned>(distance_to_predictor(a, lane.block.component, in_mcu));
      if (block < distance) return;
      block -= distance;
      if (!block_at(a, lane.tile, ScanPlace::of(a, block)).padding) return;
      difference_ += level(scan.block_pair[interval + block]);
    }
  }

  /// With DC and the end.
  __device__ std::uint32_t items() const { return exists_ ? end_ - begin_ + 2 : 0; }
  __device__ bool is_baseline() const { return abs(difference_) <= kMostDifference && has_usual_; }

  /// Calls visit(item, position before it) for all of them, but for an end without EOB.
  template <typename Visit>
  __device__ void walk(const Visit& visit) const {
    if (!exists_) return;
    visit(Item{Item::dc(destination_, difference_)}, 0);
    const std::uint32_t table = (Item::kFirstTable + 2 * destination_) << 24;
    int last = 0;
#pragma unroll 1
    for (std::uint32_t number = begin_; number != end_; ++number) {
      const auto value = static_cast<std::uint32_t>(level(number));
      const int position = static_cast<int>(scan_.pairs[number] & kPairIndexMask);
      const Item item{Item::ac(value, position) + table};
      visit(item, last);
      last = item.place();
    }
    if (last != kLastPlace) visit(Item{Item::eob(destination_, static_cast<unsigned>(last))}, last);
  }

  /// Stores the items from `next` on, and checks the levels.
  __device__ void list(SharedAddress next) {
    std::uint32_t last = 0;
    walk([&](Item item, int) {
      has_usual_ &= item.place() == 0 || abs(item.value()) <= kMostAc;
      last = item.word;
      push_word(next, item.word);
    });
    if (exists_ && (last & 0xFF) == kLastPlace) store_word(next, Item::bare_end(last));
  }

 private:
  static constexpr int kLastPlace = (kBlockSize - 1) * Item::kPlaceStep;

  __device__ std::int32_t level(std::uint32_t number) const {
    const std::int32_t level = level_of(scan_.pairs[number]);
    return level != kWideLevel ? level : scan_.wide[number];
  }

  const ScanArgs& scan_;
  std::uint32_t begin_ = 0, end_ = 0;  // of its AC pairs
  std::int32_t difference_ = 0;        // of DC
  unsigned destination_;
  bool exists_, has_usual_ = true;
};

__global__ void __launch_bounds__(kThreads, bounded_ctas(kCodeTilesCtas, kThreads, sizeof(Shared)))
    collect_pairs_kernel(const __grid_constant__ CodeTilesArgs a,
                         const __grid_constant__ ScanArgs scan, SymbolCounts* counts) {
  __shared__ Shared s;
  WarpShared& w = s.of_warp[warp_index()];
  const std::uint32_t number = tile_number();
  clear_counts(s);
  const Lane lane(a, number);
  wait_for_previous_kernel();
  let_next_kernel_begin();  // the next kernel has few CTAs
  if (is_skipped(a.skip)) return;
  __syncthreads();
  if (number < a.grid.tiles) {
    PairBlock block(a, scan, lane);
    const Sums items = warp_sums(block.items());
    const bool is_dense = items.total > kTileItems;
    if (lane_index() == 0) a.item_count[number] = is_dense ? kDenseTile : items.total;
    if (is_dense) {
      block.walk([&](Item item, int before) {
        count_item(item, row_slot(item, distance_of(item, before)), counts_of_lane(s));
      });
    } else {
      block.list(shared_address(w.item + items.before));
      __syncwarp();
      store_items(a, w, number, items.total);
      count_listed_tile(s, w, items.total);
    }
    if (!block.is_baseline()) scan.report->dc_fault = 1;
  }
  __syncthreads();
  add_counts(s, counts);
}

__global__ void __launch_bounds__(kThreads, bounded_ctas(kCodeTilesCtas, kThreads, sizeof(Shared)))
    code_pairs_kernel(const __grid_constant__ CodeTilesArgs a,
                      const __grid_constant__ ScanArgs scan, SymbolCounts* counts) {
  __shared__ Shared s;
  WarpShared& w = s.of_warp[warp_index()];
  const std::uint32_t number = tile_number();
  wait_for_previous_kernel();
  if (is_skipped(a.skip)) return;
  std::uint32_t items = 0;
  if (number < a.grid.tiles) items = a.item_count[number];
  if (items != kDenseTile)
    fetch(w.item, a.items + std::int64_t{number} * kTileItems, vectors(items),
          static_cast<unsigned>(lane_index()), 32);
  fetch_by_cta(s.codes, a.codes);
  if (blockIdx.x == 0) clear_counts(*counts);
  wait_for_fetched();
  if (number >= a.grid.tiles) return;
  if (items != kDenseTile) {
    code_listed_tile(a, s, w, number, items);
    return;
  }
  const PairBlock block(a, scan, Lane(a, number));
  code_dense_tile(a, s, number, [&](const auto& visit) { block.walk(visit); });
}

}  // namespace
}  // namespace cuda_encode

namespace {

using namespace cuda_encode;

/// Whether the encoder's kernels code scans of this layout.
bool is_encoders(const ScanLayout& layout, ColorModel color) {
  const auto& c = layout.component;
  const auto is_single = [&c](int i) { return c[i].h == 1 && c[i].v == 1; };
  return layout.components == 1 ? is_single(0)
                                : layout.components == 3 && color == ColorModel::ycbcr &&
                                      c[0].h <= 2 && c[0].v <= 2 && is_single(1) && is_single(2);
}

class ScanRecoder final : public CudaDecodePipeline {
 public:
  using CudaDecodePipeline::CudaDecodePipeline;
  /// Work that an error left behind uses the encoder's memory.
  ~ScanRecoder() override { (void)image_.wait(); }

  Result<bool> recode_scan(const FrameHeader& frame, std::span<const FrameScan> scans,
                           ColorModel color, RecodedScan& out) override {
    const auto& [scan, data] = scans[0];
    const ScanLayout& layout = scan.layout;
    if (scans.size() != 1 || frame.progressive || !is_encoders(layout, color) ||
        scan.components.size() != frame.components.size() || !scans_.takes(scan, data.size()) ||
        !FrameEncoder::check_size(layout))
      return false;
    const DeviceGuard guard(device_);
    ZR_TRY(guard.status());
    clock_.restart();
    auto done = recode(scan, data);
    if (!done) (void)image_.wait();  // the memory is in use until then
    if (!done || !*done) return done;
    ZR_TRY(announce(probe_, ""));
    ZR_TRY(clock_.collect(image_.stream()));
    out.bytes = {stream_.data(), static_cast<std::size_t>(report_.data()->size)};
    std::copy_n(report_.data()->specs, kEncodeTables, out.specs.begin());
    return true;
  }

 private:
  struct Report {
    std::uint64_t size;
    HuffmanSpec specs[kEncodeTables];
  };

  Result<bool> recode(const ScanHeader& scan, std::span<const std::uint8_t> data) {
    // Tables of its own hardly ever make a stream larger; one that does not fit is left to the CPU.
    const std::size_t room = data.size() + data.size() / 8 + 4096;
    ZR_TRY(stream_.reserve(static_cast<std::int64_t>(room)));
    ZR_TRY(report_.reserve(1));
    EncodeSetup setup{};
    setup.layout = scan.layout;
    setup.h_max = scan.layout.component[0].h;
    setup.v_max = scan.layout.component[0].v;
    setup.width = scan.layout.component[0].width;
    setup.height = scan.layout.component[0].height;
    for (QuantTable& table : setup.quant) table.fill(1);
    setup.huffman = HuffmanTables::optimal;
    setup.planes_are_components = true;
    Report* const report = report_.data();
    ZR_LET(
        result, decode_on_device(scan, data, [&](const ScanArgs& args) -> Status {
          const auto of_pairs = [&args](auto kernel) {
            return [&args, kernel](const CodeTilesArgs& tiles, SymbolCounts* counts,
                                   cudaStream_t stream) {
              const LaunchShape shape{ceil_div(tiles.grid.tiles, std::uint32_t{kWarps}), kThreads};
              return ZR_CUDA_STATUS(launch_behind(kernel, shape, stream, tiles, args, counts));
            };
          };
          report->size = 0;
          ZR_TRY(encoder_.enqueue_items(setup, of_pairs(collect_pairs_kernel),
                                        of_pairs(code_pairs_kernel), &args.summary->outcome,
                                        {stream_.data(), room, &report->size}, image_.stream()));
          return ZR_CUDA_STATUS(cudaMemcpyAsync(report->specs, encoder_.specs(),
                                                sizeof report->specs, cudaMemcpyDeviceToHost,
                                                image_.stream()));
        }));
    const bool is_coded = result.succeeded && report->size != 0;
    if (is_coded) encoder_.items_were_coded();
    return is_coded && report->size <= room;
  }

  FrameEncoder encoder_;
  PinnedBuffer<std::uint8_t> stream_;
  PinnedBuffer<Report> report_;
};

}  // namespace

Result<std::unique_ptr<DecodePipeline>> make_cuda_recode_pipeline(int device, int threads) {
  auto pipeline = std::make_unique<ScanRecoder>(device, threads);
  ZR_TRY(pipeline->create());
  return std::unique_ptr<DecodePipeline>(std::move(pipeline));
}

}  // namespace zerorun
