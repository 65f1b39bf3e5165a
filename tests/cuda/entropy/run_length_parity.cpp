// Run-length coding on the device equals the serial twin.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/cuda/entropy/inputs.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/random.hpp"

namespace zerorun::test {
namespace {

using Values = std::vector<std::int32_t>;
using Lengths = std::vector<std::uint32_t>;
using Encode = decltype(&cuda_entropy::run_length_encode);

struct Runs {
  Values values;
  Lengths lengths;
};

Runs encode_serially(const Values& in) {
  Runs runs{Values(in.size()), Lengths(in.size())};
  const auto count = entropy::run_length_encode(in, runs.values, runs.lengths);
  EXPECT_TRUE(count.is_ok());
  runs.values.resize(*count);
  runs.lengths.resize(*count);
  return runs;
}

/// Outputs have exactly the right size, so that one run too many is noticed.
void expect_encode_parity(Encode encode, const Values& in, std::size_t skew = 0) {
  const Runs expected = encode_serially(in);
  GuardedBuffer<std::int32_t> d_in(Memory::device, in, skew);
  GuardedBuffer<std::int32_t> d_values(Memory::device, expected.values.size());
  GuardedBuffer<std::uint32_t> d_lengths(Memory::device, expected.values.size());
  const auto outcome = outcome_of([&](void* scratch, std::size_t& bytes, auto* d_outcome) {
    return encode(scratch, bytes, d_in.data(), in.size(), d_values.data(), d_lengths.data(),
                  expected.values.size(), d_outcome, nullptr);
  });
  EXPECT_TRUE(cuda_entropy::to_status(outcome).is_ok());
  EXPECT_EQ(outcome.count, expected.values.size());
  EXPECT_TRUE(d_values.to_host() == expected.values);
  EXPECT_TRUE(d_lengths.to_host() == expected.lengths);
}

void expect_decode_parity(const Values& values, const Lengths& lengths, std::size_t capacity) {
  Values expected(capacity);
  const auto size = entropy::run_length_decode(values, lengths, expected);
  GuardedBuffer<std::int32_t> d_values(Memory::device, values);
  GuardedBuffer<std::uint32_t> d_lengths(Memory::device, lengths);
  GuardedBuffer<std::int32_t> d_out(Memory::device, capacity);
  const auto outcome = outcome_of([&](void* scratch, std::size_t& bytes, auto* d_outcome) {
    return cuda_entropy::run_length_decode(scratch, bytes, d_values.data(), d_lengths.data(),
                                           values.size(), d_out.data(), capacity, d_outcome,
                                           nullptr);
  });
  expect_same_fault(cuda_entropy::to_status(outcome), size.status());
  if (!size) return;
  EXPECT_EQ(outcome.count, *size);
  expected.resize(*size);
  Values out = d_out.to_host();
  out.resize(*size);
  EXPECT_TRUE(out == expected);
}

class RunLengthEncodeParity : public OnGpu<testing::TestWithParam<bool>> {
 protected:
  static Encode encode() {
    return GetParam() ? cuda_entropy::run_length_encode : cuda_entropy::run_length_encode_parle;
  }
};

// One more and one less than the elements of a lane, a load, a warp and a tile.
constexpr std::size_t kSizes[] = {0,    1,    2,    3,    4,    5,    31,    32,
                                  33,   127,  128,  129,  511,  512,  513,   1000,
                                  4095, 4096, 4097, 8191, 8192, 8193, 12289, 40961};

TEST_P(RunLengthEncodeParity, EverySizeAndRunLength) {
  for (const std::size_t size : kSizes) {
    for (const int mean_run : {0, 1, 2, 8, 100, 1000, 5000}) {
      SCOPED_TRACE(testing::Message() << size << " elements, mean run " << mean_run);
      expect_encode_parity(encode(), runs_of(size, mean_run, size));
    }
  }
}

TEST_P(RunLengthEncodeParity, RunsThatChangeAtTileEdges) {
  for (const std::size_t edge : {4095u, 4096u, 4097u, 8192u, 12288u}) {
    SCOPED_TRACE(edge);
    Values in(5 * 4096, 7);
    for (std::size_t i = edge; i < in.size(); ++i) in[i] = 0;
    expect_encode_parity(encode(), in);
  }
}

TEST_P(RunLengthEncodeParity, InputNotAlignedToVectors) {
  for (const std::size_t skew : {1u, 2u, 3u}) {
    SCOPED_TRACE(skew);
    expect_encode_parity(encode(), runs_of(9001, 3, skew), skew);
  }
}

TEST_P(RunLengthEncodeParity, OutputTooSmall) {
  const Values in = runs_of(10000, 4, 1);
  const Runs expected = encode_serially(in);
  for (const std::size_t capacity : {std::size_t{0}, std::size_t{1}, expected.values.size() - 1}) {
    SCOPED_TRACE(capacity);
    GuardedBuffer<std::int32_t> d_in(Memory::device, in);
    GuardedBuffer<std::int32_t> d_values(Memory::device, capacity);
    GuardedBuffer<std::uint32_t> d_lengths(Memory::device, capacity);
    const auto outcome = outcome_of([&](void* scratch, std::size_t& bytes, auto* d_outcome) {
      return encode()(scratch, bytes, d_in.data(), in.size(), d_values.data(), d_lengths.data(),
                      capacity, d_outcome, nullptr);
    });
    EXPECT_EQ(cuda_entropy::to_status(outcome).code(), Errc::output_too_small);
    EXPECT_EQ(outcome.count, expected.values.size());
    Values values = expected.values;
    values.resize(capacity);
    EXPECT_TRUE(d_values.to_host() == values);
  }
}

TEST_P(RunLengthEncodeParity, Large) {
  for (const int mean_run : {0, 1, 8, 1000}) {
    SCOPED_TRACE(mean_run);
    expect_encode_parity(encode(), runs_of((std::size_t{1} << 26) + 77, mean_run, 5));
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, RunLengthEncodeParity, testing::Values(true, false),
                         [](const auto& form) { return form.param ? "SinglePass" : "Parle"; });

class RunLengthDecodeParity : public GpuTest {};

TEST_F(RunLengthDecodeParity, RoundTripOfEverySize) {
  for (const std::size_t size :
       {0u, 1u, 2u, 255u, 2047u, 2048u, 2049u, 16383u, 16384u, 16385u, 32768u, 50001u}) {
    for (const int mean_run : {0, 1, 3, 100, 20000}) {
      SCOPED_TRACE(testing::Message() << size << " elements, mean run " << mean_run);
      const Runs runs = encode_serially(runs_of(size, mean_run, size));
      expect_decode_parity(runs.values, runs.lengths, size);
    }
  }
}

TEST_F(RunLengthDecodeParity, EmptyRunsAnywhere) {
  Random random(4);
  for (const std::size_t runs : {1u, 2u, 511u, 512u, 513u, 5000u}) {
    for (const int filled : {0, 1, 10, 90, 100}) {
      SCOPED_TRACE(testing::Message() << runs << " runs, " << filled << " % not empty");
      Values values(runs);
      Lengths lengths(runs);
      std::size_t size = 0;
      for (std::size_t r = 0; r < runs; ++r) {
        values[r] = static_cast<std::int32_t>(random.next());
        const bool empty = random.below(100) >= filled;
        lengths[r] = empty ? 0 : 1 + static_cast<std::uint32_t>(random.below(40));
        size += lengths[r];
      }
      expect_decode_parity(values, lengths, size);
      expect_decode_parity(values, lengths, size + 1000);
    }
  }
}

TEST_F(RunLengthDecodeParity, RunsLongerThanManyWindows) {
  expect_decode_parity({5, 6, 7, 8}, {100000, 0, 1, 77777}, 177778);
}

TEST_F(RunLengthDecodeParity, OutputTooSmall) {
  expect_decode_parity({1, 2}, {10, 20}, 29);
  expect_decode_parity({1, 2}, {0xFFFFFFFFu, 0xFFFFFFFFu}, 20000);
  expect_decode_parity({1}, {1}, 0);
}

TEST_F(RunLengthDecodeParity, Large) {
  for (const int mean_run : {1, 8, 100000}) {
    SCOPED_TRACE(mean_run);
    const std::size_t size = (std::size_t{1} << 25) + 3;
    const Runs runs = encode_serially(runs_of(size, mean_run, 6));
    expect_decode_parity(runs.values, runs.lengths, size);
  }
}

}  // namespace
}  // namespace zerorun::test
