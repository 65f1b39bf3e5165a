// Where the CUDA stages of one frame first leave the CPU stages.
// SPDX-License-Identifier: MIT
#include "tests/cuda/stage_walk.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <vector>

#include "codec/pipeline/encode_setup.hpp"
#include "codec/pipeline/stage_table.hpp"
#include "cuda/stages/staged_encoder.hpp"
#include "tests/support/device_copy.hpp"

namespace zerorun::test {
namespace {

/// What the CPU's stages make of a frame, each called once for all of it.
struct CpuArrays {
  std::vector<std::uint8_t> planes[kMaxComponents];
  ConstPlaneView plane[kMaxComponents];
  std::vector<std::int16_t> zz, diff;
  std::vector<Symbol> symbols;
  std::vector<std::uint32_t> first, code;
  HuffmanEncodeTables tables;
  std::vector<std::uint8_t> code_bits, packed, scan;
  std::vector<std::uint64_t> interval_first_byte, interval_bits;
};

std::size_t size_of(std::int64_t count) { return static_cast<std::size_t>(count); }

void make_planes(const EncodeSetup& setup, const ConstFrameView& frame, CpuArrays& out,
                 Exec& exec) {
  ColorSubsampleArgs args{frame,       setup.layout.components, setup.h_max, setup.v_max, {}, 0,
                          frame.height};
  for (int c = 0; c < setup.layout.components; ++c) {
    const auto& component = setup.layout.component[c];
    if (setup.planes_are_components) {
      const auto p = static_cast<std::size_t>(c);
      out.plane[c] = {frame.data[p], frame.stride_bytes[p], component.width, component.height};
      continue;
    }
    const std::int32_t stride = component.blocks_wide * 8;
    out.planes[c].resize(size_of(std::int64_t{stride} * component.height));
    args.plane[c] = {out.planes[c].data(), stride, stride, component.height};
    out.plane[c] = {out.planes[c].data(), stride, stride, component.height};
  }
  if (!setup.planes_are_components) (void)cpu_stages().color_subsample(args, exec);
}

void make_symbols(const EncodeSetup& setup, CpuArrays& out, Exec& exec) {
  const ScanLayout& layout = setup.layout;
  const std::int64_t blocks = layout.blocks();
  out.zz.resize(size_of(blocks * kBlockSize));
  out.diff.resize(size_of(blocks));
  out.symbols.resize(size_of(blocks * kBlockSize));
  out.first.resize(size_of(blocks + 1));
  FdctQuantArgs transform{layout,
                          {},
                          &setup.divisors,
                          0,
                          layout.mcus(),
                          out.zz.data(),
                          setup.tune.active() ? &setup.tune : nullptr};
  std::copy_n(out.plane, kMaxComponents, transform.plane);
  (void)cpu_stages().fdct_quant(transform, exec);
  (void)cpu_stages().dc_diff({layout, 0, layout.mcus(), out.zz.data(), out.diff.data()}, exec);
  (void)cpu_stages().zero_run(
      {layout, blocks, out.zz.data(), out.diff.data(), out.symbols.data(), out.first.data()}, exec);
  out.symbols.resize(out.first.back());
}

void make_tables(const EncodeSetup& setup, CpuArrays& out, Exec& exec) {
  SymbolCounts counts{};
  const auto total = static_cast<std::uint32_t>(out.symbols.size());
  (void)cpu_stages().symbol_histogram({out.symbols.data(), &total, total, &counts}, exec);
  for (int t = 0; t < kEncodeTables; ++t)
    fill_encode_table(setup.huffman == HuffmanTables::optimal
                          ? optimal_huffman_spec(counts.count[t])
                          : (*setup.fixed_specs)[static_cast<std::size_t>(t)],
                      t, out.tables);
}

void make_bits(const EncodeSetup& setup, CpuArrays& out, Exec& exec) {
  const std::int64_t blocks = setup.layout.blocks(), intervals = setup.layout.intervals();
  const auto total = static_cast<std::uint32_t>(out.symbols.size());
  out.code.resize(total);
  out.code_bits.resize(total);
  (void)cpu_stages().huffman_encode(
      {out.symbols.data(), &total, total, &out.tables, out.code.data(), out.code_bits.data()},
      exec);
  const std::int64_t interval_blocks = setup.layout.interval_mcus() * setup.layout.blocks_per_mcu;
  out.packed.resize(size_of(max_packed_bytes(blocks, intervals)));
  out.interval_first_byte.resize(size_of(intervals + 1));
  out.interval_bits.resize(size_of(intervals));
  (void)cpu_stages().bit_pack(
      {blocks, interval_blocks, out.first.data(), out.code.data(), out.code_bits.data(),
       out.packed.data(), static_cast<std::int64_t>(out.packed.size()),
       out.interval_first_byte.data(), out.interval_bits.data()},
      exec);
  out.packed.resize(out.interval_first_byte.back());
  const auto bytes = static_cast<std::int64_t>(out.packed.size());
  out.scan.resize(size_of(max_stuffed_bytes(bytes, intervals)));
  std::uint64_t scan_bytes = 0;
  (void)cpu_stages().byte_stuff(
      {out.packed.data(), out.interval_first_byte.data(), intervals, 0, intervals, out.scan.data(),
       static_cast<std::int64_t>(out.scan.size()), &scan_bytes},
      exec);
  out.scan.resize(scan_bytes);
}

/// Compares a device array with what the CPU has; the stream is idle.
class Comparer {
 public:
  Comparer(const EncodeSetup& setup, const CpuArrays& cpu) : layout_(setup.layout), cpu_(cpu) {}

