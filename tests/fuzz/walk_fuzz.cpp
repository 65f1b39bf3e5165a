// What the GPU decoder does with a scan, on the host, against the CPU's stages: its walks over
// subsequences, both strategies that synchronise them, and the staged decoder. So a difference
// between CPU and GPU is looked for without a GPU. What threads, warps and CTAs pass to each other
// is device code; tests/cuda compares that.
// SPDX-License-Identifier: MIT
#include <deque>
#include <exception>
#include <memory>
#include <vector>

#include "tests/cuda/decode/host_chunk.hpp"
#include "tests/fuzz/fuzz_check.hpp"

namespace zerorun::fuzz {
namespace {

/// Bytes of the input choose sizes and places: which ones does not matter.
struct Choices {
  std::span<const std::byte> bytes;
  std::size_t next = 0;

  std::uint32_t below(std::uint32_t bound) {
    if (bytes.empty()) return 0;
    next = (next * 31 + bytes.size() / 2 + 7) % bytes.size();
    return static_cast<std::uint32_t>(bytes[next]) % bound;
  }
};

void hold(const char* broken) { check(broken == nullptr, broken); }

/// The tables that were made last: most inputs have those of another one.
WalkTables& walk_tables_of(const std::vector<test::TablePair>& pairs) {
  struct Made {
    std::vector<test::TablePair> pairs;
    std::unique_ptr<WalkTables> tables;
  };
  constexpr std::size_t kKept = 128;
  static std::deque<Made> made;
  for (const Made& known : made)
    if (known.pairs == pairs) return *known.tables;
  if (made.size() == kKept) made.pop_front();
  made.push_back({pairs, test::make_lazy_tables(pairs)});
  return *made.back().tables;
}

/// A scan as the kernels have it.
struct ScanOnHost {
  explicit ScanOnHost(const test::CleanScan& clean)
      : scan(clean), words(test::words_of(clean.bytes)) {
    const PairCycle cycle = make_pair_cycle(scan.header.layout);
    tables = {&walk_tables_of(test::tables_of(scan.header, cycle)), cycle};
  }
  const test::CleanScan& scan;
  std::vector<std::uint32_t> words;
  test::HostTables tables;
};

/// The map strategy.
void check_maps(const ScanOnHost& on_host, std::span<const test::Subsequence> subs,
                Choices& choices) {
  constexpr std::uint32_t kStrides[] = {kGuessStride, 1, kMediumGuessStride, 8};
  const auto period = static_cast<std::uint32_t>(on_host.tables.cycle.period);
  const test::Chunk::Sizes sizes{kStrides[choices.below(4)],
                                 kMostEnds - choices.below(kMostEnds - period + 1),
                                 choices.below(kOfferRounds), choices.below(kOfferBlocks)};
  const auto count = static_cast<std::int64_t>(subs.size());
  for (std::int64_t first = -static_cast<std::int64_t>(choices.below(test::kHostSubsequences));
       first < count; first += test::kHostSubsequences / 2) {
    const test::HostRow row(subs, on_host.words, on_host.tables, first, test::kHostSubsequences);
    hold(test::Chunk(row, sizes).compare().broken);
  }
}

/// The exhaustive strategy.
void check_all_walks(const ScanOnHost& on_host, std::span<const test::Subsequence> subs,
                     Choices& choices) {
  // Far fewer than the kernel has, so that marks of small streams are full, too.
  const std::uint32_t slots = kMarkSlots >> choices.below(7);
  const auto count = static_cast<std::int64_t>(subs.size());
  // Mostly the row begins behind the scan's first subsequence, whose start is known.
  for (std::int64_t first = choices.below(3) == 0 ? -std::int64_t{kWarmSubsequences}
                                                  : std::int64_t{1 + choices.below(24)};
       first < count; first += test::kMarkedSubsequences / 2) {
    const test::HostRow row(subs, on_host.words, on_host.tables, first, test::kMarkedSubsequences);
    hold(test::MarkedChunk(row, slots).compare().broken);
  }
}

/// Damage seldom hits the few bits of padding, so one of an interval's last bits is cleared here.
void check_last_bits(test::CleanScan scan, Choices& choices) {
  const std::size_t interval =
      choices.below(static_cast<std::uint32_t>(scan.interval_first.size() - 1));
  if (scan.interval_first[interval] == scan.interval_first[interval + 1]) return;
  scan.bytes[scan.interval_first[interval + 1] - 1] &=
      static_cast<std::uint8_t>(~(1u << choices.below(8)));
  const ScanOnHost on_host(scan);
  const test::StageScan stages = test::decode_by_stages(scan);
  hold(test::contradiction(stages, test::decode_fast(scan, on_host.tables, on_host.words)));
}

void check_scan(const test::CleanScan& scan, Choices& choices) {
  const ScanOnHost on_host(scan);
  const test::StageScan stages = test::decode_by_stages(scan);
  hold(test::contradiction(stages, test::decode_fast(scan, on_host.tables, on_host.words)));
  const auto subs = test::subsequences_of(scan, on_host.tables, on_host.words);
  check_maps(on_host, subs, choices);
  // Walks from every bit take thirty times as long.
  if (choices.below(30) == 0) check_all_walks(on_host, subs, choices);
  hold(test::staged_contradiction(scan, stages, 32 << choices.below(6)));
  if (!stages.fault && choices.below(4) == 0) check_last_bits(scan, choices);
}

}  // namespace
}  // namespace zerorun::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerorun;
  const auto jpeg = fuzz::stream(data, size);
  fuzz::Choices choices{jpeg};
  const std::int64_t max_pixels = fuzz::quick_params(1).limits.max_pixels;
  try {
    for (const test::CleanScan& scan : test::read_scans(jpeg, max_pixels, 3))
      fuzz::check_scan(scan, choices);
  } catch (const std::exception& error) {  // of a walk that reads too far, or without end
    fuzz::check(false, error.what());
  }
  return 0;
}
