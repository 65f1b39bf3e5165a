// Files that are written: as NAME.part until they are whole, one, or one for each picture.
// SPDX-License-Identifier: MIT
#include "io/output/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "codec/base/folder_names.hpp"
#include "codec/base/interruptions.hpp"
#include "codec/base/try.hpp"
#include "io/base/opening.hpp"

namespace zerorun::io {

namespace {

enum class Target { absent, file, direct, directory };

/// Follows links: a link to a device is the device. One that leads nowhere is a file, which -y
/// replaces.
Target target_kind(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    return ::lstat(path.c_str(), &info) == 0 ? Target::file : Target::absent;
  if (S_ISREG(info.st_mode)) return Target::file;
  return S_ISDIR(info.st_mode) ? Target::directory : Target::direct;
}

}  // namespace

Status no_frame(const OutputFile& file) {
  return Status(Errc::unsupported_output, "'" + file.path() + "': there is no frame for it");
}

Status check_not_there(const std::string& path) {
  if (target_kind(path) != Target::file) return Status::ok();
  return Status(Errc::output_exists, "'" + path + "'");
}

Status make_folder_of(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  return error ? system_failure(Errc::open_failed, folder, error.value()) : Status::ok();
}

Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path, bool overwrite) {
  std::unique_ptr<OutputFile> out(new OutputFile);
  out->path_ = path;
  out->overwrite_ = overwrite;
  const Target target = target_kind(path);
  if (target == Target::direct) {
    out->file_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (out->file_ < 0) return system_failure(Errc::open_failed, path, errno);
    return out;
  }
  if (target == Target::directory) return system_failure(Errc::open_failed, path, EISDIR);
  if (target == Target::file && !overwrite) return check_not_there(path);
  const std::string part = part_path(path);
  // An existing NAME.part is removed and not opened: it may be a link, or another run may be
  // writing to it.
  if (overwrite && target_kind(part) != Target::directory) ::unlink(part.c_str());
  out->file_ = ::open(part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_EXCL, 0666);
  if (out->file_ < 0 && errno == EEXIST)
    return Status(Errc::output_exists,
                  "'" + part + "' is being written, or was left by an interrupted run");
  if (out->file_ < 0) return system_failure(Errc::open_failed, part, errno);
  out->part_ = part;
  out->seekable_ = true;
  return out;
}

std::unique_ptr<OutputFile> OutputFile::standard_output() {
  std::unique_ptr<OutputFile> out(new OutputFile);
  out->path_ = "stdout";
  out->file_ = STDOUT_FILENO;
  out->owned_ = false;
  return out;
}

OutputFile::~OutputFile() {
  const bool is_kept = is_full_ && whole_bytes_ > 0;
  // The bytes behind the last whole write are a part of a frame.
  if (is_kept && file_ >= 0 && ::ftruncate(file_, static_cast<off_t>(whole_bytes_)) != 0) {
  }
  if (owned_ && file_ >= 0) ::close(file_);
  if (!part_.empty() && !is_kept) ::unlink(part_.c_str());
}

/// If the disk is full, the frames that were written before are kept.
Status OutputFile::failure(int error_number) const {
  const Status status = system_failure(Errc::write_failed, path_, error_number);
  const bool is_full = error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
  if (!is_full || part_.empty() || whole_bytes_ == 0) return status;
  is_full_ = true;
  return Status(Errc::write_failed,
                status.detail() + "; what was written before is kept as '" + part_ + "'");
}

Status OutputFile::fail(int error_number) {
  error_ = failure(error_number);
  return error_;
}

/// Writes the parts and counts their bytes. Returns 0 or an error number.
int OutputFile::put(std::int64_t position, Parts parts, std::int64_t& done) const {
  PartVectors<const std::byte> left(parts);
  Interruptions interruptions;
  while (!left.is_done()) {
    const std::span<const iovec> vectors = left.next();
    const auto count = static_cast<int>(vectors.size());
    const ssize_t got =
        seekable_ ? ::pwritev(file_, vectors.data(), count, static_cast<off_t>(position + done))
                  : ::writev(file_, vectors.data(), count);
    if (got < 0 && interruptions.again()) continue;
    if (got < 0) return errno;
    if (got == 0) return EIO;  // POSIX allows it; looping on it might never end
    done += got;
    left.advance(static_cast<std::size_t>(got));
  }
  return 0;
}

Status OutputFile::write(Parts parts) {
  if (!error_) return error_;
  std::int64_t done = 0;
  const int error = put(position_, parts, done);
  position_ += done;
  size_ = std::max(size_, position_);
  if (error == 0) whole_bytes_ = std::max(whole_bytes_.load(), position_);
  return error == 0 ? Status::ok() : fail(error);
}

Status OutputFile::write_at(std::int64_t position, Parts parts) const {
  std::int64_t done = 0;
  const int error = seekable_ ? put(position, parts, done) : ESPIPE;
  return error == 0 ? Status::ok() : failure(error);
}

Status OutputFile::seek_end(std::int64_t position) {
  ZR_TRY(seek(position));
  size_ = std::max(size_, position_);
  whole_bytes_ = std::max(whole_bytes_.load(), position_);
  return Status::ok();
}

