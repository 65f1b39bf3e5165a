// The order of the fused encoder's kernels, and the memory that they share.
// SPDX-License-Identifier: MIT
#include "cuda/fused_encoder.hpp"

#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "codec/core/cuda_backend.hpp"
#include "codec/core/encode_setup.hpp"
#include "cuda/encode/optimal_huffman.hpp"
#include "cuda/fused/float_quant.hpp"
#include "cuda/prim/device_scan.hpp"

namespace zerorun {
namespace {

/// Tiles and MCUs are counted in 32 bits.
Status check_size(const ScanLayout& layout) {
  constexpr std::int64_t kMost = std::int64_t{1} << 28;
  if (layout.blocks() <= kMost) return Status::ok();
  return Status(Errc::out_of_memory, "the CUDA backend codes " + std::to_string(kMost) +
                                         " blocks of a frame at most, this one has " +
                                         std::to_string(layout.blocks()));
}

ReciprocalTables make_reciprocals(const std::array<QuantTable, 2>& quant) {
  ReciprocalTables tables{};
  for (std::size_t t = 0; t < 2; ++t)
    for (std::size_t y = 0; y < kBlockEdge; ++y)
      for (std::size_t x = 0; x < kBlockEdge; ++x)
        tables.table[t][x * kBlockEdge + y] = quant_reciprocal(quant[t][y * kBlockEdge + x]);
  return tables;
}

/// Whether memory and tables made for one setup serve the other.
bool same_setup(const EncodeSetup& a, const EncodeSetup& b) {
  return a.format == b.format && a.width == b.width && a.height == b.height && a.h_max == b.h_max &&
         a.v_max == b.v_max && a.layout.components == b.layout.components &&
         a.layout.restart_interval == b.layout.restart_interval && a.quant == b.quant &&
         a.huffman == b.huffman;
}

}  // namespace

void FusedEncoder::set_header(std::span<const std::uint8_t> bytes, std::size_t dht_place) {
  header_.assign(bytes.begin(), bytes.end());
  dht_place_ = dht_place;
  setup_.reset();
}

void FusedEncoder::set_header(const EncodeParams& params, const EncodeSetup& setup) {
  std::vector<std::uint8_t> bytes;
  const HuffmanPlace dht = write_header(make_stream_header(params, setup, {}), bytes).dht;
  bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(dht.begin),
              bytes.begin() + static_cast<std::ptrdiff_t>(dht.end));
  set_header(bytes, dht.begin);
}

Status FusedEncoder::enqueue(const EncodeSetup& setup, const ConstFrameView& frame,
                             const FusedOutput& output, cudaStream_t stream,
                             const StepProbe& probe) {
  if (!std::exchange(whole_, false) || !setup_ || !same_setup(*setup_, setup))
    ZR_TRY(prepare(setup, stream));
  CodeTilesArgs tiles{setup.layout,
                      grid_,
                      {},
                      reciprocals_.data(),
                      codes_.data(),
                      words_.data(),
                      tile_bits_.data(),
                      chunk_bits_[parity_].data(),
                      items_.data(),
                      item_count_.data()};
  ZR_TRY(make_planes(setup, frame, stream, probe, tiles));
  if (setup.huffman == HuffmanTables::optimal) {
    ZR_TRY(make_tables(tiles, stream, probe));
    ZR_TRY(announce(probe, "code_collected_tiles"));
    ZR_TRY(code_collected_tiles(tiles, stream));
  } else {
    ZR_TRY(announce(probe, "code_tiles"));
    ZR_TRY(code_tiles(tiles, stream));
  }
  const bool long_intervals = grid_.interval_chunks > kMaxSummedChunks;
  if (long_intervals) ZR_TRY(place_chunks(stream, probe));
  ZR_TRY(announce(probe, "assemble"));
  const AssembleArgs args{grid_,
                          words_.data(),
                          tile_bits_.data(),
                          chunk_bits_[parity_].data(),
                          long_intervals ? chunk_first_bit_.data() : nullptr,
                          header_whole_.data(),
                          header_bytes_.data(),
                          !header_.empty(),
                          states_[parity_].data(),
                          states_[parity_ ^ 1].data(),
                          chunk_bits_[parity_ ^ 1].data(),
                          output.out,
                          output.capacity,
                          output.size};
  ZR_TRY(assemble(args, stream));
  parity_ ^= 1;
  whole_ = true;
  return announce(probe, "");
}

Status FusedEncoder::prepare(const EncodeSetup& setup, cudaStream_t stream) {
  setup_.reset();
  ZR_TRY(check_size(setup.layout));
  grid_ = make_tile_grid(setup.layout);
  ZR_TRY(reserve(setup));
  ZR_TRY(upload(setup, stream));
  const std::size_t chunks = grid_.chunks;
  for (const auto& states : states_)
    ZR_CUDA_TRY(cudaMemsetAsync(states.data(), 0, chunks * sizeof(std::uint64_t), stream));
  for (const auto& bits : chunk_bits_)
    ZR_CUDA_TRY(cudaMemsetAsync(bits.data(), 0, chunks * sizeof(std::uint32_t), stream));
  parity_ = 0;
  setup_ = std::make_unique<EncodeSetup>(setup);
  if (setup.huffman == HuffmanTables::standard) return finish_tables(stream);
  ZR_CUDA_TRY(cudaMemsetAsync(counts_.data(), 0, sizeof(SymbolCounts), stream));
  return Status::ok();
}

