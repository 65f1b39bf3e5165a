// What comes beside the samples: metadata, colour profiles, sound, and what an output cannot keep;
// and the options for it.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/common/options.hpp"
#include "zerorun/content.hpp"
#include "zerorun/convert.hpp"
#include "zerorun/encoder.hpp"
#include "zerorun/io.hpp"
#include "zerorun/source.hpp"

namespace zerorun::app {

/// Text as for cjpeg's -qtables: 64 or 128 whole numbers 1..255 in row order; # starts a comment.
/// The first table is for luma, the second for chroma; a single one is for both. Ends the command
/// with exit 3 on anything else.
std::pair<QuantTable, QuantTable> read_quant_tables(const std::string& path);

MarkerSegment comment_segment(const std::string& text);

/// APP1. The file is a TIFF structure ("II*\0", "MM\0*"), the same after "Exif\0\0", or a JPEG
/// file with EXIF.
MarkerSegment exif_segment(const std::string& path);

/// APP2 segments of at most 65519 profile bytes each (ICC.1 B.4). The file is an ICC profile, or a
/// JPEG file with one.
std::vector<MarkerSegment> icc_segments(const std::string& path);

/// Keeps the converter of the profile used last: pictures of a sequence have the same. Thread-safe.
class ToSrgb {
 public:
  /// Converts a frame of rgb24 or gray8 in place. Errors: those of ProfileConverter::create().
  Status convert(const io::PictureContent& content, const FrameView& frame);

 private:
  Result<io::ProfileConverter> converter(const std::vector<std::uint8_t>& icc, PixelFormat format);

  std::mutex mutex_;
  std::vector<std::uint8_t> icc_;
  PixelFormat format_ = PixelFormat::rgb24;
  std::optional<io::ProfileConverter> converter_;
};

/// Unset = as by default, with a note where it matters.
struct SampleOptions {
  std::optional<io::Alpha> alpha;
  std::optional<bool> dither;
  std::string matrix, range, tonemap;

  io::SampleRules rules() const;
};

void add_sample_options(CLI::App& app, SampleOptions& options);

/// What decides the samples, as JSON.
nlohmann::ordered_json sample_parameters(const SampleOptions& options);

/// Prints a line if readers would take the samples of written raw video for those of another range.
/// A name with j says full range; `raw_format` is empty if `format` names the samples.
void note_raw_range(const std::string& output, const std::string& raw_format, PixelFormat format);

/// Prints at most one line each for alpha, bits, and a matrix or range that is guessed.
void note_losses(const std::string& name, const io::SourceInfo& info, const SampleOptions& options);

/// The colours of the samples, which are no metadata.
void keep_colour(const io::ContainerContent& content, io::SinkOptions& sink);

/// Sets what `sink`, whose frame rate is known, copies beside the pictures, and its range of time.
void choose_streams(const InputOptions& input, const io::SourceInfo& info,
                    const io::Location& output, const io::LedgerChoices& choices,
                    io::SinkOptions& sink);

enum class IccMode { keep, convert, none, file };  ///< the words of --icc, then a name

struct ContentOptions {
  bool copy_metadata = true;
  bool autorotate = true;
  IccMode icc = IccMode::keep;
  std::string icc_file;
};

/// Whether INPUT can be opened a second time, for its sound and other streams.
bool is_reopened(const InputOptions& input);

/// Prints one line for what is lost, and with -v a line for each fact. Ends the command with exit 4
/// if something is lost and `stops`. Returns the ledger for the last event of `--progress json`.
nlohmann::ordered_json tell_ledger(const std::string& input, const io::SourceInfo& info,
                                   const io::Location& output, const io::LedgerChoices& choices,
                                   bool stops = false);

/// What `info` declares, as JSON.
nlohmann::ordered_json facts_json(const io::SourceInfo& info);

/// --metadata and --icc; `with_file` also takes the name of a profile.
void add_content_choices(CLI::App& app, ContentOptions& content, bool with_file);

/// --streams and --losses.
void add_stream_options(CLI::App& app, bool& copies_streams, bool& stops_at_losses);

/// What decides the bytes of an output, as JSON.
nlohmann::ordered_json content_parameters(const ContentOptions& content);

}  // namespace zerorun::app
