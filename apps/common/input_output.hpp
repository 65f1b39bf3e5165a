// From the options of a command to its sources and sinks: INPUT, OUTPUT, files of reports, and the
// check of --verify.
// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/common/figures.hpp"
#include "apps/common/options.hpp"
#include "apps/common/process.hpp"
#include "apps/shards/hash.hpp"
#include "zerorun/io.hpp"

namespace zerorun::app {

/// The input as JPEG packets; null if it holds none, so that it has to be opened as frames:
/// SourceOptions::opened holds what was read of stdin. Other errors end the command.
inline std::unique_ptr<io::PacketSource> open_jpeg_packets(const InputOptions& input,
                                                           const io::SourceOptions& options) {
  auto packets = io::open_packets(input, options);
  if (packets) return *std::move(packets);
  if (packets.status().code() == Errc::unknown_format) return nullptr;
  fail(Exit::input, input.name, packets.status());
}

/// True for stdin and named pipes: their bytes come once.
inline bool is_read_once(const InputOptions& input) {
  std::error_code ignored;
  return input.name == "-" || io::is_address(input.name) ||
         std::filesystem::is_other(input.name, ignored);
}

/// In interlaced video a packet can hold one of the two fields of a picture. A source of frames
/// weaves them together.
inline bool is_field(const StreamInfo& stream, const io::SourceInfo& info) noexcept {
  return stream.height < info.height * 3 / 4;  // FFmpeg has the same rule
}

/// The planar format or rgb24 that holds what the stream stores; 4:4:4 for sampling factors
/// without a name.
inline PixelFormat stored_format(const StreamInfo& stream) noexcept {
  if (stream.color == ColorModel::rgb || has_inks(stream.color)) return PixelFormat::rgb24;
  if (stream.color == ColorModel::gray) return PixelFormat::gray8;
  return planar_format(stream.subsampling.value_or(Subsampling::s444));
}

[[noreturn]] inline void fail_without_frames(const InputOptions& input) {
  if (input.page > 0)
    fail(Exit::input, fmt::format("{}: there is no page {}", input.name, input.page));
  fail(Exit::input, input.name + ": there are no frames" +
                        (input.range.first > 0 ? " in the range of --frames" : ""));
}

/// "NAME is cut short: N bytes are missing at its end".
inline std::string cut_sentence(const std::string& name, const io::SourceInfo& info) {
  return fmt::format(
      "{} is cut short: {} missing at its end", name,
      info.missing_bytes == 1 ? "1 byte is" : with_commas(info.missing_bytes) + " bytes are");
}
/// Prints a note if bytes are missing.
inline void note_cut_input(const std::string& name, const io::SourceInfo& info) {
  if (info.missing_bytes > 0) console::note(cut_sentence(name, info) + "; the rest is used");
}

/// For the decoders of a command; without the option those of the library.
inline StreamLimits stream_limits(const std::optional<std::int64_t>& max_pixels) {
  StreamLimits limits;
  limits.max_pixels = max_pixels.value_or(limits.max_pixels);
  return limits;
}

/// True for pictures and Motion JPEG.
inline bool has_pixel_limit(const io::SourceInfo& info) {
  return info.is_jpeg || info.codec == "pnm" || info.container.find("image") != std::string::npos;
}
/// Ends the command with exit 2 if the option would have no effect.
inline void check_max_pixels(const std::string& input,
                             const std::optional<std::int64_t>& max_pixels, bool has_limit) {
  if (max_pixels && !has_limit)
    fail(Exit::usage, input + ": --max-pixels is for JPEG and pictures");
}

/// " (--max-pixels)" for an error that the option can prevent, else "".
inline const char* max_pixels_hint(const Status& status) noexcept {
  return status.code() == Errc::too_many_pixels ? " (--max-pixels)" : "";
}

/// fail() with the hint above for JPEG input.
[[noreturn]] inline void fail_input(const std::string& name, const Status& status, bool is_jpeg) {
  fail(Exit::input, name, status, is_jpeg ? max_pixels_hint(status) : "");
}

/// io::open_frames(); ends the command if it fails.
inline std::unique_ptr<io::FrameSource> open_frames(const InputOptions& input,
                                                    const io::SourceOptions& options) {
  auto source = io::open_frames(input, options);
  if (source) return *std::move(source);
  // Only a file gets here: a pipe is opened before its first frame is decoded.
  io::SourceOptions any_size;
  any_size.opened = options.opened;
  const bool is_jpeg = source.status().code() == Errc::too_many_pixels && !is_read_once(input) &&
                       io::open_packets(input, any_size).is_ok();
  fail_input(input.name, source.status(), is_jpeg);
}

inline bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

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
inline bool is_images(const io::Location& output) {
  return !io::is_measuring_output(output) &&
         is_one_of(io::format_of(output), {"jpg", "jpeg", "jpe", "png", "tif", "tiff", "bmp",
                                           "webp", "pnm", "ppm", "pgm", "pbm", "jfif", "dib"});
}
/// What `decode` writes: pictures, YUV4MPEG2, raw video.
inline bool is_frame_output(const io::Location& output) {
  return is_one_of(io::format_of(output), {"y4m", "yuv", "raw", "rgb", "png", "tif", "tiff", "bmp",
                                           "webp", "pnm", "ppm", "pgm"});
}

/// True for a name with a number in it: %d, %05d or ####.
inline bool is_pattern(const io::Location& output) {
  return io::numbered_path(output, 0).has_value();
}
/// True if it holds one picture only.
inline bool is_single_image(const io::Location& output) {
  return is_images(output) && output.name != "-" && !is_pattern(output) &&
         !io::has_name_word(output);
}

/// Writes NAME.part; finish() renames it, and the destructor removes it if it was not finished.
/// Failures end the command with exit code 4.
class SafeFile {
 public:
  SafeFile(std::string path, bool overwrite)
      : path_(std::move(path)), part_(path_ + ".part"), overwrite_(overwrite) {
    std::error_code ignored;
    if (!overwrite_ && std::filesystem::exists(path_, ignored))
      fail(Exit::output, path_, Status(Errc::output_exists));
    // An existing NAME.part is removed and not opened: it may be a link.
    std::remove(part_.c_str());
    file_ = std::fopen(part_.c_str(), "wbx");
    if (file_ == nullptr) fail_now();
  }
  ~SafeFile() {
    if (file_ == nullptr) return;
    std::fclose(file_);
    std::remove(part_.c_str());
  }
  SafeFile(const SafeFile&) = delete;
  SafeFile& operator=(const SafeFile&) = delete;

