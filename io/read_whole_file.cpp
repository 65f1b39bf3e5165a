// A whole file in memory.
// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include "codec/base/try.hpp"
#include "io/byte_reader.hpp"

namespace zerorun::io {

Status read_whole_file(const std::string& path, std::uint64_t limit_bytes,
                       std::vector<std::byte>& data) {
  ZR_LET(reader, ByteReader::open(path));
  const Status too_long(Errc::out_of_memory, "'" + path + "' is longer than " +
                                                 std::to_string(limit_bytes) +
                                                 " bytes, the limit for one image");
  const std::uint64_t size = reader.size().value_or(0);
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
  std::vector<std::byte> data;
  ZR_TRY(read_whole_file(path, limit_bytes, data));
  return data;
}

}  // namespace zerorun::io
