// The list of formats: what each reader and writer offers to the registry.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/byte_reader.hpp"
#include "io/location.hpp"
#include "io/output_file.hpp"
#include "io/sequence.hpp"
#include "zerorun/io.hpp"

namespace zerorun::io {

/// How a reader goes back and forth. The frame that is asked for is the next that read() gives.
class Seekable {
 public:
  virtual ~Seekable() = default;
  virtual bool can_seek() const { return false; }
  /// Frame `index`, or the last one where there are fewer. Returns the index of that frame.
  virtual Result<std::int64_t> seek_index(std::int64_t index);
  /// The last frame whose time is not after `pts`, or the first. As it stands for readers whose
  /// times are indices.
  virtual Result<std::int64_t> seek_time(std::int64_t pts);
};

/// A frame source that knows nothing of ranges, rates and formats asked for: selected_source.cpp
/// puts those around it.
class FrameReader : public Seekable {
 public:
  virtual const SourceInfo& info() const = 0;
  /// As FrameSource::read(). After an error about one frame the next call gives the next frame.
  virtual Result<bool> read(Frame& frame, FrameTime& time) = 0;
  /// Passes over one frame, cheaper than read() where that is possible.
  virtual Result<bool> skip();
  virtual std::string last_name() const = 0;
  virtual std::int64_t concealed_frames() const { return 0; }
};

class PacketReader : public Seekable {
 public:
  virtual const SourceInfo& info() const = 0;
  virtual Result<bool> read(std::vector<std::byte>& jpeg, FrameTime& time) = 0;
  virtual std::string last_name() const = 0;
  virtual std::int64_t skipped_bytes() const { return 0; }
  /// Lines of a whole picture by the container; fields have about half of them.
  virtual int picture_height() const { return info().height; }
  /// Which field of an interlaced pair the container puts first.
  virtual bool is_bottom_field_first() const { return false; }
};

using FrameReaderPtr = std::unique_ptr<FrameReader>;
using PacketReaderPtr = std::unique_ptr<PacketReader>;

// Readers. Streams come as a ByteReader at their first byte.
Result<FrameReaderPtr> open_y4m(ByteReader reader);
Result<FrameReaderPtr> open_pnm_stream(ByteReader reader);
Result<FrameReaderPtr> open_image_frames(FileSequence sequence, const SourceOptions& options);
Result<PacketReaderPtr> open_raw_mjpeg(ByteReader reader);
Result<PacketReaderPtr> open_jpeg_files(FileSequence sequence);
/// Frames of JPEG packets by zerorun's own decoder.
Result<FrameReaderPtr> decode_packets(PacketReaderPtr packets, const SourceOptions& options);

// What the caller asked for, around a reader.
/// The format in which frames that are stored as `native` are to be given.
PixelFormat asked_format(const SourceOptions& options, PixelFormat native) noexcept;
Result<std::unique_ptr<FrameSource>> select_frames(FrameReaderPtr reader,
                                                   const SourceOptions& options);
Result<std::unique_ptr<PacketSource>> select_packets(PacketReaderPtr reader,
                                                     const SourceOptions& options);

// Writers.
using PacketSinkPtr = std::unique_ptr<PacketSink>;
using FrameSinkPtr = std::unique_ptr<FrameSink>;
PacketSinkPtr make_raw_mjpeg_sink(std::unique_ptr<OutputFile> file);
PacketSinkPtr make_jpeg_file_sink(std::unique_ptr<OutputFile> file);
Result<PacketSinkPtr> open_jpeg_sequence_sink(const NumberPattern& pattern, std::int64_t start,
                                              bool overwrite);
FrameSinkPtr make_y4m_sink(std::unique_ptr<OutputFile> file, const SinkOptions& options);
/// `format` as for is_image_output().
FrameSinkPtr make_image_file_sink(std::unique_ptr<OutputFile> file, const std::string& format);
Result<FrameSinkPtr> open_image_sequence_sink(const NumberPattern& pattern, std::int64_t start,
                                              const std::string& format, bool overwrite);

#ifdef ZERORUN_HAVE_FFMPEG
/// What libavformat found in an input: at most one of the two is set.
struct MediaInput {
  PacketReaderPtr packets;  ///< Motion JPEG
  FrameReaderPtr frames;    ///< everything that libavcodec decodes
};
/// `format` names a demuxer or is empty. A pipe is read once, front to back.
/// Errors: unknown_format, read_failed, bad_input.
Result<MediaInput> open_media(ByteReader reader, const std::string& format,
                              const SourceOptions& options);
Result<PacketSinkPtr> open_container_sink(std::unique_ptr<OutputFile> file,
                                          const std::string& muxer, const SinkOptions& options);
#endif

/// The muxer of a container that this project writes ("mov", "matroska", "avi", "mp4"), or "".
std::string container_muxer(const std::string& format);

}  // namespace zerorun::io
