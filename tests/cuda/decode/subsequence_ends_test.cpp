// How a chunk's rows are synchronised: maps that are followed in strides lead where single steps
// lead, and for real streams to the state in which each row truly begins.
// SPDX-License-Identifier: MIT
#include "cuda/decode/subsequence_ends.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include <gtest/gtest.h>

#include "tests/cuda/decode/host_scan.hpp"
#include "tests/support/test_frame.hpp"
#include "zerorun/encoder.hpp"

namespace zerorun::test {
namespace {

constexpr std::uint32_t kRows = 64;
using Ends = RowEnds<kRows>;

std::unique_ptr<Ends> make_ends() {
  auto ends = std::make_unique<Ends>();
  ends->most = kMostEnds;
  return ends;
}

void follow_all_segments(Ends& ends) {
  for (std::uint32_t segment = 1; segment < Ends::kSegments; ++segment)
    for (std::uint32_t number = 0; number <= kMostEnds; ++number)
      ends.follow_segment(segment, number);
}

TEST(RowEnds, StridesLeadWhereStepsLead) {
  Random random(41);
  for (int turn = 0; turn < 300; ++turn) {
    auto ends = make_ends();
    for (std::uint32_t row = 0; row < kRows; ++row) {
      ends->head[row] = random.below(20) == 0;
      ends->open[row] = random.below(20) != 0;
      ends->count[row] = static_cast<std::uint8_t>(random.below(kMostEnds + 1));
      for (std::uint32_t number = 0; number < kMostEnds; ++number) {
        const bool foreign = ends->count[row] == 0 || random.below(10) == 0;
        const auto next =
            foreign ? kForeignEnd : static_cast<std::uint32_t>(random.below(ends->count[row]));
        ends->line[number].step[row] = make_step({3, 5}) | next << kStepNextShift;
      }
    }
    follow_all_segments(*ends);
    for (std::uint32_t from = kSegmentRows; from < kRows; from += kSegmentRows)
      for (std::uint32_t number = 0; number <= ends->count[from - 1]; ++number) {
        std::uint32_t now = number < ends->count[from - 1] ? number : kForeignEnd;
        const std::uint32_t first = now;
        for (std::uint32_t to = from; to <= kRows; ++to) {
          ASSERT_EQ(ends->follow_rows(from, to, first), now) << from << " to " << to;
          if (to < kRows) now = ends->follow(to, now);
        }
      }
  }
}

TEST(RowEnds, StatesAreNumberedWhileThereIsRoom) {
  auto ends = make_ends();
  ends->open[3] = true;
  for (std::uint32_t i = 0; i < 4; ++i)
    ends->line[i].reached[3] = static_cast<std::uint16_t>(i / 2);
  ends->collect(3, 4);
  EXPECT_EQ(ends->count[3], 2);
  EXPECT_EQ(ends->find(3, 1), 1u);
  EXPECT_EQ(ends->find(3, 2), kForeignEnd);
  for (std::uint32_t i = 0; i < kMostEnds; ++i) {
    ends->line[i].reached[3] = static_cast<std::uint16_t>(1 + i);
    ends->line[i].step[3] = make_step({i, 2 * i});
  }
  ends->match(3, 0, kMostEnds);
  EXPECT_EQ(ends->count[3], kMostEnds);
  for (std::uint32_t i = 0; i < kMostEnds; ++i) {
    EXPECT_EQ(ends->follow(3, i), i + 1 < kMostEnds ? i + 1 : kForeignEnd);
    EXPECT_EQ(tally_of_step(ends->line[i].step[3]).blocks, i);
    EXPECT_EQ(tally_of_step(ends->line[i].step[3]).pairs, 2 * i);
  }
  ends->open[3] = false;
  ends->collect(3, 4);
  EXPECT_EQ(ends->count[3], 0);
}

TEST(RowEnds, NothingIsWrittenBehindTheLinesThatThereAre) {
  auto ends = make_ends();
  ends->most = kUsualEnds;
  ends->open[3] = true;
  constexpr std::uint16_t kUntouched = 0xABCD;
  ends->line[kUsualEnds].state[3] = kUntouched;
  for (std::uint32_t i = 0; i < kMaxBlocksPerMcu; ++i)
    ends->line[i].reached[3] = static_cast<std::uint16_t>(i);
  ends->collect(3, kMaxBlocksPerMcu);
  for (std::uint32_t i = 0; i < kUsualEnds; ++i) {
    ends->line[i].reached[3] = static_cast<std::uint16_t>(100 + i);
    ends->line[i].step[3] = make_step({1, 1});
  }
  ends->match(3, 0, kUsualEnds);
  EXPECT_EQ(ends->count[3], kUsualEnds);
  EXPECT_EQ(ends->follow(3, 0), kUsualEnds - 1);
  EXPECT_EQ(ends->follow(3, 1), kForeignEnd);
  EXPECT_EQ(ends->line[kUsualEnds].state[3], kUntouched);
}

/// Some rows of a scan of one interval, walked as sync_rows() does it.
class Chunk {
 public:
  Chunk(const CleanScan& scan, const HostTables& tables, std::uint32_t first_row)
      : words_(words_of(scan.bytes)),
        tables_(tables),
        end_(scan.interval_first[1] * 8),
        first_row_(first_row) {
    for (std::uint32_t row = 0; row < kRows; ++row) {
      ends->head[row] = first_row + row == 0;
      ends->open[row] = start(row) + kRowBits < end_;
    }
    walk_guesses();
    walk_ends();
    follow_all_segments(*ends);
  }

