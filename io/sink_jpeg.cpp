// JPEG packets into raw Motion JPEG, one JPEG file, or a numbered sequence.
// SPDX-License-Identifier: MIT
#include <utility>

#include "codec/base/try.hpp"
#include "io/formats.hpp"
#include "io/sequence_output.hpp"

namespace zerorun::io {
namespace {

/// T.81 B.2.1: an image starts with SOI. Everything that follows would read it as junk otherwise.
Status check_jpeg(std::span<const std::byte> jpeg) {
  if (jpeg.size() < 2 || jpeg[0] != std::byte{0xFF} || jpeg[1] != std::byte{0xD8})
    return Status(Errc::invalid_argument, "the packet is no JPEG stream");
  return Status::ok();
}

class RawMjpegSink final : public PacketSink {
 public:
  explicit RawMjpegSink(std::unique_ptr<OutputFile> file) : file_(std::move(file)) {}

  Status write(std::span<const std::byte> jpeg, const FrameTime&) override {
    ZR_TRY(check_jpeg(jpeg));
    return file_->write(jpeg);
  }
  Status finish() override { return file_->commit(); }
  std::int64_t bytes_written() const override { return file_->size(); }

 private:
  std::unique_ptr<OutputFile> file_;
};

class JpegFileSink final : public PacketSink {
 public:
  explicit JpegFileSink(std::unique_ptr<OutputFile> file) : file_(std::move(file)) {}

  Status write(std::span<const std::byte> jpeg, const FrameTime&) override {
    ZR_TRY(check_jpeg(jpeg));
    if (file_->size() > 0)
      return Status(Errc::unsupported_output,
                    "'" + file_->path() +
                        "' holds one image; name a pattern such as %05d.jpg or a "
                        "video such as .mov for more");
    return file_->write(jpeg);
  }
  Status finish() override {
    if (file_->size() == 0)
      return Status(Errc::unsupported_output, "'" + file_->path() + "': there is no frame for it");
    return file_->commit();
  }
  std::int64_t bytes_written() const override { return file_->size(); }

 private:
  std::unique_ptr<OutputFile> file_;
};

class JpegSequenceSink final : public PacketSink {
 public:
  explicit JpegSequenceSink(SequenceOutput output) : output_(std::move(output)) {}

  Status write(std::span<const std::byte> jpeg, const FrameTime&) override {
    ZR_TRY(check_jpeg(jpeg));
    return output_.write_next(jpeg);
  }
  Status finish() override { return Status::ok(); }  // every file has its name already
  std::int64_t bytes_written() const override { return output_.bytes_written(); }

 private:
  SequenceOutput output_;
};

}  // namespace

PacketSinkPtr make_raw_mjpeg_sink(std::unique_ptr<OutputFile> file) {
  return std::make_unique<RawMjpegSink>(std::move(file));
}

PacketSinkPtr make_jpeg_file_sink(std::unique_ptr<OutputFile> file) {
  return std::make_unique<JpegFileSink>(std::move(file));
}

Result<PacketSinkPtr> open_jpeg_sequence_sink(const NumberPattern& pattern, std::int64_t start,
                                              bool overwrite) {
  Result<SequenceOutput> output = SequenceOutput::open(pattern, start, overwrite);
  if (!output) return output.status();
  return PacketSinkPtr(std::make_unique<JpegSequenceSink>(*std::move(output)));
}

}  // namespace zerorun::io
