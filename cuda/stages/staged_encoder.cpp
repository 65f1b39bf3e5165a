// The encoder's stages one after another on a device.
// SPDX-License-Identifier: MIT
#include "cuda/stages/staged_encoder.hpp"

#include <cstring>
#include <limits>
#include <string>

#include "codec/pipeline/stage_table.hpp"
#include "cuda/stages/optimal_huffman.hpp"

namespace zerorun {
namespace {

/// Symbols are counted in 32 bits; far beyond it a frame's arrays fit no device anyway.
Status check_size(const ScanLayout& layout) {
  if (layout.blocks() <= std::numeric_limits<std::uint32_t>::max() / kBlockSize)
    return Status::ok();
  return Status(Errc::out_of_memory,
                "the CUDA backend codes 67 million blocks of a frame at most, this one has " +
                    std::to_string(layout.blocks()));
}

}  // namespace

Status StagedEncoder::enqueue(const EncodeSetup& setup, const ConstFrameView& frame,
                              cudaStream_t stream, const StepProbe& probe) {
  ZR_TRY(check_size(setup.layout));
  ZR_TRY(reserve(setup));
  ZR_TRY(upload_tables(setup, stream));
  Exec exec = cuda_exec(stream, scratch_);
  ZR_TRY(make_planes(setup, frame, exec, probe));
  ZR_TRY(make_symbols(setup, exec, probe));
  ZR_TRY(make_tables(setup, exec, probe));
  ZR_TRY(make_bits(setup, exec, probe));
  return announce(probe, "");
}

Status StagedEncoder::reserve(const EncodeSetup& setup) {
  const std::int64_t blocks = setup.layout.blocks(), intervals = setup.layout.intervals();
  packed_capacity_ = max_packed_bytes(blocks, intervals);
  scan_capacity_ = max_stuffed_bytes(packed_capacity_, intervals);
  ZR_TRY(reserve_planes(setup));
  ZR_TRY(divisors_.reserve(1));
  ZR_TRY(zz_.reserve(blocks * kBlockSize));
  ZR_TRY(diff_.reserve(blocks));
  ZR_TRY(symbols_.reserve(blocks * kBlockSize));
  ZR_TRY(block_first_symbol_.reserve(blocks + 1));
  if (setup.huffman == HuffmanTables::optimal) {
    ZR_TRY(counts_.reserve(1));
    ZR_TRY(optimal_tables_.reserve(1));
    ZR_TRY(optimal_specs_.reserve(kEncodeTables));
  }
  ZR_TRY(code_.reserve(blocks * kBlockSize));
  ZR_TRY(code_bits_.reserve(blocks * kBlockSize));
  ZR_TRY(packed_.reserve(packed_capacity_));
  ZR_TRY(interval_first_byte_.reserve(intervals + 1));
  ZR_TRY(interval_bits_.reserve(intervals));
  ZR_TRY(scan_.reserve(scan_capacity_));
  ZR_TRY(scan_bytes_.reserve(1));
  const int group = setup.index_group_mcus;
  if (group != 0) ZR_TRY(entries_.reserve(index_groups(setup.layout, group)));
  arrays_.entries = group == 0 ? nullptr : entries_.data();
  arrays_.zz = zz_.data();
  arrays_.diff = diff_.data();
  arrays_.symbols = symbols_.data();
  arrays_.block_first_symbol = block_first_symbol_.data();
  arrays_.code = code_.data();
  arrays_.code_bits = code_bits_.data();
  arrays_.packed = packed_.data();
  arrays_.interval_first_byte = interval_first_byte_.data();
  arrays_.interval_bits = interval_bits_.data();
  arrays_.scan = scan_.data();
  arrays_.scan_bytes = scan_bytes_.data();
  return Status::ok();
}

Status StagedEncoder::reserve_planes(const EncodeSetup& setup) {
  if (setup.planes_are_components) return Status::ok();
  for (int c = 0; c < setup.layout.components; ++c) {
    const auto& component = setup.layout.component[c];
    ZR_TRY(planes_[c].reserve(std::int64_t{plane_stride(component)} * component.height));
  }
  return Status::ok();
}

Status StagedEncoder::upload_tables(const EncodeSetup& setup, cudaStream_t stream) {
  if (!uploaded_divisors_ ||
      std::memcmp(uploaded_divisors_.get(), &setup.divisors, sizeof setup.divisors) != 0) {
    uploaded_divisors_.reset();
    auto copy = std::make_unique<DivisorTables>(setup.divisors);
    ZR_CUDA_TRY(cudaMemcpyAsync(divisors_.data(), copy.get(), sizeof *copy, cudaMemcpyHostToDevice,
                                stream));
    uploaded_divisors_ = std::move(copy);
  }
  if (setup.huffman == HuffmanTables::optimal) {
    arrays_.tables = optimal_tables_.data();
    arrays_.specs = optimal_specs_.data();
    return Status::ok();
  }
  if (!standard_uploaded_) ZR_TRY(upload_standard_tables(stream));
  arrays_.tables = standard_tables_.data();
  arrays_.specs = standard_specs_.data();
  return Status::ok();
}

Status StagedEncoder::upload_standard_tables(cudaStream_t stream) {
  ZR_TRY(standard_tables_.reserve(1));
  ZR_TRY(standard_specs_.reserve(kEncodeTables));
  // From pageable memory the call returns when the source has been read.
  HuffmanEncodeTables tables;
  for (int t = 0; t < kEncodeTables; ++t) {
    fill_encode_table(standard_huffman_spec(t), t, tables);
    ZR_CUDA_TRY(cudaMemcpyAsync(standard_specs_.data() + t, &standard_huffman_spec(t),
                                sizeof(HuffmanSpec), cudaMemcpyHostToDevice, stream));
  }
  ZR_CUDA_TRY(cudaMemcpyAsync(standard_tables_.data(), &tables, sizeof tables,
                              cudaMemcpyHostToDevice, stream));
  standard_uploaded_ = true;
  return Status::ok();
}

Status StagedEncoder::make_planes(const EncodeSetup& setup, const ConstFrameView& frame, Exec& exec,
                                  const StepProbe& probe) {
  const ScanLayout& layout = setup.layout;
  if (setup.planes_are_components) {
    for (int c = 0; c < layout.components; ++c) {
      const auto p = static_cast<std::size_t>(c);
      arrays_.plane[c] = {frame.data[p], frame.stride_bytes[p], layout.component[c].width,
                          layout.component[c].height};
    }
    return Status::ok();
  }
  ColorSubsampleArgs args{frame, layout.components, setup.h_max, setup.v_max, {}, 0, frame.height};
  for (int c = 0; c < layout.components; ++c) {
    const auto& component = layout.component[c];
    const std::int32_t stride = plane_stride(component);
    args.plane[c] = {planes_[c].data(), stride, stride, component.height};
    arrays_.plane[c] = {planes_[c].data(), stride, stride, component.height};
  }
  ZR_TRY(announce(probe, "color_subsample"));
  return color_subsample_cuda(args, exec);
}

Status StagedEncoder::make_symbols(const EncodeSetup& setup, Exec& exec, const StepProbe& probe) {
  const ScanLayout& layout = setup.layout;
  ZR_TRY(announce(probe, "fdct_quant"));
  FdctQuantArgs transform{layout, {}, divisors_.data(), 0, layout.mcus(), arrays_.zz};
  for (int c = 0; c < layout.components; ++c) transform.plane[c] = arrays_.plane[c];
  ZR_TRY(fdct_quant_cuda(transform, exec));
  ZR_TRY(announce(probe, "dc_diff"));
  ZR_TRY(dc_diff_cuda({layout, 0, layout.mcus(), arrays_.zz, arrays_.diff}, exec));
  ZR_TRY(announce(probe, "zero_run"));
  return zero_run_cuda({layout, layout.blocks(), arrays_.zz, arrays_.diff, arrays_.symbols,
                        arrays_.block_first_symbol},
                       exec);
}

Status StagedEncoder::make_tables(const EncodeSetup& setup, Exec& exec, const StepProbe& probe) {
  if (setup.huffman == HuffmanTables::standard) return Status::ok();
  const std::int64_t blocks = setup.layout.blocks();
  ZR_TRY(announce(probe, "symbol_histogram"));
  ZR_CUDA_TRY(cudaMemsetAsync(counts_.data(), 0, sizeof(SymbolCounts), stream_of(exec)));
  ZR_TRY(symbol_histogram_cuda(
      {arrays_.symbols, arrays_.block_first_symbol + blocks, blocks * kBlockSize, counts_.data()},
      exec));
  ZR_TRY(announce(probe, "optimal_huffman"));
  return optimal_huffman_cuda({counts_.data(), arrays_.specs, arrays_.tables}, exec);
}

Status StagedEncoder::make_bits(const EncodeSetup& setup, Exec& exec, const StepProbe& probe) {
  const std::int64_t blocks = setup.layout.blocks(), intervals = setup.layout.intervals();
  ZR_TRY(announce(probe, "huffman_encode"));
  ZR_TRY(huffman_encode_cuda({arrays_.symbols, arrays_.block_first_symbol + blocks,
                              blocks * kBlockSize, arrays_.tables, arrays_.code, arrays_.code_bits},
                             exec));
  const std::int64_t interval_blocks = setup.layout.interval_mcus() * setup.layout.blocks_per_mcu;
  if (setup.index_group_mcus != 0) {
    ZR_TRY(announce(probe, "group_index"));
    ZR_TRY(group_index_cuda(
        {blocks, interval_blocks,
         std::int64_t{setup.index_group_mcus} * setup.layout.blocks_per_mcu, arrays_.symbols,
         arrays_.block_first_symbol, arrays_.code_bits, arrays_.entries},
        exec));
  }
  ZR_TRY(announce(probe, "bit_pack"));
  ZR_TRY(bit_pack_cuda(
      {blocks, interval_blocks, arrays_.block_first_symbol, arrays_.code, arrays_.code_bits,
       arrays_.packed, packed_capacity_, arrays_.interval_first_byte, arrays_.interval_bits},
      exec));
  ZR_TRY(announce(probe, "byte_stuff"));
  return byte_stuff_cuda({arrays_.packed, arrays_.interval_first_byte, intervals, 0, intervals,
                          arrays_.scan, scan_capacity_, arrays_.scan_bytes},
                         exec);
}

}  // namespace zerorun