Status FusedEncoder::reserve(const EncodeSetup& setup) {
  if (!setup.planes_are_components) {
    for (int c = 0; c < setup.layout.components; ++c) {
      const auto& component = setup.layout.component[c];
      ZR_TRY(planes_[c].reserve(std::int64_t{plane_stride(component)} * component.height));
    }
  }
  ZR_TRY(reciprocals_.reserve(1));
  ZR_TRY(codes_.reserve(1));
  ZR_TRY(tables_.reserve(1));
  ZR_TRY(specs_.reserve(kEncodeTables));
  ZR_TRY(counts_.reserve(1));
  ZR_TRY(header_parts_.reserve(static_cast<std::int64_t>(header_.size())));
  ZR_TRY(header_whole_.reserve(static_cast<std::int64_t>(header_.size()) + kMaxDhtBytes));
  ZR_TRY(header_bytes_.reserve(1));
  ZR_TRY(words_.reserve(grid_.tiles * kTileWords));
  ZR_TRY(tile_bits_.reserve(grid_.tiles));
  if (setup.huffman == HuffmanTables::optimal) {
    ZR_TRY(items_.reserve(std::int64_t{grid_.tiles} * kTileItems));
    ZR_TRY(item_count_.reserve(grid_.tiles));
  }
  if (grid_.interval_chunks > kMaxSummedChunks) {
    ZR_TRY(chunk_first_bit_.reserve(grid_.chunks));
    ZR_TRY(device_scan_temp_bytes(grid_.chunks, scan_temp_bytes_));
    ZR_TRY(scan_temp_.reserve((scan_temp_bytes_ + 7) / 8));
  }
  for (auto& states : states_) ZR_TRY(states.reserve(grid_.chunks));
  for (auto& bits : chunk_bits_) ZR_TRY(bits.reserve(grid_.chunks));
  return Status::ok();
}

Status FusedEncoder::upload(const EncodeSetup& setup, cudaStream_t stream) {
  // From pageable memory the calls return when the source has been read.
  const auto send = [&](void* to, const void* from, std::size_t bytes) -> Status {
    ZR_CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
    return Status::ok();
  };
  const ReciprocalTables reciprocals = make_reciprocals(setup.quant);
  ZR_TRY(send(reciprocals_.data(), &reciprocals, sizeof reciprocals));
  if (!header_.empty()) ZR_TRY(send(header_parts_.data(), header_.data(), header_.size()));
  if (setup.huffman == HuffmanTables::optimal) return Status::ok();
  HuffmanEncodeTables tables;
  for (int t = 0; t < kEncodeTables; ++t) {
    fill_encode_table(standard_huffman_spec(t), t, tables);
    ZR_TRY(send(specs_.data() + t, &standard_huffman_spec(t), sizeof(HuffmanSpec)));
  }
  return send(tables_.data(), &tables, sizeof tables);
}

Status FusedEncoder::make_planes(const EncodeSetup& setup, const ConstFrameView& frame,
                                 cudaStream_t stream, const StepProbe& probe, CodeTilesArgs& args) {
  const ScanLayout& layout = setup.layout;
  if (setup.planes_are_components) {
    for (std::size_t c = 0; c < static_cast<std::size_t>(layout.components); ++c)
      args.plane[c] = {frame.data[c], frame.stride_bytes[c], layout.component[c].width,
                       layout.component[c].height};
    return Status::ok();
  }
  ColorSubsampleArgs args_of_stage{frame, layout.components, setup.h_max, setup.v_max, {},
                                   0,     frame.height};
  for (int c = 0; c < layout.components; ++c) {
    const auto& component = layout.component[c];
    const std::int32_t stride = plane_stride(component);
    args_of_stage.plane[c] = {planes_[c].data(), stride, stride, component.height};
    args.plane[c] = {planes_[c].data(), stride, stride, component.height};
  }
  ZR_TRY(announce(probe, "color_subsample"));
  Exec exec = cuda_exec(stream, scratch_);
  return cuda_stages().color_subsample(args_of_stage, exec);
}

Status FusedEncoder::make_tables(const CodeTilesArgs& args, cudaStream_t stream,
                                 const StepProbe& probe) {
  ZR_TRY(announce(probe, "collect_tiles"));
  ZR_TRY(collect_tiles(args, counts_.data(), stream));
  ZR_TRY(announce(probe, "optimal_huffman"));
  Exec exec = cuda_exec(stream, scratch_);
  ZR_TRY(optimal_huffman_cuda({counts_.data(), specs_.data(), tables_.data()}, exec));
  ZR_TRY(announce(probe, "stream_tables"));
  return finish_tables(stream);
}

Status FusedEncoder::finish_tables(cudaStream_t stream) {
  return make_stream_tables(
      {specs_.data(), tables_.data(), setup_->layout.components == 1 ? 1 : 2, header_parts_.data(),
       static_cast<std::uint32_t>(dht_place_), static_cast<std::uint32_t>(header_.size()),
       codes_.data(), header_whole_.data(), header_bytes_.data(), counts_.data()},
      stream);
}

Status FusedEncoder::place_chunks(cudaStream_t stream, const StepProbe& probe) {
  ZR_TRY(announce(probe, "place_chunks"));
  return device_exclusive_scan(chunk_bits_[parity_].data(), chunk_first_bit_.data(), grid_.chunks,
                               scan_temp_.data(), scan_temp_bytes_, stream);
}

}  // namespace zerorun
