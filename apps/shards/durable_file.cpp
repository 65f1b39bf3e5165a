// SPDX-License-Identifier: MIT
#include "apps/shards/durable_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "codec/base/interruptions.hpp"
#include "codec/base/try.hpp"

namespace zerorun::app {
namespace {

int open_flags(DurableFile::Open how) noexcept {
  constexpr int kAlways = O_CLOEXEC | O_NOFOLLOW;
  switch (how) {
    case DurableFile::Open::read:
      return kAlways | O_RDONLY | O_NONBLOCK;  // a FIFO must not block
    case DurableFile::Open::create:
      return kAlways | O_RDWR | O_CREAT | O_EXCL;
    default:
      return kAlways | O_RDWR | O_CREAT | O_NONBLOCK;
  }
}

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

Status file_failure(Errc code, const std::string& path, int number) {
  return Status(code, "'" + path + "': " + std::generic_category().message(number));
}

Result<std::unique_ptr<DurableFile>> DurableFile::open(const std::string& path, Open how) {
  std::unique_ptr<DurableFile> out(new DurableFile);
  out->path_ = path;
  Interruptions interruptions;
  do {
    out->file_ = ::open(path.c_str(), open_flags(how), 0666);
  } while (out->file_ < 0 && interruptions.again());
  if (out->file_ < 0 && errno == EEXIST) return Status(Errc::output_exists, "'" + path + "'");
  if (out->file_ < 0 && errno == ELOOP)
    return Status(Errc::open_failed, "'" + path + "' is a link, and links are not followed");
  if (out->file_ < 0) return file_failure(Errc::open_failed, path, errno);
  struct stat info {};
  if (::fstat(out->file_, &info) != 0) return file_failure(Errc::open_failed, path, errno);
  if (!S_ISREG(info.st_mode))
    return Status(Errc::open_failed, "'" + path + "' is not a regular file");
  out->size_ = info.st_size;
  return out;
}

DurableFile::~DurableFile() {
  if (file_ >= 0) ::close(file_);
}

Status DurableFile::write(std::span<const std::span<const std::byte>> parts) {
  PartVectors<const std::byte> left(parts);
  Interruptions interruptions;
  while (!left.is_done()) {
    const std::span<const iovec> vectors = left.next();
    const ssize_t got = ::pwritev(file_, vectors.data(), static_cast<int>(vectors.size()), size_);
    if (got < 0 && interruptions.again()) continue;
    if (got <= 0) return file_failure(Errc::write_failed, path_, got < 0 ? errno : EIO);
    size_ += got;
    left.advance(static_cast<std::size_t>(got));
  }
  return Status::ok();
}

Status DurableFile::write(std::string_view text) {
  const std::span<const std::byte> part = std::as_bytes(std::span(text));
  return write({&part, 1});
}

Result<std::size_t> DurableFile::read_at(std::int64_t position, std::span<std::byte> out) const {
  const std::ptrdiff_t got = read_fully(file_, position, out);
  if (got < 0) return file_failure(Errc::read_failed, path_, errno);
  return static_cast<std::size_t>(got);
}

Status DurableFile::cut(std::int64_t bytes) {
  if (bytes >= size_) return Status::ok();
  if (::ftruncate(file_, static_cast<off_t>(bytes)) != 0)
    return file_failure(Errc::write_failed, path_, errno);
  size_ = bytes;
  return Status::ok();
}

Status DurableFile::sync() const {
  // fdatasync() also writes the size, without which the data could not be read.
  if (::fdatasync(file_) != 0) return file_failure(Errc::write_failed, path_, errno);
  return Status::ok();
}

DurableFile::Lock DurableFile::lock() const noexcept {
  int result = 0;
  Interruptions interruptions;
  do {
    result = ::flock(file_, LOCK_EX | LOCK_NB);
  } while (result != 0 && interruptions.again());
  if (result == 0) return Lock::taken;
  return errno == EWOULDBLOCK ? Lock::busy : Lock::unknown;
}

bool DurableFile::is_named(const std::string& path) const noexcept {
  struct stat mine {
  }, named{};
  return ::fstat(file_, &mine) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
}

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
