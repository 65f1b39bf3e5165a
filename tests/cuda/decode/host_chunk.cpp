// Chunks of subsequences, synchronised on the host.
// SPDX-License-Identifier: MIT
#include "tests/cuda/decode/host_chunk.hpp"

#include <algorithm>
#include <stdexcept>

#include "cuda/decode/scan_plan.hpp"

namespace zerorun::test {
namespace {

/// The mark where a chunk's own subsequences begin.
constexpr std::uint32_t kOwnMark = kWarmSubsequences / kMarkSubsequences - 1;

}  // namespace

HostRow::HostRow(std::span<const Subsequence> subs, std::span<const std::uint32_t> words,
                 const HostTables& tables, std::int64_t first, std::uint32_t count)
    : subs_(subs), tables_(tables), first_(first) {
  for (std::uint32_t sub = 0; sub < count; ++sub) {
    if (!exists(sub)) continue;
    first_word_ = at(sub).start / 32;
    words_ = words.subspan(first_word_);
    words_ = words_.first(std::min<std::size_t>(words_.size(), words_of_subsequences(count)));
    break;
  }
}

const Subsequence& HostRow::at(std::uint32_t sub) const {
  static constexpr Subsequence kNone{};
  const std::int64_t number = first_ + sub;
  const bool known = number >= 0 && number < static_cast<std::int64_t>(subs_.size());
  return known ? subs_[static_cast<std::size_t>(number)] : kNone;
}

std::uint32_t HostRow::entry(std::uint32_t sub) const {
  const Subsequence& own = at(sub);
  return pack({own.entry.bit - own.start, own.entry.phase, own.entry.k});
}

std::uint32_t HostRow::walk(std::uint32_t sub, const WalkState& state, WalkTally& tally) const {
  const Subsequence& own = at(sub);
  const std::uint32_t origin = first_word_ * 32, start = own.start - origin, end = own.end - origin;
  const WalkSpan span{std::min(start + kSubsequenceBits, end), end};
  Walk walk{start + state.overshoot, state.phase, state.k};
  tally = test::skip(words_, tables_, span, walk);
  const WalkState after{walk.bit - span.stop, walk.phase, walk.k};
  const std::uint32_t packed = pack(after);
  const WalkState again = unpack_walk_state(packed);
  if (packed >= kFreeSlot || again.overshoot != after.overshoot || again.phase != after.phase ||
      again.k != after.k)
    throw std::runtime_error("a state that cannot be packed");
  return packed;
}

std::unique_ptr<HostEnds> make_ends() {
  auto ends = std::make_unique<HostEnds>();
  ends->most = kMostEnds;
  return ends;
}

Chunk::Chunk(const HostRow& row, const Sizes& sizes) : row_(row), sizes_(sizes) {
  ends_->most = sizes.most_ends;
  for (std::uint32_t sub = 0; sub < kHostSubsequences; ++sub) {
    ends_->head[sub] = row.at(sub).head;
    ends_->open[sub] = row.at(sub).open;
  }
  walk_guesses();
  walk_ends();
  for (std::uint32_t segment = 1; segment < HostEnds::kSegments; ++segment)
    for (std::uint32_t number = 0; number <= kMostEnds; ++number)
      ends_->follow_segment(segment, number);
}

void Chunk::walk_guesses() {
  const std::uint32_t stride = sizes_.guess_stride;
  for (std::uint32_t sub = 0; sub < kHostSubsequences; sub += stride) {
    for (std::uint32_t phase = 0; phase < row_.period(); ++phase) {
      if (ends_->head[sub] || !ends_->open[sub]) continue;
      WalkTally tally;
      ends_->line[phase].reached[sub] =
          static_cast<std::uint16_t>(row_.walk(sub, {0, phase, 0}, tally));
    }
    ends_->collect(sub, row_.period());
  }
}

void Chunk::walk_ends() {
  std::uint32_t walked[kHostSubsequences] = {};
  for (;; ++rounds_) {
    std::uint32_t walks = 0, repeated = 0;  // the first walk's end, if it passed many blocks
    bool repeats = false;
    std::uint32_t entries[kHostSubsequences] = {};
    for (std::uint32_t sub = 0; sub < kHostSubsequences; ++sub) {
      if (ends_->head[sub])
        entries[sub] = 1;
      else if (sub > 0 && row_.exists(sub))
        entries[sub] = ends_->count[sub - 1];
    }
    for (std::uint32_t sub = 0; sub < kHostSubsequences; ++sub) {
      for (std::uint32_t number = walked[sub]; number < entries[sub]; ++number) {
        WalkTally tally;
        const std::uint32_t before = ends_->head[sub] ? 0u : ends_->line[number].state[sub - 1];
        const WalkState from = unpack_walk_state(before);
        ends_->line[number].reached[sub] = static_cast<std::uint16_t>(row_.walk(sub, from, tally));
        ends_->line[number].step[sub] = make_step(tally);
        if (++walks > 1) continue;
        repeats = ends_->open[sub] && tally.blocks >= sizes_.offer_blocks;
        repeated = ends_->line[number].reached[sub];
      }
      const bool room =
          !ends_->open[sub] || ends_->match(sub, walked[sub], entries[sub], sizes_.most_ends);
      full_ = full_ || !room;
      if (!room && ends_->count[sub] < sizes_.most_ends)
        broken_ = "an end found no room where some is";
      for (std::uint32_t number = walked[sub]; number < entries[sub]; ++number) {
        const std::uint32_t next = ends_->follow(sub, number);
        if (next != kForeignEnd && ends_->line[next].state[sub] != ends_->line[number].reached[sub])
          broken_ = "an end is kept as another";
      }
      if (ends_->count[sub] > sizes_.most_ends) broken_ = "an end found room where none is";
      walked[sub] = entries[sub];
    }
    if (walks == 0) return;
    if (!repeats || rounds_ < sizes_.offer_rounds || walks > kOfferWalks) continue;
    for (std::uint32_t sub = 0; sub < kHostSubsequences; ++sub) ends_->offer(sub, repeated);
  }
}

bool Chunk::strides_lead_where_steps_lead() const {
  for (std::uint32_t first = 0; first < ends_->count[0]; ++first) {
    std::uint32_t now = first, behind_segment = 0;
    for (std::uint32_t to = 1; to < kHostSubsequences; ++to) {
      if (to == kSegmentSubsequences) behind_segment = now;
      if (to > kSegmentSubsequences &&
          ends_->follow_subsequences(kSegmentSubsequences, to, behind_segment) != now)
        return false;
      now = ends_->follow(to, now);
    }
  }
  return true;
}

bool Chunk::each_state_has_one_number() const {
  for (std::uint32_t sub = 0; sub < kHostSubsequences; ++sub)
    for (std::uint32_t number = 0; number < ends_->count[sub]; ++number)
      if (ends_->find(sub, ends_->line[number].state[sub]) != number) return false;
  return true;
}

const char* Chunk::compare_end(std::uint32_t sub, std::uint32_t number) const {
  if (!ends_->head[sub] && ends_->line[number].state[sub - 1] != row_.entry(sub))
    return "ends lead to a wrong state";
  const WalkTally tally = tally_of_step(ends_->line[number].step[sub]), truth = row_.at(sub).tally;
  if (tally.blocks != truth.blocks || tally.pairs != truth.pairs) return "a step was miscounted";
  return nullptr;
}

/// The true state before `from` may be one of the ends before it; all maps go on from there.
const char* Chunk::compare_from(std::uint32_t from, FoundStarts& out) const {
  const bool head = ends_->head[from];
  const std::uint32_t number = head ? 0 : ends_->find(from - 1, row_.entry(from));
  bool known = head || number != kForeignEnd;
  for (std::uint32_t sub = from; sub < kHostSubsequences; ++sub) {
    if (!row_.exists(sub)) continue;
    known = known || ends_->head[sub];
    const std::uint32_t entry =
        ends_->head[sub] ? 0 : ends_->follow_subsequences(from, sub, number);
    ++out.all;
    if (entry == kForeignEnd) {
      if (known && !full_) return "an end was lost though there was room";
      continue;
    }
    ++out.found_starts;
    if (const char* const wrong = compare_end(sub, entry)) return wrong;
  }
  return nullptr;
}

FoundStarts Chunk::compare() const {
  FoundStarts out;
  out.broken = broken_;
  if (!each_state_has_one_number()) out.broken = "a state has two numbers";
  if (!strides_lead_where_steps_lead()) out.broken = "strides lead elsewhere than steps";
  for (std::uint32_t from = kSegmentSubsequences; from < kHostSubsequences && out.broken == nullptr;
       from += kSegmentSubsequences)
    if (row_.exists(from)) out.broken = compare_from(from, out);
  return out;
}

namespace {

/// Where an interval ends all walks meet: the next subsequence begins in the state 0.
std::uint32_t pass(const HostRow& row, std::uint32_t sub, const WalkState& from) {
  const Subsequence& own = row.at(sub);
  if (own.end == 0) return 0;
  WalkTally tally;
  const std::uint32_t state = row.walk(sub, own.head ? WalkState{0, 0, 0} : from, tally);
  return own.open ? state : 0;
}

/// The states in which subsequence `to` may begin, by walks from every bit of subsequences `first`
/// to `until` - 1 and from each block of the MCU; in no order.
std::vector<std::uint32_t> states_from_every_bit(const HostRow& row, std::uint32_t first,
                                                 std::uint32_t until, std::uint32_t to) {
  std::vector<std::uint32_t> memory(DistinctStates::bytes() / 4);
  std::vector<std::uint32_t> now, next;
  for (std::uint32_t sub = first; sub < to; ++sub) {
    std::ranges::fill(memory, 0u);
    const auto seen = DistinctStates::at(reinterpret_cast<std::uint16_t*>(memory.data()));
    const auto go_on = [&](const WalkState& from) {
      // A walk that begins behind the interval's end has no state that can be packed.
      const std::uint32_t state = row.at(sub).open ? pass(row, sub, from) : 0;
      if (seen.add(state)) next.push_back(state);
    };
    for (const std::uint32_t state : now) go_on(unpack_walk_state(state));
    for (std::uint32_t bit = 0; bit < kSubsequenceBits && sub < until; ++bit)
      for (std::uint32_t phase = 0; phase < row.period(); ++phase) go_on({bit, phase, 0});
    now.swap(next);
    next.clear();
  }
  return now;
}

}  // namespace

MarkedChunk::MarkedChunk(const HostRow& row, std::uint32_t slots) : row_(row), memory_(slots) {
  walk_from_every_bit();
}

void MarkedChunk::walk_from_every_bit() {
  struct Start {
    std::uint32_t sub, state, slot;
  };
  std::vector<Start> starts;  // all are kept before any goes on
  constexpr std::uint32_t kApart = (kMarkedSubsequences - kWarmSubsequences) / kSeedPlaces;
  for (std::uint32_t to = kWarmSubsequences; to < kMarkedSubsequences; to += kApart) {
    const bool is_first = to == kWarmSubsequences;
    const std::uint32_t first = is_first ? 0 : to - kLateSeedDistance;
    auto states = states_from_every_bit(
        row_, first, first + (is_first ? kSeedSubsequences : kLateSeedSubsequences), to);
    const std::size_t slots = memory_.ends.slots;
    if (states.size() > slots) {
      full_ = true;
      states.resize(is_first ? slots : 0);
    }
    for (const std::uint32_t state : states) {
      bool is_new;
      const std::uint32_t slot = arrive(to / kMarkSubsequences - 1, state, is_new);
      if (is_new) starts.push_back({to, state, slot});
    }
  }
  for (const Start& start : starts) walk_until_met(start.sub, start.state, start.slot);
}

std::uint32_t MarkedChunk::arrive(std::uint32_t mark, std::uint32_t state, bool& is_new) {
  const std::uint32_t slot = memory_.ends.insert(mark, state, is_new);
  if (slot == kNoSlot) {
    full_ = true;
    if (kept(mark) != memory_.ends.slots) broken_ = "a state found no room where some is";
  } else if (memory_.ends.state(mark, slot) != state) {
    broken_ = "a state is kept as another";
  }
  return slot;
}

void MarkedChunk::walk_until_met(std::uint32_t sub, std::uint32_t state, std::uint32_t before) {
  for (bool is_new = true; is_new && sub < kMarkedSubsequences;) {
    state = pass(row_, sub++, unpack_walk_state(state));
    if (sub % kMarkSubsequences != 0) continue;
    const std::uint32_t mark = sub / kMarkSubsequences - 1;
    const std::uint32_t slot = arrive(mark, state, is_new);
    if (before != kNoSlot) memory_.ends.next(mark - 1, before) = static_cast<std::uint8_t>(slot);
    before = slot;
  }
}

std::uint32_t MarkedChunk::truth(std::uint32_t mark) const {
  const std::uint32_t sub = (mark + 1) * kMarkSubsequences;
  return row_.exists(sub) ? row_.entry(sub) : 0;
}

bool MarkedChunk::has_head_before(std::uint32_t mark) const {
  for (std::uint32_t sub = 0; sub < (mark + 1) * kMarkSubsequences; ++sub)
    if (row_.at(sub).head) return true;
  return false;
}

bool MarkedChunk::each_state_is_found() const {
  const HostMarkStates& ends = memory_.ends;
  for (std::uint32_t mark = 0; mark < kHostMarks; ++mark)
    for (std::uint32_t slot = 0; slot < ends.slots; ++slot)
      if (ends.state(mark, slot) != kFreeSlot && ends.find(mark, ends.state(mark, slot)) != slot)
        return false;
  return true;
}

std::uint32_t MarkedChunk::kept(std::uint32_t mark) const {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < memory_.ends.slots; ++i)
    kept += memory_.ends.state(mark, i) != kFreeSlot ? 1 : 0;
  return kept;
}

