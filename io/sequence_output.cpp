// Numbered output files, one after another.
// SPDX-License-Identifier: MIT
#include "io/sequence_output.hpp"

#include <filesystem>
#include <system_error>

#include "codec/base/try.hpp"
#include "io/output_file.hpp"

namespace zerorun::io {

Result<SequenceOutput> SequenceOutput::open(const NumberPattern& pattern, std::int64_t start,
                                            bool overwrite) {
  if (start < 0) return Status(Errc::invalid_argument, "the start number is negative");
  SequenceOutput output;
  output.pattern_ = pattern;
  output.number_ = start;
  output.overwrite_ = overwrite;
  std::error_code error;
  std::filesystem::directory_iterator it(pattern.directory(), error);
  for (const std::filesystem::directory_iterator end; !error && it != end; it.increment(error)) {
    const std::optional<std::int64_t> number = pattern.match(it->path().filename().string());
    if (!overwrite && number && *number >= start)
      return Status(Errc::output_exists, "'" + pattern.path(*number) + "'");
  }
  if (error) return Status(Errc::open_failed, "'" + pattern.directory() + "': " + error.message());
  return output;
}

Status SequenceOutput::write_next(std::span<const std::byte> data) {
  Result<std::unique_ptr<OutputFile>> file = OutputFile::create(pattern_.path(number_), overwrite_);
  if (!file) return file.status();
  ZR_TRY((*file)->write(data));
  ZR_TRY((*file)->commit());
  ++number_;
  bytes_ += static_cast<std::int64_t>(data.size());
  return Status::ok();
}

}  // namespace zerorun::io
