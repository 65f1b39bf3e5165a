// Names of inputs and outputs: what they are, number patterns, and the words that name formats.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zerorun/content.hpp"
#include "zerorun/status.hpp"

namespace zerorun::io {

/// "shots/frame%05d.png": a directory, and a file name with one number in it. The text is parsed
/// here and never reaches printf.
class NumberPattern {
 public:
  /// nullopt if the name has no conversion: %d, %0Nd or ##. "%%" and a '%' that begins nothing
  /// like a conversion, as in "100%.png", do not count. Errors: invalid_argument for a conversion
  /// that is not whole, more than one, or one in a directory.
  static Result<std::optional<NumberPattern>> parse(const std::string& name);

  /// "." if none is named.
  std::string directory() const { return path_prefix_.empty() ? "." : path_prefix_; }
  std::string path(std::int64_t number) const;
  /// The number of a file name (without directory) if this pattern makes that name.
  std::optional<std::int64_t> match(std::string_view file_name) const;
  /// The digits of a file name that this pattern would make with another width; else empty.
  std::string_view other_digits(std::string_view file_name) const;
  std::string file_name(std::int64_t number) const;
  const std::string& path_prefix() const noexcept { return path_prefix_; }

 private:
  std::string_view number_in(std::string_view file_name) const;

  std::string path_prefix_;  // "" or "dir/", as the user wrote it
  std::string before_, after_;
  int width_ = 0;  // zero-padded to this many digits
};

/// "out/{name}.png", "out/{name}_%05d.png".
class NamePattern {
 public:
  /// Of an output with {name}. Errors: invalid_argument ({name} twice or in a directory, those of
  /// NumberPattern::parse()).
  static Result<NamePattern> parse(const std::string& name);
  /// `folder` is PictureFiles::folder if sub-folders are kept, otherwise empty.
  std::string path(const std::string& input, const std::string& folder, std::int64_t number) const;
  bool has_number() const noexcept { return numbers_.has_value(); }

 private:
  std::string path_prefix_, file_name_;
  std::optional<NumberPattern> numbers_;
};

enum class LocationKind { stream, address, file, pattern, glob, directory, list, names };

struct ParsedLocation {
  LocationKind kind = LocationKind::file;
  std::string path;  ///< the word, without the '@' of a list
  std::optional<NumberPattern> pattern;
  std::vector<std::string> names = {};  ///< LocationKind::names
};

Result<ParsedLocation> parse_input(const Location& input);
Result<ParsedLocation> parse_output(const Location& output);

/// Lower-case extension without the dot; "" if there is none.
std::string extension_of(std::string_view path);
/// Of ASCII letters, in any locale.
std::string lower_case(std::string text);

/// "it is HEIC, which zerorun does not read; `heif-convert ...`" for formats that other programs
/// convert, by their first bytes (kForeignBytes are enough); empty for all others.
std::string foreign_format(std::string_view head, const std::string& name);
inline constexpr std::size_t kForeignBytes = 32;
/// The same for camera RAW, which may look like TIFF.
std::string camera_raw(const std::string& name);

bool is_raw_mjpeg(const std::string& format);
bool is_jpeg_file(const std::string& format);
/// The muxer of a container that zerorun writes, or "".
std::string container_muxer(const std::string& format);

}  // namespace zerorun::io
