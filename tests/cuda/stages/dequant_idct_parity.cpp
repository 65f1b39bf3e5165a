// CPU and CUDA transform the same blocks to the same samples.
// SPDX-License-Identifier: MIT
#include "codec/decode/dequant_idct.hpp"

#include <memory>

#include "tests/cuda/stages/stage_runner.hpp"
#include "tests/support/test_frame.hpp"

namespace zerorun::test {
namespace {

/// `skew`: bytes between the rows, which nobody may write.
struct IdctPlanes {
  std::vector<std::vector<std::uint8_t>> memory;
  PlaneView view[kMaxComponents];
};
IdctPlanes make_planes(const ScanLayout& layout, int skew) {
  IdctPlanes planes;
  for (int c = 0; c < layout.components; ++c) {
    const auto& component = layout.component[c];
    const std::int64_t stride = component.width + skew;
    const auto last = static_cast<std::size_t>(stride * (component.height - 1) + component.width);
    planes.memory.emplace_back(last, std::uint8_t{0xA7});
    planes.view[c] = {nullptr, stride, component.width, component.height};
  }
  return planes;
}

struct Input {
  std::vector<std::int16_t> coefficients;
  std::vector<DequantTables> tables;
};

void expect_same(const ScanLayout& layout, const Input& in, int skew, int without = -1) {
  IdctPlanes planes = make_planes(layout, skew);
  std::vector<std::unique_ptr<DeviceArray<std::uint8_t>>> d_planes;
  DeviceArray<std::int16_t> d_coefficients(in.coefficients);
  DeviceArray<DequantTables> d_tables(in.tables);
  DequantIdctArgs cpu{layout, in.tables.data(), 0, layout.mcus(), in.coefficients.data(), {}};
  DequantIdctArgs cuda = cpu;
  cuda.tables = d_tables.data();
  cuda.coefficients = d_coefficients.data();
  for (int c = 0; c < layout.components; ++c) {
    auto& memory = planes.memory[static_cast<std::size_t>(c)];
    d_planes.push_back(std::make_unique<DeviceArray<std::uint8_t>>(memory));
    cpu.plane[c] = cuda.plane[c] = planes.view[c];
    if (c == without) continue;
    cpu.plane[c].data = memory.data();
    cuda.plane[c].data = d_planes.back()->data();
  }
  run_cpu(cpu_stages().dequant_idct, cpu);
  CudaRunner run;
  run(cuda_stages().dequant_idct, cuda);
  for (std::size_t c = 0; c < d_planes.size(); ++c)
    ASSERT_TRUE(d_planes[c]->to_host() == planes.memory[c]) << "component " << c;
}

enum class Kind { natural, zero, flat, extreme, wide };

Input make_input(const ScanLayout& layout, Kind kind, std::uint64_t seed) {
  Random random(seed);
  Input in;
  in.tables.resize(1);
  for (auto& table : in.tables[0].table)
    for (auto& q : table)
      q = static_cast<std::uint16_t>(kind == Kind::wide ? random.below(65536)
                                                        : random.between(1, 255));
  in.coefficients.assign(static_cast<std::size_t>(layout.blocks()) * kBlockSize, 0);
  for (std::size_t i = 0; i < in.coefficients.size(); ++i) {
    auto& value = in.coefficients[i];
    if (kind == Kind::flat && i % kBlockSize == 0)
      value = static_cast<std::int16_t>(random.between(-32768, 32767));
    if (kind == Kind::natural && random.below(5) == 0)
      value = static_cast<std::int16_t>(random.between(-20, 20));
    if (kind == Kind::extreme)
      value = static_cast<std::int16_t>(random.below(2) == 0 ? -1023 : 1023);
    if (kind == Kind::wide) value = static_cast<std::int16_t>(random.between(-32768, 32767));
  }
  return in;
}

class DequantIdctParity : public GpuTest {};

TEST_F(DequantIdctParity, EverySamplingSizeAndKind) {
  std::uint64_t seed = 1;
  for (const Subsampling sampling : kAllSubsamplings)
    for (const int size : {1, 7, 8, 9, 17, 100, 255})
      for (const Kind kind : {Kind::natural, Kind::zero, Kind::flat, Kind::extreme, Kind::wide})
        for (const int skew : {0, 5}) {
          const ScanLayout layout = layout_for(sampling, size, size + 3, 0);
          expect_same(layout, make_input(layout, kind, ++seed), skew);
        }
}

TEST_F(DequantIdctParity, AlignedRows) {
  const ScanLayout layout = layout_for(Subsampling::s420, 512, 256, 0);
  expect_same(layout, make_input(layout, Kind::natural, 3), 0);
}

TEST_F(DequantIdctParity, PlanesThatNobodyWants) {
  const ScanLayout layout = layout_for(Subsampling::s420, 200, 100, 0);
  for (const int without : {0, 1, 2})
    expect_same(layout, make_input(layout, Kind::natural, 4), 0, without);
}

}  // namespace
}  // namespace zerorun::test
