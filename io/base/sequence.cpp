// Finds the files of an image sequence and goes through them in order, with the numbers that are
// missing.
// SPDX-License-Identifier: MIT
#include "io/base/sequence.hpp"

#include <glob.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <system_error>

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

/// More missing files are two sequences rather than a gap.
constexpr std::int64_t kMostHeld = 1'000'000;

bool is_there(const std::string& name) {
  std::error_code ignored;
  return fs::exists(name, ignored);
}

Status absent(const std::string& name, const std::string& what) {
  return Status(Errc::missing_frame, "'" + name + "' " + what);
}

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
      ZR_TRY(sequence.open_pattern(*location.pattern, start_number, numbers));
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
      break;
    default:
      sequence.names_ = {location.path};
      sequence.single_ = true;
      break;
  }
  std::vector<std::string>& names = sequence.names_;
  if (numbers && !sequence.single_ && location.kind != LocationKind::pattern)
    keep_file_numbers(names, numbers->first, numbers->last);
  if (numbers && names.empty())
    return no_file("no file has a number from " + std::to_string(numbers->first) +
                   (numbers->last == INT64_MAX ? " on" : " to " + std::to_string(numbers->last)));
  if (location.kind == LocationKind::glob || location.kind == LocationKind::directory)
    sequence.name_gaps_ = find_name_gaps(names, missing == MissingFrames::hold ? kMostHeld : 0);
  if (location.kind == LocationKind::list || location.kind == LocationKind::names ||
      sequence.name_gaps_.count > 0)
    sequence.gaps_ = std::ssize(names) - std::count_if(names.begin(), names.end(), is_there);
  return sequence;
}

/// Says what is there instead: numbers with another number of digits are the common mistake.
Status FileSequence::no_match(const NumberPattern& pattern,
                              std::optional<std::int64_t> start_number) {
  std::string sentence = "no file is named like '" + pattern.path(start_number.value_or(0)) + "'" +
                         (start_number ? " or has a higher number" : "");
  std::vector<std::string> others;
  std::size_t least = SIZE_MAX, most = 0;
  ZR_TRY(each_file(pattern.directory(), [&](const std::string& name) {
    const std::size_t digits = pattern.other_digits(name).size();
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

/// The names from the first number to the last one, with those that are not there.
Status FileSequence::open_pattern(const NumberPattern& pattern,
                                  std::optional<std::int64_t> start_number,
                                  const std::optional<FileNumbers>& chosen) {
  std::vector<std::int64_t> numbers;
  ZR_TRY(each_file(pattern.directory(), [&](const std::string& name) {
    const std::optional<std::int64_t> number = pattern.match(name);
    if (number && *number >= start_number.value_or(INT64_MIN)) numbers.push_back(*number);
  }));
  if (numbers.empty()) return no_match(pattern, start_number);
  std::sort(numbers.begin(), numbers.end());
  if (chosen) {
    std::erase_if(numbers, [&](std::int64_t n) { return n < chosen->first || n > chosen->last; });
    start_number.reset();
  }
  if (numbers.empty()) return Status::ok();
  std::int64_t next = start_number.value_or(numbers.front());
  const auto span = static_cast<std::uint64_t>(numbers.back()) - static_cast<std::uint64_t>(next);
  const bool names_all = span < kMostHeld + numbers.size();
  for (const std::int64_t number : numbers) {
    for (; next < number && missing_ != MissingFrames::skip; ++gaps_) {
      names_.push_back(pattern.path(next));
      next = names_all ? next + 1 : number;
    }
    names_.push_back(pattern.path(number));
    next = number + 1;
  }
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
  std::string text(reinterpret_cast<const char*>(data.data()), data.size());
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // of editors on Windows
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  if (text.find('\0') != std::string::npos)
    return Status(Errc::bad_input, "the list '" + path + "' is not text");
  const fs::path base = fs::path(path).parent_path();
  std::istringstream lines(std::move(text));
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line[0] == '#') continue;
    names_.push_back((base / line).string());
  }
  if (names_.empty()) return no_file("the list '" + path + "' names no file");
  return Status::ok();
}

std::int64_t FileSequence::count() const noexcept {
  return std::ssize(names_) - (missing_ == MissingFrames::skip ? gaps_ : 0);
}

std::int64_t FileSequence::seek(std::int64_t index) {
  index = std::clamp<std::int64_t>(index, 0, std::max<std::int64_t>(count() - 1, 0));
  last_.clear();
  if (gaps_ == 0 || missing_ != MissingFrames::skip) {
    at_ = static_cast<std::size_t>(index);
  } else {
    std::int64_t before = index;
    for (at_ = 0; at_ < names_.size(); ++at_)
      if (is_there(names_[at_]) && before-- == 0) break;
  }
  for (std::size_t i = at_; gaps_ > 0 && i > 0 && last_.empty(); --i)
    if (is_there(names_[i - 1])) last_ = names_[i - 1];
  return index;
}

Result<std::optional<FileSequence::Item>> FileSequence::next() {
  const std::size_t first = at_;
  for (; at_ < names_.size(); ++at_) {
    if (single_ || gaps_ == 0 || is_there(names_[at_])) {
      if (missing_ == MissingFrames::error && at_ > first)
        return absent(names_[first], "is not there; the next one there is '" + names_[at_] + "'");
      last_ = names_[at_++];
      return std::optional<Item>({last_, false});
    }
    if (missing_ == MissingFrames::hold) {
      const std::string& name = names_[at_++];
      if (!last_.empty()) return std::optional<Item>({last_, true});
      return absent(name, "is the first frame; there is no frame before it to hold");
    }
  }
  if (missing_ == MissingFrames::error && first < names_.size())
    return absent(names_[first], "is not there, nor is one after it");
  return std::optional<Item>();
}

}  // namespace zerorun::io
