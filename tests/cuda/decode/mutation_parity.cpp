// Damaged streams: both backends decode, conceal or refuse alike. ZERORUN_MUTATIONS: how many.
// tests/campaign.sh --gpu R6 does the same with more kinds of streams and many more of them.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/campaign/both_decoders.hpp"
#include "tests/campaign/numbered_work.hpp"
#include "tests/cuda/decode/mutations.hpp"
#include "tests/support/gpu.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::test {
namespace {

constexpr std::int64_t kDefaultMutations = 4000;
constexpr int kMostThreads = 16;              // compute-sanitizer runs this, too
constexpr std::int64_t kMaxPixels = 1 << 18;  // a changed size must not take long

std::int64_t wanted_mutations() {
  const char* text = std::getenv("ZERORUN_MUTATIONS");
  if (text == nullptr || *text == '\0') return kDefaultMutations;
  char* end = nullptr;
  const long long count = std::strtoll(text, &end, 10);
  if (*end == '\0' && count > 0) return count;
  ADD_FAILURE() << "ZERORUN_MUTATIONS is '" << text << "', not a number of mutations";
  return 0;
}

class MutationParity : public GpuTest {};

TEST_F(MutationParity, DamagedStreamsDecodeOrFailAlike) {
  const std::int64_t mutations = wanted_mutations();
  const std::vector<MutationSource> sources = mutation_sources();
  WorkPlan plan;
  plan.steps = mutations;
  plan.findings = testing::TempDir() + "mutation";
  plan.group = 16;
  plan.threads = std::min(usable_processors(), kMostThreads);
  NumberedWork work(plan);
  const int result = work.run([&]() -> NumberedWork::Step {
    const auto pair = std::make_shared<DecoderPair>(ChromaUpsampling::fancy, kMaxPixels);
    if (!pair->ready()) return {};
    return [&, pair](std::int64_t number, Counts& counts) {
      const Bytes jpeg = mutation(sources, number);
      const auto turn = number / static_cast<std::int64_t>(sources.size());
      const std::string text = counted(compared_in_turn(*pair, jpeg, turn), counts);
      if (!text.empty()) work.tell("mutation " + std::to_string(number) + ": " + text, jpeg);
    };
  });
  std::printf("%s\n", work.text().c_str());
  ASSERT_EQ(result, 0);
  const Counts& counts = work.counts();
  EXPECT_EQ(counts.all(), mutations);
  if (mutations < 1000) return;
  EXPECT_GT(counts.clean, mutations / 50);
  EXPECT_GT(counts.concealed, mutations / 50);
  EXPECT_GT(counts.refused, mutations / 100);
  EXPECT_GE(counts.on_cpu, counts.concealed);
  EXPECT_LT(counts.on_cpu, counts.clean + counts.damaged);  // the GPU decoded some
}

}  // namespace
}  // namespace zerorun::test