/// From each mark where the true state is known, one step leads to that of the next.
const char* MarkedChunk::compare_steps() const {
  const HostMarkStates& ends = memory_.ends;
  std::uint32_t before = kNoSlot;
  for (std::uint32_t mark = kOwnMark; mark < kHostMarks; ++mark) {
    const std::uint32_t slot = ends.find(mark, truth(mark));
    const std::uint32_t reached = before == kNoSlot ? kNoSlot : ends.follow(mark - 1, mark, before);
    if (reached != kNoSlot && reached != slot) return "a walk leads to a wrong state";
    const bool known = before != kNoSlot || has_head_before(mark);
    if (!full_ && known && slot == kNoSlot) return "a state was lost though there was room";
    if (!full_ && before != kNoSlot && reached == kNoSlot) return "a walk was not followed";
    before = slot;
  }
  return nullptr;
}

FoundStarts MarkedChunk::compare() const {
  FoundStarts out;
  out.broken = broken_ != nullptr ? broken_ : compare_steps();
  if (!each_state_is_found()) out.broken = "a state is not found where it is kept";
  const HostMarkStates& ends = memory_.ends;
  const std::uint32_t number = ends.find(kOwnMark, truth(kOwnMark));
  for (std::uint32_t mark = kOwnMark; mark < kHostMarks && out.broken == nullptr; ++mark) {
    const std::uint32_t slot = ends.follow(kOwnMark, mark, number);
    ++out.all;
    if (slot == kNoSlot) continue;
    ++out.found_starts;
    if (ends.state(mark, slot) != truth(mark)) out.broken = "walks lead to a wrong state";
  }
  return out;
}

}  // namespace zerorun::test
