// Threads that help to copy large frames piece by piece.
// SPDX-License-Identifier: MIT
#include "codec/base/copy_threads.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "zerorun/backend.hpp"

namespace zerorun {
namespace {

/// With 4 threads a 3840x2160 4:2:0 frame takes 723 us to the device, with 6 595, with 8 566; past
/// the caches 8 threads copy 67 GB/s, and 16 threads 58 (memcpy() in pieces of 512 KiB; H200, 16
/// cores).
constexpr int kMostHelpers = 7;
/// 1920x1080 4:2:0 (3.1 MB) takes 315 us with one thread, 226 with 4 and 199 with 8.
constexpr std::size_t kSharedBytes = std::size_t{1} << 21;

void copy_bytes(std::uint8_t* to, const std::uint8_t* from, std::size_t count) {
  std::memcpy(to, from, count);
}

#ifdef __SSE2__
/// Stores that do not read the line first: with 8 threads 8.3 MB take 123 us, and 213 us by
/// memcpy() (16 cores beside an H200).
void copy_past_caches(std::uint8_t* to, const std::uint8_t* from, std::size_t count) {
  constexpr std::size_t kLine = 64, kVector = sizeof(__m128i);
  const std::size_t ahead = (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine;
  if (count < ahead + kLine) return copy_bytes(to, from, count);
  copy_bytes(to, from, ahead);
  std::size_t at = ahead;
  for (; at + kLine <= count; at += kLine)
    for (std::size_t i = at; i < at + kLine; i += kVector)
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  _mm_sfence();  // completes the stores before another thread learns of them
  copy_bytes(to + at, from + at, count - at);
}
#else
constexpr auto copy_past_caches = copy_bytes;
#endif

}  // namespace

int helpers_of(int threads, std::size_t frame_bytes) noexcept {
  if (frame_bytes < kSharedBytes) return 0;
  return threads == 0 ? kMostHelpers : threads - 1;
}

void copy_rows(const CopyPiece& piece, bool past_caches) {
  const auto copy = past_caches ? copy_past_caches : copy_bytes;
  const auto bytes = static_cast<std::ptrdiff_t>(piece.row_bytes);
  if (piece.from_stride == bytes && piece.to_stride == bytes) {
    copy(piece.to, piece.from, piece.row_bytes * piece.rows);
    return;
  }
  for (std::size_t y = 0; y < piece.rows; ++y) {
    const auto row = static_cast<std::ptrdiff_t>(y);
    copy(piece.to + row * piece.to_stride, piece.from + row * piece.from_stride, piece.row_bytes);
  }
}

void cut_into_pieces(const CopyPiece& plane, std::size_t most_bytes, std::vector<CopyPiece>& out) {
  const std::size_t most = std::max<std::size_t>(1, most_bytes / plane.row_bytes);
  for (std::size_t y = 0; y < plane.rows; y += most) {
    CopyPiece piece = plane;
    piece.from += static_cast<std::ptrdiff_t>(y) * plane.from_stride;
    piece.to += static_cast<std::ptrdiff_t>(y) * plane.to_stride;
    piece.rows = std::min(most, plane.rows - y);
    out.push_back(piece);
  }
}

CopyThreads::CopyThreads(int most) : most_(std::max(0, most)) {}

CopyThreads::~CopyThreads() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wanted_.notify_all();
  for (auto& thread : threads_) thread.join();
}

std::shared_ptr<CopyThreads> CopyThreads::shared() {
  static std::mutex mutex;
  static std::weak_ptr<CopyThreads> threads;
  const std::lock_guard lock(mutex);
  const int most = std::min(usable_processors() - 1, kMostHelpers);
  std::shared_ptr<CopyThreads> found = threads.lock();
  if (found) {
    const std::lock_guard guard(found->mutex_);
    found->most_ = std::max(found->most_, most);
  } else {
    found = std::make_shared<CopyThreads>(most);
    threads = found;
  }
  return found;
}

void CopyThreads::join(SharedCopy& copy) {
  {
    const std::lock_guard lock(mutex_);
    const auto wanted = static_cast<std::size_t>(std::min(copy.seats_, most_));
    try {
      while (threads_.size() < wanted) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // Fewer threads than asked for do the same work.
    }
    copies_.push_back(&copy);
  }
  wanted_.notify_all();
}

void CopyThreads::leave(SharedCopy& copy) {
  std::unique_lock lock(mutex_);
  std::erase(copies_, &copy);
  left_.wait(lock, [&] { return copy.helping_ == 0; });
}

SharedCopy* CopyThreads::find_seat() {
  const auto found =
      std::ranges::find_if(copies_, [](const SharedCopy* copy) { return copy->seats_ > 0; });
  return found == copies_.end() ? nullptr : *found;
}

void CopyThreads::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    SharedCopy* copy = nullptr;
    wanted_.wait(lock, [&] { return stop_ || (copy = find_seat()) != nullptr; });
    if (stop_) return;
    --copy->seats_;
    ++copy->helping_;
    lock.unlock();
    copy->help();
    lock.lock();
    if (--copy->helping_ == 0) left_.notify_all();
  }
}

SharedCopy::SharedCopy(CopyThreads* threads, int helpers, std::span<const CopyPiece> pieces,
                       bool is_read_soon)
    : copy_threads_(helpers > 0 && pieces.size() > 1 ? threads : nullptr),
      pieces_(pieces),
      past_caches_(copy_threads_ != nullptr && !is_read_soon),
      copied_(std::make_unique<std::atomic<int>[]>(pieces.size())),
      seats_(static_cast<int>(
          std::min(static_cast<std::size_t>(std::max(0, helpers)), pieces.size()))) {
  if (copy_threads_ != nullptr) copy_threads_->join(*this);
}

SharedCopy::~SharedCopy() {
  if (copy_threads_ == nullptr) return;
  next_.store(pieces_.size());  // no thread takes another one
  release(pieces_.size());
  copy_threads_->leave(*this);
}

void SharedCopy::release(std::size_t count) {
  released_.store(count);
  released_.notify_all();
}

std::size_t SharedCopy::untaken() const noexcept {
  const std::size_t next = next_.load(), released = released_.load();
  return next < released ? released - next : 0;
}

bool SharedCopy::copy_one() {
  std::size_t piece = next_.load();
  do {
    if (piece >= released_.load()) return false;
  } while (!next_.compare_exchange_weak(piece, piece + 1));
  copy_rows(pieces_[piece], past_caches_);
  // Sequentially consistent: with a release store, notify_one() may look for waiters before others
  // see the 1, because the stores past the caches are drained first. Then the waiting thread would
  // sleep on.
  copied_[piece].store(1);
  copied_[piece].notify_one();
  return true;
}

void SharedCopy::help() {
  for (;;) {
    const std::size_t released = released_.load();
    if (copy_one()) continue;
    if (next_.load() >= pieces_.size()) return;
    released_.wait(released);
  }
}

}  // namespace zerorun
