// What each writer of frames or packets offers to open_output.cpp, and what writers share.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "codec/base/try.hpp"
#include "io/samples/frame_convert.hpp"
#include "io/output/output_file.hpp"
#include "io/base/opening.hpp"
#include "io/base/pool.hpp"
#include "zerorun/ledger.hpp"
#include "zerorun/sink.hpp"

namespace zerorun::io {

using PacketSinkPtr = std::unique_ptr<PacketSink>;
using FrameSinkPtr = std::unique_ptr<FrameSink>;

/// Counts what was committed and puts the two halves together. `Base` is PacketSink or FrameSink,
/// whose write() and prepare() take an `Item`.
template <typename Base, typename Item>
class HalvedSink : public Base {
 public:
  Status commit(Outgoing& out) final {
    if (out.index != committed_)
      return Status(Errc::invalid_argument, "frame " + std::to_string(committed_) +
                                                " has to be committed before frame " +
                                                std::to_string(out.index));
    const Status status = place(out);
    out.parts.clear();
    out.held.reset();
    if (status) ++committed_;
    return status;
  }

  Status write(Item item, const FrameTime& time) final {
    own_.index = committed_;
    own_.time = time;
    ZR_TRY(this->prepare(item, own_));
    return commit(own_);
  }

 protected:
  virtual Status place(Outgoing& out) = 0;
  std::int64_t committed() const noexcept { return committed_; }

 private:
  std::int64_t committed_ = 0;
  Outgoing own_;  // of write()
};
using HalvedPacketSink = HalvedSink<PacketSink, std::span<const std::byte>>;
using HalvedFrameSink = HalvedSink<FrameSink, const ConstFrameView&>;

/// Frames in the format that a sink wants. Thread-safe.
class WantedFrames {
 public:
  /// `frame`, or a copy of it in this format, which `out` holds.
  Result<ConstFrameView> in_format(PixelFormat format, const ConstFrameView& frame, Outgoing& out) {
    if (frame.format == format) return frame;
    const std::shared_ptr<ConvertedFrame> converted = pool_.borrow();
    ZR_TRY(converted->converter.convert(frame, format, converted->frame));
    out.held = converted;
    return std::as_const(converted->frame).view();
  }

 private:
  Pool<ConvertedFrame> pool_;
};

PacketSinkPtr make_jpeg_sink(ImageOutput output);
FrameSinkPtr make_y4m_sink(std::unique_ptr<OutputFile> file, const SinkOptions& options);
/// Errors: invalid_argument (SinkOptions::raw_format).
Result<FrameSinkPtr> make_raw_sink(std::unique_ptr<OutputFile> file, const SinkOptions& options);
bool is_raw_video(const std::string& format);  ///< raw, yuv, rgb
/// Whether players have to turn or mirror the pictures.
bool is_turned(const SinkOptions& options) noexcept;
/// The notice that `container` cannot tell players to.
std::string rotation_notice(const SinkOptions& options, const std::string& container);
/// Of is_measuring_output(): keeps nothing, or a line with the MD5 of each packet or frame. `Base`
/// is PacketSink or FrameSink.
template <typename Base>
Result<std::unique_ptr<Base>> open_measuring_sink(const Location& output,
                                                  const SinkOptions& options);
/// `format` is one for which is_pnm_output() or needs_opencv() is true.
FrameSinkPtr make_image_sink(ImageOutput output, const std::string& format);
bool is_pnm_output(const std::string& format);  ///< pgm, ppm, pnm
bool needs_opencv(const std::string& format);   ///< png, tif, tiff, bmp, webp

/// Whether a container holds a fact that depends on its value: a codec, a language.
bool container_holds(const std::string& muxer, const SourceFact& fact);
Result<PacketSinkPtr> open_container_sink(std::unique_ptr<OutputFile> file,
                                          const std::string& muxer, const SinkOptions& options);

}  // namespace zerorun::io
