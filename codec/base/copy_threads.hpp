// Threads that help to copy large frames piece by piece.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace zerorun {

/// Rows that one thread copies in one go. Strides are bytes from one row to the next, and may be
/// negative.
struct CopyPiece {
  const std::uint8_t* from;
  std::ptrdiff_t from_stride;
  std::uint8_t* to;
  std::ptrdiff_t to_stride;
  std::size_t row_bytes, rows;
};

/// `past_caches`: stores bypass the caches, because the CPU does not read the copy.
void copy_rows(const CopyPiece& piece, bool past_caches);

/// Appends pieces of whole rows, each of at most `most_bytes` or one row, that cover `plane` in
/// the order of its rows.
void cut_into_pieces(const CopyPiece& plane, std::size_t most_bytes, std::vector<CopyPiece>& out);

/// How many threads should help the caller to copy a frame. `threads` is what the user asked for:
/// 0 = what suits, n = the caller and n - 1 more. None helps with a small frame, which is copied
/// before another thread has woken up.
int helpers_of(int threads, std::size_t frame_bytes) noexcept;

class SharedCopy;

/// Threads that help to copy. They start with the first copy and sleep between copies. Safe to use
/// from several threads.
class CopyThreads {
 public:
  /// `most` helpers at a time, for all copies together.
  explicit CopyThreads(int most);
  ~CopyThreads();
  CopyThreads(const CopyThreads&) = delete;
  CopyThreads& operator=(const CopyThreads&) = delete;

  /// The threads of the process. One of the processors that the calling thread may use is left to
  /// it; the shared pool grows to the largest limit requested. It ends with its last owner.
  static std::shared_ptr<CopyThreads> shared();

 private:
  friend class SharedCopy;
  void join(SharedCopy& copy);
  void leave(SharedCopy& copy);
  void work();
  SharedCopy* find_seat();

  std::mutex mutex_;  ///< guards what stands below
  int most_;
  std::condition_variable wanted_, left_;
  std::vector<std::thread> threads_;
  std::vector<SharedCopy*> copies_;
  bool stop_ = false;
};

/// One copy that the caller and some of the threads make together. Pieces are taken in their order.
/// All calls are the caller's, from one thread.
class SharedCopy {
 public:
  /// Without threads, or with 0 `helpers`, the caller copies alone. `pieces` outlive the object.
  /// Copies with helpers go past the caches, because they are larger than the caches, unless
  /// `is_read_soon`: the CPU reads what is copied, or its pages are new, and so in the caches.
  SharedCopy(CopyThreads* threads, int helpers, std::span<const CopyPiece> pieces,
             bool is_read_soon = false);
  /// No helper touches the memory afterwards, whether all pieces are copied or not.
  ~SharedCopy();
  SharedCopy(const SharedCopy&) = delete;
  SharedCopy& operator=(const SharedCopy&) = delete;

  /// The first `count` pieces may be copied from now on.
  void release(std::size_t count);
  /// Copies the next released piece; false if there is none.
  bool copy_one();
  /// Released pieces that no thread has taken yet.
  std::size_t untaken() const noexcept;
  bool is_copied(std::size_t piece) const noexcept {
    return copied_[piece].load(std::memory_order_acquire) != 0;
  }
  /// Waits until a helper has copied the piece. Precondition: a thread has taken it.
  void wait_for(std::size_t piece) const noexcept { copied_[piece].wait(0); }

 private:
  friend class CopyThreads;
  void help();

  CopyThreads* const copy_threads_;
  const std::span<const CopyPiece> pieces_;
  const bool past_caches_;
  std::unique_ptr<std::atomic<int>[]> copied_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> released_{0};
  int seats_, helping_ = 0;  // guarded by the mutex of CopyThreads
};

}  // namespace zerorun