  void write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail_now();
  }
  void finish() {
    std::FILE* const file = std::exchange(file_, nullptr);
    const bool closed = std::fclose(file) == 0;
    if (closed && std::rename(part_.c_str(), path_.c_str()) == 0) return;
    const int reason = errno;
    std::remove(part_.c_str());
    errno = reason;
    fail_now();
  }

 private:
  [[noreturn]] void fail_now() const {
    fail(Exit::output, path_, Status(Errc::write_failed, std::generic_category().message(errno)));
  }

  std::string path_, part_;
  bool overwrite_;
  std::FILE* file_ = nullptr;
};

/// Frames of another size than a video began with: an error, or with --on-error skip left out.
class OtherSizes {
 public:
  Status meet(io::BrokenFrames broken, const std::string& name, int width, int height,
              int video_width, int video_height) {
    const std::string what = fmt::format("'{}' has {}x{} pixels, but the video began with {}x{}",
                                         name, width, height, video_width, video_height);
    if (broken != io::BrokenFrames::skip)
      return Status(Errc::unsupported_output, what + " (--on-error skip leaves it out)");
    leave_out(what);
    return Status::ok();
  }
  /// Notes any other frame that is left out.
  void leave_out(const std::string& sentence) {
    console::note(sentence + "; it is left out");
    ++left_out_;
  }
  /// For the frames after them. Times of pictures, which count frames, show no gap.
  void close_gap(io::Outgoing& out) const noexcept {
    out.index -= left_out_;
    if (out.time.duration == 1) out.time.pts -= left_out_;
  }

 private:
  std::int64_t left_out_ = 0;
};

/// Grey frames among frames in colour, or the reverse, in a stream that began with the other kind.
struct OtherKinds {
  bool begins_grey = false;
  std::int64_t others = 0;
  void add(bool is_grey) noexcept { others += is_grey == begins_grey ? 0 : 1; }
  /// Prints a line, which ends with `does`, where `output` is one stream.
  void tell(const io::Location& output, const char* does) const {
    if (others == 0 || is_images(output) || io::is_measuring_output(output)) return;
    console::note(fmt::format("{}: {} frame{} {}, unlike the first one{}", output.name, others,
                              others == 1 ? " is" : "s are", begins_grey ? "in colour" : "grey",
                              does));
  }
};

/// Keeps sixteen bytes per coded frame.
class Verifier {
 public:
  void add(std::span<const std::byte> jpeg) { frames_.push_back({xxh3(jpeg), jpeg.size()}); }

