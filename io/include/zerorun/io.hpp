// Frames and JPEG packets in and out of files, sequences, containers and pipes.
// Knows nothing of coding stages. FFmpeg and OpenCV stay behind this header.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "zerorun/backend.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun::io {

/// Exact fraction; 0/1 is "unknown". Never a double: 30000/1001 stays what it is.
struct Rational {
  std::int64_t num = 0;
  std::int64_t den = 1;
  bool known() const noexcept { return num > 0 && den > 0; }
  double value() const noexcept { return den ? double(num) / double(den) : 0.0; }
  friend bool operator==(const Rational&, const Rational&) = default;
};

/// What to do at a gap in a numbered sequence.
enum class MissingFrames { error, skip, hold };

/// How an INPUT or OUTPUT word is to be read.
///   "-"               stdin or stdout; `format` says y4m, pnm or mjpeg (y4m is recognised on stdin)
///   "dir/%05d.png"    printf pattern with one integer; from `start_number`
///   "dir/*.png"       glob in natural order (input only)
///   "dir/"            all images of a directory in natural order (input only)
///   "@list.txt"       one path a line (input only)
///   anything else     a file
struct Location {
  std::string name;
  std::string format;  ///< "", "y4m", "pnm", "mjpeg", or a container's name
  std::optional<std::int64_t> start_number;
};

struct SourceOptions {
  MissingFrames missing = MissingFrames::error;
  Rational frame_rate;  ///< overrides, or supplies what images and raw MJPEG do not carry
  /// Half-open range of frame indices; last < 0 means to the end.
  std::int64_t first_frame = 0;
  std::int64_t last_frame = -1;
  /// Ask for this format instead of the source's closest one.
  std::optional<PixelFormat> pixel_format;
  /// Decoder for JPEG inputs.
  Backend backend = Backend::automatic;
  int device = 0;
  int threads = 0;
};

struct SourceInfo {
  int width = 0, height = 0;  ///< of the first frame; a raw or image source may change later
  PixelFormat format = PixelFormat::yuv420p;
  Rational frame_rate;                 ///< average for a variable rate; unknown for images
  Rational time_base{1, 25};           ///< of the time stamps
  Rational sample_aspect{1, 1};
  int rotation_degrees = 0;            ///< clockwise turn for display: 0, 90, 180, 270
  std::int64_t frame_count = -1;       ///< of the selected range; -1 = not known beforehand
  bool variable_frame_rate = false;
  bool has_audio = false;
  std::string container;               ///< "mov", "matroska", "avi", "y4m", "image sequence", ...
  std::string codec;                   ///< "mjpeg", "h264", "png", "rawvideo", ...
  bool is_jpeg = false;                ///< packets are JPEG streams: open_packets() works
};

/// Time of one frame in units of SourceInfo::time_base.
struct FrameTime {
  std::int64_t pts = 0;
  std::int64_t duration = 0;  ///< 0 = unknown
};

/// Decoded frames in presentation order, full range BT.601 (limited-range input is converted).
class FrameSource {
 public:
  virtual ~FrameSource() = default;
  virtual const SourceInfo& info() const = 0;
  /// Fills `frame` (reshaped as needed); false at the end.
  virtual Result<bool> read(Frame& frame, FrameTime& time) = 0;
  /// Path or stream of the frame read last, for messages.
  virtual std::string last_name() const = 0;
};

/// JPEG streams, untouched, one per frame.
class PacketSource {
 public:
  virtual ~PacketSource() = default;
  virtual const SourceInfo& info() const = 0;
  virtual Result<bool> read(std::vector<std::byte>& jpeg, FrameTime& time) = 0;
  virtual std::string last_name() const = 0;
};

/// Opens anything for frames; JPEG inputs go through zerorun's own decoder.
Result<std::unique_ptr<FrameSource>> open_frames(const Location& input, const SourceOptions& options);

/// Opens Motion JPEG (containers, raw), JPEG files and JPEG sequences for their packets.
/// Errc::unknown_format if the input is not JPEG.
Result<std::unique_ptr<PacketSource>> open_packets(const Location& input,
                                                   const SourceOptions& options);

/// Reads enough of an input to describe it.
Result<SourceInfo> probe(const Location& input, const SourceOptions& options);

/// Where the packets come from and how they are to be stamped.
struct SinkOptions {
  bool overwrite = false;  ///< else Errc::output_exists
  int width = 0, height = 0;
  Rational frame_rate;
  Rational time_base{1, 25};
  Rational sample_aspect{1, 1};
  int rotation_degrees = 0;
  bool variable_frame_rate = false;  ///< AVI and raw refuse it (Errc::unsupported_output)
  /// Chroma layout of the coded stream, for the container's tags.
  PixelFormat coded_format = PixelFormat::yuv420p;
  /// Copy the audio of this file beside the video, from `audio_start` on; empty = none.
  std::string audio_from;
  double audio_start_seconds = 0.0;
  double audio_end_seconds = -1.0;  ///< < 0 = to the end
};

/// A file is written as NAME.part and takes its name in finish(); destroyed before that, it is
/// removed. What a killed process leaves behind plays to its last complete frame.
class PacketSink {
 public:
  virtual ~PacketSink() = default;
  virtual Status write(std::span<const std::byte> jpeg, const FrameTime& time) = 0;
  /// Writes the end of the file and renames it. Call it also after an interruption.
  virtual Status finish() = 0;
  virtual std::int64_t bytes_written() const = 0;
  /// A warning that the user should see once, for example audio that could not be copied.
  virtual std::string notice() const { return {}; }
};

class FrameSink {
 public:
  virtual ~FrameSink() = default;
  /// The format this sink wants frames in (rgb24 or gray8 for images, planar YCbCr for y4m).
  virtual PixelFormat wanted_format(PixelFormat native) const = 0;
  virtual Status write(const ConstFrameView& frame, const FrameTime& time) = 0;
  virtual Status finish() = 0;
  virtual std::int64_t bytes_written() const = 0;
};

/// .mov .mkv .avi .mp4(fragment-safe) .mjpeg/.mjpg, .jpg, JPEG sequences, "-" as raw MJPEG.
Result<std::unique_ptr<PacketSink>> open_packet_sink(const Location& output,
                                                     const SinkOptions& options);

/// .y4m, .pgm/.ppm/.pnm, and with OpenCV .png .tiff .bmp .webp; files, patterns, "-".
Result<std::unique_ptr<FrameSink>> open_frame_sink(const Location& output,
                                                   const SinkOptions& options);

/// True if the name is one that open_packet_sink() understands.
bool is_packet_output(const Location& output);

/// Which optional parts this build has.
struct Features {
  bool ffmpeg = false;
  bool opencv = false;
};
Features features() noexcept;

}  // namespace zerorun::io
