// Names of files and folders that are on the disk when a call says so.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>

#include "apps/shards/durable_file.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app {
namespace {

Status sync_path(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_RDONLY | O_CLOEXEC);
  // A folder may be one to write to, but not to read: then there is no way to sync it.
  if (file < 0 && errno == EACCES && (flags & O_DIRECTORY) != 0) return Status::ok();
  if (file < 0) return file_failure(Errc::write_failed, path, errno);
  // Some file systems cannot sync a folder (EINVAL): they write names at once.
  const bool done = ::fsync(file) == 0 || errno == EINVAL;
  const int reason = errno;
  ::close(file);
  return done ? Status::ok() : file_failure(Errc::write_failed, path, reason);
}

}  // namespace

Status sync_folder(const std::string& folder) { return sync_path(folder, O_DIRECTORY); }

Status sync_data(const std::string& path) { return sync_path(path, 0); }

Status sync_file(const std::string& path) {
  ZR_TRY(sync_data(path));
  return sync_folder(folder_of(path));
}

Status replace_file(const std::string& path, std::string_view text) {
  const std::string part = path + ".part";
  ::unlink(part.c_str());  // of a process that was killed; never a link's target
  {
    ZR_LET(file, DurableFile::open(part, DurableFile::Open::create));
    Status status = file->write(text);
    if (status) status = file->sync();
    if (!status) {
      ::unlink(part.c_str());
      return status;
    }
  }
  return rename_durably(part, path);
}

Status rename_durably(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0)
    return file_failure(Errc::write_failed, to, errno);
  return sync_folder(folder_of(to));
}

Status rename_to_new(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
    return sync_folder(folder_of(to));
  if (errno != EEXIST && errno != EINVAL && errno != ENOSYS)
    return file_failure(Errc::write_failed, to, errno);
  // Without RENAME_NOREPLACE in the file system, check first and rename a moment later.
  struct stat info {};
  if (errno == EEXIST || ::lstat(to.c_str(), &info) == 0)
    return Status(Errc::output_exists, "'" + to + "'");
  return rename_durably(from, to);
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

Result<std::string> read_text(const std::string& path, std::size_t most_bytes) {
  ZR_LET(file, DurableFile::open(path, DurableFile::Open::read));
  if (file->size() > static_cast<std::int64_t>(most_bytes))
    return Status(Errc::bad_input,
                  "'" + path + "' has more than " + std::to_string(most_bytes >> 20) + " MiB");
  std::string text(static_cast<std::size_t>(file->size()), '\0');
  ZR_LET(got, file->read_at(0, std::as_writable_bytes(std::span(text))));
  text.resize(got);
  return text;
}

}  // namespace zerorun::app
