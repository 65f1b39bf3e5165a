// Buffered bytes of a file or of stdin, with look-ahead.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codec/base/flight_ring.hpp"
#include "zerorun/status.hpp"

namespace zerorun::io {

/// A file descriptor, which is closed in the end if it is `owned`.
struct OpenFile {
  OpenFile(int file, bool owns) noexcept : number(file), owned(owns) {}
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  const int number;
  const bool owned;
};

/// For one consumer. It keeps two blocks more than it has threads.
class ReadAhead {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

  /// Reads from `position` of `file` on. The end of this object waits for the reads that are under
  /// way. Throws std::system_error where there can be no thread.
  ReadAhead(const std::shared_ptr<const OpenFile>& file, std::uint64_t position, int threads);

  struct Outcome {
    std::size_t bytes;  ///< fewer than kBlockBytes at the end and before an error
    int error;          ///< errno of the read behind these bytes; 0: none
  };
  /// Waits for the next block and puts it in place of `block`, whose memory is used again. A block
  /// that is not full is the last one.
  Outcome next(std::vector<std::byte>& block);

 private:
  struct Job {
    std::uint64_t position = 0;
    std::vector<std::byte> block = std::vector<std::byte>(kBlockBytes);
    Outcome outcome{};
  };

  void read_one_more();

  const std::uint64_t position_;
  bool at_end_ = false;  // the last block was taken
  FlightRing<Job> ring_;
};

/// Move-only. After a read error every call behaves as at the end of the file; error() tells the
/// two apart.
class ByteReader {
 public:
  /// A path, or "-" for stdin. Errors: open_failed.
  static Result<ByteReader> open(const std::string& path);

  /// From now on `threads` threads read a regular file ahead while it is read from front to back.
  /// Use it for files of several MB whose bytes are only looked at. 0 switches it off.
  void read_ahead(int threads) noexcept { ahead_threads_ = threads; }
  /// How many threads for read_ahead() leave enough cores to the work on the bytes: 3 of 16 cores
  /// feed a search of 15 GB/s.
  static int spare_threads() noexcept;

  /// Next byte, or -1 at the end.
  int get() {
    if (begin_ == end_ && !fill()) return -1;
    return static_cast<int>(buffer_[begin_++]);
  }

  /// The next `count` bytes without consuming them; fewer only at the end. count <= kMaxPeek.
  std::span<const std::byte> peek(std::size_t count);
  /// What is in the buffer, filled first if it is empty; empty only at the end.
  std::span<const std::byte> buffered();
  /// Steps over bytes that peek() or buffered() gave.
  void consume(std::size_t count) noexcept { begin_ += count; }

  /// Fills `out` and returns the bytes read; fewer than its size only at the end.
  std::size_t read(std::span<std::byte> out);
  /// Skips `count` bytes, by seeking where possible; false if the data ends before.
  bool skip(std::uint64_t count);
  /// Fills `parts` one after another from an offset() of a regular file, whatever was read before.
  /// Any number of threads may call it at a time. Errors: read_failed. False at the end of the
  /// file.
  Result<bool> read_at(std::uint64_t offset, std::span<const std::span<std::byte>> parts) const;
  /// The same by up to `threads` threads, 0: one for each core, where there is enough for several.
  Result<bool> read_at(std::uint64_t offset, std::span<const std::span<std::byte>> parts,
                       int threads) const;
  /// Goes to an offset(); false if the input is not a regular file or is shorter.
  bool seek(std::uint64_t offset);

  std::uint64_t offset() const noexcept { return file_offset_ - (end_ - begin_); }
  /// The size of a regular file.
  std::optional<std::uint64_t> size() const noexcept { return size_; }
  /// Bytes from offset() to the end of a regular file; the largest integer for a pipe.
  std::uint64_t remaining() const noexcept;
  /// ok at the end of the file, read_failed after an error.
  const Status& error() const noexcept { return error_; }
  const std::string& name() const noexcept { return name_; }
  bool is_open() const noexcept { return file_ != nullptr; }
  /// True if name() is the path of a regular file, which can be opened again.
  bool is_regular_file() const noexcept { return file_ && file_->owned && size_.has_value(); }

  static constexpr std::size_t kMaxPeek = 4096;
  /// A thread of read_at() reads at least so much. From the page cache to new memory one and two
  /// threads take, on two free cores of a cloud Xeon, medians of 101: 0.12 and 0.15 ms for
  /// 0.3 MB, 0.47 and 0.36 for 1 MB, 1.50 and 0.89 for 3 MB, 11.6 and 6.7 for 25 MB.
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 18;
  static_assert(kBufferBytes >= kMaxPeek);

  ByteReader() = default;
  bool fill();
  bool fill_more();
  bool fill_from_ahead();
  bool is_worth_ahead() const noexcept;
  bool stop_ahead();
  std::size_t read_file(std::byte* out, std::size_t count);

  std::string name_;
  std::shared_ptr<const OpenFile> file_;
  std::uint64_t start_ = 0;  // where offset() 0 is: a file that is stdin may begin further on
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // unread bytes in buffer_
  std::size_t fill_bytes_ = 0;       // read at once; little after a jump, then more and more
  std::uint64_t file_offset_ = 0;    // of the end of the buffer
  std::optional<std::uint64_t> size_;
  bool at_end_ = false;
  Status error_;
  int ahead_threads_ = 0;
  std::unique_ptr<ReadAhead> ahead_;  // then the file's own position is not used
  std::vector<std::byte> block_;      // of it
};

/// A whole file in memory. Errors: open_failed, read_failed,
/// out_of_memory where the file is longer than `limit_bytes`.
Result<std::vector<std::byte>> read_whole_file(const std::string& path, std::uint64_t limit_bytes);
/// The rest of a file into memory that is reused.
Status read_whole_file(ByteReader& reader, std::uint64_t limit_bytes, std::vector<std::byte>& data);

/// Holds a file between two calls about one input (SourceOptions::opened), so that it is opened
/// once. A pipe can be held as long as its bytes have only been looked at. Thread-safe.
class OpenedFile {
 public:
  /// The file if it is the one that is held, at its first byte; otherwise it is opened.
  Result<ByteReader> open(const std::string& path);
  /// Holds a file, unless it is a pipe from which bytes were taken.
  void keep(ByteReader reader);
  /// The same for a demuxer that has begun to read the file. take_media() gives it once.
  void keep_media(const std::string& path, std::shared_ptr<void> demuxer);
  std::shared_ptr<void> take_media(const std::string& path);

 private:
  std::mutex mutex_;
  std::optional<ByteReader> reader_;
  std::string media_path_;
  std::shared_ptr<void> media_;
};

}  // namespace zerorun::io
