// What ByteReader does with several threads: it reads ahead, and at any offset.
// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "codec/base/interruptions.hpp"
#include "codec/base/try.hpp"
#include "io/base/byte_reader.hpp"
#include "io/base/opening.hpp"
#include "io/base/read_ahead.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::io {

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

ReadAhead::ReadAhead(int file, std::uint64_t position, int threads)
    : position_(position), ring_(threads + 2, {.work = [file](Job& job, int) {
                                   job.outcome = read_block(file, job.position, job.block);
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
  return ::lseek(file_, static_cast<off_t>(start_ + file_offset_), SEEK_SET) >= 0;
}

Result<bool> ByteReader::read_at(std::uint64_t offset,
                                 std::span<const std::span<std::byte>> parts) const {
  PartVectors<std::byte> left(parts);
  Interruptions interruptions;
  while (!left.is_done()) {
    const std::span<const iovec> vectors = left.next();
    const ssize_t got = ::preadv(file_, vectors.data(), static_cast<int>(vectors.size()),
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
