// Limits by compute capability, and CTAs of a processor.
// SPDX-License-Identifier: MIT
#include "cuda/base/device_limits.hpp"

#include <gtest/gtest.h>

namespace zerorun {
namespace {

constexpr std::size_t kKib = 1024;

TEST(DeviceLimits, AreThoseOfTheProgrammingGuide) {
  struct Row {
    int capability;
    std::size_t cta_kib, processor_kib;
    std::uint32_t threads, ctas;
  };
  constexpr Row kRows[] = {
      {75, 64, 64, 1024, 16},    {80, 163, 164, 2048, 32},  {86, 99, 100, 1536, 16},
      {87, 163, 164, 1536, 16},  {88, 99, 100, 1536, 16},   {89, 99, 100, 1536, 24},
      {90, 227, 228, 2048, 32},  {100, 227, 228, 2048, 32}, {103, 227, 228, 2048, 32},
      {110, 227, 228, 1536, 24}, {120, 99, 100, 1536, 24},  {121, 99, 100, 1536, 24},
  };
  ASSERT_EQ(std::size(kRows), std::size(kCapabilities));
  for (std::size_t i = 0; i < std::size(kRows); ++i) {
    const Row& row = kRows[i];
    const DeviceLimits limits = limits_of_capability(kCapabilities[i]);
    EXPECT_EQ(limits.capability, row.capability);
    EXPECT_EQ(limits.shared_of_cta, row.cta_kib * kKib) << row.capability;
    EXPECT_EQ(limits.shared_of_processor, row.processor_kib * kKib) << row.capability;
    EXPECT_EQ(limits.threads_of_processor, row.threads) << row.capability;
    EXPECT_EQ(limits.ctas_of_processor, row.ctas) << row.capability;
    EXPECT_EQ(limits.registers_of_processor, 65536u) << row.capability;
    EXPECT_EQ(limits.programmatic_launches, row.capability >= 90) << row.capability;
  }
}

TEST(DeviceLimits, ProcessorsHoldWhatFitsInAllRespects) {
  const DeviceLimits hopper = limits_of_capability(90), ada = limits_of_capability(89);
  EXPECT_EQ(resident_ctas(hopper, {128, 0, 0}), 16u) << "threads";
  EXPECT_EQ(resident_ctas(hopper, {32, 0, 0}), 32u) << "CTAs";
  EXPECT_EQ(resident_ctas(hopper, {128, 96, 0}), 5u) << "registers";
  EXPECT_EQ(resident_ctas(hopper, {128, 97, 0}), 4u) << "registers are handed out by eights";
  EXPECT_EQ(resident_ctas(hopper, {384, 0, 74800}), 3u) << "shared memory";
  EXPECT_EQ(resident_ctas(ada, {384, 0, 74800}), 1u);
  EXPECT_EQ(resident_ctas(ada, {384, 0, 99 * kKib}), 1u);
  EXPECT_EQ(resident_ctas(ada, {384, 0, 99 * kKib + 1}), 0u) << "more than a CTA may have";
  EXPECT_EQ(resident_ctas(limits_of_capability(75), {384, 0, 64 * kKib}), 1u)
      << "Turing takes nothing for itself";
  EXPECT_EQ(resident_ctas(hopper, {1025, 0, 0}), 0u);
}

/// The bounds for Hopper are those that were measured; elsewhere they are what fits.
TEST(DeviceLimits, BoundsOfLaunchesFollowTheArchitecture) {
  constexpr std::size_t kCodeTiles = 43 * kKib, kTransform = 10 * kKib, kAssemble = 25 * kKib;
  EXPECT_EQ(bounded_ctas(5, 128, kCodeTiles, 90), 5u);
  EXPECT_EQ(bounded_ctas(5, 128, kCodeTiles, 100), 5u);
  EXPECT_EQ(bounded_ctas(5, 128, kCodeTiles, 80), 3u);
  EXPECT_EQ(bounded_ctas(5, 128, kCodeTiles, 86), 2u);
  EXPECT_EQ(bounded_ctas(5, 128, kCodeTiles, 120), 2u);
  EXPECT_EQ(bounded_ctas(5, 128, kCodeTiles, 75), 1u);
  EXPECT_EQ(bounded_ctas(12, 64, kTransform, 90), 12u);
  EXPECT_EQ(bounded_ctas(12, 64, kTransform, 89), 9u);
  EXPECT_EQ(bounded_ctas(8, 256, kAssemble, 90), 8u);
  EXPECT_EQ(bounded_ctas(8, 256, kAssemble, 75), 2u);
  EXPECT_EQ(bounded_ctas(3, 384, 75 * kKib, 75), 1u) << "never 0";
}

}  // namespace
}  // namespace zerorun
