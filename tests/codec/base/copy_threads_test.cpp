// Copies by pieces: whole rows, each of them once, by any number of threads.
// SPDX-License-Identifier: MIT
#include "codec/base/copy_threads.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "zerorun/backend.hpp"

namespace zerorun {
namespace {

/// Rows of a plane and where they go, with guards between the rows of both.
struct Plane {
  static constexpr std::size_t kRowBytes = 261, kRows = 203, kStride = 267, kToStride = 270;
  static constexpr std::uint8_t kGuard = 0xA5;

  std::vector<std::uint8_t> from = std::vector<std::uint8_t>(kStride * kRows, kGuard);
  std::vector<std::uint8_t> to = std::vector<std::uint8_t>(kToStride * kRows, kGuard);
  bool bottom_up = false;
  std::vector<CopyPiece> pieces = {};

  explicit Plane(std::size_t piece_bytes, std::uint8_t seed, bool upwards = false)
      : bottom_up(upwards) {
    for (std::size_t y = 0; y < kRows; ++y)
      for (std::size_t x = 0; x < kRowBytes; ++x)
        from[y * kStride + x] = static_cast<std::uint8_t>(seed + x * 7 + y * 13);
    const auto stride = static_cast<std::ptrdiff_t>(kToStride);
    cut_into_pieces({from.data(), kStride, to.data() + (upwards ? (kRows - 1) * kToStride : 0),
                     upwards ? -stride : stride, kRowBytes, kRows},
                    piece_bytes, pieces);
  }

  bool is_copied() const {
    for (std::size_t y = 0; y < kRows; ++y) {
      const std::uint8_t* row = to.data() + (bottom_up ? kRows - 1 - y : y) * kToStride;
      if (!std::equal(row, row + kRowBytes, from.data() + y * kStride) ||
          !std::all_of(row + kRowBytes, row + kToStride,
                       [](std::uint8_t guard) { return guard == kGuard; }))
        return false;
    }
    return true;
  }
};

/// As the encoder does it: everything is there from the start.
void copy_all(CopyThreads* threads, int helpers, const Plane& plane) {
  SharedCopy copy(threads, helpers, plane.pieces);
  copy.release(plane.pieces.size());
  for (std::size_t i = 0; i < plane.pieces.size(); ++i) {
    while (!copy.is_copied(i) && copy.copy_one()) {
    }
    copy.wait_for(i);
    ASSERT_TRUE(copy.is_copied(i));
  }
  EXPECT_EQ(copy.untaken(), 0u);
}

TEST(CopyThreads, AnyNumberOfThreadsCopiesTheSame) {
  CopyThreads threads(3);
  for (const bool bottom_up : {false, true})
    for (const int helpers : {0, 1, 2, 3, 9})
      for (const std::size_t piece_bytes : {1u, 300u, 1000u, 5000u, 100000u}) {
        const Plane plane(piece_bytes, static_cast<std::uint8_t>(helpers), bottom_up);
        copy_all(&threads, helpers, plane);
        EXPECT_TRUE(plane.is_copied());
        for (const CopyPiece& piece : plane.pieces)
          EXPECT_TRUE(piece.rows == 1 || piece.rows * Plane::kRowBytes <= piece_bytes);
      }
  const Plane alone(300, 1);
  copy_all(nullptr, 5, alone);
  EXPECT_TRUE(alone.is_copied());
}

/// As the decoder does it: pieces arrive one after another, and the caller may copy none of them.
TEST(CopyThreads, NoPieceIsCopiedBeforeItsRelease) {
  CopyThreads threads(2);
  for (int round = 0; round < 20; ++round) {
    Plane plane(300, static_cast<std::uint8_t>(round));
    const std::vector<std::uint8_t> samples = plane.from;
    std::fill(plane.from.begin(), plane.from.end(), std::uint8_t{0});
    SharedCopy copy(&threads, 2, plane.pieces);
    for (std::size_t i = 0; i < plane.pieces.size(); ++i) {
      const CopyPiece& piece = plane.pieces[i];
      const auto at = static_cast<std::size_t>(piece.from - plane.from.data());
      const std::size_t count = std::min(piece.rows * Plane::kStride, plane.from.size() - at);
      std::copy_n(samples.data() + at, count, plane.from.data() + at);  // it arrives
      copy.release(i + 1);
    }
    for (std::size_t i = 0; i < plane.pieces.size(); ++i) copy.wait_for(i);
    EXPECT_TRUE(plane.is_copied());
  }
}

TEST(CopyThreads, ACopyThatIsGivenUpTouchesNoMemoryAfterwards) {
  CopyThreads threads(3);
  for (int round = 0; round < 50; ++round) {
    Plane plane(61, 3);
    {
      SharedCopy copy(&threads, 3, plane.pieces);
      copy.release(plane.pieces.size() / 2);
      if (round % 2 == 0) copy.copy_one();
    }
    std::fill(plane.to.begin(), plane.to.end(), std::uint8_t{0});  // a helper would race with this
    EXPECT_EQ(std::ranges::count(plane.to, std::uint8_t{0}),
              static_cast<std::ptrdiff_t>(plane.to.size()));
  }
}

TEST(CopyThreads, SeveralCallersShareTheThreads) {
  const auto threads = CopyThreads::shared();
  EXPECT_EQ(threads, CopyThreads::shared());
  std::array<bool, 4> right{};
  std::vector<std::thread> callers;
  for (std::size_t caller = 0; caller < right.size(); ++caller)
    callers.emplace_back([&, caller] {
      right[caller] = true;
      for (int round = 0; round < 10; ++round) {
        const Plane plane(200,
                          static_cast<std::uint8_t>(caller * 50 + static_cast<unsigned>(round)));
        copy_all(threads.get(), 3, plane);
        right[caller] = right[caller] && plane.is_copied();
      }
    });
  for (std::thread& caller : callers) caller.join();
  for (const bool is : right) EXPECT_TRUE(is);
}

/// The first owner may use one processor alone, and so would have no help.
TEST(CopyThreads, GrowsWithWhoMayUseMoreProcessors) {
  if (usable_processors() < 2) GTEST_SKIP() << "needs two processors";
  std::shared_ptr<CopyThreads> first;
  std::thread([&first] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    first = CopyThreads::shared();
  }).join();
  const auto threads = CopyThreads::shared();
  EXPECT_EQ(threads, first);
  const Plane plane(200, 1);
  SharedCopy copy(threads.get(), 1, plane.pieces);
  copy.release(plane.pieces.size());
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!copy.is_copied(0) && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(copy.is_copied(0)) << "by a helper";
}

TEST(CopyThreads, SmallFramesAndSingleThreadsGetNoHelp) {
  constexpr std::size_t kLarge = std::size_t{3840} * 2160;
  EXPECT_EQ(helpers_of(0, 1000), 0);
  EXPECT_EQ(helpers_of(8, 1000), 0);
  EXPECT_EQ(helpers_of(1, kLarge), 0);
  EXPECT_EQ(helpers_of(3, kLarge), 2);
  EXPECT_GT(helpers_of(0, kLarge), 0);
}

}  // namespace
}  // namespace zerorun
