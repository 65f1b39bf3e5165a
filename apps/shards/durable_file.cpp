// A file that is on the disk when a call says so.
// SPDX-License-Identifier: MIT
#include "apps/shards/durable_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
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

EarlyWriteback::EarlyWriteback(const std::string& path)
    : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}

EarlyWriteback::~EarlyWriteback() {
  if (file_ >= 0) ::close(file_);
}

void EarlyWriteback::reached(std::int64_t end) noexcept {
  constexpr std::int64_t kStep = std::int64_t{8} << 20;
  if (file_ < 0 || end - begun_ < kStep) return;
#ifdef SYNC_FILE_RANGE_WRITE
  ::sync_file_range(file_, begun_, end - begun_, SYNC_FILE_RANGE_WRITE);
#endif
  begun_ = end;
}

}  // namespace zerorun::app
