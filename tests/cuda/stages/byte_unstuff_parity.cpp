// CPU and CUDA cut and clean entropy-coded data alike, whatever its bytes are.
// SPDX-License-Identifier: MIT
#include "codec/decode/byte_unstuff.hpp"

#include "tests/cuda/stages/stage_runner.hpp"

namespace zerorun::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// `skew`: bytes by which the input starts behind a multiple of 16, as in the middle of a file.
void expect_same(const Bytes& in, std::size_t skew = 0) {
  SCOPED_TRACE(testing::Message() << in.size() << " bytes, skew " << skew);
  Bytes clean(in.size());
  std::vector<EntropySegment> segments(in.size() / 2 + 2);
  std::vector<std::uint64_t> totals(2);
  run_cpu(cpu_stages().byte_unstuff,
          {in.data(), in.size(), clean.data(), segments.data(), totals.data(), totals.data() + 1});
  const std::uint64_t total = totals[0], clean_bytes = segments[total].first_byte;

  Bytes placed(skew, 0xFF);  // what stands in front must not be taken for a marker's FF
  placed.insert(placed.end(), in.begin(), in.end());
  DeviceArray<std::uint8_t> d_in(placed), d_clean(clean_bytes);
  DeviceArray<EntropySegment> d_segments(total + 1);
  DeviceArray<std::uint64_t> d_totals(2);
  CudaRunner run;
  run(cuda_stages().byte_unstuff, {d_in.data() + skew, in.size(), d_clean.data(), d_segments.data(),
                                   d_totals.data(), d_totals.data() + 1});
  ASSERT_EQ(d_totals.to_host(), totals);
  ASSERT_TRUE(d_segments.to_host() == head(segments, total + 1));
  ASSERT_TRUE(d_clean.to_host() == head(clean, clean_bytes));
}

/// Bytes of the kinds that matter, and with `stops` now and then a marker that ends the scan.
Bytes tricky_bytes(Random& random, std::size_t size, bool stops) {
  Bytes bytes(size);
  for (auto& byte : bytes) {
    const int kind = random.below(stops ? 8 : 7);
    byte = kind < 3   ? std::uint8_t{0xFF}
           : kind < 5 ? std::uint8_t{0}
           : kind < 7 ? static_cast<std::uint8_t>(0xD0 + random.below(8))
                      : random.byte();
  }
  return bytes;
}

class ByteUnstuffParity : public GpuTest {};

TEST_F(ByteUnstuffParity, EverySizeAroundTheTiles) {
  Random random(1);
  for (const std::size_t size :
       {0, 1, 2, 3, 15, 16, 17, 31, 33, 4094, 4095, 4096, 4097, 8191, 8192, 8193, 12289, 100003})
    for (const std::size_t skew : {0, 1, 15}) expect_same(tricky_bytes(random, size, false), skew);
}

TEST_F(ByteUnstuffParity, MarkersThatEndTheScan) {
  Random random(2);
  for (int i = 0; i < 200; ++i)
    expect_same(tricky_bytes(random, static_cast<std::size_t>(random.below(200)), true),
                static_cast<std::size_t>(random.below(16)));
}

TEST_F(ByteUnstuffParity, TheFirstOfManyEndsIsTheEnd) {
  Random random(3);
  for (const std::size_t at : {1, 2, 16, 17, 4095, 4096, 4097, 4098, 20000}) {
    Bytes bytes = tricky_bytes(random, 60000, false);
    for (std::size_t marker = at; marker < bytes.size(); marker += 1 + marker / 3) {
      bytes[marker - 1] = 0xFF;
      bytes[marker] = 0xD9;
    }
    expect_same(bytes);
  }
}

TEST_F(ByteUnstuffParity, LongRunsOfFill) {
  for (const std::size_t size : {1, 16, 4096, 4097, 30000}) {
    Bytes bytes(size, 0xFF);
    expect_same(bytes);
    for (const int last : {0x00, 0xD3, 0xD9, 0x12}) {
      bytes.back() = static_cast<std::uint8_t>(last);
      expect_same(bytes, 5);
    }
  }
}

TEST_F(ByteUnstuffParity, NothingButData) {
  Random random(4);
  Bytes bytes(50000);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.below(255));
  expect_same(bytes, 3);
}

}  // namespace
}  // namespace zerorun::test
