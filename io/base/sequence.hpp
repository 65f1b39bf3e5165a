// The files of an image sequence in order, and its gaps.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/base/location.hpp"
#include "zerorun/source.hpp"

namespace zerorun::io {

/// Natural order of file names, frame9 before frame10: runs of digits compare by value, then by
/// fewer leading zeros; everything else compares byte by byte. A strict weak order.
bool natural_less(std::string_view a, std::string_view b) noexcept;

struct NameGaps {
  std::int64_t count = 0;
  std::string first;  ///< path of the first one that is missing
};

/// What is missing between `names`, which are sorted, if they differ in one ascending number alone.
/// Adds the missing names where they are not more than `most_added`.
NameGaps find_name_gaps(std::vector<std::string>& names, std::int64_t most_added);

/// Leaves the names whose number is `first` to `last`.
void keep_file_numbers(std::vector<std::string>& names, std::int64_t first, std::int64_t last);

/// A pattern reaches from its start number to the largest number in the directory, which open()
/// reads once; missing numbers in between are gaps. What is missing between the names of a
/// glob or directory is a gap for `hold` alone. A file of a list that does not exist is a gap.
class FileSequence {
 public:
  struct Item {
    std::string path;
    bool held = false;  ///< the file before this gap, again
  };

  /// Errors: open_failed (nothing matches), missing_frame (the first file is a gap), read_failed.
  static Result<FileSequence> open(const ParsedLocation& location,
                                   std::optional<std::int64_t> start_number, MissingFrames missing,
                                   std::optional<FileNumbers> numbers = {},
                                   bool subfolders = false);

  /// nullopt at the end. Errors: missing_frame; the next call continues after the gap.
  Result<std::optional<Item>> next();
  /// The following next() gives file `index`, or the last one if there are fewer. Returns its
  /// index.
  std::int64_t seek(std::int64_t index);
  /// How many files next() gives in all, if no gap is an error.
  std::int64_t count() const noexcept;
  bool is_single_file() const noexcept { return single_; }
  /// All files, if no gap is in between.
  std::shared_ptr<const PictureFiles> files() const;
  /// Of a glob or directory.
  const NameGaps& name_gaps() const noexcept { return name_gaps_; }

 private:
  Status open_pattern(const NumberPattern& pattern, std::optional<std::int64_t> start_number,
                      const std::optional<FileNumbers>& chosen);
  Status open_glob(const std::string& pattern);
  Status open_directory(const std::string& path, bool subfolders);
  Status add_folder(const std::string& prefix, bool subfolders, int depth);
  Status open_list(const std::string& path);
  static Status no_match(const NumberPattern& pattern, std::optional<std::int64_t> start_number);

  MissingFrames missing_ = MissingFrames::error;
  bool single_ = false;
  std::vector<std::string> names_;
  std::size_t at_ = 0;     // next index in names_
  std::int64_t gaps_ = 0;  // files that did not exist at open()
  std::string folder_;     // PictureFiles::folder
  std::string last_;       // what `hold` repeats
  NameGaps name_gaps_;
};

/// True for the files that a directory input picks up.
bool is_image_extension(const std::string& extension);

}  // namespace zerorun::io