Status OutputFile::resize(std::int64_t bytes) {
  if (!error_) return error_;
  if (!seekable_ || ::ftruncate(file_, static_cast<off_t>(bytes)) != 0)
    return fail(seekable_ ? errno : ESPIPE);
  size_ = bytes;
  return Status::ok();
}

Status OutputFile::seek(std::int64_t position) {
  if (!error_) return error_;
  if (!seekable_ || position < 0) return fail(ESPIPE);
  position_ = position;
  return Status::ok();
}

Result<std::size_t> OutputFile::read_at(std::int64_t position, std::span<std::byte> out) {
  const std::ptrdiff_t got = read_fully(file_, position, out);
  if (got < 0) return fail(errno);
  return static_cast<std::size_t>(got);
}

Status OutputFile::truncate() {
  if (!error_) return error_;
  position_ = 0;
  return !seekable_ && size_ == 0 ? Status::ok() : resize(0);
}

Status OutputFile::commit() {
  if (!error_) return error_;
  // Network file systems and quotas report a full disk only here.
  if (owned_ && file_ >= 0) {
    const int closed = ::close(file_);
    file_ = -1;
    if (closed != 0 && errno != EINTR) return fail(errno);
  }
  return part_.empty() ? Status::ok() : take_name();
}

Status OutputFile::take_name() {
  if (overwrite_) {
    if (::rename(part_.c_str(), path_.c_str()) != 0) return fail(errno);
  } else if (::renameat2(AT_FDCWD, part_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno != EEXIST && errno != EINVAL && errno != ENOSYS) return fail(errno);
    // Without RENAME_NOREPLACE in the file system, check first and rename a moment later.
    if (errno == EEXIST || !check_not_there(path_)) {
      error_ = Status(Errc::output_exists, "'" + path_ + "' was created in the meantime; the new " +
                                               "file is kept as '" + part_ + "'");
      part_.clear();  // do not delete the work of hours because of a name
      return error_;
    }
    if (::rename(part_.c_str(), path_.c_str()) != 0) return fail(errno);
  }
  part_.clear();
  return Status::ok();
}

ImageOutput::ImageOutput(std::unique_ptr<OutputFile> file, std::string for_more, bool may_be_empty)
    : file_(std::move(file)), for_more_(std::move(for_more)), may_be_empty_(may_be_empty) {}

Result<ImageOutput> ImageOutput::numbered(const NumberPattern& pattern, std::int64_t start,
                                          bool overwrite) {
  if (start < 0) return Status(Errc::invalid_argument, "the start number is negative");
  ImageOutput output;
  output.pattern_ = pattern;
  output.start_ = start;
  output.overwrite_ = overwrite;
  std::error_code error;
  for (const std::string& name : folder_names(pattern.directory(), error)) {
    const std::optional<std::int64_t> number = pattern.match(name);
    if (!overwrite && number && *number >= start)
      return Status(Errc::output_exists, "'" + pattern.path(*number) + "'");
  }
  if (error) return Status(Errc::open_failed, "'" + pattern.directory() + "': " + error.message());
  return output;
}

Result<ImageOutput> ImageOutput::named(const Location& location, const SinkOptions& options) {
  ZR_LET(pattern, NamePattern::parse(location.name));
  if (!options.files)
    return Status(Errc::invalid_argument, "'" + location.name +
                                              "': {name} is the name of a picture's file, and the "
                                              "input has none");
  ZR_LET(paths, named_paths(location, *options.files, options.keeps_tree));
  if (!options.overwrite)
    for (const std::string& path : paths) ZR_TRY(check_not_there(path));
  for (const std::string& path : paths) ZR_TRY(make_folder_of(path));
  ImageOutput output;
  output.names_ = std::move(pattern);
  if (options.keeps_tree) output.folder_ = options.files->folder;
  output.start_ = location.start_number.value_or(1);
  output.overwrite_ = options.overwrite;
  return output;
}

Status ImageOutput::prepare(Outgoing& out) const {
  if (file_) return Status::ok();
  const std::int64_t number = start_ + out.index;
  ZR_LET(file,
         OutputFile::create(
             names_ ? names_->path(out.name, folder_, number) : pattern_.path(number), overwrite_));
  ZR_TRY(file->write(out.parts));
  out.held = std::shared_ptr<OutputFile>(std::move(file));
  return Status::ok();
}

Status ImageOutput::commit(Outgoing& out) {
  if (!file_) {
    const auto file = std::static_pointer_cast<OutputFile>(out.held);
    ZR_TRY(file->commit());
    bytes_ += file->size();
    return Status::ok();
  }
  if (!for_more_.empty() && file_->size() > 0)
    return Status(Errc::unsupported_output,
                  "'" + file_->path() + "' holds one image; name " + for_more_ + " for more");
  const Status status = file_->write(out.parts);
  bytes_ = file_->size();
  return status;
}

Status ImageOutput::finish() {
  if (!file_) return Status::ok();  // every file has its name already
  if (file_->size() == 0 && !may_be_empty_) return no_frame(*file_);
  return file_->commit();
}

}  // namespace zerorun::io