  const std::string& found() const { return found_; }

  /// `block_of` gives the block of an element, or -1.
  template <typename T, typename BlockOf>
  void compare(const char* stage, const char* array, const std::vector<T>& expected,
               const T* device, const BlockOf& block_of) {
    if (!found_.empty()) return;
    std::vector<T> actual(expected.size());
    const cudaError_t error =
        cudaMemcpy(actual.data(), device, actual.size() * sizeof(T), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
      found_ = std::string(stage) + ": " + cudaGetErrorString(error);
      return;
    }
    const auto at = std::mismatch(expected.begin(), expected.end(), actual.begin()).first;
    if (at == expected.end()) return;
    const auto index = at - expected.begin();
    std::ostringstream text;
    text << stage << ": " << array << '[' << index << "] differs";
    if (const std::int64_t block = block_of(index); block >= 0)
      text << ", MCU " << block / layout_.blocks_per_mcu << ", block "
           << block % layout_.blocks_per_mcu << " of it";
    found_ = text.str();
  }

  std::int64_t block_of_symbol(std::int64_t symbol) const {
    return std::upper_bound(cpu_.first.begin(), cpu_.first.end(), symbol) - cpu_.first.begin() - 1;
  }

  /// Of a byte of the packed bits.
  std::int64_t block_of_byte(std::int64_t byte) const {
    const auto& first = cpu_.interval_first_byte;
    const auto interval =
        std::upper_bound(first.begin(), first.end() - 1, static_cast<std::uint64_t>(byte)) -
        first.begin() - 1;
    const auto bit = (static_cast<std::uint64_t>(byte) - first[size_of(interval)]) * 8 + 7;
    std::int64_t block = interval * layout_.interval_mcus() * layout_.blocks_per_mcu;
    std::uint64_t bits = 0;
    for (std::size_t s = cpu_.first[size_of(block)]; s < cpu_.code_bits.size(); ++s) {
      bits += cpu_.code_bits[s];
      if (bits > bit) return block_of_symbol(static_cast<std::int64_t>(s));
    }
    return layout_.blocks() - 1;
  }

