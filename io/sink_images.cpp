// Frames as image files: a stream of PNM images, one file, or a numbered sequence.
// SPDX-License-Identifier: MIT
#include <utility>

#include "codec/base/try.hpp"
#include "io/formats.hpp"
#include "io/image_encode.hpp"
#include "io/sequence_output.hpp"

namespace zerorun::io {
namespace {

/// PNM images one after another in a file or pipe; of the other formats a file holds one image.
class ImageFileSink final : public FrameSink {
 public:
  ImageFileSink(std::unique_ptr<OutputFile> file, const std::string& format)
      : file_(std::move(file)), encoder_(format), single_(needs_opencv(format)) {}

  PixelFormat wanted_format(PixelFormat native) const override {
    return encoder_.wanted_format(native);
  }
  Status write(const ConstFrameView& frame, const FrameTime&) override {
    if (single_ && file_->size() > 0)
      return Status(Errc::unsupported_output, "'" + file_->path() +
                                                  "' holds one image; name a pattern such as "
                                                  "%05d.png for more");
    ZR_TRY(encoder_.encode(frame, bytes_));
    return file_->write(bytes_);
  }
  Status finish() override {
    if (file_->size() == 0)
      return Status(Errc::unsupported_output, "'" + file_->path() + "': there is no frame for it");
    return file_->commit();
  }
  std::int64_t bytes_written() const override { return file_->size(); }

 private:
  std::unique_ptr<OutputFile> file_;
  ImageEncoder encoder_;
  bool single_;
  std::vector<std::byte> bytes_;
};

class ImageSequenceSink final : public FrameSink {
 public:
  ImageSequenceSink(SequenceOutput output, const std::string& format)
      : output_(std::move(output)), encoder_(format) {}

  PixelFormat wanted_format(PixelFormat native) const override {
    return encoder_.wanted_format(native);
  }
  Status write(const ConstFrameView& frame, const FrameTime&) override {
    ZR_TRY(encoder_.encode(frame, bytes_));
    return output_.write_next(bytes_);
  }
  Status finish() override { return Status::ok(); }  // every file has its name already
  std::int64_t bytes_written() const override { return output_.bytes_written(); }

 private:
  SequenceOutput output_;
  ImageEncoder encoder_;
  std::vector<std::byte> bytes_;
};

}  // namespace

FrameSinkPtr make_image_file_sink(std::unique_ptr<OutputFile> file, const std::string& format) {
  return std::make_unique<ImageFileSink>(std::move(file), format);
}

Result<FrameSinkPtr> open_image_sequence_sink(const NumberPattern& pattern, std::int64_t start,
                                              const std::string& format, bool overwrite) {
  Result<SequenceOutput> output = SequenceOutput::open(pattern, start, overwrite);
  if (!output) return output.status();
  return FrameSinkPtr(std::make_unique<ImageSequenceSink>(*std::move(output), format));
}

}  // namespace zerorun::io
