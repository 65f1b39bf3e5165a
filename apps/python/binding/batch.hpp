// Batches: their inputs, and many small jobs on a few threads that Ctrl-C interrupts.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/python/binding/frames.hpp"
#include "zerorun/backend.hpp"
#include "zerorun/decoder.hpp"

namespace zerorun::python {

/// Runs job(item, worker) for items 0 to count-1 on up to `workers` threads. Worker n begins with
/// item n, and takes the next item that is left when it is done. Call it with the GIL held; jobs
/// run without it and must not throw. Errors: what a signal's handler raises, after `stop` was
/// called and the jobs under way have ended.
void run_jobs(
    std::size_t count, int workers, const std::function<void(std::size_t item, int worker)>& job,
    const std::function<void()>& stop = [] {});

/// Ends the threads that are kept for the next batch. With the GIL held.
void release_workers();

/// The caller's number, or one for each core (CPU) or as many as keep a GPU busy (CUDA).
int worker_count(int wanted, bool is_cuda, std::size_t items);

/// An item to decode: a stream in memory, or the name of a file that holds one. Made and destroyed
/// with the GIL held.
class BatchInput {
 public:
  /// Takes a str or an os.PathLike as the name of a file, and all else as JpegData does. Errors:
  /// those of JpegData; ArgumentError for a stream in device memory; ValueError for a name that no
  /// file can have.
  explicit BatchInput(nb::handle object);

  bool is_file() const { return is_file_; }
  /// The size of the stream, for planning alone; 0 for a file that cannot be asked.
  std::size_t likely_bytes() const;
  /// The stream, which lives as long as this object and `room`. A file is read into `room`. Needs
  /// no GIL. Errors: open_failed, read_failed, out_of_memory, and those of HostBuffer.
  Result<std::span<const std::byte>> bytes(HostBuffer& room) const;

 private:
  nb::object bytes_object_;  ///< keeps a stream of the class bytes, which never changes
  std::span<const std::byte> stream_;
  std::unique_ptr<JpegData> data_;  ///< keeps every other stream
  bool is_file_ = false;
  std::string path_;
};

/// An item of decode_batch().
struct DecodeJob {
  std::unique_ptr<BatchInput> input;  ///< unset: `result` has the error
  int scale = 1;
  Region region = {};
  std::optional<HostPicture> picture;
  nb::object result;
  Status status;
};

}  // namespace zerorun::python
