// Writes frames and JPEG packets to files, sequences, containers and pipes.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "zerorun/content.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun::io {

/// Describes the frames or packets that a sink gets.
struct SinkOptions {
  bool overwrite = false;  ///< else Errc::output_exists
  int width = 0, height = 0;
  /// The format of the first frame, if it is known: YUV4MPEG2 can then place every frame before the
  /// first one arrives.
  std::optional<PixelFormat> frame_format;
  Rational frame_rate;
  Rational time_base{1, 25};
  Rational sample_aspect{1, 1};
  int rotation_degrees = 0;  ///< as SourceInfo's
  bool mirrored = false;     ///< as SourceInfo's
  /// Keep time stamps as they are. Otherwise they are rounded to multiples of 1/frame_rate. AVI,
  /// raw MJPEG and YUV4MPEG2 refuse it (Errc::unsupported_output). The first frame is at time 0.
  bool variable_frame_rate = false;
  /// Chroma layout of the coded stream, for the container's tags.
  PixelFormat coded_format = PixelFormat::yuv420p;
  /// Copy the audio of this file, from `audio_start_seconds` on: the time of SourceInfo::first_pts
  /// keeps sound and picture together. Empty = no audio.
  std::string audio_from;
  /// Copy the subtitles and attachments of this file, in the same range of time. Empty = none.
  std::string streams_from;
  double audio_start_seconds = 0.0;
  double audio_end_seconds = -1.0;  ///< < 0 = to the end
  /// The format of raw video (Location::format "raw", or .yuv, .rgb, .raw): as
  /// RawVideo::pixel_format; empty = that of the frames. Samples have full range of their depth.
  std::string raw_format = {};
  /// For outputs with {name}: SourceInfo::files, and whether their sub-folders are kept.
  std::shared_ptr<const PictureFiles> files = {};
  bool keeps_tree = false;
  ContainerContent content;      ///< for containers; what one cannot hold is left out
  std::int64_t first_frame = 0;  ///< of the source, for its time code
};

/// A frame or packet on its way out. prepare() of a sink compresses or packs it, and writes it
/// where its place is known, on any thread; commit() gives it its place in the output, one after
/// another. Several can be prepared at a time and in any order. Reuse the object: it keeps its
/// memory. Dropped before commit(), it leaves nothing behind.
struct Outgoing {
  std::int64_t index = 0;  ///< its place in the output, counted from 0; set it before prepare()
  FrameTime time;          ///< set it before commit()
  std::shared_ptr<const PictureContent> content;  ///< of a frame; set it before prepare()
  std::string name = {};  ///< Incoming::name, for outputs with {name}; set it before prepare()

  // The sink's own: what prepare() leaves to commit().
  std::vector<std::byte> bytes;
  std::vector<std::span<const std::byte>> parts;
  std::shared_ptr<void> held;
};

/// A file is written as NAME.part, which finish() renames; without finish() the destructor removes
/// it. What a killed process leaves behind plays to its last complete frame.
class ZERORUN_API PacketSink {
 public:
  virtual ~PacketSink() = default;
  /// The parallel half of write(). The packet has to stay as it is until commit().
  virtual Status prepare(std::span<const std::byte> jpeg, Outgoing& out) = 0;
  /// The serial half, in order of Outgoing::index without gaps.
  virtual Status commit(Outgoing& out) = 0;
  /// prepare() and commit() in one.
  virtual Status write(std::span<const std::byte> jpeg, const FrameTime& time) = 0;
  /// Writes the end of the file and renames it. Call it after an interruption, too.
  virtual Status finish() = 0;
  virtual std::int64_t bytes_written() const = 0;
  /// A warning for the user, for example about audio that could not be copied; empty if none.
  virtual std::string notice() const { return {}; }
};

/// As PacketSink, for frames.
class ZERORUN_API FrameSink {
 public:
  virtual ~FrameSink() = default;
  /// The format that write() does not have to convert: rgb24 or gray8 for images, planar YCbCr for
  /// y4m.
  virtual PixelFormat wanted_format(PixelFormat native) const = 0;
  /// The two halves of write(), as those of PacketSink.
  virtual Status prepare(const ConstFrameView& frame, Outgoing& out) = 0;
  virtual Status commit(Outgoing& out) = 0;
  virtual Status write(const ConstFrameView& frame, const FrameTime& time) = 0;
  virtual Status finish() = 0;
  virtual std::int64_t bytes_written() const = 0;
};

/// .mov .mkv .mp4 .avi (with FFmpeg), .mjpeg/.mjpg, .jpg, JPEG sequences, "-" as raw MJPEG.
ZERORUN_API Result<std::unique_ptr<PacketSink>> open_packet_sink(const Location& output,
                                                                 const SinkOptions& options);

/// .y4m, .pgm/.ppm/.pnm, and with OpenCV .png .tiff .bmp .webp; files, patterns, "-".
ZERORUN_API Result<std::unique_ptr<FrameSink>> open_frame_sink(const Location& output,
                                                               const SinkOptions& options);

/// True if open_packet_sink() writes outputs of this name.
ZERORUN_API bool is_packet_output(const Location& output);

}  // namespace zerorun::io
