// Reads frames, JPEG packets and sound from files, sequences, containers and pipes.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "zerorun/backend.hpp"
#include "zerorun/content.hpp"
#include "zerorun/decoder.hpp"
#include "zerorun/frame.hpp"
#include "zerorun/status.hpp"

namespace zerorun::io {

/// What to do at a gap in a numbered sequence, or at a missing file of a list. `skip` leaves no gap
/// in time; `hold` repeats the frame before the gap.
enum class MissingFrames { error, skip, hold };

/// What happens with a picture that cannot be read. `skip` leaves it out, which leaves no gap in
/// time, `hold` repeats the one before it; both read one picture after another. `black` puts a
/// black picture there. The first good picture gives size and format; before it nothing is held.
enum class BrokenFrames { stop, skip, hold, black };

/// Video without headers, frame after frame without gaps.
struct RawVideo {
  int width = 0, height = 0;
  /// FFmpeg's word: yuv420p, yuvj420p, yuv422p, yuv444p, yuv440p, yuv411p, gray, nv12, nv21,
  /// yuyv422, uyvy422, rgb24, bgr24, rgb0, rgba, bgr0, bgra, 0rgb, argb, 0bgr, abgr; yuv420p10le,
  /// yuv422p10le, yuv444p10le, gray10le, and 12 and 16 instead of 10 (rounded to 8 bits). YCbCr
  /// has limited range but for the formats with j.
  std::string pixel_format = "yuv420p";
};

/// Numbers in the names of files, both included.
struct FileNumbers {
  std::int64_t first = 0, last = INT64_MAX;
};

/// A file that stays open between calls: SourceOptions::opened.
class OpenedFile;
ZERORUN_API std::shared_ptr<OpenedFile> opened_file();

struct SourceOptions {
  MissingFrames missing = MissingFrames::error;
  /// If known, frames come at this constant rate, whatever their time stamps were. Images and raw
  /// MJPEG have no rate of their own.
  Rational frame_rate;
  /// Half-open range of frame indices; last < 0 means to the end.
  std::int64_t first_frame = 0;
  std::int64_t last_frame = -1;
  /// The format of the frames; by default the source's closest one.
  std::optional<PixelFormat> pixel_format;
  /// Frames in one of these formats are not converted to `pixel_format`.
  std::vector<PixelFormat> accepted_formats;
  SampleRules samples;
  /// Decoder for JPEG inputs.
  Backend backend = Backend::automatic;
  int device = 0;
  int threads = 0;
  /// Decode video on CUDA `device` if its decoder (NVDEC), the driver and FFmpeg can. The frames
  /// have the same samples. SourceInfo::decoder names the decoder that was chosen.
  bool hardware_video = false;
  /// Of a pattern, glob or directory: only files whose last number before the extension is in here.
  std::optional<FileNumbers> file_numbers = {};
  double most_seconds = 0;      ///< frames end so long after the first one; 0 = no limit
  double timeout_seconds = 10;  ///< without data from an address
  /// False: of a file with several pages the first one, which SourceInfo::picture tells.
  bool all_pages = true;
  bool subfolders = false;  ///< a directory means its sub-folders, too
  /// For frames; packets are untouched.
  BrokenFrames broken = BrokenFrames::stop;
  /// Gets name and error of each picture that `broken` did not stop at, on any thread.
  std::function<void(const std::string& name, const Status& error)> tell_broken = {};
  RawVideo raw = {};  ///< what a Location with the format "raw" holds
  /// CMYK and YCCK that embed a CMYK profile become sRGB by it, where frames are rgb24.
  bool uses_ink_profiles = false;
  /// Frames that an AVI file has dropped (empty chunks) repeat the frame before them, which keeps
  /// the rate constant. Otherwise the time stamps show the gap.
  bool repeats_dropped = false;
  /// For pictures, checked before memory is allocated for their pixels. For video the default
  /// max_pixels of StreamLimits applies.
  StreamLimits limits;
  /// estimate_pixels(), open_packets(), open_frames() and probe() open a picture file once if they
  /// get the same object from opened_file(): what one of them opens, the next one goes on with. So
  /// a named pipe works, too. The file stays open as long as the object. Null: each opens the file.
  std::shared_ptr<OpenedFile> opened = {};
};

struct SourceInfo {
  int width = 0, height = 0;  ///< of the first frame; raw MJPEG and images may change size later
  PixelFormat format = PixelFormat::yuv420p;
  Rational frame_rate;         ///< average for a variable rate; unknown for images
  Rational time_base{1, 25};   ///< of the time stamps
  std::int64_t first_pts = 0;  ///< of the first frame in the selected range
  Rational sample_aspect{1, 1};
  Density density;                ///< of a JPEG stream or the first picture
  int rotation_degrees = 0;       ///< clockwise turn for display: 0, 90, 180, 270
  bool mirrored = false;          ///< mirrored left to right for display, before it is turned
  std::int64_t frame_count = -1;  ///< of the selected range; -1 = not known beforehand
  double duration_seconds = 0.0;  ///< of the whole input by its header; 0 = not known
  /// How much shorter a Matroska or AVI file is than its header says. read() gives what is there
  /// and then ends without an error.
  std::int64_t missing_bytes = 0;
  /// Numbers that are missing between the names of a glob or directory, and the first of them.
  /// They are left out, or held with MissingFrames::hold.
  std::int64_t missing_files = 0;
  std::string first_missing_file;
  std::shared_ptr<const PictureFiles> files;  ///< of the range; null if there are no such files
  bool variable_frame_rate = false;
  bool has_audio = false;
  bool is_live = false;   ///< an address
  std::string container;  ///< "mov", "matroska", "avi", "y4m", "image sequence", ...
  std::string codec;      ///< "mjpeg", "h264", "png", "rawvideo", ...
  /// With SourceOptions::hardware_video: "NVDEC", or "the CPU" and why; empty if it is no video.
  std::string decoder;
  bool is_jpeg = false;  ///< packets are JPEG streams: open_packets() works
  std::string inks;      ///< of JPEG: "CMYK" or "YCCK", whose frames are RGB; empty for others
  bool has_ink_profile = false;                   ///< such a JPEG embeds a profile of its inks
  std::shared_ptr<const PictureContent> picture;  ///< of the first image file; null if it is none
  ContainerContent content;
};

/// A frame or packet on its way in. next() of a source hands out one after another; load() reads
/// and decodes it, on any thread. Several can be loaded at a time and in any order while next()
/// goes on. The source has to live until they are loaded. Reuse the object: it keeps its memory.
template <typename Item>
struct Incoming {
  Item item{};  ///< filled by load(); a Frame keeps its kind of memory
  FrameTime time;
  std::string name;   ///< of its file or stream, for messages
  int concealed = 0;  ///< JPEG images in it that were damaged and are concealed
  std::shared_ptr<const PictureContent> content;  ///< set by load() of a Frame; may be null

