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
#include "zerorun/decoder.hpp"
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

/// What to do at a gap in a numbered sequence, or at a missing file of a list.
/// `skip` closes the gap in time too; `hold` shows the frame before it again.
enum class MissingFrames { error, skip, hold };

/// How an INPUT or OUTPUT word is to be read.
///   "-"               stdin or stdout; `format` says y4m, pnm or mjpeg. On stdin all of them are
///                     recognised by content; a container's name goes through FFmpeg
///   "dir/%05d.png"    printf pattern with one integer (%d or %0Nd, "%%" for a percent sign) in the
///                     file name; from `start_number`, which is by default the smallest number
///                     there (input) or 1 (output)
///   "dir/*.png"       glob in natural order (input only)
///   "dir/"            all images of a directory in natural order (input only)
///   "@list.txt"       one path a line, relative to the list's directory; # comments (input only)
///   anything else     a file. Names of files that exist are never read as a pattern or glob
struct Location {
  std::string name;
  std::string format;  ///< "", "y4m", "pnm", "mjpeg", or a container's name
  std::optional<std::int64_t> start_number;
};

struct SourceOptions {
  MissingFrames missing = MissingFrames::error;
  /// Overrides, or supplies what images and raw MJPEG do not carry. Frames then come at this
  /// constant rate, whatever their time stamps were.
  Rational frame_rate;
  /// Half-open range of frame indices; last < 0 means to the end.
  std::int64_t first_frame = 0;
  std::int64_t last_frame = -1;
  /// Ask for this format instead of the source's closest one.
  std::optional<PixelFormat> pixel_format;
  /// Formats that are as welcome as `pixel_format`: frames that are in one of them stay so.
  std::vector<PixelFormat> accepted_formats;
  /// Decoder for JPEG inputs.
  Backend backend = Backend::automatic;
  int device = 0;
  int threads = 0;
  /// Of JPEG images, before memory is taken for their pixels. Other pictures and video have no more
  /// pixels than StreamLimits has by default.
  StreamLimits limits;
};

struct SourceInfo {
  int width = 0, height = 0;  ///< of the first frame; a raw or image source may change later
  PixelFormat format = PixelFormat::yuv420p;
  Rational frame_rate;         ///< average for a variable rate; unknown for images
  Rational time_base{1, 25};   ///< of the time stamps
  std::int64_t first_pts = 0;  ///< of the first frame of the selected range
  Rational sample_aspect{1, 1};
  int rotation_degrees = 0;       ///< clockwise turn for display: 0, 90, 180, 270
  std::int64_t frame_count = -1;  ///< of the selected range; -1 = not known beforehand
  double duration_seconds = 0.0;  ///< of the whole input by its header; 0 = not known
  /// Of a Matroska or AVI file that was cut: what its header announces and the file does not have.
  /// read() gives what is there and then ends as it does with a whole file.
  std::int64_t missing_bytes = 0;
  bool variable_frame_rate = false;
  bool has_audio = false;
  std::string container;  ///< "mov", "matroska", "avi", "y4m", "image sequence", ...
  std::string codec;      ///< "mjpeg", "h264", "png", "rawvideo", ...
  bool is_jpeg = false;   ///< packets are JPEG streams: open_packets() works
};

/// Time of one frame in units of SourceInfo::time_base, counted from the container's start (so the
/// first frame of a range that starts later has SourceInfo::first_pts).
struct FrameTime {
  std::int64_t pts = 0;
  std::int64_t duration = 0;  ///< 0 = unknown
};

/// Decoded frames in presentation order, full range BT.601 (limited-range input is converted).
class ZERORUN_API FrameSource {
 public:
  virtual ~FrameSource() = default;
  virtual const SourceInfo& info() const = 0;
  /// Fills `frame` (reshaped as needed); false at the end.
  virtual Result<bool> read(Frame& frame, FrameTime& time) = 0;
  /// Path or stream of the frame read last, for messages.
  virtual std::string last_name() const = 0;
  /// Frames so far whose JPEG stream was damaged and is concealed (DecodeReport).
  virtual std::int64_t concealed_frames() const { return 0; }
  /// True for files; pipes go forward alone.
  virtual bool can_seek() const { return false; }
  /// The next read() gives the frame that is shown at `pts`: the last one of the range whose time
  /// is not after it, or the first. Returns its index, counted as SourceOptions::first_frame is; an
  /// estimate by the average rate where the rate varies and the container lists no frames.
  /// Errors: invalid_argument (cannot seek), those of read().
  virtual Result<std::int64_t> seek([[maybe_unused]] std::int64_t pts) {
    return Status(Errc::invalid_argument, "this input can only be read from front to back");
  }
};

