// Files that are written: as NAME.part until they are whole, one, or one for each picture.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "io/base/location.hpp"
#include "zerorun/sink.hpp"
#include "zerorun/status.hpp"

namespace zerorun::io {

/// Devices, pipes and stdout are written directly: there is nothing to rename or to protect.
/// Every write is checked; the first failure is kept and returned by every later call.
/// The destructor removes NAME.part if commit() was not called.
class OutputFile {
 public:
  /// `overwrite` replaces NAME and the NAME.part of an interrupted run. Errors: output_exists (one
  /// of the two, without `overwrite`), open_failed.
  static Result<std::unique_ptr<OutputFile>> create(const std::string& path, bool overwrite);
  static std::unique_ptr<OutputFile> standard_output();

  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  using Parts = std::span<const std::span<const std::byte>>;

  /// Writes at the current position and advances it. Unbuffered, so it survives a kill.
  Status write(std::span<const std::byte> data) { return write(Parts(&data, 1)); }
  /// The same for parts, one after another.
  Status write(Parts parts);
  /// Writes at another position of a seekable file, on any number of threads at a time. size()
  /// does not count it, and the failure is only returned.
  Status write_at(std::int64_t position, Parts parts) const;
  /// Counts what write_at() wrote up to `position`, where the next write() goes.
  Status seek_end(std::int64_t position);
  /// Makes a seekable file this long: what lies behind is cut off.
  Status resize(std::int64_t bytes);
  Status seek(std::int64_t position);
  /// Returns the bytes read: fewer than asked for only at the end of the file.
  Result<std::size_t> read_at(std::int64_t position, std::span<std::byte> out);
  /// Empties a file and starts again. Direct output cannot: an error if anything was written.
  Status truncate();
  Status commit();

  bool is_seekable() const noexcept { return seekable_; }
  std::int64_t position() const noexcept { return position_; }
  std::int64_t size() const noexcept { return size_; }
  const Status& error() const noexcept { return error_; }
  const std::string& path() const noexcept { return path_; }

 private:
  OutputFile() = default;
  int put(std::int64_t position, Parts parts, std::int64_t& done) const;
  Status fail(int error_number);
  Status failure(int error_number) const;
  Status take_name();

  std::string path_;  // the final name
  std::string part_;  // empty for direct output
  int file_ = -1;
  bool owned_ = true;
  bool overwrite_ = false;
  bool seekable_ = false;
  std::int64_t position_ = 0;
  std::int64_t size_ = 0;
  Status error_;
  std::atomic<std::int64_t> whole_bytes_{0};  // up to the end of the last write that succeeded
  mutable std::atomic<bool> is_full_{false};  // the disk: what was written so far is kept
};

/// The error of an output that ends without a frame: unsupported_output.
Status no_frame(const OutputFile& file);

/// Errc::output_exists if `path` is an existing file; devices and pipes may be written to.
Status check_not_there(const std::string& path);

/// Makes the folder of a file. Errors: open_failed.
Status make_folder_of(const std::string& path);

class ImageOutput {
 public:
  /// A file or stream that holds images one after another; without an image it is an error unless
  /// `may_be_empty`. With `for_more` it holds one image, and "name `for_more`" is said of a second
  /// one.
  explicit ImageOutput(std::unique_ptr<OutputFile> file = nullptr, std::string for_more = {},
                       bool may_be_empty = false);
  /// Numbered files, each renamed from NAME.part when it is whole. Errors: open_failed (no such
  /// directory), output_exists (without `overwrite`: a file of the pattern with a number from
  /// `start` on exists; better to fail now than at frame 5000).
  static Result<ImageOutput> numbered(const NumberPattern& pattern, std::int64_t start,
                                      bool overwrite);

  /// Files named as those of the input, in folders that are made. Errors: as above, and those of
  /// named_paths().
  static Result<ImageOutput> named(const Location& location, const SinkOptions& options);

  /// Writes the parts of an image to a file of its own if the files are numbered or named. Any
  /// thread.
  Status prepare(Outgoing& out) const;
  Status commit(Outgoing& out);
  Status finish();
  std::int64_t bytes_written() const noexcept { return bytes_; }

 private:
  std::unique_ptr<OutputFile> file_;  // null for numbered files
  std::string for_more_;              // empty if a file holds many images
  bool may_be_empty_ = false;
  NumberPattern pattern_;
  std::optional<NamePattern> names_;  // instead of the pattern
  std::string folder_;                // of the input, whose sub-folders are kept
  std::int64_t start_ = 0;
  bool overwrite_ = false;
  std::int64_t bytes_ = 0;
};

}  // namespace zerorun::io