  /// Reads `output` through the demultiplexer: it must hold exactly the added streams, and each
  /// must decode on the CPU without damage. Ends the command with exit code 6 otherwise.
  void check(const io::Location& output) const {
    auto source = value_or_fail(io::open_packets(output, {}), Exit::mismatch, output.name);
    DecodeParams params;
    params.backend = Backend::cpu;
    params.strict = true;
    params.limits = StreamLimits::any_size();
    Decoder decoder = value_or_fail(Decoder::create(params), Exit::failed, output.name);
    const auto differs = [&output](const std::string& what) {
      fail(Exit::mismatch, output.name + ": verification failed: " + what);
    };
    std::vector<std::byte> jpeg;
    std::vector<ComponentPlane> planes;
    io::FrameTime time;
    for (std::size_t i = 0;; ++i) {
      if (signals::must_stop_now()) return;
      if (!value_or_fail(source->read(jpeg, time), Exit::mismatch, output.name)) {
        if (i == frames_.size()) return;
        differs(fmt::format("{} frames were coded, but the file holds {}", frames_.size(), i));
      }
      if (i >= frames_.size())
        differs(fmt::format("it holds more than the {} frames that were coded", frames_.size()));
      if (jpeg.size() != frames_[i].bytes || xxh3(std::span(jpeg)) != frames_[i].hash)
        differs(fmt::format("frame {} has {} bytes that differ from the {} that were coded", i,
                            jpeg.size(), frames_[i].bytes));
      if (auto report = decoder.decode_planes(jpeg, planes); !report)
        differs(fmt::format("frame {} does not decode: {}", i, report.status().message()));
    }
  }

 private:
  struct Coded {
    std::uint64_t hash;  // XXH3
    std::size_t bytes;
  };
  std::vector<Coded> frames_;
};

/// Sets the format of INPUT or OUTPUT from --format, which is for the one that is "-". Ends the
/// command with exit 2 if neither is.
inline void apply_format_option(const std::string& format, bool output_is_jpeg, InputOptions& input,
                                OutputOptions& output) {
  const char* const kind = output_is_jpeg ? "jpg" : io::features().opencv ? "png" : "ppm";
  output.start_number = input.start_number;
  static_cast<io::Location&>(output) = io::complete_output(output, input, kind);
  input.subfolders = output.keep_tree;
  input.first_page_only =
      input.page == 0 && input.range.first == 0 && input.range.last < 0 && is_single_image(output);
  const bool is_named = io::has_name_word(output);
  if (output.keep_tree && !is_named && output.names.empty())
    fail(Exit::usage, "--keep-tree needs an OUTPUT with names: a folder, or a pattern with {name}");
  if (is_named && input.missing == io::MissingFrames::hold)
    fail(Exit::usage, output.name +
                          ": a picture that --missing hold repeats has no name of its own; number "
                          "the pictures (%05d)");
  if (format.empty()) return;
  // If both are "-", the side that is not always JPEG is meant: the input of encode, the output of
  // decode. "mjpeg" always means the input of decode.
  const bool means_output = output.name == "-" && !output_is_jpeg && format != "mjpeg";
  if (means_output) {
    output.format = format;
  } else if (input.name == "-") {
    input.format = format;
  } else if (output.name == "-") {
    output.format = format;
  } else {
    fail(Exit::usage, "--format says what '-' is, but neither INPUT nor OUTPUT is '-'");
  }
}

/// Ends the command with exit 2 if binary data would go to a terminal.
inline void refuse_terminal(const io::Location& output) {
  if (output.name == "-" && isatty(STDOUT_FILENO) == 1)
    fail(Exit::usage,
         "-: pictures are not written to a terminal; redirect stdout to a file or a program");
}

/// With the times, pixel aspect and rotation of the source.
inline io::SinkOptions sink_options(const io::SourceInfo& source, const OutputOptions& output,
                                    int width, int height) {
  io::SinkOptions options;
  options.overwrite = output.overwrite;
  options.width = width;
  options.height = height;
  options.frame_rate = source.frame_rate.known() ? source.frame_rate : io::Rational{25, 1};
  options.time_base = source.time_base;
  options.sample_aspect = source.sample_aspect;
  options.rotation_degrees = source.rotation_degrees;
  options.mirrored = source.mirrored;
  options.variable_frame_rate = source.variable_frame_rate;
  options.files = source.files;
  options.keeps_tree = output.keep_tree;
  return options;
}

/// Makes a second signal remove the unfinished file.
inline void register_part(const io::Location& output) {
  constexpr std::string_view kMd5 = "md5:";
  std::string path = output.name;
  if (path.starts_with(kMd5)) path.erase(0, kMd5.size());
  if (path != "-" && !path.empty()) signals::remove_when_killed(io::part_path(path));
}
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
