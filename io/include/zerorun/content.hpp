// What inputs and outputs are called, the times of their frames, and what an input says about its
// pictures beside their samples: colour profile, EXIF, XMP, tags, time code, field order. Sources
// fill that in, sinks keep what their format can hold.
//
// Every function here may be called from any thread. What is damaged or cannot be read counts as
// not there. Those that return or fill containers throw std::bad_alloc where memory runs out;
// sources and sinks, which call them, make out_of_memory of it.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "zerorun/decoder.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/status.hpp"
#include "zerorun/transcoder.hpp"

namespace zerorun::io {

/// An INPUT or OUTPUT word.
///   "-"               stdin or stdout. `format` says y4m, pnm or mjpeg, which stdin also knows by
///                     content; FFmpeg reads any other format
///   "dir/%05d.png"    printf pattern with one integer (%d or %0Nd, "%%" for a percent sign; a
///                     "%" that begins nothing like a conversion is plain text) in the file name,
///                     counted from `start_number`: by default the smallest number in the directory
///                     (input) or 1 (output)
///   "dir/shot.####.png"  the same: two or more # are a number with so many digits
///   "dir/*.png"       glob in natural order (input only)
///   "dir/"            all images of a directory in natural order (input only)
///   "@list.txt"       one path a line, relative to the list's directory; # comments (input only)
///   "dir/"            files named as those of the input, with another extension (output only; see
///                     complete_output())
///   "dir/{name}_{number}.png"  {name} is the name of the input's file without its extension,
///                     {number} the same as %d (output only)
///   "null:"           nothing is kept (output only)
///   "md5:FILE"        a line of text for each frame with the MD5 of its packet or samples, as
///                     FFmpeg's framemd5; "md5:" writes it to stdout (output only)
///   "http://...", "https://...", "rtsp://...", "udp://...", "v4l2:/dev/video0"
///                     a camera or a stream, by FFmpeg (input only). Nothing else opens a socket or
///                     a device
///   anything else     a file. The name of an existing file is never a pattern or glob
struct Location {
  std::string name;
  std::string format;  ///< "", "y4m", "pnm", "mjpeg", "raw", or a container's name
  std::optional<std::int64_t> start_number;
  /// If not empty: these files in this order. Of an output: this file, whatever is in its name.
  std::vector<std::string> names = {};
};

/// The picture files of an input.
struct PictureFiles {
  std::vector<std::string> paths;
  std::string folder;  ///< from which sub-folders are counted; empty or with a '/' at its end
};

/// An output that is a folder, with its pattern: "dir/{name}.png" of "dir/", where `extension` is
/// png and Location::format is empty. If `input` is one file, {name} becomes its name. Every other
/// output stays as it is.
ZERORUN_API Location complete_output(const Location& output, const Location& input,
                                     const std::string& extension);

/// True for an output with {name}.
ZERORUN_API bool has_name_word(const Location& output) noexcept;

/// The paths of an output with {name}, one for each of the files; in the sub-folders of the input
/// if `keeps_tree`. Errors: invalid_argument (the pattern), output_exists (two files get one name,
/// or the name of another input).
ZERORUN_API Result<std::vector<std::string>> named_paths(const Location& output,
                                                         const PictureFiles& files,
                                                         bool keeps_tree);

/// The name of an output until it is complete: NAME.part, and less of a long name.
ZERORUN_API std::string part_path(const std::string& path);

/// The path of picture `number` of an output whose name is a pattern, as the sinks write it:
/// "dir/00042.png" of "dir/%05d.png" and of "dir/#####.png". nullopt for every other name.
ZERORUN_API std::optional<std::string> numbered_path(const Location& output, std::int64_t number);

/// Location::format if given, else the extension without its dot, in lower case.
ZERORUN_API std::string format_of(const Location& location);

/// The container that open_packet_sink() writes to a file of this name by FFmpeg: "mov", "mp4",
/// "matroska" or "avi"; empty for every other output.
ZERORUN_API std::string container_of(const Location& output);

/// True for the names of cameras and streams.
ZERORUN_API bool is_address(const std::string& name) noexcept;

/// True for "null:" and "md5:", which take packets and frames.
ZERORUN_API bool is_measuring_output(const Location& output);

/// Exact fraction; 0/1 is "unknown".
struct Rational {
  std::int64_t num = 0;
  std::int64_t den = 1;
  bool known() const noexcept { return num > 0 && den > 0; }
  double value() const noexcept { return den ? double(num) / double(den) : 0.0; }
  friend bool operator==(const Rational&, const Rational&) = default;
};

/// Time of one frame in units of SourceInfo::time_base, counted from the start of the container.
struct FrameTime {
  std::int64_t pts = 0;
  std::int64_t duration = 0;  ///< 0 = unknown
};

/// How the lines of interlaced video follow each other: which field is shown first.
enum class FieldOrder : std::uint8_t { unknown, progressive, top_first, bottom_first };

/// FFmpeg's words: "unknown", "progressive", "tt", "bb".
ZERORUN_API const char* name(FieldOrder order) noexcept;

/// What becomes of transparent pixels, for there is no place for alpha. `ignore` leaves the colours
/// that are stored, `black` and `white` show them over that colour.
enum class Alpha : std::uint8_t { ignore, black, white };

/// How samples are read that JPEG cannot hold, or whose meaning the file does not tell.
struct SampleRules {
  Alpha alpha = Alpha::ignore;
  bool dither = false;  ///< samples of more than 8 bits: an ordered pattern instead of rounding
  /// Of decoded video, by FFmpeg's names; they override the file. Empty = as the file says, or, if
  /// it does not, by the size of the picture.
  std::string matrix, range;
  /// How PQ and HLG video becomes SDR of BT.709: a word of FFmpeg's filter tonemap ("hable",
  /// "mobius", "reinhard"). Empty = the samples stay as they are.
  std::string tonemap = {};
  std::int64_t max_pixels = StreamLimits{}.max_pixels;  ///< sources set it: SourceOptions::limits
};

/// Pixels in a unit of length; known() is false if the file does not tell. Without a unit, which
/// PNG and TIFF allow, the two numbers are the shape of the pixels alone.
struct Density {
  enum class Unit : std::uint8_t { none, inch, cm };
  double x = 0, y = 0;
  Unit unit = Unit::none;
  bool known() const noexcept { return unit != Unit::none && x > 0 && y > 0; }
};

/// Of one picture. Empty members say that there is none.
struct PictureContent {
  std::vector<std::uint8_t> icc;     ///< an ICC profile
  std::vector<std::uint8_t> exif;    ///< a TIFF structure, without "Exif\0\0"
  std::string xmp;                   ///< an RDF/XML packet
  std::vector<MarkerSegment> notes;  ///< comments and IPTC data of a JPEG file
  int orientation = 1;               ///< EXIF's, 1 to 8: how the stored picture has to be turned
  int bits = 0;                      ///< of a sample; 0 = not known
  bool has_alpha = false;
  int pages = 1;  ///< pictures in the file; the first one is read
  Density density;
  /// Of a PNG file: whole chunks of colours and texts for another one; keywords and texts, which
  /// are empty if they are packed.
  std::vector<std::uint8_t> png_chunks;
  std::vector<std::pair<std::string, std::string>> texts;
  /// Code points of ITU-T H.273 for primaries, transfer and matrix, and whether the range is full;
  /// all 0 if there are none.
  std::array<std::uint8_t, 4> cicp{};
  bool has_other_colours = false;  ///< of PNG: gamma or primaries are not sRGB's, without a profile