  bool exists(std::uint32_t row) const { return start(row) < end_; }
  std::uint32_t start(std::uint32_t row) const { return (first_row_ + row) * kRowBits; }

  std::unique_ptr<Ends> ends = make_ends();

 private:
  std::uint32_t walk(std::uint32_t row, std::uint32_t from, const RowState& state,
                     RowTally& tally) {
    Walk walk{from + state.overshoot, state.phase, state.k};
    const std::uint32_t stop = std::min(start(row) + kRowBits, end_);
    tally = test::skip(words_, tables_, {stop, end_}, walk);
    return pack({walk.bit - stop, walk.phase, walk.k});
  }

  void walk_guesses() {
    const auto period = static_cast<std::uint32_t>(tables_.cycle.period);
    for (std::uint32_t row = 0; row < kRows; ++row) {
      const bool head = ends->head[row];
      for (std::uint32_t phase = 0; phase < (head ? 1 : period) && ends->open[row]; ++phase) {
        RowTally tally;
        ends->line[phase].reached[row] =
            static_cast<std::uint16_t>(walk(row, start(row), {0, phase, 0}, tally));
        if (head) ends->line[0].step[row] = make_step(tally);
      }
      ends->collect(row, period);
    }
  }

  void walk_ends() {
    std::uint32_t walked[kRows] = {};
    for (bool more = true; more;) {
      more = false;
      std::uint32_t entries[kRows] = {};
      for (std::uint32_t row = 1; row < kRows; ++row)
        if (exists(row)) entries[row] = ends->count[row - 1];
      for (std::uint32_t row = 1; row < kRows; ++row) {
        for (std::uint32_t number = walked[row]; number < entries[row]; ++number) {
          RowTally tally;
          ends->line[number].reached[row] = static_cast<std::uint16_t>(
              walk(row, start(row), unpack_row_state(ends->line[number].state[row - 1]), tally));
          ends->line[number].step[row] = make_step(tally);
          more = true;
        }
        ends->match(row, walked[row], entries[row]);
        walked[row] = entries[row];
      }
    }
  }

  std::vector<std::uint32_t> words_;
  HostTables tables_;
  std::uint32_t end_, first_row_;
};

class RowEndsOfScan : public testing::TestWithParam<Subsampling> {};

TEST_P(RowEndsOfScan, TellWhereRowsBegin) {
  EncodeParams params;
  params.backend = Backend::cpu;
  params.restart = RestartPolicy::none();
  params.subsampling = GetParam();
  const TestFrame frame = make_frame(Content::photo, PixelFormat::rgb24, 640, 480, 7);
  auto encoder = Encoder::create(params);
  std::vector<std::byte> jpeg;
  ASSERT_TRUE(encoder && encoder->encode(frame.view(), jpeg));
  const auto scan = read_scan(jpeg);
  ASSERT_TRUE(scan);
  const PairCycle cycle = make_pair_cycle(scan->header.layout);
  const auto tables = make_host_tables(tables_of(scan->header, cycle));
  const HostTables on_host{tables.get(), cycle};
  const auto entries = row_entries(*scan, on_host);
  const auto words = words_of(scan->bytes);
  int told = 0, all = 0;
  for (std::uint32_t first = 0; first + 1 < entries.size(); first += kRows / 2) {
    const Chunk chunk(*scan, on_host, first);
    // The true state before row 16 is among the ends of row 15, and all lead on from there.
    constexpr std::uint32_t kFrom = 2 * kSegmentRows;
    if (!chunk.exists(kFrom)) break;
    const auto packed = [&](std::uint32_t row) {
      const Walk& at = entries[first + row];
      return pack({at.bit - chunk.start(row), at.phase, at.k});
    };
    const std::uint32_t number = chunk.ends->find(kFrom - 1, packed(kFrom));
    for (std::uint32_t row = kFrom; row < kRows && chunk.exists(row); ++row, ++all) {
      const std::uint32_t entry = chunk.ends->follow_rows(kFrom, row, number);
      if (entry == kForeignEnd) continue;
      ++told;
      ASSERT_EQ(chunk.ends->line[entry].state[row - 1], packed(row)) << "row " << first + row;
      Walk walk = entries[first + row];
      const std::uint32_t end = scan->interval_first[1] * 8;
      const std::uint32_t stop = std::min(chunk.start(row) + kRowBits, end);
      const RowTally truth = test::skip(words, on_host, {stop, end}, walk);
      const RowTally tally = tally_of_step(chunk.ends->line[entry].step[row]);
      ASSERT_EQ(tally.blocks, truth.blocks);
      ASSERT_EQ(tally.pairs, truth.pairs);
    }
  }
  EXPECT_GT(all, 50);
  EXPECT_GE(told, all * 9 / 10) << "of " << all << " rows; the others are walked one by one";
}

INSTANTIATE_TEST_SUITE_P(Samplings, RowEndsOfScan, testing::ValuesIn(kAllSubsamplings));

}  // namespace
}  // namespace zerorun::test
