// Names of inputs and outputs, and the times of their frames.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "zerorun/status.hpp"

namespace zerorun::io {

/// An INPUT or OUTPUT word.
///   "-"               stdin or stdout. `format` says y4m, pnm or mjpeg, which stdin also knows by
///                     content; FFmpeg reads any other format
///   "dir/%05d.png"    printf pattern with one integer (%d or %0Nd, "%%" for a percent sign; a
///                     "%" that begins nothing like a conversion is plain text) in the file name,
///                     counted from `start_number`: by default the smallest number in the directory
///                     (input) or 1 (output)
///   "dir/shot.####.png"  the same: two or more # are a number with so many digits
///   "dir/*.png"       glob in natural order (input only)
///   "dir/"            all images of a directory in natural order (input only)
///   "@list.txt"       one path a line, relative to the list's directory; # comments (input only)
///   "null:"           nothing is kept (output only)
///   "md5:FILE"        a line of text for each frame with the MD5 of its packet or samples, as
///                     FFmpeg's framemd5; "md5:" writes it to stdout (output only)
///   anything else     a file. The name of an existing file is never a pattern or glob
struct Location {
  std::string name;
  std::string format;  ///< "", "y4m", "pnm", "mjpeg", "raw", or a container's name
  std::optional<std::int64_t> start_number;
  std::vector<std::string> names = {};  ///< if not empty: these files in this order (input only)
};

/// The path of picture `number` of an output whose name is a pattern, as the sinks write it:
/// "dir/00042.png" of "dir/%05d.png" and of "dir/#####.png". nullopt for every other name.
ZERORUN_API std::optional<std::string> numbered_path(const Location& output, std::int64_t number);

/// True for "null:" and "md5:", which take packets and frames.
ZERORUN_API bool is_measuring_output(const Location& output);

/// Exact fraction; 0/1 is "unknown".
struct Rational {
  std::int64_t num = 0;
  std::int64_t den = 1;
  bool known() const noexcept { return num > 0 && den > 0; }
  double value() const noexcept { return den ? double(num) / double(den) : 0.0; }
  friend bool operator==(const Rational&, const Rational&) = default;
};

/// Time of one frame in units of SourceInfo::time_base, counted from the start of the container.
struct FrameTime {
  std::int64_t pts = 0;
  std::int64_t duration = 0;  ///< 0 = unknown
};

}  // namespace zerorun::io
