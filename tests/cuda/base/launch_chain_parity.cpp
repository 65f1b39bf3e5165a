// A chain's kernels run one behind the other, with the arguments of this time.
// SPDX-License-Identifier: MIT
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/cuda/base/chain_kernels.hpp"
#include "tests/cuda/base/other_capture.hpp"
#include "tests/cuda/device_array.hpp"
#include "tests/support/gpu.hpp"

namespace zerorun::test {
namespace {

class LaunchChainParity : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_TRUE(stream_.create());
    values_.emplace(kChainValues);
  }

  /// Runs the kernels that `text` names, "a" for append and "i" for insert, with the numbers from
  /// `number` on, and expects what they make of 7.
  void run(const std::string& text, std::uint32_t number, bool together = true) {
    SCOPED_TRACE(text);
    std::vector<std::uint32_t> begin(kChainValues, 7);
    ASSERT_EQ(cudaMemcpy(values_->data(), begin.data(), begin.size() * sizeof begin[0],
                         cudaMemcpyDefault),
              cudaSuccess);
    std::uint32_t expected = 7;
    chain_.begin(stream_.get(), together);
    for (const char kernel : text) {
      ASSERT_EQ(kernel == 'a' ? add_append(chain_, values_->data(), number)
                              : add_insert(chain_, values_->data(), number, number % 5 * 64),
                cudaSuccess);
      expected = (kernel == 'a' ? 3 : 5) * expected + number++;
    }
    ASSERT_EQ(chain_.launch(), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
    EXPECT_EQ(values_->to_host(), std::vector<std::uint32_t>(kChainValues, expected));
  }

  Stream stream_;
  std::optional<DeviceArray<std::uint32_t>> values_;
  LaunchChain chain_;
};

TEST_F(LaunchChainParity, ArgumentsAreThoseOfThisTime) {
  for (std::uint32_t turn = 0; turn < 20; ++turn) run("aia", 10 * turn);
  EXPECT_EQ(chain_.replays(), 19u);
  for (std::uint32_t turn = 0; turn < 5; ++turn) run("aia", turn, false);
  EXPECT_EQ(chain_.replays(), 19u) << "launched at once";
}

TEST_F(LaunchChainParity, EachOrderHasAGraph) {
  const char* const orders[] = {"a", "ai", "ia", "aiai"};
  for (const char* order : orders) run(order, 3);
  EXPECT_EQ(chain_.replays(), 0u);
  for (std::uint32_t turn = 0; turn < 5; ++turn)
    for (const char* order : orders) run(order, turn);
  EXPECT_EQ(chain_.replays(), 20u);
  // One more than are kept: the oldest is forgotten.
  run("iii", 1);
  run("a", 1);
  EXPECT_EQ(chain_.replays(), 20u);
  run("a", 2);
  EXPECT_EQ(chain_.replays(), 21u);
}

TEST_F(LaunchChainParity, NoMoreKernelsThanThereIsRoomFor) {
  chain_.begin(stream_.get(), true);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(add_append(chain_, values_->data(), 1), cudaSuccess);
  EXPECT_EQ(add_append(chain_, values_->data(), 1), cudaErrorInvalidValue);
}

/// A kernel that the device refuses: the chain says so, the first time and later, and others still
/// run.
TEST_F(LaunchChainParity, ARefusedKernelIsTold) {
  for (int turn = 0; turn < 3; ++turn) {
    chain_.begin(stream_.get(), true);
    ASSERT_EQ(add_append(chain_, values_->data(), 1), cudaSuccess);
    cudaError_t error = add_insert(chain_, values_->data(), 1, std::size_t{1} << 24);
    if (error == cudaSuccess) error = chain_.launch();
    EXPECT_NE(error, cudaSuccess) << turn;
    EXPECT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
    (void)cudaGetLastError();
    run("ai", 5);
  }
}

/// Graphs that are made meanwhile do not disturb another thread's capture.
TEST_F(LaunchChainParity, CapturesOfOthersGoOn) {
  CaptureOfAnotherThread other;
  for (std::uint32_t turn = 0; turn < 3; ++turn) {
    chain_.begin(stream_.get(), true);
    EXPECT_EQ(add_append(chain_, values_->data(), turn), cudaSuccess);
    EXPECT_EQ(chain_.launch(), cudaSuccess);
  }
  other.end();
  EXPECT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
  EXPECT_EQ(chain_.replays(), 2u);
}

}  // namespace
}  // namespace zerorun::test
