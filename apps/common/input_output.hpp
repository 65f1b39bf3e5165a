// From the options of a command to its sources and sinks: INPUT, OUTPUT, files of reports, and the
// check of --verify.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/common/options.hpp"
#include "apps/common/process.hpp"
#include "zerorun/io.hpp"

namespace zerorun::app {

/// The input as JPEG packets; null if it holds none, so that it has to be opened as frames:
/// SourceOptions::opened holds what was read of stdin. Other errors end the command.
std::unique_ptr<io::PacketSource> open_jpeg_packets(const InputOptions& input,
                                                    const io::SourceOptions& options);

/// True for stdin and named pipes: their bytes come once.
bool is_read_once(const InputOptions& input);

/// In interlaced video a packet can hold one of the two fields of a picture. A source of frames
/// weaves them together.
inline bool is_field(const StreamInfo& stream, const io::SourceInfo& info) noexcept {
  return stream.height < info.height * 3 / 4;  // FFmpeg has the same rule
}

/// The planar format or rgb24 that holds what the stream stores; 4:4:4 for sampling factors
/// without a name.
PixelFormat stored_format(const StreamInfo& stream) noexcept;

[[noreturn]] void fail_without_frames(const InputOptions& input);

/// "NAME is cut short: N bytes are missing at its end".
std::string cut_sentence(const std::string& name, const io::SourceInfo& info);
/// Prints a note if bytes are missing.
void note_cut_input(const std::string& name, const io::SourceInfo& info);

CLI::Option* add_max_pixels(CLI::App& app, std::optional<std::int64_t>& max_pixels);

/// For the decoders of a command; without the option those of the library.
StreamLimits stream_limits(const std::optional<std::int64_t>& max_pixels);

/// True for pictures and Motion JPEG.
inline bool has_pixel_limit(const io::SourceInfo& info) {
  return info.is_jpeg || info.codec == "pnm" || info.container.find("image") != std::string::npos;
}
/// Ends the command with exit 2 if the option would have no effect.
void check_max_pixels(const std::string& input, const std::optional<std::int64_t>& max_pixels,
                      bool has_limit);

/// " (--max-pixels)" for an error that the option can prevent, else "".
inline const char* max_pixels_hint(const Status& status) noexcept {
  return status.code() == Errc::too_many_pixels ? " (--max-pixels)" : "";
}

/// fail() with the hint above for JPEG input.
[[noreturn]] inline void fail_input(const std::string& name, const Status& status, bool is_jpeg) {
  fail(Exit::input, name, status, is_jpeg ? max_pixels_hint(status) : "");
}

/// io::open_frames(); ends the command if it fails.
std::unique_ptr<io::FrameSource> open_frames(const InputOptions& input,
                                             const io::SourceOptions& options);

/// Writes NAME.part; finish() renames it, and the destructor removes it if it was not finished.
/// Failures end the command with exit code 4.
class SafeFile {
 public:
  SafeFile(std::string path, bool overwrite);
  ~SafeFile();
  SafeFile(const SafeFile&) = delete;
  SafeFile& operator=(const SafeFile&) = delete;

  void write(std::string_view text);
  void finish();

 private:
  [[noreturn]] void fail_now() const;

  std::string path_, part_;
  bool overwrite_;
  std::FILE* file_ = nullptr;
};

/// Frames of another size than a video began with: an error, or with --on-error skip left out.
class OtherSizes {
 public:
  Status meet(io::BrokenFrames broken, const std::string& name, int width, int height,
              int video_width, int video_height);
  /// Notes any other frame that is left out.
  void leave_out(const std::string& sentence);
  /// For the frames after them. Times of pictures, which count frames, show no gap.
  void close_gap(io::Outgoing& out) const noexcept;

 private:
  std::int64_t left_out_ = 0;
};

/// Grey frames among frames in colour, or the reverse, in a stream that began with the other kind.
struct OtherKinds {
  bool begins_grey = false;
  std::int64_t others = 0;
  void add(bool is_grey) noexcept { others += is_grey == begins_grey ? 0 : 1; }
  /// Prints a line, which ends with `does`, where `output` is one stream.
  void tell(const io::Location& output, const char* does) const;
};

/// Keeps sixteen bytes per coded frame.
class Verifier {
 public:
  void add(std::span<const std::byte> jpeg);

  /// Reads `output` through the demultiplexer: it must hold exactly the added streams, and each
  /// must decode on the CPU without damage. Ends the command with exit code 6 otherwise.
  void check(const io::Location& output) const;

 private:
  struct Coded {
    std::uint64_t hash;  // XXH3
    std::size_t bytes;
  };
  std::vector<Coded> frames_;
};

/// Sets the format of INPUT or OUTPUT from --format, which is for the one that is "-". Ends the
/// command with exit 2 if neither is.
void apply_format_option(const std::string& format, bool output_is_jpeg, InputOptions& input,
                         OutputOptions& output);

/// MOV, MP4, MKV, AVI: they hold pictures of one size, time stamps and sound.
inline bool is_container(const io::Location& output) { return !io::container_of(output).empty(); }
/// MOV, MP4, MKV: the time of every frame.
inline bool keeps_times(const io::Location& output) {
  return is_container(output) && io::container_of(output) != "avi";
}
/// MOV, MP4: how pictures are turned for display, for readers that look there alone.
inline bool has_display_matrix(const io::Location& output) {
  return keeps_times(output) && io::container_of(output) != "matroska";
}
/// A picture or a numbered sequence of pictures, which hold no times.
bool is_images(const io::Location& output);
/// What `decode` writes: pictures, YUV4MPEG2, raw video.
bool is_frame_output(const io::Location& output);

/// True for a name with a number in it: %d, %05d or ####.
inline bool is_pattern(const io::Location& output) {
  return io::numbered_path(output, 0).has_value();
}
/// True if it holds one picture only.
bool is_single_image(const io::Location& output);

/// Ends the command with exit 2 if binary data would go to a terminal.
void refuse_terminal(const io::Location& output);

/// With the times, pixel aspect and rotation of the source.
io::SinkOptions sink_options(const io::SourceInfo& source, const OutputOptions& output, int width,
                             int height);

/// Makes a second signal remove the unfinished file.
void register_part(const io::Location& output);
/// After the sink's finish(): ends the command with exit 4 if that failed.
inline void end_output(const io::Location& output, const Status& finished) {
  if (!finished) fail(Exit::output, output.name, finished);
  signals::forget_removals();
}
/// Prints what the sink has to say about the output.
inline void note_output(const io::Location& output, const io::PacketSink& sink) {
  if (const std::string notice = sink.notice(); !notice.empty())
    console::note(output.name + ": " + notice);
}

}  // namespace zerorun::app
