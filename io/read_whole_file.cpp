// Whole files, and files that stay open between two calls.
// SPDX-License-Identifier: MIT
#include <string>
#include <utility>
#include <vector>

#include "codec/base/try.hpp"
#include "io/byte_reader.hpp"
#include "zerorun/source.hpp"

namespace zerorun::io {

Status read_whole_file(ByteReader& reader, std::uint64_t limit_bytes,
                       std::vector<std::byte>& data) {
  const Status too_long(Errc::out_of_memory, "'" + reader.name() + "' is longer than " +
                                                 std::to_string(limit_bytes) +
                                                 " bytes, the limit for one image");
  const std::uint64_t size = reader.size() ? reader.remaining() : 0;
  if (size > limit_bytes) return too_long;
  data.resize(static_cast<std::size_t>(size));
  data.resize(reader.read(data));
  // What has no size, and what has grown in the meantime.
  for (std::span<const std::byte> more = reader.buffered(); !more.empty();
       more = reader.buffered()) {
    if (data.size() + more.size() > limit_bytes) return too_long;
    data.insert(data.end(), more.begin(), more.end());
    reader.consume(more.size());
  }
  return reader.error();
}

Result<std::vector<std::byte>> read_whole_file(const std::string& path, std::uint64_t limit_bytes) {
  ZR_LET(reader, ByteReader::open(path));
  std::vector<std::byte> data;
  ZR_TRY(read_whole_file(reader, limit_bytes, data));
  return data;
}

Result<ByteReader> OpenedFile::open(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (!reader_ || reader_->name() != path) return ByteReader::open(path);
  ByteReader reader = *std::move(reader_);
  reader_.reset();
  return reader;
}

void OpenedFile::keep(ByteReader reader) {
  const std::lock_guard lock(mutex_);
  if (reader.is_open() && (reader.offset() == 0 || reader.seek(0))) reader_ = std::move(reader);
}

std::shared_ptr<OpenedFile> opened_file() { return std::make_shared<OpenedFile>(); }

}  // namespace zerorun::io
