// Writes frames as YUV4MPEG2, full range.
// SPDX-License-Identifier: MIT
#include <string_view>
#include <utility>
#include <vector>

#include "io/formats.hpp"
#include "io/frame_convert.hpp"
#include "io/pixel_pack.hpp"
#include "io/y4m_header.hpp"

namespace zerorun::io {
namespace {

class Y4mSink final : public FrameSink {
 public:
  Y4mSink(std::unique_ptr<OutputFile> file, const SinkOptions& options) : file_(std::move(file)) {
    header_.frame_rate = options.frame_rate;
    header_.sample_aspect = options.sample_aspect;
  }

  PixelFormat wanted_format(PixelFormat native) const override {
    return planar_format(native_subsampling(native));
  }

  Status write(const ConstFrameView& frame, const FrameTime&) override {
    ZR_TRY(validate(frame));
    const PixelFormat format = started_ ? header_.format : wanted_format(frame.format);
    if (!started_) ZR_TRY(start(frame, format));
    if (frame.width != header_.width || frame.height != header_.height)
      return Status(Errc::unsupported_output, "a YUV4MPEG2 stream cannot change its size from " +
                                                  size_text(header_.width, header_.height) +
                                                  " to " + size_text(frame.width, frame.height));
    ConstFrameView planar = frame;
    if (frame.format != format) {
      ZR_TRY(converter_.convert(frame, format, converted_));
      planar = std::as_const(converted_).view();
    }
    // FRAME line and planes in one write, so that a killed process cuts at most one frame.
    constexpr std::string_view kFrameLine = "FRAME\n";
    const auto line = std::as_bytes(std::span(kFrameLine));
    bytes_.assign(line.begin(), line.end());
    append_rows(planar, bytes_);
    return file_->write(bytes_);
  }

  Status finish() override {
    if (!started_) return no_frame(*file_);
    return file_->commit();
  }
  std::int64_t bytes_written() const override { return file_->size(); }

 private:
  static std::string size_text(int width, int height) {
    return std::to_string(width) + "x" + std::to_string(height);
  }

  Status start(const ConstFrameView& frame, PixelFormat format) {
    header_.width = frame.width;
    header_.height = frame.height;
    header_.format = format;
    const std::string line = write_y4m_header(header_);
    ZR_TRY(file_->write(std::as_bytes(std::span(line))));
    started_ = true;
    return Status::ok();
  }

  std::unique_ptr<OutputFile> file_;
  Y4mHeader header_;
  bool started_ = false;
  FrameConverter converter_;
  Frame converted_;
  Packet bytes_;
};

}  // namespace

FrameSinkPtr make_y4m_sink(std::unique_ptr<OutputFile> file, const SinkOptions& options) {
  return std::make_unique<Y4mSink>(std::move(file), options);
}

}  // namespace zerorun::io