  /// The frame in device memory, where a hardware decoder left it. A caller that uses it calls
  /// drop() when it is done; any other calls load(). Surfaces are few: while all are in use, the
  /// source hands out frames in host memory.
  std::shared_ptr<const DeviceSurface> surface;

  /// `threads` are what this one may use; 0 = all that the source has. Errors: those of read().
  Status load(int threads = 1) {
    const auto step = std::exchange(loader, nullptr);
    surface.reset();
    return step ? step(*this, threads) : Status::ok();
  }

  /// Releases what load() would read, without reading it.
  void drop() {
    loader = nullptr;
    surface.reset();
  }

  // The source's own: what next() leaves to load(), and bytes that only next() could read.
  std::function<Status(Incoming&, int threads)> loader;
  std::vector<std::byte> bytes;
};
using FrameWork = Incoming<Frame>;
using PacketWork = Incoming<std::vector<std::byte>>;

/// What FrameSource and PacketSource share. One thread at a time calls members; Incoming::load()
/// may run on others.
class ZERORUN_API Source {
 public:
  virtual ~Source() = default;
  virtual const SourceInfo& info() const = 0;
  /// Path or stream of the frame read last, for messages.
  virtual std::string last_name() const = 0;
  /// True for files; pipes cannot be read backwards.
  virtual bool can_seek() const = 0;
  /// What ended a live input early, for messages; empty if nothing did.
  virtual std::string notice() const { return {}; }
  /// The next read() gives the frame that is shown at `pts`: the last one of the range whose time
  /// is not after it, or the first. Returns its index, counted as SourceOptions::first_frame is: an
  /// estimate by the average rate if the rate varies and the container lists no frames.
  /// Errors: invalid_argument (cannot seek), those of read().
  virtual Result<std::int64_t> seek(std::int64_t pts) = 0;
};

/// Decoded frames in presentation order, full range BT.601 (limited-range input is converted).
class ZERORUN_API FrameSource : public Source {
 public:
  /// The serial half of read(): says which frame comes next; false at the end. It is cheap for
  /// files of a sequence, YUV4MPEG2, PNM and JPEG. Pipes are read here and video is decoded here.
  virtual Result<bool> next(FrameWork& work) = 0;
  /// next() and load() in one. Fills `frame` (reshaped as needed); false at the end.
  virtual Result<bool> read(Frame& frame, FrameTime& time) = 0;
  /// Frames loaded so far that were damaged and are concealed (DecodeReport). Thread-safe.
  virtual std::int64_t concealed_frames() const = 0;
};

/// JPEG streams, untouched, one per frame.
class ZERORUN_API PacketSource : public Source {
 public:
  virtual Result<bool> next(PacketWork& work) = 0;
  virtual Result<bool> read(std::vector<std::byte>& jpeg, FrameTime& time) = 0;
  /// Bytes so far that lie between images (raw MJPEG).
  virtual std::int64_t skipped_bytes() const = 0;
};

/// Opens any input for frames; zerorun's own decoder reads JPEG.
ZERORUN_API Result<std::unique_ptr<FrameSource>> open_frames(const Location& input,
                                                             const SourceOptions& options);

/// Opens Motion JPEG (containers, raw), JPEG files and JPEG sequences for their packets.
/// Errors: unknown_format (the input is not JPEG), those of reading.
ZERORUN_API Result<std::unique_ptr<PacketSource>> open_packets(const Location& input,
                                                               const SourceOptions& options);

/// Reads enough of an input to describe it.
ZERORUN_API Result<SourceInfo> probe(const Location& input, const SourceOptions& options);

/// Guesses how many pixels all frames of an input have together: from names, sizes and the first
/// bytes of the first file, so it costs no more than listing the files. Exact for YUV4MPEG2, PNM
/// and sequences of PNG files of one size; within a factor of two or so for JPEG, TIFF and BMP, and
/// of ten for compressed video. nullopt for pipes and for what cannot be read.
ZERORUN_API std::optional<double> estimate_pixels(const Location& input,
                                                  const SourceOptions& options);

/// For Motion JPEG in containers without a list of their frames (Matroska): walks from the header
/// of one frame to the next and reads little else. Counts the frames of the range in `options`. -1
/// if SourceInfo has the number, or if the frames have to be read to count them. Errors: those of
/// open_packets(). Any thread.
ZERORUN_API Result<std::int64_t> count_listed_frames(const Location& input,
                                                     const SourceOptions& options);

/// What AudioSource::read() gives. 1 to 8 channels, 1000 to 384000 samples a second.
struct AudioFormat {
  int sample_rate = 48000;
  int channels = 2;
};

/// The first sound track of a file. One thread at a time calls members.
class ZERORUN_API AudioSource {
 public:
  virtual ~AudioSource() = default;
  /// Fills `samples`: floats in [-1, 1], interleaved by channel. Returns how many of them were
  /// filled, always whole frames of all channels; 0 is the end. Gaps in time are silence; damaged
  /// packets are left out. Errors: read_failed, out_of_memory.
  virtual Result<std::size_t> read(std::span<float> samples) = 0;
  /// The next read() begins at this time after the start of the container, from which
  /// SourceInfo::first_pts is counted, too. Errors: read_failed.
  virtual Status seek(double seconds) = 0;
};

/// Errors: not_built (no FFmpeg), open_failed, bad_input (no sound, or of an unknown kind).
ZERORUN_API Result<std::unique_ptr<AudioSource>> open_audio(const std::string& path,
                                                            const AudioFormat& format);

}  // namespace zerorun::io
