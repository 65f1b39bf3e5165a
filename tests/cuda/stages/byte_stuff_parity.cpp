// CPU and CUDA stuff the same bytes and set the same markers.
// SPDX-License-Identifier: MIT
#include "codec/encode/byte_stuff.hpp"

#include "tests/cuda/stages/stage_runner.hpp"

namespace zerorun::test {
namespace {

void expect_same_stream(const std::vector<std::uint8_t>& bytes,
                        const std::vector<std::uint64_t>& first, std::int64_t first_interval,
                        std::int64_t more_intervals, std::int64_t spare_capacity) {
  const auto intervals = static_cast<std::int64_t>(first.size()) - 1;
  const std::int64_t scan_intervals = first_interval + intervals + more_intervals;
  const std::int64_t capacity =
      max_stuffed_bytes(static_cast<std::int64_t>(bytes.size()), intervals) + spare_capacity;
  std::vector<std::uint8_t> out(static_cast<std::size_t>(capacity));
  std::uint64_t size = 77;
  run_cpu(cpu_stages().byte_stuff, {bytes.data(), first.data(), intervals, first_interval,
                                    scan_intervals, out.data(), capacity, &size});

  DeviceArray<std::uint8_t> d_bytes(bytes), d_out(out.size());
  DeviceArray<std::uint64_t> d_first(first), d_size(1);
  CudaRunner run;
  run(cuda_stages().byte_stuff, {d_bytes.data(), d_first.data(), intervals, first_interval,
                                 scan_intervals, d_out.data(), capacity, d_size.data()});
  ASSERT_EQ(d_size.to_host()[0], size);
  const auto found = d_out.to_host();
  ASSERT_EQ(head(found, size), head(out, size));
  for (std::size_t i = size; i < found.size(); ++i)
    ASSERT_EQ(found[i], kPoison) << "byte " << i << " behind the end";
}

/// Bytes of which one in `rarity` is FF, cut at random into intervals, some of them empty.
void expect_same_random(std::size_t size, int intervals, int rarity, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint8_t> bytes(size);
  for (auto& byte : bytes)
    byte = random.below(rarity) == 0 ? std::uint8_t{0xFF}
                                     : static_cast<std::uint8_t>(random.below(255));
  std::vector<std::uint64_t> first{0};
  for (int i = 1; i < intervals; ++i)
    first.push_back(static_cast<std::uint64_t>(random.below(static_cast<int>(size) + 1)));
  first.push_back(size);
  std::sort(first.begin(), first.end());
  expect_same_stream(bytes, first, 0, 0, 0);
  expect_same_stream(bytes, first, 13, 2, 1001);
}

class ByteStuffParity : public GpuTest {};

TEST_F(ByteStuffParity, EverySizeIntervalAndRarity) {
  for (const std::size_t size : {0, 1, 7, 8, 9, 255, 256, 257, 2047, 2049, 40001})
    for (const int intervals : {1, 2, 9, 300})
      for (const int rarity : {1, 2, 100, 1000000}) {
        SCOPED_TRACE(testing::Message()
                     << size << " bytes, " << intervals << " intervals, one FF in " << rarity);
        expect_same_random(size, intervals, rarity, 41);
      }
}

TEST_F(ByteStuffParity, NoIntervals) { expect_same_stream({}, {0}, 0, 0, 10); }

TEST_F(ByteStuffParity, OneByteIntervals) {
  std::vector<std::uint8_t> bytes(5000, 0xFF);
  std::vector<std::uint64_t> first;
  for (std::uint64_t i = 0; i <= bytes.size(); ++i) first.push_back(i);
  expect_same_stream(bytes, first, 0, 0, 0);
}

}  // namespace
}  // namespace zerorun::test
