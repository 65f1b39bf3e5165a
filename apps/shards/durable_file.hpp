// Files and folders that are on the disk when a call says so.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "zerorun/status.hpp"

namespace zerorun::app {

/// A regular file that this process reads or appends to. Links are not followed: what stands under
/// the name of a shard may have been put there by somebody else.
/// One thread writes; sync() may run on another one beside it. Errors: open_failed, read_failed,
/// write_failed with the system's reason, output_exists.
class DurableFile {
 public:
  enum class Open {
    read,    ///< an existing file
    create,  ///< a new one; output_exists if the name is taken
    append,  ///< an existing or new one, written at its end
  };
  static Result<std::unique_ptr<DurableFile>> open(const std::string& path, Open how);
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;
  ~DurableFile();

  /// Appends the parts. After an error the file has a torn end: cut it off, or give up.
  Status write(std::span<const std::span<const std::byte>> parts);
  Status write(std::string_view text);
  /// Fills `out`, from `position` on; fewer bytes only at the end of the file.
  Result<std::size_t> read_at(std::int64_t position, std::span<std::byte> out) const;
  /// Cuts the file off at `bytes`, or leaves it if it is shorter.
  Status cut(std::int64_t bytes);
  /// Waits until what was written is on the disk.
  Status sync() const;
  enum class Lock {
    taken,
    busy,     ///< another process has the file
    unknown,  ///< the file system has no locks (Lustre without -o flock)
  };
  /// Takes the file for this process until it is closed or ends, in whatever way.
  Lock lock() const noexcept;
  /// True if `path` still is this file: somebody may have renamed or removed it before lock().
  bool is_named(const std::string& path) const noexcept;

  std::int64_t size() const noexcept { return size_; }
  const std::string& path() const noexcept { return path_; }

 private:
  DurableFile() = default;
  std::string path_;
  int file_ = -1;
  std::int64_t size_ = 0;
};

/// "'PATH': REASON" for an error number of the system.
Status file_failure(Errc code, const std::string& path, int number);

/// Waits until the names in a folder are on the disk.
Status sync_folder(const std::string& folder);
/// Waits until what is in a file is on the disk.
Status sync_data(const std::string& path);
/// Waits until a file and its name are on the disk.
Status sync_file(const std::string& path);
/// Makes `path` a file with this text: written as PATH.part, made durable, renamed, made durable.
Status replace_file(const std::string& path, std::string_view text);
/// Renames a file in its folder and makes that durable.
Status rename_durably(const std::string& from, const std::string& to);
/// The same if `to` is no file yet. Errors: output_exists.
Status rename_to_new(const std::string& from, const std::string& to);
/// "." if the path has none.
std::string folder_of(const std::string& path);
/// The whole file. Errors: bad_input if it has more than `most_bytes`.
Result<std::string> read_text(const std::string& path, std::size_t most_bytes);

}  // namespace zerorun::app
