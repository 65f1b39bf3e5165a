// Reads a regular file before its bytes are asked for.
// SPDX-License-Identifier: MIT
#include "io/read_ahead.hpp"

#include <unistd.h>

#include <cerrno>
#include <exception>
#include <utility>

#include "codec/base/interruptions.hpp"

namespace zerorun::io {

ReadAhead::ReadAhead(int file, std::uint64_t position, int threads)
    : file_(file), position_(position), slots_(static_cast<std::size_t>(threads) + 2) {
  for (Slot& slot : slots_) slot.block.resize(kBlockBytes);
  threads_.reserve(static_cast<std::size_t>(threads));
  threads_.emplace_back([this] { read_blocks(); });
  try {
    while (threads_.size() < static_cast<std::size_t>(threads))
      threads_.emplace_back([this] { read_blocks(); });
  } catch (const std::exception&) {  // one will do
  }
}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ReadAhead::read_blocks() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_over_ || begun_ - taken_ < slots_.size(); });
    if (is_over_) return;
    const std::uint64_t number = begun_++;
    Slot& own = slot(number);
    lock.unlock();
    const Outcome outcome = read_block(number, own.block);
    lock.lock();
    own.outcome = outcome;
    own.is_ready = true;
    is_over_ |= outcome.bytes < kBlockBytes;
    changed_.notify_all();
  }
}

ReadAhead::Outcome ReadAhead::read_block(std::uint64_t number,
                                         std::vector<std::byte>& block) const {
  Interruptions interruptions;
  std::size_t done = 0;
  while (done < kBlockBytes) {
    const auto at = static_cast<off_t>(position_ + number * kBlockBytes + done);
    const ssize_t got = ::pread(file_, block.data() + done, kBlockBytes - done, at);
    if (got < 0 && interruptions.again()) continue;
    if (got < 0) return {done, errno};
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return {done, 0};
}

ReadAhead::Outcome ReadAhead::next(std::vector<std::byte>& block) {
  block.resize(kBlockBytes);
  std::unique_lock lock(mutex_);
  Slot& own = slot(taken_);
  changed_.wait(lock, [&] { return own.is_ready || (is_over_ && begun_ == taken_); });
  if (!own.is_ready) return {0, 0};
  own.is_ready = false;
  own.block.swap(block);
  ++taken_;
  changed_.notify_all();
  return own.outcome;
}

}  // namespace zerorun::io
