// Reads a regular file before its bytes are asked for.
// SPDX-License-Identifier: MIT
#include "io/read_ahead.hpp"

#include <unistd.h>

#include <cerrno>

#include "codec/base/interruptions.hpp"

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

}  // namespace zerorun::io
