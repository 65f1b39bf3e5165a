// How long something was busy, from spans of time that overlap.
// SPDX-License-Identifier: MIT
#include "apps/common/busy_time.hpp"

#include <algorithm>

namespace zerorun::app {

void BusyTime::add(Time begin, Time end) {
  begin = std::max(begin, settled_until_);
  if (end <= begin) return;
  // Those that touch the new one become part of it.
  const auto first = std::ranges::lower_bound(open_, begin, {}, &Span::end);
  const auto last = std::ranges::upper_bound(first, open_.end(), end, {}, &Span::begin);
  if (first == last) {
    open_.insert(first, {begin, end});
  } else {
    first->begin = std::min(first->begin, begin);
    first->end = std::max(std::prev(last)->end, end);
    open_.erase(std::next(first), last);
  }
  if (open_.size() <= kMostOpen) return;
  settled_ += open_.front().end - open_.front().begin;
  settled_until_ = open_.front().end;
  open_.erase(open_.begin());
}

double BusyTime::seconds() const {
  std::chrono::nanoseconds all = settled_;
  for (const Span& span : open_) all += span.end - span.begin;
  return std::chrono::duration<double>(all).count();
}

}  // namespace zerorun::app