 private:
  const ScanLayout& layout_;
  const CpuArrays& cpu_;
  std::string found_;
};

/// Block in scan order of a sample of a component plane.
std::int64_t block_of_sample(const ScanLayout& layout, int c, std::int64_t index,
                             std::int64_t stride) {
  const auto& component = layout.component[c];
  const std::int64_t x = index % stride / kBlockEdge, y = index / stride / kBlockEdge;
  const std::int64_t mcu = y / component.v * layout.mcus_wide + x / component.h;
  for (std::int32_t i = 0; i < layout.blocks_per_mcu; ++i)
    if (layout.block_component[i] == c && layout.block_x[i] == x % component.h &&
        layout.block_y[i] == y % component.v)
      return mcu * layout.blocks_per_mcu + i;
  return -1;
}

std::string compare_all(const EncodeSetup& setup, const CpuArrays& cpu,
                        const StagedEncodeArrays& gpu) {
  Comparer comparer(setup, cpu);
  for (int c = 0; c < setup.layout.components && !setup.planes_are_components; ++c)
    comparer.compare("color_subsample", "plane", cpu.planes[c], gpu.plane[c].data,
                     [&](std::int64_t i) {
                       return block_of_sample(setup.layout, c, i, cpu.plane[c].stride_bytes);
                     });
  const auto by_coefficient = [](std::int64_t i) { return i / kBlockSize; };
  const auto by_block = [&](std::int64_t i) { return std::min(i, setup.layout.blocks() - 1); };
  const auto by_symbol = [&](std::int64_t i) { return comparer.block_of_symbol(i); };
  const auto none = [](std::int64_t) { return std::int64_t{-1}; };
  comparer.compare("fdct_quant", "zz", cpu.zz, gpu.zz, by_coefficient);
  comparer.compare("dc_diff", "diff", cpu.diff, gpu.diff, by_block);
  comparer.compare("zero_run", "block_first_symbol", cpu.first, gpu.block_first_symbol, by_block);
  comparer.compare("zero_run", "symbols", cpu.symbols, gpu.symbols, by_symbol);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&cpu.tables);
  comparer.compare("optimal_huffman", "tables",
                   std::vector<std::uint8_t>(bytes, bytes + sizeof cpu.tables),
                   reinterpret_cast<const std::uint8_t*>(gpu.tables), none);
  comparer.compare("huffman_encode", "code", cpu.code, gpu.code, by_symbol);
  comparer.compare("huffman_encode", "code_bits", cpu.code_bits, gpu.code_bits, by_symbol);
  comparer.compare("bit_pack", "interval_first_byte", cpu.interval_first_byte,
                   gpu.interval_first_byte, none);
  comparer.compare("bit_pack", "interval_bits", cpu.interval_bits, gpu.interval_bits, none);
  comparer.compare("bit_pack", "packed", cpu.packed, gpu.packed,
                   [&](std::int64_t i) { return comparer.block_of_byte(i); });
  const std::vector<std::uint64_t> scan_bytes{cpu.scan.size()};
  comparer.compare("byte_stuff", "scan_bytes", scan_bytes, gpu.scan_bytes, none);
  comparer.compare("byte_stuff", "scan", cpu.scan, gpu.scan, none);
  return comparer.found();
}

/// Copies the rows of a host frame into one buffer on the device.
Status upload(const ConstFrameView& frame, DeviceBuffer<std::uint8_t>& memory,
              ConstFrameView& on_device) {
  on_device = {frame.format, frame.width, frame.height, {}, {}};
  std::vector<std::uint8_t> bytes;
  std::array<std::size_t, 3> offset{};
  for (int p = 0; p < plane_count(frame.format); ++p) {
    const auto plane = static_cast<std::size_t>(p);
    const std::size_t row = plane_row_bytes(frame.format, p, frame.width);
    offset[plane] = bytes.size();
    on_device.stride_bytes[plane] = static_cast<std::ptrdiff_t>(row);
    for (int y = 0; y < plane_rows(frame.format, p, frame.height); ++y) {
      const std::uint8_t* from = frame.data[plane] + y * frame.stride_bytes[plane];
      bytes.insert(bytes.end(), from, from + row);
    }
  }
  ZR_TRY(memory.reserve(static_cast<std::int64_t>(bytes.size())));
  ZR_CUDA_TRY(copy_to_device(memory.data(), bytes.data(), bytes.size()));
  for (int p = 0; p < plane_count(frame.format); ++p) {
    const auto plane = static_cast<std::size_t>(p);
    on_device.data[plane] = memory.data() + offset[plane];
  }
  return Status::ok();
}

Status run_on_device(const EncodeSetup& setup, const ConstFrameView& frame,
                     DeviceBuffer<std::uint8_t>& memory, StagedEncoder& encoder) {
  ConstFrameView on_device;
  ZR_TRY(upload(frame, memory, on_device));
  Stream stream;
  ZR_TRY(stream.create());
  ZR_TRY(encoder.enqueue(setup, on_device, stream.get()));
  ZR_CUDA_TRY(cudaStreamSynchronize(stream.get()));
  return Status::ok();
}

}  // namespace

std::string first_difference(const EncodeParams& params, const ConstFrameView& frame) {
  const auto setup = make_encode_setup(params, frame.format, frame.width, frame.height);
  if (!setup) return setup.status().message();
  CpuArrays cpu;
  Exec exec;
  make_planes(*setup, frame, cpu, exec);
  make_symbols(*setup, cpu, exec);
  make_tables(*setup, cpu, exec);
  make_bits(*setup, cpu, exec);
  DeviceBuffer<std::uint8_t> memory;
  StagedEncoder encoder;
  if (const Status status = run_on_device(*setup, frame, memory, encoder); !status)
    return status.message();
  return compare_all(*setup, cpu, encoder.arrays());
}

}  // namespace zerorun::test
