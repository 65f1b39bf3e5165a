// An item of a batch to decode: a stream in memory, or the name of a file that holds one.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>
#include <string>

#include "apps/python/binding/pictures.hpp"
#include "zerorun/backend.hpp"

namespace zerorun::python {

class BatchInput {
 public:
  /// Takes a str or an os.PathLike as the name of a file, and all else as JpegData does. Errors:
  /// those of JpegData; ArgumentError for a stream in device memory; ValueError for a name that no
  /// file can have.
  explicit BatchInput(nb::handle object);

  bool is_file() const { return data_ == nullptr; }
  /// The size of the stream, for planning alone; 0 for a file that cannot be asked.
  std::size_t likely_bytes() const;
  /// The stream, which lives as long as this object and `room`. A file is read into `room`. Needs
  /// no GIL. Errors: open_failed, read_failed, out_of_memory, and those of HostBuffer.
  Result<std::span<const std::byte>> bytes(HostBuffer& room) const;

 private:
  std::unique_ptr<JpegData> data_;
  std::string path_;
};

}  // namespace zerorun::python
