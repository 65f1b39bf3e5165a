// What the machine alone needs to move the bytes of a run: no way from file to file is faster.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "zerorun/status.hpp"

namespace zerorun::app::bench {

/// Threads that move bytes side by side. On 16 cores, 8 read 4K frames into pinned memory and on to
/// an H200 at 2,742 frames/s and 16 at 3,276; new pages of one file in tmpfs get no faster with
/// more.
inline constexpr int kFloorThreads = 8;
int floor_threads() noexcept;

/// Files that are read in pieces by several threads, from the page cache after the first time.
struct ReadWork {
  std::vector<std::string> files;
  std::size_t piece_bytes = 0;  ///< about a frame; a smaller file is one piece
};

/// How an output lies on the disk.
enum class Layout {
  none,           ///< nothing is written
  appended,       ///< one file, written from begin to end by one thread
  placed,         ///< one file, pieces written to their places by several threads
  file_for_each,  ///< a file for each frame, by several threads
};

/// Seconds to read everything into memory.
Result<double> time_reading(const ReadWork& work);

/// Seconds to write `frames` pieces of `bytes` bytes to new files of the folder; the caller removes
/// them.
Result<double> time_writing(const std::string& folder, Layout layout, std::int64_t frames,
                            std::size_t bytes);

// Null in a build without CUDA.
/// Seconds to read everything into pinned memory and copy it to the device.
[[gnu::weak]] Result<double> time_reading_to_device(const ReadWork& work, int device);
/// Seconds to copy `frames` pieces of `bytes` bytes from the device to pinned memory.
[[gnu::weak]] Result<double> time_download(int device, std::int64_t frames, std::size_t bytes);

/// The pieces of ReadWork, shared out to threads.
struct Piece {
  int file = -1;  ///< descriptor
  std::int64_t at = 0;
  std::size_t bytes = 0;
};

class OpenPieces {
 public:
  OpenPieces() = default;
  ~OpenPieces();
  OpenPieces(const OpenPieces&) = delete;
  OpenPieces& operator=(const OpenPieces&) = delete;

  Status open(const ReadWork& work);
  const std::vector<Piece>& pieces() const noexcept { return pieces_; }
  std::size_t largest() const noexcept { return largest_; }

 private:
  std::vector<int> files_;
  std::vector<Piece> pieces_;
  std::size_t largest_ = 0;
};

/// Fills `to` with the bytes of a piece.
Status read_piece(const Piece& piece, std::byte* to);

}  // namespace zerorun::app::bench
