// Buffered bytes of a file or of stdin, whole files, and files that stay open between two calls.
// SPDX-License-Identifier: MIT
#include "io/base/byte_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "codec/base/interruptions.hpp"
#include "codec/base/try.hpp"
#include "io/base/opening.hpp"
#include "zerorun/backend.hpp"
#include "zerorun/source.hpp"

namespace zerorun::io {

OpenFile::~OpenFile() {
  if (owned) ::close(number);
}

Result<ByteReader> ByteReader::open(const std::string& path) {
  ByteReader reader;
  const bool is_stdin = path == "-";
  reader.name_ = is_stdin ? "stdin" : path;
  const int file = is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return system_failure(Errc::open_failed, path, errno);
  reader.file_ = std::make_shared<OpenFile>(file, !is_stdin);
  struct stat info {};
  if (::fstat(file, &info) == 0) {
    if (S_ISDIR(info.st_mode)) return system_failure(Errc::open_failed, path, EISDIR);
    // stdin may be a file of which another process has read the beginning.
    const off_t at = S_ISREG(info.st_mode) ? ::lseek(file, 0, SEEK_CUR) : -1;
    if (at >= 0 && info.st_size >= at) {
      reader.start_ = static_cast<std::uint64_t>(at);
      reader.size_ = static_cast<std::uint64_t>(info.st_size - at);
    }
  }
  reader.fill_bytes_ = kMaxPeek;
  return reader;
}

std::size_t ByteReader::read_file(std::byte* out, std::size_t count) {
  Interruptions interruptions;
  while (!at_end_ && count > 0) {
    const ssize_t got = ::read(file_->number, out, count);
    if (got > 0) {
      file_offset_ += static_cast<std::uint64_t>(got);
      return static_cast<std::size_t>(got);
    }
    if (got < 0 && interruptions.again()) continue;
    if (got < 0) error_ = system_failure(Errc::read_failed, name_, errno);
    at_end_ = true;
  }
  return 0;
}

bool ByteReader::fill() {
  begin_ = end_ = 0;
  return fill_more();
}

/// Appends to the buffer: little after a jump, because a loader reads the samples of a frame by
/// itself and they should not be read twice.
bool ByteReader::fill_more() {
  if (ahead_ || is_worth_ahead()) return fill_from_ahead();
  if (buffer_.size() < end_ + fill_bytes_) buffer_.resize(end_ + fill_bytes_);
  const std::size_t got = read_file(buffer_.data() + end_, fill_bytes_);
  end_ += got;
  fill_bytes_ = std::min(2 * fill_bytes_, kBufferBytes);
  return got > 0;
}

std::span<const std::byte> ByteReader::peek(std::size_t count) {
  if (end_ - begin_ < count) {
    if (begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    while (end_ < count && fill_more()) {
    }
  }
  return {buffer_.data() + begin_, std::min(count, end_ - begin_)};
}

std::span<const std::byte> ByteReader::buffered() {
  if (begin_ == end_) fill();
  return {buffer_.data() + begin_, end_ - begin_};
}

std::size_t ByteReader::read(std::span<std::byte> out) {
  std::size_t done = std::min(out.size(), end_ - begin_);
  if (done > 0) std::memcpy(out.data(), buffer_.data() + begin_, done);
  begin_ += done;
  while (done < out.size()) {
    // Large reads go straight to the caller's memory.
    if (out.size() - done >= kBufferBytes && !ahead_) {
      const std::size_t got = read_file(out.data() + done, out.size() - done);
      if (got == 0) break;
      done += got;
    } else {
      if (!fill()) break;
      const std::size_t part = std::min(out.size() - done, end_);
      std::memcpy(out.data() + done, buffer_.data(), part);
      begin_ = part;
      done += part;
    }
  }
  return done;
}

bool ByteReader::skip(std::uint64_t count) {
  const std::uint64_t in_buffer = std::min<std::uint64_t>(count, end_ - begin_);
  begin_ += static_cast<std::size_t>(in_buffer);
  count -= in_buffer;
  if (size_ && count > 0) {
    if (count > remaining()) return false;
    if (stop_ahead() && ::lseek(file_->number, static_cast<off_t>(count), SEEK_CUR) >= 0) {
      file_offset_ += count;
      fill_bytes_ = kMaxPeek;
      return true;
    }
  }
  while (count > 0 && fill()) {
    const std::uint64_t part = std::min<std::uint64_t>(count, end_);
    begin_ = static_cast<std::size_t>(part);
    count -= part;
  }
  return count == 0;
}

bool ByteReader::seek(std::uint64_t offset) {
  if (!size_ || offset > *size_ || !stop_ahead()) return false;
  const auto by = static_cast<off_t>(offset) - static_cast<off_t>(file_offset_);
  if (::lseek(file_->number, by, SEEK_CUR) < 0) return false;
  file_offset_ = offset;
  begin_ = end_ = 0;
  fill_bytes_ = kMaxPeek;
  at_end_ = false;
  error_ = Status::ok();
  return true;
}

std::uint64_t ByteReader::remaining() const noexcept {
  if (!size_) return std::numeric_limits<std::uint64_t>::max();
  return *size_ > offset() ? *size_ - offset() : 0;
}

Status read_whole_file(ByteReader& reader, std::uint64_t limit_bytes,
                       std::vector<std::byte>& data) {
  const Status too_long(Errc::out_of_memory, "'" + reader.name() + "' is longer than " +
                                                 std::to_string(limit_bytes) +
                                                 " bytes, the limit for one image");
  const std::uint64_t size = reader.size() ? reader.remaining() : 0;
  if (size > limit_bytes) return too_long;
  data.resize(static_cast<std::size_t>(size));
  data.resize(reader.read(data));
  // What has no size, and what has grown in the meantime.
  for (std::span<const std::byte> more = reader.buffered(); !more.empty();
       more = reader.buffered()) {
    if (data.size() + more.size() > limit_bytes) return too_long;
    data.insert(data.end(), more.begin(), more.end());
    reader.consume(more.size());
  }
  return reader.error();
}

Result<std::vector<std::byte>> read_whole_file(const std::string& path, std::uint64_t limit_bytes) {
  ZR_LET(reader, ByteReader::open(path));
  std::vector<std::byte> data;
  ZR_TRY(read_whole_file(reader, limit_bytes, data));
  return data;
}

Result<ByteReader> OpenedFile::open(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (!reader_ || reader_->name() != (path == "-" ? "stdin" : path)) return ByteReader::open(path);
  ByteReader reader = *std::move(reader_);
  reader_.reset();
  return reader;
}

void OpenedFile::keep(ByteReader reader) {
  const std::lock_guard lock(mutex_);
  if (reader.is_open() && (reader.offset() == 0 || reader.seek(0))) reader_ = std::move(reader);
}

void OpenedFile::keep_media(const std::string& path, std::shared_ptr<void> demuxer) {
  const std::lock_guard lock(mutex_);
  media_path_ = path;
  media_ = std::move(demuxer);
}

std::shared_ptr<void> OpenedFile::take_media(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return media_path_ == path ? std::move(media_) : nullptr;
}

std::shared_ptr<OpenedFile> opened_file() { return std::make_shared<OpenedFile>(); }

namespace {

ReadAhead::Outcome read_block(int file, std::uint64_t position, std::vector<std::byte>& block) {
  Interruptions interruptions;
  std::size_t done = 0;
  while (done < block.size()) {
    const auto at = static_cast<off_t>(position + done);
    const ssize_t got = ::pread(file, block.data() + done, block.size() - done, at);
    if (got < 0 && interruptions.again()) continue;
    if (got < 0) return {done, errno};
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return {done, 0};
}

/// The parts of bytes `begin` to `end` of all parts together.
std::vector<std::span<std::byte>> slice(std::span<const std::span<std::byte>> parts,
                                        std::size_t begin, std::size_t end) {
  std::vector<std::span<std::byte>> slices;
  std::size_t at = 0;  // where a part begins
  for (const std::span<std::byte> part : parts) {
    const std::size_t from = std::clamp(begin, at, at + part.size()) - at;
    const std::size_t to = std::clamp(end, at, at + part.size()) - at;
    if (from < to) slices.push_back(part.subspan(from, to - from));
    at += part.size();
  }
  return slices;
}

/// Calls job(0) to job(count - 1), each on a thread of its own where there may be one.
template <typename Job>
void run_side_by_side(std::size_t count, const Job& job) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  std::size_t item = 1;
  try {
    for (; item < count; ++item) threads.emplace_back(job, item);
  } catch (const std::exception&) {  // no thread or no memory is left: this one does the rest
  }
  for (job(0); item < count; ++item) job(item);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

ReadAhead::ReadAhead(const std::shared_ptr<const OpenFile>& file, std::uint64_t position,
                     int threads)
    : position_(position), ring_(threads + 2, {.work = [file](Job& job, int) {
                                   job.outcome = read_block(file->number, job.position, job.block);
                                   return true;
                                 }}) {
  ring_.start(threads);
  for (int block = 0; block < ring_.depth(); ++block) read_one_more();
}

/// There is a block that is not in use.
void ReadAhead::read_one_more() {
  (void)ring_.submit(false, [this](Job& job, std::int64_t number) {
    job.position = position_ + static_cast<std::uint64_t>(number) * kBlockBytes;
  });
}

ReadAhead::Outcome ReadAhead::next(std::vector<std::byte>& block) {
  Outcome outcome{0, 0};
  if (at_end_) return outcome;
  block.resize(kBlockBytes);
  (void)ring_.receive(true, [&](Job& job) {
    outcome = job.outcome;
    job.block.swap(block);
  });
  at_end_ = outcome.bytes < kBlockBytes;
  if (!at_end_) read_one_more();
  return outcome;
}

int ByteReader::spare_threads() noexcept { return std::min(usable_processors() / 4, 3); }

/// True after the beginning of a file of which much is left.
bool ByteReader::is_worth_ahead() const noexcept {
  return ahead_threads_ > 0 && size_ && !at_end_ && fill_bytes_ == kBufferBytes &&
         *size_ > file_offset_ && *size_ - file_offset_ >= 4 * ReadAhead::kBlockBytes;
}

bool ByteReader::fill_from_ahead() {
  try {
    if (!ahead_) ahead_ = std::make_unique<ReadAhead>(file_, start_ + file_offset_, ahead_threads_);
  } catch (const std::exception&) {  // no thread is left
    ahead_threads_ = 0;
    return fill_more();
  }
  if (at_end_) return false;
  const ReadAhead::Outcome got = ahead_->next(block_);
  if (end_ == 0) {
    buffer_.swap(block_);
  } else {
    if (buffer_.size() < end_ + got.bytes) buffer_.resize(end_ + got.bytes);
    std::copy_n(block_.begin(), got.bytes, buffer_.begin() + static_cast<std::ptrdiff_t>(end_));
  }
  end_ += got.bytes;
  file_offset_ += got.bytes;
  at_end_ = got.bytes < ReadAhead::kBlockBytes;
  if (got.error != 0) error_ = system_failure(Errc::read_failed, name_, got.error);
  return got.bytes > 0;
}

/// Moves the file's own position back to the end of the buffer; false if that fails.
bool ByteReader::stop_ahead() {
  if (!ahead_) return true;
  ahead_.reset();
  return ::lseek(file_->number, static_cast<off_t>(start_ + file_offset_), SEEK_SET) >= 0;
}

Result<bool> ByteReader::read_at(std::uint64_t offset,
                                 std::span<const std::span<std::byte>> parts) const {
  PartVectors<std::byte> left(parts);
  Interruptions interruptions;
  while (!left.is_done()) {
    const std::span<const iovec> vectors = left.next();
    const ssize_t got = ::preadv(file_->number, vectors.data(), static_cast<int>(vectors.size()),
                                 static_cast<off_t>(start_ + offset));
    if (got < 0 && interruptions.again()) continue;
    if (got < 0) return system_failure(Errc::read_failed, name_, errno);
    if (got == 0) return false;
    offset += static_cast<std::uint64_t>(got);
    left.advance(static_cast<std::size_t>(got));
  }
  return true;
}

Result<bool> ByteReader::read_at(std::uint64_t offset, std::span<const std::span<std::byte>> parts,
                                 int threads) const {
  std::size_t bytes = 0;
  for (const std::span<std::byte> part : parts) bytes += part.size();
  const std::size_t wanted = static_cast<std::size_t>(threads > 0 ? threads : usable_processors());
  constexpr std::size_t kMostThreads = 16;  // more do not copy faster
  const std::size_t count = std::min({wanted, kMostThreads, bytes / kPieceBytes});
  if (count < 2) return read_at(offset, parts);
  std::vector<std::vector<std::span<std::byte>>> pieces;
  for (std::size_t i = 0; i < count; ++i)
    pieces.push_back(
        slice(parts, bytes / count * i, i + 1 < count ? bytes / count * (i + 1) : bytes));
  std::vector<Result<bool>> results(count, Result<bool>(true));
  run_side_by_side(count, [&](std::size_t i) {
    results[i] = guarded([&] { return read_at(offset + bytes / count * i, pieces[i]); });
  });
  for (const Result<bool>& result : results)
    if (!result || !*result) return result;
  return true;
}

}  // namespace zerorun::io