/// JPEG streams, untouched, one per frame.
class ZERORUN_API PacketSource {
 public:
  virtual ~PacketSource() = default;
  virtual const SourceInfo& info() const = 0;
  virtual Result<bool> read(std::vector<std::byte>& jpeg, FrameTime& time) = 0;
  virtual std::string last_name() const = 0;
  /// Bytes between images that belong to none (raw MJPEG).
  virtual std::int64_t skipped_bytes() const { return 0; }
  /// As those of FrameSource.
  virtual bool can_seek() const { return false; }
  virtual Result<std::int64_t> seek([[maybe_unused]] std::int64_t pts) {
    return Status(Errc::invalid_argument, "this input can only be read from front to back");
  }
};

/// Opens anything for frames; JPEG inputs go through zerorun's own decoder.
ZERORUN_API Result<std::unique_ptr<FrameSource>> open_frames(const Location& input,
                                                             const SourceOptions& options);

/// Opens Motion JPEG (containers, raw), JPEG files and JPEG sequences for their packets.
/// Errc::unknown_format if the input is not JPEG.
ZERORUN_API Result<std::unique_ptr<PacketSource>> open_packets(const Location& input,
                                                               const SourceOptions& options);

/// Reads enough of an input to describe it.
ZERORUN_API Result<SourceInfo> probe(const Location& input, const SourceOptions& options);

/// Where the packets come from and how they are to be stamped.
struct SinkOptions {
  bool overwrite = false;  ///< else Errc::output_exists
  int width = 0, height = 0;
  Rational frame_rate;
  Rational time_base{1, 25};
  Rational sample_aspect{1, 1};
  int rotation_degrees = 0;
  /// Keep time stamps as they are; AVI refuses it (Errc::unsupported_output). Otherwise they are
  /// rounded to multiples of 1/frame_rate. Raw MJPEG and images hold no time at all: they refuse it
  /// too. The first frame written is the origin.
  bool variable_frame_rate = false;
  /// Chroma layout of the coded stream, for the container's tags.
  PixelFormat coded_format = PixelFormat::yuv420p;
  /// Copy the audio of this file beside the video, from `audio_start_seconds` on (the time of
  /// SourceInfo::first_pts, so that sound and picture stay together); empty = none.
  std::string audio_from;
  double audio_start_seconds = 0.0;
  double audio_end_seconds = -1.0;  ///< < 0 = to the end
};

/// A file is written as NAME.part and takes its name in finish(); destroyed before that, it is
/// removed. What a killed process leaves behind plays to its last complete frame.
class ZERORUN_API PacketSink {
 public:
  virtual ~PacketSink() = default;
  virtual Status write(std::span<const std::byte> jpeg, const FrameTime& time) = 0;
  /// Writes the end of the file and renames it. Call it also after an interruption.
  virtual Status finish() = 0;
  virtual std::int64_t bytes_written() const = 0;
  /// A warning that the user should see once, for example audio that could not be copied.
  virtual std::string notice() const { return {}; }
};

class ZERORUN_API FrameSink {
 public:
  virtual ~FrameSink() = default;
  /// The format this sink wants frames in (rgb24 or gray8 for images, planar YCbCr for y4m).
  virtual PixelFormat wanted_format(PixelFormat native) const = 0;
  virtual Status write(const ConstFrameView& frame, const FrameTime& time) = 0;
  virtual Status finish() = 0;
  virtual std::int64_t bytes_written() const = 0;
};

/// .mov .mkv .avi .mp4(fragment-safe) .mjpeg/.mjpg, .jpg, JPEG sequences, "-" as raw MJPEG.
ZERORUN_API Result<std::unique_ptr<PacketSink>> open_packet_sink(const Location& output,
                                                                 const SinkOptions& options);

/// .y4m, .pgm/.ppm/.pnm, and with OpenCV .png .tiff .bmp .webp; files, patterns, "-".
ZERORUN_API Result<std::unique_ptr<FrameSink>> open_frame_sink(const Location& output,
                                                               const SinkOptions& options);

/// True if the name is one that open_packet_sink() understands.
ZERORUN_API bool is_packet_output(const Location& output);

/// Which optional parts this build has.
struct Features {
  bool ffmpeg = false;
  bool opencv = false;
};
ZERORUN_API Features features() noexcept;

}  // namespace zerorun::io
