// An output for images: one file or stream, or numbered files.
// SPDX-License-Identifier: MIT
#include "io/image_output.hpp"

#include <system_error>
#include <utility>

#include "codec/base/folder_names.hpp"
#include "codec/base/try.hpp"

namespace zerorun::io {

ImageOutput ImageOutput::stream(std::unique_ptr<OutputFile> file, bool may_be_empty) {
  ImageOutput output;
  output.file_ = std::move(file);
  output.may_be_empty_ = may_be_empty;
  return output;
}

ImageOutput ImageOutput::single(std::unique_ptr<OutputFile> file, std::string for_more) {
  ImageOutput output;
  output.file_ = std::move(file);
  output.for_more_ = std::move(for_more);
  return output;
}

Result<ImageOutput> ImageOutput::numbered(const NumberPattern& pattern, std::int64_t start,
                                          bool overwrite) {
  if (start < 0) return Status(Errc::invalid_argument, "the start number is negative");
  ImageOutput output;
  output.pattern_ = pattern;
  output.start_ = start;
  output.overwrite_ = overwrite;
  std::error_code error;
  for (const std::string& name : folder_names(pattern.directory(), error)) {
    const std::optional<std::int64_t> number = pattern.match(name);
    if (!overwrite && number && *number >= start)
      return Status(Errc::output_exists, "'" + pattern.path(*number) + "'");
  }
  if (error) return Status(Errc::open_failed, "'" + pattern.directory() + "': " + error.message());
  return output;
}

Status ImageOutput::prepare(Outgoing& out) const {
  if (file_) return Status::ok();
  ZR_LET(file, OutputFile::create(pattern_.path(start_ + out.index), overwrite_));
  ZR_TRY(file->write(out.parts));
  out.held = std::shared_ptr<OutputFile>(std::move(file));
  return Status::ok();
}

Status ImageOutput::commit(Outgoing& out) {
  if (!file_) {
    const auto file = std::static_pointer_cast<OutputFile>(out.held);
    ZR_TRY(file->commit());
    bytes_ += file->size();
    return Status::ok();
  }
  if (!for_more_.empty() && file_->size() > 0)
    return Status(Errc::unsupported_output,
                  "'" + file_->path() + "' holds one image; name " + for_more_ + " for more");
  const Status status = file_->write(out.parts);
  bytes_ = file_->size();
  return status;
}

Status ImageOutput::finish() {
  if (!file_) return Status::ok();  // every file has its name already
  if (file_->size() == 0 && !may_be_empty_) return no_frame(*file_);
  return file_->commit();
}

}  // namespace zerorun::io
