// An item of a batch to decode: a stream in memory, or the name of a file that holds one.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>
#include <string>

#include "apps/python/binding/pictures.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::python {

/// Made and destroyed with the GIL held.
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
  nb::object bytes_object_;  ///< keeps a stream of the class bytes, which nobody can change
  std::span<const std::byte> stream_;
  std::unique_ptr<JpegData> data_;  ///< keeps every other stream
  bool is_file_ = false;
  std::string path_;
};

}  // namespace zerorun::python
