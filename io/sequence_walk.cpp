// Goes through the files of a sequence, with its gaps.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "io/sequence.hpp"

namespace zerorun::io {

namespace fs = std::filesystem;

std::int64_t FileSequence::count() const noexcept {
  if (!pattern_) {
    const auto all = static_cast<std::int64_t>(names_.size());
    return missing_ == MissingFrames::skip ? all - gaps_ : all;
  }
  if (missing_ == MissingFrames::skip) return static_cast<std::int64_t>(numbers_.size());
  return numbers_.back() - first_number_ + 1;
}

Result<std::optional<FileSequence::Item>> FileSequence::next() {
  return pattern_ ? next_number() : next_name();
}

std::int64_t FileSequence::seek(std::int64_t index) {
  index = std::clamp<std::int64_t>(index, 0, std::max<std::int64_t>(count() - 1, 0));
  last_.clear();
  pattern_ ? seek_number(index) : seek_name(index);
  return index;
}

void FileSequence::seek_number(std::int64_t index) {
  if (missing_ == MissingFrames::skip) {
    at_ = static_cast<std::size_t>(index);
    return;
  }
  number_ = first_number_ + index;
  const auto next = std::lower_bound(numbers_.begin(), numbers_.end(), number_);
  at_ = static_cast<std::size_t>(next - numbers_.begin());
  if (at_ > 0) last_ = pattern_->path(numbers_[at_ - 1]);
}

void FileSequence::seek_name(std::int64_t index) {
  if (gaps_ == 0 || missing_ != MissingFrames::skip) {
    at_ = static_cast<std::size_t>(index);
  } else {
    std::error_code ignored;
    for (at_ = 0; at_ < names_.size(); ++at_)
      if (fs::exists(names_[at_], ignored) && index-- == 0) break;
  }
  if (gaps_ == 0) return;
  std::error_code ignored;
  for (std::size_t before = at_; before > 0 && last_.empty(); --before)
    if (fs::exists(names_[before - 1], ignored)) last_ = names_[before - 1];
}

Result<std::optional<FileSequence::Item>> FileSequence::next_number() {
  if (at_ == numbers_.size()) return std::optional<Item>();
  if (missing_ == MissingFrames::skip) number_ = numbers_[at_];
  if (numbers_[at_] == number_) {
    ++at_;
    last_ = pattern_->path(number_++);
    return std::optional<Item>({last_, false});
  }
  const std::int64_t absent = number_++;
  Result<std::optional<Item>> held =
      gap("the next one there is '" + pattern_->path(numbers_[at_]) + "'", pattern_->path(absent));
  if (!held) number_ = numbers_[at_];
  return held;
}

Result<std::optional<FileSequence::Item>> FileSequence::next_name() {
  while (at_ < names_.size()) {
    const std::string& name = names_[at_++];
    std::error_code ignored;
    if (single_ || gaps_ == 0 || fs::exists(name, ignored)) {
      last_ = name;
      return std::optional<Item>({last_, false});
    }
    if (missing_ != MissingFrames::skip)
      return gap(name_gaps_.count > 0 ? "others of its series are" : "the list names it", name);
  }
  return std::optional<Item>();
}

Result<std::optional<FileSequence::Item>> FileSequence::gap(const std::string& what,
                                                            const std::string& path) {
  if (missing_ == MissingFrames::error)
    return Status(Errc::missing_frame, "'" + path + "' is not there; " + what);
  if (last_.empty())
    return Status(Errc::missing_frame,
                  "'" + path + "' is the first frame; there is no frame before it to hold");
  return std::optional<Item>({last_, true});
}

}  // namespace zerorun::io