  /// Of what EXIF, XMP and ICC profiles tell.
  bool empty() const noexcept { return icc.empty() && exif.empty() && xmp.empty(); }
};

/// A stream of a container beside the video stream that is read.
enum class StreamKind : std::uint8_t { video, sound, subtitles, attachment, cover, data };
struct StreamContent {
  StreamKind kind = StreamKind::data;
  std::string codec;            ///< FFmpeg's name
  std::string language, title;  ///< empty if the file does not tell
  double delay_seconds = 0.0;   ///< after the first picture
};

/// Times in seconds after the start of the container.
struct Chapter {
  double start = 0.0, end = 0.0;
  std::string title;
};

/// Of a container and its video stream.
struct ContainerContent {
  /// FFmpeg's generic keys, such as title, artist, comment, creation_time.
  std::vector<std::pair<std::string, std::string>> tags;
  std::vector<std::pair<std::string, std::string>> stream_tags;  ///< of the video stream
  std::string timecode;  ///< of the first frame, "01:00:00:00"; empty if there is none
  FieldOrder field_order = FieldOrder::unknown;
  /// FFmpeg's names of the samples' coding; empty if the file does not tell.
  std::string range, matrix, transfer, primaries;
  std::string pixel_format;  ///< FFmpeg's name of the stored format
  int bits = 0;              ///< of a sample; 0 = not known
  bool has_alpha = false, is_rgb = false;
  std::string stereo_mode;  ///< FFmpeg's name of a stereo layout; empty for one picture
  bool is_default = false;  ///< the video stream has the flag of those that players choose
  std::vector<StreamContent> streams;
  std::vector<Chapter> chapters;
};

/// `content.exif`, whose orientation tag, if it has one, says `content.orientation`. If it is empty
/// and the picture has to be turned: EXIF data with nothing but the orientation.
ZERORUN_API std::vector<std::uint8_t> oriented_exif(const PictureContent& content);

/// The words that a user looks for in EXIF data, each with its label: make, model, date, exposure,
/// aperture, iso, focal_length, orientation, artist, copyright, gps ("yes").
ZERORUN_API std::vector<std::pair<std::string, std::string>> exif_summary(
    std::span<const std::uint8_t> exif);

/// The description in an ICC profile; its colour space if it has none that can be read.
ZERORUN_API std::string profile_name(std::span<const std::uint8_t> icc);

/// What a picture file of any kind says: JPEG, PNG, TIFF, WebP; empty for all others and where it
/// is damaged.
ZERORUN_API PictureContent picture_content(std::span<const std::byte> file);
/// The same from the segments that inspect() found.
ZERORUN_API PictureContent picture_content(const StreamInfo& stream);

/// True if pictures with this extension can hold ICC, EXIF and XMP: png, webp, tif, tiff.
ZERORUN_API bool can_embed(const std::string& extension);

/// APPn and COM segments with the content; EXIF or XMP that is too long for a segment is left out,
/// and `left_out` then names it. Orientation is that of `content.orientation`.
ZERORUN_API std::vector<MarkerSegment> jpeg_segments(const PictureContent& content,
                                                     std::string* left_out);
/// Inserts segments behind SOI and JFIF's APP0. `jpeg` is a stream that zerorun made.
ZERORUN_API void insert_segments(std::span<const MarkerSegment> segments,
                                 std::vector<std::byte>& jpeg);

/// Writes the density into JFIF's APP0, which holds whole numbers up to 65535. False, and nothing
/// is changed, if there is none, if the numbers do not fit, or if the density is not known.
ZERORUN_API bool set_jfif_density(const Density& density, std::span<std::byte> jpeg) noexcept;

/// Makes `orientation` that of a JPEG stream: sets the tag of its EXIF data, or inserts EXIF data
/// where there is none. False if it has EXIF data without that tag, which stays as it is.
ZERORUN_API bool set_jpeg_orientation(std::vector<std::byte>& jpeg, int orientation);

struct TranscodedFile {
  TranscodeReport first;  ///< of the picture that begins the file
  int left_out = 0;       ///< further pictures that no longer fitted it, with their index
};
/// Transcoder::transcode() for a whole file. The further pictures of its MPF index (gain maps,
/// previews, the other eye) become what the first one becomes, and index and XMP tell where they
/// are then. All of them are left out by a crop, and where an edge of one that would move is no
/// whole MCU. What else follows the first picture stays.
ZERORUN_API Result<TranscodedFile> transcode_file(Transcoder& transcoder,
                                                  std::span<const std::byte> file,
                                                  std::vector<std::byte>& out);

/// What the first frame header of a JPEG stream says, also of kinds that inspect() refuses.
struct JpegKind {
  int width = 0, height = 0, bits = 0, components = 0;
  std::string process;  ///< "baseline", "progressive", "lossless", ...
  std::string color;    ///< "gray", "YCbCr", "RGB", "CMYK", "YCCK"
};
ZERORUN_API std::optional<JpegKind> jpeg_kind(std::span<const std::byte> jpeg);

/// Whether EOI follows the first scan. Without it the stream is cut short.
ZERORUN_API bool has_end_of_image(std::span<const std::byte> jpeg);

/// `jpeg` with the tables of T.81 Annex K if it sends none, as Motion JPEG in AVI may: a file of
/// its own needs them.
ZERORUN_API std::vector<std::byte> with_huffman_tables(std::span<const std::byte> jpeg);

}  // namespace zerorun::io
