// Finds the files of an image sequence and goes through them in order, with the numbers that are
// missing; the order of file names.
// SPDX-License-Identifier: MIT
#include "io/base/sequence.hpp"

#include <glob.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "codec/base/folder_names.hpp"
#include "codec/base/try.hpp"
#include "io/base/byte_reader.hpp"

namespace zerorun::io {
namespace {

namespace fs = std::filesystem;

/// A list of paths that is longer is a mistake, for example a video.
constexpr std::uint64_t kMaxListBytes = std::uint64_t{256} << 20;

constexpr std::array kImageExtensions{
    "bmp", "dib", "dpx", "exr", "gif", "jfif", "jp2", "jpe", "jpeg", "jpg",  "pam",
    "pbm", "pcx", "pgm", "png", "pnm", "ppm",  "sgi", "tga", "tif",  "tiff", "webp",
};

Status no_file(const std::string& what) { return Status(Errc::open_failed, what); }

/// Calls `visit` with every file name of a directory (links followed).
template <typename Visit>
Status each_file(const std::string& directory, Visit&& visit) {
  std::error_code error;
  for (const std::string& name : folder_names(directory, error)) {
    std::error_code ignored;
    if (!fs::is_directory(fs::path(directory) / name, ignored)) visit(name);
  }
  if (error) return no_file("'" + directory + "': " + error.message());
  return Status::ok();
}

constexpr std::size_t kMaxDigits = 18;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// The run of digits at the start of `text`.
std::string_view digits_at(std::string_view text) noexcept {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

std::string_view without_zeros(std::string_view digits) noexcept {
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
}

/// Compares by value: < 0, 0 or > 0. The numbers may have any length.
int compare_values(std::string_view a, std::string_view b) noexcept {
  a = without_zeros(a);
  b = without_zeros(b);
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

/// A minus sign, and no dash between words: before a digit, and after nothing that a word ends
/// with.
bool is_sign(std::string_view name, std::size_t at) noexcept {
  constexpr std::string_view kSeparators = "./_ ";
  return at + 1 < name.size() && name[at] == '-' && is_digit(name[at + 1]) &&
         (at == 0 || kSeparators.find(name[at - 1]) != std::string_view::npos);
}

std::string path_of(const NumberedName& like, std::int64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < like.digits.size()) digits.insert(0, like.digits.size() - digits.size(), '0');
  return std::string(like.before) + digits + std::string(like.after);
}

/// The numbers of names that differ in nothing else, ascending; else empty.
std::vector<NumberedName> one_series(const std::vector<std::string>& names) {
  std::vector<NumberedName> series;
  for (const std::string& name : names) {
    const auto numbered = numbered_name(name);
    if (!numbered) return {};
    const bool fits = series.empty() || (numbered->before == series.back().before &&
                                         numbered->after == series.back().after &&
                                         numbered->number > series.back().number);
    if (!fits) return {};
    series.push_back(*numbered);
  }
  return series;
}

std::int64_t missing_in(const std::vector<NumberedName>& series) {
  if (series.empty()) return 0;
  return series.back().number - series.front().number + 1 - std::int64_t(series.size());
}

}  // namespace

bool is_image_extension(const std::string& extension) {
  return std::find(kImageExtensions.begin(), kImageExtensions.end(), extension) !=
         kImageExtensions.end();
}

Result<FileSequence> FileSequence::open(const ParsedLocation& location,
                                        std::optional<std::int64_t> start_number,
                                        MissingFrames missing, std::optional<FileNumbers> numbers,
                                        bool subfolders) {
  FileSequence sequence;
  sequence.missing_ = missing;
  switch (location.kind) {
    case LocationKind::pattern:
      sequence.pattern_ = location.pattern;
      ZR_TRY(sequence.open_pattern(start_number));
      break;
    case LocationKind::glob:
      ZR_TRY(sequence.open_glob(location.path));
      break;
    case LocationKind::directory:
      ZR_TRY(sequence.open_directory(location.path, subfolders));
      break;
    case LocationKind::list:
      ZR_TRY(sequence.open_list(location.path));
      break;
    case LocationKind::names:
      sequence.names_ = location.names;
      sequence.count_absent_names();
      break;
    default:
      sequence.names_ = {location.path};
      sequence.single_ = true;
      break;
  }
  if (numbers) ZR_TRY(sequence.choose_numbers(*numbers));
  const bool is_found =
      location.kind == LocationKind::glob || location.kind == LocationKind::directory;
  if (is_found) sequence.note_name_gaps();
  return sequence;
}

Status FileSequence::choose_numbers(const FileNumbers& numbers) {
  if (pattern_) {
    std::erase_if(numbers_, [&](std::int64_t n) { return n < numbers.first || n > numbers.last; });
    if (!numbers_.empty()) first_number_ = number_ = std::max(numbers.first, numbers_.front());
  } else if (!single_) {
    keep_file_numbers(names_, numbers.first, numbers.last);
    gaps_ = 0;
    count_absent_names();
  }
  if (!numbers_.empty() || !names_.empty()) return Status::ok();
  return no_file("no file has a number from " + std::to_string(numbers.first) +
                 (numbers.last == INT64_MAX ? " on" : " to " + std::to_string(numbers.last)));
}

void FileSequence::note_name_gaps() {
  constexpr std::int64_t kMostHeld = 1'000'000;  // more are two sequences rather than a gap
  name_gaps_ = find_name_gaps(names_);
  if (missing_ == MissingFrames::hold) gaps_ += fill_name_gaps(names_, kMostHeld);
}

void FileSequence::count_absent_names() {
  std::error_code ignored;
  gaps_ += std::count_if(names_.begin(), names_.end(),
                         [&](const std::string& name) { return !fs::exists(name, ignored); });
}

/// Says what is there instead: numbers with another number of digits are the common mistake.
Status FileSequence::no_match(std::optional<std::int64_t> start_number) const {
  std::string sentence = "no file is named like '" + pattern_->path(start_number.value_or(0)) +
                         "'" + (start_number ? " or has a higher number" : "");
  std::vector<std::string> others;
  std::size_t least = SIZE_MAX, most = 0;
  ZR_TRY(each_file(pattern_->directory(), [&](const std::string& name) {
    const std::size_t digits = pattern_->other_digits(name).size();
    if (digits == 0) return;
    others.push_back(name);
    least = std::min(least, digits);
    most = std::max(most, digits);
  }));
  if (others.empty() || start_number) return no_file(sentence);
  const auto [first, last] = std::minmax_element(others.begin(), others.end(), natural_less);
  sentence += "; there is '" + *first + "'" + (first == last ? "" : " to '" + *last + "'");
  const bool is_padded = least == most && least > 1;
  return no_file(sentence + ": write " + (is_padded ? "%0" + std::to_string(most) + "d" : "%d"));
}

Status FileSequence::open_pattern(std::optional<std::int64_t> start_number) {
  ZR_TRY(each_file(pattern_->directory(), [&](const std::string& name) {
    if (const std::optional<std::int64_t> number = pattern_->match(name))
      numbers_.push_back(*number);
  }));
  std::sort(numbers_.begin(), numbers_.end());
  if (start_number)
    numbers_.erase(numbers_.begin(),
                   std::lower_bound(numbers_.begin(), numbers_.end(), *start_number));
  if (numbers_.empty()) return no_match(start_number);
  first_number_ = number_ = start_number.value_or(numbers_.front());
  return Status::ok();
}

Status FileSequence::open_glob(const std::string& pattern) {
  glob_t found{};
  const int result = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  if (result == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) {
      std::error_code ignored;
      if (!fs::is_directory(found.gl_pathv[i], ignored)) names_.emplace_back(found.gl_pathv[i]);
    }
  ::globfree(&found);
  if (result == GLOB_NOSPACE) return Status(Errc::out_of_memory, "the names of '" + pattern + "'");
  if (result == GLOB_ABORTED)
    return no_file("'" + pattern + "': one of its directories cannot be read");
  if (names_.empty()) return no_file("no file matches '" + pattern + "'");
  std::sort(names_.begin(), names_.end(), natural_less);
  folder_ = pattern.substr(0, pattern.find_first_of("*?["));
  folder_.erase(folder_.rfind('/') + 1);
  return Status::ok();
}

Status FileSequence::open_directory(const std::string& path, bool subfolders) {
  folder_ = path.back() == '/' ? path : path + "/";
  ZR_TRY(add_folder(folder_, subfolders, 0));
  if (names_.empty()) return no_file("the directory '" + path + "' has no image in it");
  std::sort(names_.begin(), names_.end(), natural_less);
  return Status::ok();
}

/// Links to folders are not followed below the first one: they may lead round in a circle.
Status FileSequence::add_folder(const std::string& prefix, bool subfolders, int depth) {
  constexpr int kMostDepth = 100;
  std::error_code error;
  for (const std::string& name : folder_names(prefix, error)) {
    if (name[0] == '.') continue;
    std::error_code ignored;
    const bool is_folder = fs::is_directory(prefix + name, ignored);
    if (is_folder && subfolders && depth < kMostDepth && !fs::is_symlink(prefix + name, ignored))
      ZR_TRY(add_folder(prefix + name + "/", true, depth + 1));
    if (!is_folder && is_image_extension(extension_of(name))) names_.push_back(prefix + name);
  }
  return error ? no_file("'" + prefix + "': " + error.message()) : Status::ok();
}

/// What a glob's names have in common is what stands before its first wildcard; that of a list or
/// of several inputs is the longest folder.
std::shared_ptr<const PictureFiles> FileSequence::files() const {
  auto files = std::make_shared<PictureFiles>();
  if (pattern_)
    for (const std::int64_t number : numbers_) files->paths.push_back(pattern_->path(number));
  else
    files->paths = names_;
  files->folder = folder_;
  if (!folder_.empty()) return files;
  std::string& common = files->folder;
  common = files->paths.empty() ? "" : files->paths.front();
  for (const std::string& path : files->paths)
    common.erase(std::mismatch(common.begin(), common.end(), path.begin(), path.end()).first,
                 common.end());
  common.erase(common.rfind('/') + 1);
  return files;
}

Status FileSequence::open_list(const std::string& path) {
  ZR_LET(data, read_whole_file(path, kMaxListBytes));
  std::string_view rest(reinterpret_cast<const char*>(data.data()), data.size());
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // of editors on Windows
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  if (rest.find('\0') != std::string_view::npos)
    return Status(Errc::bad_input, "the list '" + path + "' is not text");
  const fs::path base = fs::path(path).parent_path();
  while (!rest.empty()) {
    const std::size_t feed = rest.find('\n');
    std::string_view line = rest.substr(0, feed);
    rest.remove_prefix(feed == std::string_view::npos ? rest.size() : feed + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line[0] == '#') continue;
    names_.push_back((base / fs::path(line)).string());
  }
  count_absent_names();
  if (names_.empty()) return no_file("the list '" + path + "' names no file");
  return Status::ok();
}

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

bool natural_less(std::string_view a, std::string_view b) noexcept {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    const bool is_minus_a = is_sign(whole_a, whole_a.size() - a.size());
    const bool is_minus_b = is_sign(whole_b, whole_b.size() - b.size());
    if ((is_minus_a || is_digit(a[0])) && (is_minus_b || is_digit(b[0]))) {
      if (is_minus_a != is_minus_b) return is_minus_a;
      a.remove_prefix(is_minus_a ? 1 : 0);
      b.remove_prefix(is_minus_b ? 1 : 0);
      const std::string_view na = digits_at(a), nb = digits_at(b);
      if (const int order = compare_values(na, nb); order != 0)
        return is_minus_a ? order > 0 : order < 0;
      a.remove_prefix(na.size());
      b.remove_prefix(nb.size());
    } else {
      if (a[0] != b[0]) return static_cast<unsigned char>(a[0]) < static_cast<unsigned char>(b[0]);
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  // They differ in leading zeros only: fewer zeros first, so that the order is total.
  if (whole_a.size() != whole_b.size()) return whole_a.size() < whole_b.size();
  return whole_a < whole_b;
}

std::optional<NumberedName> numbered_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
  std::size_t end = path.rfind('.');
  if (end == std::string_view::npos || end <= begin) end = path.size();
  while (end > begin && !is_digit(path[end - 1])) --end;
  std::size_t at = end;
  while (at > begin && is_digit(path[at - 1])) --at;
  if (at == end || end - at > kMaxDigits) return std::nullopt;
  NumberedName found{path.substr(0, at), path.substr(at, end - at), path.substr(end), 0};
  std::from_chars(found.digits.data(), found.digits.data() + found.digits.size(), found.number);
  return found;
}

NameGaps find_name_gaps(const std::vector<std::string>& names) {
  const std::vector<NumberedName> series = one_series(names);
  NameGaps gaps{missing_in(series), {}};
  for (std::size_t i = 1; i < series.size() && gaps.first.empty(); ++i)
    if (series[i].number != series[i - 1].number + 1)
      gaps.first = path_of(series[i - 1], series[i - 1].number + 1);
  return gaps;
}

std::int64_t fill_name_gaps(std::vector<std::string>& names, std::int64_t limit) {
  const std::vector<NumberedName> series = one_series(names);
  const std::int64_t missing = missing_in(series);
  if (missing <= 0 || missing > limit) return 0;
  std::vector<std::string> filled;
  for (std::size_t i = 0; i < series.size(); ++i) {
    filled.push_back(names[i]);
    const std::int64_t next = i + 1 < series.size() ? series[i + 1].number : 0;
    for (std::int64_t n = series[i].number + 1; n < next; ++n)
      filled.push_back(path_of(series[i], n));
  }
  names = std::move(filled);
  return missing;
}

void keep_file_numbers(std::vector<std::string>& names, std::int64_t first, std::int64_t last) {
  std::erase_if(names, [&](const std::string& name) {
    const auto numbered = numbered_name(name);
    return !numbered || numbered->number < first || numbered->number > last;
  });
}

}  // namespace zerorun::io
