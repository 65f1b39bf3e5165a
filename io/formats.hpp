// What each reader and writer offers to the registry, and what they share.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codec/base/try.hpp"
#include "io/byte_reader.hpp"
#include "io/image_output.hpp"
#include "io/sequence.hpp"
#include "zerorun/io.hpp"

namespace zerorun::io {

using Packet = std::vector<std::byte>;

inline Status cannot_seek() {
  return Status(Errc::invalid_argument, "this input can only be read from front to back");
}

/// Gives the frames or packets of an input one after another. selected_source.cpp adds the range,
/// rate and pixel format that the caller asked for.
template <typename Item>
class Reader {
 public:
  virtual ~Reader() = default;
  const SourceInfo& info() const noexcept { return info_; }
  /// As FrameSource::read(). After an error about one frame the next call gives the next frame.
  virtual Result<bool> read(Item& item, FrameTime& time) = 0;
  /// Skips one item; cheaper than read() where possible.
  virtual Result<bool> skip() {
    Item unused;
    FrameTime time;
    return read(unused, time);
  }
  virtual std::string last_name() const = 0;
  virtual bool can_seek() const { return false; }
  /// The next read() gives frame `index`, or the last one if there are fewer. Returns its index.
  virtual Result<std::int64_t> seek_index(std::int64_t) { return cannot_seek(); }
  /// The next read() gives the last frame whose time is not after `pts`, or the first frame.
  /// Returns its index. This default is for readers whose times are indices.
  virtual Result<std::int64_t> seek_time(std::int64_t pts) {
    return seek_index(std::max<std::int64_t>(pts, 0));
  }

 protected:
  SourceInfo info_;
  std::int64_t index_ = 0;  ///< of the item that read() gives next
};

class FrameReader : public Reader<Frame> {
 public:
  virtual std::int64_t concealed_frames() const { return 0; }
};

class PacketReader : public Reader<Packet> {
 public:
  virtual std::int64_t skipped_bytes() const { return 0; }
  /// Lines of a whole picture by the container; a field has about half of them.
  virtual int picture_height() const { return info().height; }
  /// True if the first field of an interlaced packet holds the bottom lines, by the container.
  virtual bool is_bottom_field_first() const { return false; }
};

/// A reader that reads one item ahead to describe the input. `Base` is FrameReader or PacketReader.
template <typename Base, typename Item>
class AheadReader : public Base {
 public:
  Result<bool> read(Item& item, FrameTime& time) final {
    if (has_ahead_) {
      std::swap(item, ahead_);
      ahead_ = Item();
      has_ahead_ = false;
      time = ahead_time_;
    } else {
      FrameTime shown{this->index_, 1};
      Result<bool> more = next(item, shown);
      if (!more || !*more) return more;
      time = shown;  // not at the end: the caller keeps the time of the last item
    }
    ++this->index_;
    return true;
  }

 protected:
  /// Reads the next item of the input. `time` comes in as {index_, 1}.
  virtual Result<bool> next(Item& item, FrameTime& time) = 0;
  /// Keeps the next item of the input for read().
  Result<bool> look_ahead() {
    ahead_time_ = {this->index_, 1};
    Result<bool> more = next(ahead_, ahead_time_);
    has_ahead_ = more && *more;
    return more;
  }

  Item ahead_;
  FrameTime ahead_time_;
  bool has_ahead_ = false;
};

using FrameReaderPtr = std::unique_ptr<FrameReader>;
using PacketReaderPtr = std::unique_ptr<PacketReader>;
using PacketSinkPtr = std::unique_ptr<PacketSink>;
using FrameSinkPtr = std::unique_ptr<FrameSink>;

/// Calls start() of a new reader, source or sink, and returns it as its base class.
template <typename Base, typename Made>
Result<std::unique_ptr<Base>> started(std::unique_ptr<Made> made) {
  ZR_TRY(made->start());
  return std::unique_ptr<Base>(std::move(made));
}

// Readers. A ByteReader stands at the first byte of the stream.
/// Reads one PNM image (P1 to P6) to gray8 or rgb24 and leaves the reader behind it.
/// Errors: bad_input, too_many_pixels, read_failed, out_of_memory.
Status read_pnm(ByteReader& reader, Frame& frame);
Result<FrameReaderPtr> open_y4m(ByteReader reader);
Result<FrameReaderPtr> open_pnm_stream(ByteReader reader);
Result<FrameReaderPtr> open_image_frames(FileSequence sequence, const SourceOptions& options);
Result<PacketReaderPtr> open_raw_mjpeg(ByteReader reader);
Result<PacketReaderPtr> open_jpeg_files(FileSequence sequence);
/// Decodes JPEG packets by zerorun's own decoder.
FrameReaderPtr decode_packets(PacketReaderPtr packets, const SourceOptions& options);

// Sources: a reader, and what the caller asked for.
/// The format that the caller wants for frames that are stored as `native`.
PixelFormat asked_format(const SourceOptions& options, PixelFormat native) noexcept;
Result<std::unique_ptr<FrameSource>> select_frames(FrameReaderPtr reader,
                                                   const SourceOptions& options);
Result<std::unique_ptr<PacketSource>> select_packets(PacketReaderPtr reader,
                                                     const SourceOptions& options);

// Sinks.
/// True if a packet starts with SOI (T.81 B.2.1).
bool is_jpeg(std::span<const std::byte> packet) noexcept;
PacketSinkPtr make_jpeg_sink(ImageOutput output);
FrameSinkPtr make_y4m_sink(std::unique_ptr<OutputFile> file, const SinkOptions& options);
/// `format` is one for which is_pnm_output() or needs_opencv() is true.
FrameSinkPtr make_image_sink(ImageOutput output, const std::string& format);
bool is_pnm_output(const std::string& format);  ///< pgm, ppm, pnm
bool needs_opencv(const std::string& format);   ///< png, tif, tiff, bmp, webp

#ifdef ZERORUN_HAVE_FFMPEG
/// What libavformat found in an input: one of the two is set.
struct MediaInput {
  PacketReaderPtr packets;  ///< Motion JPEG
  FrameReaderPtr frames;    ///< everything else that libavcodec decodes
};
/// `format` names a demuxer or is empty.
/// Errors: unknown_format, read_failed, bad_input.
Result<MediaInput> open_media(ByteReader reader, const std::string& format,
                              const SourceOptions& options);
Result<PacketSinkPtr> open_container_sink(std::unique_ptr<OutputFile> file,
                                          const std::string& muxer, const SinkOptions& options);
#endif

}  // namespace zerorun::io
